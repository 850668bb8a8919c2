# SPDX-License-Identifier: Apache-2.0
"""Find hosts that lack a trait that nearly all their peers have.

Pure: no I/O, configuration, logging or clock. The peers of a host are the
compute nodes whose trees have the same resource classes, and those in the same
aggregate. A trait counts if at least four of five peers have it, of five or
more. A host whose contents were not read is no peer. A difference is no fault by
itself: hardware differs. So the results are notes.
"""

from collections.abc import Iterable, Iterator, Sequence

from .. import error_text
from ..fleet.values import mark
from ..tree import names
from . import cloud, finding

LEAST = 5  # hosts of a group, the one without the trait included
SHARE = 0.8  # the part of them that has the trait

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
    by_aggregate: dict[str, list[cloud.ListedProvider]] = {}
    for root in placement.roots():
        contents = placement.contents.get(root.uuid)
        if root.uuid not in placement.compute_nodes or contents is None:
            continue
        if contents.traits is None or contents.aggregates is None:
            continue
        classes = _classes(placement, trees[root.uuid])
        if classes:
            by_classes.setdefault(classes, []).append(root)
        for aggregate in contents.aggregates:
            by_aggregate.setdefault(aggregate, []).append(root)
    for classes, hosts in by_classes.items():
        listed = error_text.listed(classes, 3)
        yield f'{len(hosts)} hosts with the same classes ({listed})', hosts
    for aggregate, hosts in sorted(by_aggregate.items()):
        yield f'{len(hosts)} hosts of the aggregate {aggregate}', hosts


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
