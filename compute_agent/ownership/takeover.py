# SPDX-License-Identifier: Apache-2.0
"""The first write to a provider that another writer created.

Pure: no I/O, configuration, logging or clock. Such a provider may have
inventory that guests use, so the first write needs a person's yes, once. The
state database records the yes. ``cycle/node/node_planner.py`` asks which
providers of a plan need one; ``cycle/node/node_cycle.py`` sends nothing to them
without it.

A root with the mark of another agent (``fleet/values/mark.py``) is that agent's, even
if this one created it: each write needs a yes, until this agent's mark has
replaced the other. The yes makes the other's mark count as this agent's, so the
next write removes it.
"""

import dataclasses
import enum
from collections.abc import Collection, Iterable, Iterator, Sequence

from .. import error_text
from ..fleet.values import mark
from ..limits import approval
from ..plan.operations.operations import Operation
from ..tree import assertion, names, provider, working_copy
from ..tree.assertion import Kind
from . import nova_traits, undeletable
from .record import Record

#: The second way to allow first writes, as messages name it.
ALL = (
    '[compute_agent] adopt_existing_roots = true allows all first writes, also '
    'later ones'
)
_BESIDE_NOVA = (
    'if nova-compute goes on to report this node, set [compute_agent] mode = '
    'companion instead'
)
_BACK = (
    f'to have this agent report the nodes of that one, {approval.ADVICE}, for '
    'all of them together; that one then writes nothing more to them'
)
_ELSEWHERE = (
    'if this agent reported it with another [compute_agent] state_path, set '
    'that path again instead: the record in it is of all nodes'
)


class Creator(enum.Enum):
    """The creator of a provider, as far as placement shows it.

    An agent of this project gives its roots COMPUTE_NODE and OWNER_NOVA, as
    nova-compute does. So these traits do not tell nova-compute from an agent.
    """

    NOVA = 'nova-compute'
    AGENT = 'another compute-agent'
    EITHER = 'nova-compute or another compute-agent'
    OTHER = 'another writer'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Takeover:
    """A provider of another writer, and the losses of the first write to it.

    :ivar is_root: True for the node's own root
    :ivar creator: the creator of the provider
    :ivar sign: the fact that tells the creator; empty if no fact does
    :ivar is_agreed: True if it needs no approval: this agent found the pool as
        it described it, and the write removes nothing; or a person allowed
        everything that waits
    :ivar marks: the marks of the other agents that report the node
    :ivar was_ours: True if one of these marks replaced this agent's mark
    :ivar is_of_share: True if the marks are of this agent's share, and its
        record does not have the node: this agent may have lost its state
    :ivar adopted: the providers that count as created by this agent after the
        approval
    :ivar classes: the resource classes that the write removes
    :ivar smaller: the resource classes whose totals it lowers
    :ivar traits: the traits that it removes
    :ivar aggregates: the aggregates that it removes
    """

    provider: provider.Provider
    is_root: bool
    creator: Creator = Creator.OTHER
    sign: str = ''
    is_agreed: bool = False
    marks: tuple[mark.Mark, ...] = ()
    was_ours: bool = False
    is_of_share: bool = False
    adopted: frozenset[str] = frozenset()
    classes: frozenset[str] = frozenset()
    smaller: frozenset[str] = frozenset()
    traits: frozenset[str] = frozenset()
    aggregates: frozenset[str] = frozenset()

    def __str__(self) -> str:
        """Return why the write waits, without advice or changing numbers."""
        if self.marks:
            return self._reported()
        subject = 'its root provider' if self.is_root else str(self.provider)
        return (
            f'the first write to {subject} waits for approval, because '
            f'{self._created()} it{self._inventory()}; the write would '
            f'{"; ".join([self._losses(), *self._other_ways()])}'
        )

    def brief(self) -> str:
        """Return the write as a line for a list, without advice."""
        if self.marks:
            return (
                f'take {self.provider} over from {self.others}; the first '
                f'write would {self._losses()}'
            )
        return (
            f'the first write to {self.provider}, which {self._created()}; '
            f'it would {self._losses()}'
        )

    @property
    def others(self) -> str:
        """The other agents that report the node; empty if none is known."""
        return others(self.marks)

    def _reported(self) -> str:
        if self.was_ours:
            return (
                f'{self.others} took the node over from this agent, which '
                'writes nothing more to it; stop this agent if that one is to '
                'go on'
            )
        before = (
            ', or this agent did with a state or a database that it has no more'
            if self.is_of_share
            else ''
        )
        return (
            f'{self.others} reports the node{before}, so this agent writes '
            'nothing to it; stop this agent if that one is to go on'
        )

    def _created(self) -> str:
        sign = f' (by {self.sign})' if self.sign else ''
        return f'{self.creator.value}{sign} created'

    @property
    def takes_nothing(self) -> bool:
        """True if the write removes no name; totals may fall."""
        return not (self.classes or self.traits or self.aggregates)

    def _inventory(self) -> str:
        return ' and it has inventory' if self.provider.inventories else ''

    def _other_ways(self) -> Iterator[str]:
        """Yield the advice for a creator that may go on, or was this agent."""
        if self.is_root and self.creator in {Creator.NOVA, Creator.EITHER}:
            yield _BESIDE_NOVA
        if self.creator in {Creator.AGENT, Creator.EITHER}:
            yield _ELSEWHERE

    def _losses(self) -> str:
        parts = [
            f'{verb} {error_text.listed(found)}'
            for verb, found in (
                ('remove the inventory of', self.classes),
                ('lower the total of', self.smaller),
                ('remove', self.traits | self.aggregates),
            )
            if found
        ]
        return ' and '.join(parts) or 'take nothing away'


