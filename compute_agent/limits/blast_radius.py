# SPDX-License-Identifier: Apache-2.0
"""Limits on removals in one cycle; larger removals need confirmation.

Pure: no I/O, configuration, logging or clock. Three things count: providers
that are deleted, names (traits, aggregates, resource classes) that are removed
while their provider stays, and totals that fall. The names are compared with
all names that the cycle sees, whoever added them. A resource class whose whole
total becomes reserved has no capacity any more and counts as removed. The
names of a deleted provider are part of that deletion. ``judgement.py`` applies
the limits.

A total that moves to another provider in the view of the same node is no
loss. The total of one node that grows does not make up for another's that
falls. ``Case``, ``Batch`` and ``Seen`` are the values that are judged.
"""

import collections
import dataclasses
from collections.abc import Iterable, Mapping

from ..tree import assertion, inventory, provider

# Units of a class: a smaller fall, over all nodes, never needs confirmation.
FEW_UNITS = 4

Total = tuple[str, str]  # provider uuid, resource class
Totals = Mapping[Total, int]
Changes = Mapping[Total, tuple[int, int]]  # the totals before and after


def _net(changes: Changes) -> dict[str, int]:
    """Return by how much each class grows; a fall is below zero."""
    found: collections.Counter[str] = collections.Counter()
    for (_, rc), (before, after) in changes.items():
        found[rc] += after - before
    return dict(found)


def losses(changes: Changes) -> dict[str, int]:
    """Return the classes that fall, each with the units that it loses."""
    return {rc: -units for rc, units in _net(changes).items() if units < 0}


def exceeded_classes(
    changes: Iterable[Changes], before: Totals, percent: float
) -> dict[str, bool]:
    """Return the resource classes that lose too much in a cycle.

    The value is True if nothing is left of the class on any node.

    :param changes: those of every node of the cycle; a provider that several
        nodes change counts once
    :param before: all totals that the nodes of the cycle have
    :param percent: the largest part of a class that may go; 100 for no limit
    """
    lost: collections.Counter[str] = collections.Counter()
    grown: collections.Counter[str] = collections.Counter()
    for of_node in _each_once(changes):
        for rc, units in _net(of_node).items():
            (grown if units > 0 else lost)[rc] += abs(units)
    had = _sums(before)
    found = {}
    for rc, units in lost.items():
        is_gone = units >= had[rc] > 0 and not grown[rc]
        is_fall = units >= FEW_UNITS and units * 100 > percent * had[rc]
        if percent < _NO_LIMIT and (is_gone or is_fall):
            found[rc] = is_gone
    return found


def _is_within(changes: Changes, judged: Iterable[Changes]) -> bool:
    """Return True if this takes away what was judged, or hardly more."""
    providers = {uuid for uuid, _ in changes}
    agreed = losses(
        {
            total: change
            for of_node in judged
            for total, change in of_node.items()
            if total[0] in providers
        }
    )
    return all(
        units - agreed.get(rc, 0) < FEW_UNITS
        for rc, units in losses(changes).items()
    )


_NO_LIMIT = 100


def _each_once(
    changes: Iterable[Changes],
) -> list[dict[Total, tuple[int, int]]]:
    seen: set[Total] = set()
    found = []
    for of_node in changes:
        found.append({t: c for t, c in of_node.items() if t not in seen})
        seen |= of_node.keys()
    return found


def _sums(totals: Totals) -> collections.Counter[str]:
    found: collections.Counter[str] = collections.Counter()
    for (_, rc), total in totals.items():
        found[rc] += total
    return found


Name = tuple[str, assertion.Kind, str]  # provider uuid, kind, name

FEW = 50  # fewer names than this are always removed, whatever their percentage


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The removals that one cycle makes without confirmation.

    :ivar deletions: number of providers that a cycle deletes; 0 for none
    :ivar percent: the share of the nodes that may depart at once, of the
        providers that may be deleted at once, and of the names that may be
        removed at once; it applies from more than ``deletions`` providers,
        and from ``FEW`` names on
    :ivar capacity_percent: the share of a resource class's total that may go
        at once; 100 for no limit
    """

    deletions: int = 10
    percent: float = 20
    capacity_percent: float = 20


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Removals:
    """The removals in one node's plan.

    :ivar deleted: uuids of the deleted providers
    :ivar names: names removed from providers that stay
    :ivar totals: the totals of resource classes that change
    """

    deleted: frozenset[str] = frozenset()
    names: frozenset[Name] = frozenset()
    totals: Changes = dataclasses.field(default_factory=dict)

    def __bool__(self) -> bool:
        """Return True if there is any removal."""
        return bool(self.deleted or self.names or losses(self.totals))


NOTHING = Removals()


def covered(removals: Removals, judged: Iterable[Removals]) -> bool:
    """Return True if all these removals were judged, for this or other nodes.

    Nodes that share a provider may find removals in it that were judged as
    part of another node's plan.
    """
    every = list(judged)
    return (
        removals.deleted <= frozenset[str]().union(*(r.deleted for r in every))
        and removals.names
        <= frozenset[Name]().union(*(r.names for r in every))
        and _is_within(removals.totals, (r.totals for r in every))
    )


def name_counts(providers: provider.Snapshot) -> dict[str, int]:
    """Return the number of names of each provider, by uuid."""
    return {
        uuid: len(p.traits) + len(p.aggregates) + len(p.inventories)
        for uuid, p in providers.items()
    }


def lost_classes(
    before: Mapping[str, inventory.Inventory],
    after: Mapping[str, inventory.Inventory],
) -> frozenset[str]:
    """Return the resource classes that lost all their free capacity."""
    return frozenset(
        rc
        for rc, old in before.items()
        if rc not in after
        or (
            after[rc].reserved
            >= after[rc].total
            > 0
            < old.total - old.reserved
        )
    )


def too_many_names(
    removed: int, seen: Mapping[str, int], limits: Limits
) -> bool:
    """Return True if a cycle would remove too many names.

    :param seen: the number of names of each provider that the cycle sees
    """
    return removed >= FEW and removed * 100 > limits.percent * sum(
        seen.values()
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Nodes that left the driver's list in the same cycle.

    :ivar left_at: when they left, in seconds since the epoch
    :ivar nodes: the nodes that are not back and whose existence the driver
        does not confirm
    :ivar unasked: the number of these nodes whose existence the driver does
        not deny either
    :ivar agent_nodes: the number of nodes that the agent had then; 0 if a
        person approved the departures
    """

    left_at: float
    nodes: frozenset[str]
    unasked: int = 0
    agent_nodes: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A node's plan that removes something.

    :ivar since: when the removals were first due, in seconds since the epoch
    :ivar batch: the nodes that left with it; None if the node did not leave
    """

    node_uuid: str
    removals: Removals
    since: float
    batch: Batch | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The contents of placement that the cycle's listed nodes see.

    :ivar names: the number of names of each provider
    :ivar totals: the totals of the nodes' own providers
    :ivar is_empty: True if the driver lists no node any more
    """

    names: Mapping[str, int] = dataclasses.field(default_factory=dict)
    totals: Totals = dataclasses.field(default_factory=dict)
    is_empty: bool = False
