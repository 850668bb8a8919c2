# SPDX-License-Identifier: Apache-2.0
"""Find hosts that lack a trait that nearly all their peers have.

Pure: no I/O, configuration, logging or clock. The peers of a host are the
compute nodes whose trees have the same resource classes, and the hypervisors in
the same aggregate. A bare-metal node is a peer of no hypervisor, and hosts of
different architectures are no peers. A trait counts if at least four of five
peers have it, of five or more. A host whose contents were not read is no peer. A
difference is no fault by itself: hardware differs. So the results are notes.
"""

from collections.abc import Iterable, Iterator, Sequence

from .. import error_text
from ..fleet.values import mark
from ..tree import names
from . import cloud, finding

LEAST = 5  # hosts of a group, the one without the trait included
SHARE = 0.8  # the part of them that has the trait

_ARCHITECTURE = 'HW_ARCH_'

# Traits that tell the state of a host, or who owns it, and not what it can do.
_OF_STATE = {names.COMPUTE_NODE, names.COMPUTE_STATUS_DISABLED}


def findings(known: cloud.Cloud) -> Iterator[finding.Finding]:
    """Yield a note for each trait that a host lacks, unlike its peers."""
    placement = known.placement
    if not placement.is_complete:
        return
    told = set[tuple[str, str]]()
    for words, hosts in _groups(placement):
        for trait, count, lacking in _rare_gaps(placement, hosts):
            for one in lacking:
                if (one.uuid, trait) not in told:
                    told.add((one.uuid, trait))
                    yield _lacks(one, trait, f'{count} of {words}')


def _groups(
    placement: cloud.Placement,
) -> Iterator[tuple[str, list[cloud.ListedProvider]]]:
    """Yield each group of peers, with the words for it."""
    trees = placement.trees()
    by_classes: dict[frozenset[str], list[cloud.ListedProvider]] = {}
    by_aggregate: dict[
        tuple[str, frozenset[str]], list[cloud.ListedProvider]
    ] = {}
    for root in placement.roots():
        contents = placement.contents.get(root.uuid)
        if root.uuid not in placement.compute_nodes or contents is None:
            continue
        if contents.traits is None or contents.aggregates is None:
            continue
        classes = _classes(placement, trees[root.uuid])
        if classes:
            by_classes.setdefault(classes, []).append(root)
        kind = _kind(classes or frozenset())
        for aggregate in contents.aggregates:
            by_aggregate.setdefault((aggregate, kind), []).append(root)
    for classes, hosts in by_classes.items():
        yield from _of_one_architecture(placement, hosts, _same(classes))
    for (aggregate, kind), hosts in sorted(
        by_aggregate.items(), key=lambda each: (each[0][0], sorted(each[0][1]))
    ):
        words = f' of the aggregate {aggregate}'
        if kind:
            words += _same(kind)
        yield from _of_one_architecture(placement, hosts, words)


def _same(classes: frozenset[str]) -> str:
    return f' with the same classes ({error_text.listed(classes, 3)})'


def _kind(classes: frozenset[str]) -> frozenset[str]:
    """Return what tells nodes of one aggregate apart.

    Hypervisors offer standard classes. A bare-metal node offers only the class
    of its kind of hardware, which is custom, and differs from other kinds.
    """
    return classes if all(map(names.is_custom, classes)) else frozenset()


def _of_one_architecture(
    placement: cloud.Placement,
    hosts: Sequence[cloud.ListedProvider],
    words: str,
) -> Iterator[tuple[str, list[cloud.ListedProvider]]]:
    """Yield the hosts of each architecture, with the words for them.

    A host that does not tell its architecture is a peer of those of the only
    one, if there is only one.
    """
    parts: dict[frozenset[str], list[cloud.ListedProvider]] = {}
    for one in hosts:
        traits = placement.contents[one.uuid].traits or frozenset()
        found = frozenset(t for t in traits if t.startswith(_ARCHITECTURE))
        parts.setdefault(found, []).append(one)
    if len(parts.keys() - {frozenset()}) < 2:
        yield f'{len(hosts)} hosts{words}', [*hosts]
        return
    for found, some in sorted(parts.items(), key=lambda part: sorted(part[0])):
        arch = error_text.listed(found, 3) or 'no architecture'
        yield f'{len(some)} hosts{words} and {arch}', some


def _classes(
    placement: cloud.Placement, tree: Iterable[cloud.ListedProvider]
) -> frozenset[str] | None:
    """Return the resource classes of a tree; None if one is unknown."""
    found = set[str]()
    for one in tree:
        contents = placement.contents.get(one.uuid)
        if contents is None:
            return None
        found.update(contents.inventories)
    return frozenset(found)


def _rare_gaps(
    placement: cloud.Placement, hosts: Sequence[cloud.ListedProvider]
) -> Iterator[tuple[str, int, list[cloud.ListedProvider]]]:
    """Yield each trait that nearly all hosts have, and those without it."""
    if len(hosts) < LEAST:
        return
    has = {
        one.uuid: placement.contents[one.uuid].traits or frozenset()
        for one in hosts
    }
    counts: dict[str, int] = {}
    for traits in has.values():
        for trait in traits:
            counts[trait] = counts.get(trait, 0) + 1
    marks = {one.trait for one in mark.marks(counts)}
    for trait, count in sorted(counts.items()):
        if trait in _OF_STATE or trait in marks:
            continue
        if SHARE * len(hosts) <= count < len(hosts):
            yield trait, count, [o for o in hosts if trait not in has[o.uuid]]


def _lacks(
    one: cloud.ListedProvider, trait: str, peers: str
) -> finding.Finding:
    return finding.Finding(
        kind=finding.Kind.UNLIKE_PEERS,
        level=finding.Level.NOTE,
        subject=str(one),
        why=f'it lacks {trait}, which {peers} have',
        advice=f'on that host: compute-agent explain {trait}',
    )
