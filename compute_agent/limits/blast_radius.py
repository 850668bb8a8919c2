# SPDX-License-Identifier: Apache-2.0
"""Limits on removals in one cycle; a mass of them needs confirmation.

Pure: no I/O, configuration, logging or clock. Three things count: providers
that are deleted, traits and aggregates that are removed while their provider
stays, and totals that fall. The contents of a deleted provider are part of its
deletion. A limit counts nodes, not things: one node may lose all that it has,
but not a large share of the nodes in the same cycle. ``judgement.py`` applies
the limit.

A total that moves to another provider in the view of the same node is no
loss. ``Case``, ``Batch`` and ``Listed`` are the values that are judged.
"""

import dataclasses
from collections.abc import Iterable, Mapping

from ..tree import assertion

# Units of a class: a smaller fall of a node's total is no loss of capacity,
# unless nothing is left of the class.
FEW_UNITS = 4
# If fewer nodes than this lose something, that is no mass.
FEW_NODES = 3

Total = tuple[str, str]  # provider uuid, resource class
Changes = Mapping[Total, tuple[int, int]]  # the totals before and after
Name = tuple[str, assertion.Kind, str]  # provider uuid, kind, name


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The removals that one cycle makes without confirmation.

    :ivar percent: the share of the nodes that may lose something at once, and
        the share of a resource class that a node loses before that counts; 0
        if every removal needs confirmation, 100 if none does
    """

    percent: float = 20

    def is_mass(self, nodes: int, of: int) -> bool:
        """Return True if a person must approve the removals of these nodes.

        :param of: the number of nodes that the agent has, or had
        """
        if not self.percent:
            return nodes > 0
        return nodes >= FEW_NODES and nodes * 100 > self.percent * of

    def lost_classes(self, changes: Changes) -> dict[str, tuple[int, int]]:
        """Return class → total before and after, if a node loses much of it.

        :param changes: the totals of the node's classes that change
        """
        sums = _sums(changes)
        return {
            rc: (before, after)
            for rc, (before, after) in sums.items()
            if after < before
            and (
                not after
                or (
                    before - after >= FEW_UNITS
                    and (before - after) * 100 > self.percent * before
                )
            )
        }


def _sums(changes: Changes) -> dict[str, tuple[int, int]]:
    """Return the sums of each class, before and after."""
    found: dict[str, tuple[int, int]] = {}
    for (_, rc), (before, after) in changes.items():
        old, new = found.get(rc, (0, 0))
        found[rc] = old + before, new + after
    return found


def losses(changes: Changes) -> dict[str, int]:
    """Return the classes that fall, each with the units that it loses."""
    return {
        rc: before - after
        for rc, (before, after) in _sums(changes).items()
        if after < before
    }


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Removals:
    """The removals in one node's plan.

    :ivar deleted: uuids of the deleted providers
    :ivar names: traits and aggregates removed from providers that stay
    :ivar totals: all totals of the resource classes that change, on providers
        that stay
    """

    deleted: frozenset[str] = frozenset()
    names: frozenset[Name] = frozenset()
    totals: Changes = dataclasses.field(default_factory=dict)

    def __bool__(self) -> bool:
        """Return True if the node loses anything."""
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


def _is_within(changes: Changes, judged: Iterable[Changes]) -> bool:
    """Return True if these removals are the judged ones, or hardly more."""
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


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Nodes that left the driver's list in the same cycle.

    :ivar nodes: the nodes that are not back and whose existence the driver
        does not confirm
    :ivar agent_nodes: the number of nodes that the agent had then; 0 if a
        person approved the departures
    :ivar is_all: True if no node stayed that the agent had before
    """

    nodes: frozenset[str]
    agent_nodes: int
    is_all: bool = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Mass:
    """A mass as it was when its removals were held.

    :ivar nodes: the number of nodes that took part
    :ivar of: the number of nodes that the agent had
    """

    nodes: int
    of: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A node's plan that removes something.

    :ivar batch: the nodes that left with it; None if the node did not leave
    """

    node_uuid: str
    removals: Removals
    batch: Batch | None = None
