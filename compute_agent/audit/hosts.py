# SPDX-License-Identifier: Apache-2.0
"""Find the root providers whose host is gone.

Pure: no I/O, configuration, logging or clock. A host is gone only if nova was
asked completely and knows it neither by uuid nor by a similar name, and, for a
provider that may be an Ironic node's, Ironic was asked completely, too. A root
that is not marked as a compute node may be another service's.

A host has several names: with its domain and without, in upper and lower case.
The names of two such hosts are similar. Two names with different domains are
two hosts.

``identity_findings`` finds hosts that placement knows twice, or under another
name or uuid. Placement's names are unique, so a host that was installed again
has one provider under a name or a uuid that nova does not use any more.
"""

import dataclasses
import enum
import ipaddress
import itertools
from collections.abc import Iterable, Iterator, Sequence

from .. import error_text
from ..tree import names
from . import cloud, finding


def key(name: str) -> str:
    """Return the host name in lower case without its domain.

    Similar names have the same key. An address and a uuid are their own keys.
    """
    plain = _plain(name)
    if names.is_uuid(plain) or _is_address(plain):
        return plain
    return plain.partition('.')[0] or plain


def are_similar(one: str, other: str) -> bool:
    """Return True if both names may be names of the same host."""
    if key(one) != key(other):
        return False
    one, other = _plain(one), _plain(other)
    return one == other or '.' not in one or '.' not in other


class Index:
    """A collection of names, to look up those similar to another name."""

    def __init__(self, known: Iterable[str]) -> None:
        self._by_key: dict[str, list[str]] = {}
        for name in known:
            self._by_key.setdefault(key(name), []).append(name)

    def similar(self, name: str) -> list[str]:
        """Return the names that may be names of the same host."""
        found = self._by_key.get(key(name), ())
        return [other for other in found if are_similar(name, other)]


def _plain(name: str) -> str:
    return name.rstrip('.').casefold()


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Life(enum.Enum):
    """The state of a root's host."""

    ALIVE = enum.auto()
    NO_HOST = enum.auto()
    GONE = enum.auto()
    #: Ironic alone says so: nova was not asked.
    GONE_FROM_IRONIC = enum.auto()
    UNKNOWN = enum.auto()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The state of a root's host, and the evidence for it."""

    life: Life
    why: str = ''

    @property
    def is_dead(self) -> bool:
        """True if the host seems to be gone."""
        return self.life in _DEAD


_ALIVE = Verdict(life=Life.ALIVE)
#: The states in which the contents of a tree decide.
_DEAD = {Life.GONE, Life.GONE_FROM_IRONIC}
_IRONIC_DENIES = (
    'its name is its uuid, as that of an Ironic node is, and Ironic has no such '
    'node'
)
_NOVA_DENIES = (
    'nova knows no hypervisor and no nova-compute service of this uuid or name'
)


