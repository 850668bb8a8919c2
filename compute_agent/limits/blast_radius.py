# SPDX-License-Identifier: Apache-2.0
"""How much one cycle may remove before a person has to agree.

Pure: no I/O, configuration, logging or clock. What counts: providers that are
deleted, and names (traits, aggregates, resource classes) that go while their
provider stays, against all the names that the cycle sees, whoever put them
there. A class whose whole total becomes reserved offers nothing any more and
counts as gone. The names of a deleted provider are part of that deletion.
"""

import dataclasses
from collections.abc import Iterable, Mapping

from ..tree import assertion, inventory, provider

Name = tuple[str, assertion.Kind, str]  # provider uuid, kind, name

FEW = 50  # so many names may go at any time, whatever share they are


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one cycle may remove without being told to.

    :ivar deletions: how many providers
    :ivar percent: which part of the names, where that is more than a few
    """

    deletions: int = 10
    percent: float = 20


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Removals:
    """What one node's plan removes.

    :ivar deleted: uuids of the providers
    :ivar names: those that go from providers that stay
    """

    deleted: frozenset[str] = frozenset()
    names: frozenset[Name] = frozenset()

    def __bool__(self) -> bool:
        """Whether there is anything."""
        return bool(self.deleted or self.names)


NOTHING = Removals()


def within(removals: Removals, judged: Iterable[Removals]) -> bool:
    """Whether all of this was judged, whichever node it was judged of.

    Nodes that share a provider find what another of them has left to remove.
    """
    every = list(judged)
    deleted = frozenset[str]().union(*(r.deleted for r in every))
    gone = frozenset[Name]().union(*(r.names for r in every))
    return removals.deleted <= deleted and removals.names <= gone


def names_of(providers: provider.Snapshot) -> dict[str, int]:
    """Return how many names there are, by provider."""
    return {
        uuid: len(p.traits) + len(p.aggregates) + len(p.inventories)
        for uuid, p in providers.items()
    }


def lost_classes(
    before: Mapping[str, inventory.Inventory],
    after: Mapping[str, inventory.Inventory],
) -> frozenset[str]:
    """Return the classes of which something could be had, and can no more."""
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


def refusal(
    removals: Iterable[Removals], seen: Mapping[str, int], limits: Limits
) -> str | None:
    """Return why nothing of all this is removed, None if it may be.

    :param removals: of every node of the cycle
    :param seen: the cycle's providers, and how many names each has
    """
    every = list(removals)
    deleted = frozenset[str]().union(*(r.deleted for r in every))
    gone = frozenset[Name]().union(*(r.names for r in every))
    total = sum(seen.values())
    if len(deleted) > limits.deletions:
        return _REFUSAL.format(
            f'delete more than {limits.deletions} providers', 'max_deletions'
        )
    if len(gone) >= FEW and len(gone) * 100 > limits.percent * total:
        return _REFUSAL.format(
            f'remove more than {limits.percent:g} % of all names',
            'max_removed_percent',
        )
    return None


# Without what changes from cycle to cycle: it is said anew only if it differs.
_REFUSAL = (
    'held back, for the whole cycle would {} ([compute_agent] {}): look at '
    '"compute-agent plan", then "compute-agent sync --yes" does it, or a '
    'higher limit'
)
