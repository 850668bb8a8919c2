# SPDX-License-Identifier: Apache-2.0
"""Limits on removals in one cycle; larger removals need confirmation.

Pure: no I/O, configuration, logging or clock. Three things count: providers
that are deleted, names (traits, aggregates, resource classes) that are removed
while their provider stays, and totals that fall (``capacity.py``). The names
are compared with all names that the cycle sees, whoever added them. A resource
class whose whole total becomes reserved has no capacity any more and counts as
removed. The names of a deleted provider are part of that deletion.
``judgement.py`` applies the limits.
"""

import dataclasses
from collections.abc import Iterable, Mapping

from ..tree import assertion, inventory, provider
from . import capacity

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
    totals: capacity.Changes = dataclasses.field(default_factory=dict)

    def __bool__(self) -> bool:
        """Return True if there is any removal."""
        return bool(self.deleted or self.names or capacity.losses(self.totals))


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
        and capacity.is_within(removals.totals, (r.totals for r in every))
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