class Hosts:
    """Judges the roots of one cloud."""

    def __init__(self, known: cloud.Cloud) -> None:
        self._known = known
        nova = known.nova
        self._names = Index({*nova.hypervisors.values(), *nova.services})

    def verdict(self, root: cloud.ListedProvider) -> Verdict:
        """Return whether a root's host is alive, gone, unknown or no host.

        By nova's answers and the age of the root's last change.
        """
        found = self.by_name(root)
        if not found.is_dead:
            return found
        contents = self._known.placement.contents.get(root.uuid)
        age = contents.age if contents else None
        if age is None:
            return Verdict(
                life=Life.UNKNOWN,
                why='it changed while it was read: run the audit again',
            )
        quiet = self._known.choices.quiet
        if age < quiet:
            return Verdict(
                life=Life.UNKNOWN,
                why='something changed it less than '
                f'{error_text.duration(quiet)} ago, though {found.why}',
            )
        if not quiet:
            return found
        return dataclasses.replace(
            found,
            why=f'{found.why}; nobody has changed it for '
            f'{error_text.duration(quiet)} or longer',
        )

    def by_name(self, root: cloud.ListedProvider) -> Verdict:
        """Return the state of a root's host, before its contents are read."""
        known = self._known
        if root.uuid in known.agent.roots or self._is_known(root):
            return _ALIVE
        if root.uuid in known.placement.sharing:
            return Verdict(life=Life.NO_HOST)
        if known.nova.problem:
            return self._by_ironic_alone(root)
        if not root.is_like_ironic:
            evidence = _NOVA_DENIES
        elif known.ironic.problem:
            return Verdict(
                life=Life.UNKNOWN,
                why=f'it may be an Ironic node: {known.ironic.problem}',
            )
        else:
            evidence = f'{_NOVA_DENIES}, and Ironic has no such node'
        is_marked = root.uuid in known.placement.compute_nodes
        if not is_marked and not known.choices.names(root):
            return Verdict(life=Life.NO_HOST, why=evidence)
        return Verdict(life=Life.GONE, why=evidence)

    def _by_ironic_alone(self, root: cloud.ListedProvider) -> Verdict:
        """Return the state of a root's host if nova cannot tell.

        A provider whose name is its own uuid belongs to an Ironic node: other
        hypervisors have the names of their hosts.
        """
        known = self._known
        is_answered = known.ironic.instances and not known.ironic.problem
        if (
            is_answered
            and root.uuid == root.name.lower()
            and root.uuid in known.placement.compute_nodes
        ):
            return Verdict(life=Life.GONE_FROM_IRONIC, why=_IRONIC_DENIES)
        return Verdict(life=Life.UNKNOWN, why=known.nova.problem)

    def _is_known(self, root: cloud.ListedProvider) -> bool:
        nodes = self._known.ironic.instances
        return (
            root.uuid in self._known.nova.hypervisors
            or root.uuid in nodes
            or root.name.lower() in nodes
            or bool(self._names.similar(root.name))
        )


def findings(known: cloud.Cloud) -> Iterator[finding.Finding]:
    """Yield the dead hosts, and the roots that cannot be judged."""
    hosts, trees = Hosts(known), known.placement.trees()
    for root in known.placement.roots():
        found = hosts.verdict(root)
        if found.life is Life.UNKNOWN:
            yield finding.Finding(
                kind=finding.Kind.DEAD_HOST,
                level=finding.Level.UNKNOWN,
                subject=str(root),
                why=found.why,
            )
        elif found.is_dead:
            yield _dead(known, root, trees[root.uuid], found)
        elif found.life is Life.NO_HOST and found.why:
            yield finding.Finding(
                kind=finding.Kind.NO_HOST,
                level=finding.Level.NOTE,
                subject=str(root),
                why=f'{found.why}; it has no trait {names.COMPUTE_NODE}, so '
                'it may belong to another service',
                advice='if it is a dead host, add --include UUID',
            )


def _dead(
    known: cloud.Cloud,
    root: cloud.ListedProvider,
    tree: Sequence[cloud.ListedProvider],
    found: Verdict,
) -> finding.Finding:
    """Return the finding for a dead host, with its repair if there is one.

    Ironic may hide a node from the user with whom it is asked, so its word
    alone is enough for a person, and not for a repair.
    """
    obstacle = _obstacle(known, tree)
    if not obstacle and found.life is Life.GONE_FROM_IRONIC:
        obstacle = (
            'if the user in [ironic] may see all nodes: compute-agent resource '
            f'provider delete {root.uuid}'
        )
    return finding.Finding(
        kind=finding.Kind.DEAD_HOST,
        subject=str(root),
        why=found.why,
        advice=obstacle or 'audit --repair deletes it',
        repair=None
        if obstacle
        else finding.DeleteProviders(providers=leaves_first(tree)),
    )


def _obstacle(known: cloud.Cloud, tree: Sequence[cloud.ListedProvider]) -> str:
    """Return the reason why a dead host's tree cannot be deleted, or ''."""
    consumers: set[str] = set()
    for one in tree:
        contents = known.placement.contents.get(one.uuid)
        if contents is None or contents.traits is None:
            return f'{one} changed while it was read: run the audit again'
        if not known.choices.names(one):
            owner = another_owner(contents.traits)
            if owner:
                return (
                    f'{one} has the trait {owner}: delete it with that '
                    'service, or add --include UUID'
                )
        consumers.update(contents.allocations)
    if consumers:
        noun = 'consumer has' if len(consumers) == 1 else 'consumers have'
        return (
            f'{len(consumers)} {noun} allocations there: evacuate or delete '
            'these instances first'
        )
    return ''