def marks_on(
    node_uuid: str,
    seen: provider.Snapshot,
    record: Record,
    own: mark.Mark | None,
) -> list[mark.Mark]:
    """Return the marks on a node's root that no person has approved.

    :param own: the mark of this agent; None if it ignores other agents' marks
    """
    if node_uuid not in seen:
        return []
    ours = record.ours.get((node_uuid, Kind.TRAIT), ())
    found = mark.others(seen[node_uuid].traits, own)
    return [one for one in found if one.trait not in ours]


def others(marks: Iterable[mark.Mark]) -> str:
    """Return the agents of these marks, for a message."""
    found = sorted(marks)
    noun = 'another compute-agent' if len(found) == 1 else 'other agents'
    return f'{noun} ({"; ".join(map(str, found))})' if found else ''


def summary(nodes: Sequence[str], reporting: str = '') -> str:
    """Return one message for many nodes whose first writes need a yes.

    :param reporting: the other agents that report them, if any do
    """
    if reporting:
        return (
            f'{len(nodes)} nodes wait, because {reporting} reports them: '
            f'{error_text.listed(nodes)}; stop this agent if that one is to go '
            f'on; {_BACK}'
        )
    return (
        f'{len(nodes)} nodes wait for approval of the first write to a '
        'provider that another writer created and that has inventory: '
        f'{error_text.listed(nodes)}; {approval.ADVICE}; {ALL}; if this agent reported them '
        'with another [compute_agent] state_path, set that path again instead'
    )


def subject(waiting: Takeover) -> approval.Subject:
    """Return the first write to a provider as a subject of an approval."""
    if waiting.marks:
        return approval.subject(
            approval.Kind.SHARE,
            (waiting.provider.uuid, *(one.trait for one in waiting.marks)),
        )
    return approval.subject(
        approval.Kind.FIRST_WRITE, (waiting.provider.uuid,)
    )


def takeovers(
    node_uuid: str,
    before: provider.Snapshot,
    described: Iterable[str],
    operations: Iterable[Operation],
    record: Record,
    *,
    asks_beside_nova: bool = False,
    marks: Sequence[mark.Mark] = (),
    own: mark.Mark | None = None,
) -> tuple[Takeover, ...]:
    """Return the first writes to other writers' providers in a plan.

    A root with marks waits, whatever is planned, and its tree with it.

    :param described: the providers to ask about
    :param asks_beside_nova: True if the operator did not say that this agent,
        and not nova-compute, reports the node; then a root with OWNER_NOVA
        needs a yes also without inventory
    :param marks: the marks of other agents on the node's root, without a yes
    :param own: the mark of this agent
    """
    planned = list(operations)
    touched = frozenset[str]().union(*(op.providers for op in planned))
    found = [
        uuid
        for uuid in described
        if uuid in touched
        and uuid in before
        and (
            before[uuid].inventories
            or (
                asks_beside_nova
                and uuid == node_uuid
                and names.OWNER_NOVA in before[uuid].traits
            )
        )
        and (
            not is_written(record, uuid)
            or (uuid == node_uuid and _only_added_to(record, uuid))
        )
    ]
    if not found and not marks:
        return ()
    home = provider.descendants(before, node_uuid)
    if marks:
        found = [node_uuid, *(uuid for uuid in found if uuid not in home)]
    after: provider.Snapshot = working_copy.WorkingCopy(before)
    for operation in planned:
        after = operation.apply_to(after)
    every = [
        _takeover(before, after, uuid, is_root=uuid == node_uuid)
        for uuid in found
    ]
    if marks:
        every[0] = _marked(every[0], marks, own, before, record)
    return tuple(
        dataclasses.replace(
            one,
            is_agreed=one.provider.uuid not in home
            and one.takes_nothing
            and _is_described(record, one.provider.uuid),
        )
        for one in every
    )


