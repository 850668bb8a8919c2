# SPDX-License-Identifier: Apache-2.0
"""Limits on removals in one cycle; larger removals need confirmation.

Pure: no I/O, configuration, logging or clock. Two things count: providers that
are deleted, and names (traits, aggregates, resource classes) that are removed
while their provider stays. The names are compared with all names that the
cycle sees, whoever added them. A resource class whose whole total becomes
reserved has no capacity any more and counts as removed. The names of a deleted
provider are part of that deletion.
"""

import dataclasses
from collections.abc import Iterable, Mapping

from ..tree import assertion, inventory, provider

Name = tuple[str, assertion.Kind, str]  # provider uuid, kind, name

FEW = 50  # fewer names than this are always removed, whatever their percentage


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The removals that one cycle makes without confirmation.

    :ivar deletions: number of deleted providers
    :ivar percent: removed names as a percentage of all names; it applies from
        ``FEW`` names on
    """

    deletions: int = 10
    percent: float = 20


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Removals:
    """The removals in one node's plan.

    :ivar deleted: uuids of the deleted providers
    :ivar names: names removed from providers that stay
    """

    deleted: frozenset[str] = frozenset()
    names: frozenset[Name] = frozenset()

    def __bool__(self) -> bool:
        """Return True if there is any removal."""
        return bool(self.deleted or self.names)


NOTHING = Removals()


def covered(removals: Removals, judged: Iterable[Removals]) -> bool:
    """Return True if all these removals were judged, for this or other nodes.

    Nodes that share a provider may find removals in it that were judged as
    part of another node's plan.
    """
    total = _union(judged)
    return removals.deleted <= total.deleted and removals.names <= total.names


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


def exceeded_limit(
    removals: Iterable[Removals], seen: Mapping[str, int], limits: Limits
) -> str | None:
    """Return a message if the removals exceed a limit, else None.

    :param removals: those of every node of the cycle
    :param seen: the number of names of each provider that the cycle sees
    """
    total = _union(removals)
    deleted, removed = total.deleted, total.names
    if len(deleted) > limits.deletions:
        return _EXCEEDED.format(
            f'delete more than {limits.deletions} providers', 'max_deletions'
        )
    if len(removed) >= FEW and len(removed) * 100 > limits.percent * sum(
        seen.values()
    ):
        return _EXCEEDED.format(
            f'remove more than {limits.percent:g} % of all names',
            'max_removed_percent',
        )
    return None


# The message has no numbers that change from cycle to cycle, because a message
# is logged again only if it differs.
_EXCEEDED = (
    'waits for confirmation, because the whole cycle would {} '
    '([compute_agent] {}): check "compute-agent plan", then confirm with '
    '"compute-agent sync --yes" or raise the limit'
)


def _union(removals: Iterable[Removals]) -> Removals:
    every = list(removals)
    return Removals(
        deleted=frozenset[str]().union(*(r.deleted for r in every)),
        names=frozenset[Name]().union(*(r.names for r in every)),
    )