def another_owner(traits: frozenset[str]) -> str:
    """Return the trait by which another project owns a provider, or ''."""
    owners = (t for t in traits if t.startswith(names.OWNER_PREFIX))
    return next((t for t in sorted(owners) if t != names.OWNER_NOVA), '')


def leaves_first(
    tree: Sequence[cloud.ListedProvider],
) -> tuple[cloud.ListedProvider, ...]:
    """Return the providers of a tree, each after its children."""
    below: dict[str | None, list[cloud.ListedProvider]] = {}
    uuids = {one.uuid for one in tree}
    for one in sorted(tree, key=lambda p: (p.name, p.uuid)):
        parent = one.parent_uuid if one.parent_uuid in uuids else None
        below.setdefault(parent, []).append(one)
    found: list[cloud.ListedProvider] = []
    pending = list(below.get(None, ()))
    while pending:
        one = pending.pop()
        found.append(one)
        pending += below.get(one.uuid, ())
    return tuple(reversed(found))


Kind = finding.Kind


def identity_findings(known: cloud.Cloud) -> Iterator[finding.Finding]:
    """Yield the hosts whose name or uuid does not fit."""
    yield from _similar(known)
    roots = {root.name.casefold(): root for root in known.placement.roots()}
    for uuid, name in sorted(
        known.nova.hypervisors.items(), key=lambda item: item[1]
    ):
        yield from _hypervisor(known, roots, uuid, name)


def share_findings(known: cloud.Cloud) -> Iterator[finding.Finding]:
    """Yield the shares whose roots have the marks of several agents."""
    by_share: dict[str, list[str]] = {}
    for one, roots in sorted(known.placement.marks.items()):
        nodes = error_text.counted(len(roots), 'node')
        by_share.setdefault(one.share, []).append(f'{one.agent} {nodes}')
    for name, agents in by_share.items():
        yield finding.Finding(
            kind=Kind.DIVIDED_SHARE,
            subject=name,
            why='several compute-agents have marked nodes of this share: '
            + ', '.join(agents),
            advice='stop all except one ("compute-agent status" shows the id '
            'of an agent), and run "compute-agent approve" beside that one',
        )


def _similar(known: cloud.Cloud) -> Iterator[finding.Finding]:
    """Yield each pair of roots that may be the same host."""
    by_key: dict[str, list[cloud.ListedProvider]] = {}
    for root in known.placement.roots():
        if not root.is_like_ironic:
            by_key.setdefault(key(root.name), []).append(root)
    for same in by_key.values():
        for one, other in itertools.combinations(same, 2):
            if are_similar(one.name, other.name):
                yield finding.Finding(
                    kind=Kind.SIMILAR_NAMES,
                    subject=f'{one} and {other}',
                    why='the names may be of the same host; '
                    + _known_to_nova(known.nova, one, other),
                )


def _known_to_nova(
    nova: cloud.Nova, one: cloud.ListedProvider, other: cloud.ListedProvider
) -> str:
    if nova.problem:
        return nova.problem
    known = [str(p) for p in (one, other) if p.uuid in nova.hypervisors]
    if not known:
        return 'nova knows neither uuid'
    if len(known) == 1:
        return f'nova knows only {known[0]}'
    return 'nova knows both uuids, as two hypervisors'


def _hypervisor(
    known: cloud.Cloud,
    roots: dict[str, cloud.ListedProvider],
    uuid: str,
    name: str,
) -> Iterator[finding.Finding]:
    """Yield the findings about one hypervisor of nova."""
    own = known.placement.providers.get(uuid)
    if own is not None and own.name != name:
        yield finding.Finding(
            kind=Kind.RENAMED,
            subject=str(own),
            why=f'nova calls the hypervisor of this uuid {name}',
            advice=f'compute-agent resource provider rename {uuid} {name}',
        )
    holder = roots.get(name.casefold())
    if holder is not None and holder.uuid != uuid:
        yield finding.Finding(
            kind=Kind.REINSTALLED,
            subject=str(holder),
            why=f'nova knows the host {name} as hypervisor {uuid}',
            advice='if the host was installed again, give it its former uuid '
            'there: compute-agent approve',
        )
    elif own is None and not names.is_uuid(name):
        yield finding.Finding(
            kind=Kind.UNREPORTED,
            subject=f'{name} ({uuid})',
            why='nova has this hypervisor, and placement no provider for it',
            advice='look at the log of the nova-compute or compute-agent there',
        )