def _marked(
    root: Takeover,
    marks: Sequence[mark.Mark],
    own: mark.Mark | None,
    before: provider.Snapshot,
    record: Record,
) -> Takeover:
    """Return the takeover of a root that other agents report.

    These agents created or adopted the providers in the tree that have nova's
    mark. The removal of an agent's mark is no loss.
    """
    uuid = root.provider.uuid
    claims = record.claims.get((uuid, Kind.TRAIT), {})
    was_ours = any(map(mark.parse, claims.get(assertion.AGENT, ())))
    share = own and own.share
    return dataclasses.replace(
        root,
        marks=tuple(marks),
        was_ours=was_ours,
        is_of_share=not was_ours and all(one.share == share for one in marks),
        traits=root.traits - {one.trait for one in marks},
        adopted=frozenset(
            one
            for one in provider.descendants(before, uuid)
            if names.OWNER_NOVA in before[one].traits
        ),
    )


def _is_described(record: Record, uuid: str) -> bool:
    """Return True if a source of this agent claims inventory of a provider.

    Such a claim is recorded once the provider is as the source describes it.
    """
    claims = record.claims.get((uuid, Kind.INVENTORY), {})
    return any(claims.values())


def is_written(record: Record, uuid: str) -> bool:
    """Return True if this agent created or wrote to the provider before."""
    return (
        uuid in record.created
        or uuid in record.taken_over
        or any(added for (u, _), added in record.ours.items() if u == uuid)
    )


def _only_added_to(record: Record, root: str) -> bool:
    """Return True if this agent wrote to the root as a companion only.

    An owner claims COMPUTE_NODE and OWNER_NOVA on its roots, and a reporter
    has inventory there.
    """
    claims = record.claims.get((root, Kind.TRAIT), {})
    return (
        root not in record.created | record.taken_over
        and assertion.AGENT not in claims
        and not record.ours.get((root, Kind.INVENTORY))
    )


def is_reported(record: Record, uuid: str) -> bool:
    """Return True if this agent ever reported the provider for the node.

    A provider whose first write waits for a yes was not reported yet.
    """
    return is_written(record, uuid) or any(u == uuid for u, _ in record.claims)


def _takeover(
    before: provider.Snapshot,
    after: provider.Snapshot,
    uuid: str,
    *,
    is_root: bool,
) -> Takeover:
    old = before[uuid]
    deleted = provider.Provider(uuid=uuid, name=old.name)
    new = after.get(uuid, deleted)
    creator, sign = _creator(before, old, old.traits - new.traits)
    return Takeover(
        provider=old,
        is_root=is_root,
        creator=creator,
        sign=sign,
        classes=frozenset(old.inventories.keys() - new.inventories.keys()),
        smaller=frozenset(
            rc
            for rc, record in new.inventories.items()
            if rc in old.inventories
            and record.total < old.inventories[rc].total
        ),
        traits=old.traits - new.traits,
        aggregates=old.aggregates - new.aggregates,
    )


def _creator(
    before: provider.Snapshot, one: provider.Provider, lost: Collection[str]
) -> tuple[Creator, str]:
    """Return the creator of a provider, and the fact that tells it.

    :param lost: the traits that the first write removes. nova-compute gives a
        root a trait for each of its capabilities; if the driver describes the
        same ones, they tell nothing.
    """
    if undeletable.is_derived(before, one.uuid):
        return Creator.AGENT, 'its uuid'
    novas = sorted(t for t in lost if nova_traits.is_nova_computes(t))
    if names.COMPUTE_STATUS_DISABLED in one.traits:
        novas.insert(0, names.COMPUTE_STATUS_DISABLED)
    if novas:
        return Creator.NOVA, f'its trait {novas[0]}'
    for uuid in provider.descendants(before, one.uuid):
        child = before[uuid]
        if nova_traits.MANAGED_PCI in child.traits:
            return Creator.NOVA, f'{nova_traits.MANAGED_PCI} of {child}'
        # A companion derives uuids below nova's roots, but marks nothing.
        if names.OWNER_NOVA in child.traits and undeletable.is_derived(
            before, uuid
        ):
            return Creator.AGENT, f'the uuid of {child}'
    if names.OWNER_NOVA in one.traits:
        return Creator.EITHER, f'its trait {names.OWNER_NOVA}'
    owners = sorted(t for t in one.traits if t.startswith(names.OWNER_PREFIX))
    return Creator.OTHER, f'its trait {owners[0]}' if owners else ''
