# SPDX-License-Identifier: Apache-2.0
"""A provider's tree, the providers that share with it, and their facts.

Pure: no I/O, configuration, logging or clock. ``wording.py`` words these
facts. Only placement decides which trees are candidates.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from compute_agent.tree import inventory, names, provider

from . import answer


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NearProvider:
    """A provider of the neighbourhood, and its used amounts.

    :ivar used: resource class → amount in use
    """

    provider: provider.Provider
    used: Mapping[str, int]

    @property
    def name(self) -> str:
        """The provider's name."""
        return self.provider.name

    @property
    def traits(self) -> frozenset[str]:
        """The provider's traits."""
        return self.provider.traits

    @property
    def aggregates(self) -> frozenset[str]:
        """The uuids of the provider's aggregates."""
        return self.provider.aggregates

    def has_any(self, traits: Iterable[str]) -> bool:
        """Return True if it has one of these traits."""
        return not self.traits.isdisjoint(traits)

    def is_in(self, aggregates: Iterable[str]) -> bool:
        """Return True if it is in one of these aggregates."""
        return not self.aggregates.isdisjoint(aggregates)

    @property
    def inventories(self) -> Mapping[str, inventory.Inventory]:
        """The provider's inventories by resource class."""
        return self.provider.inventories

    @property
    def shares(self) -> bool:
        """True if it shares its inventory with its aggregates' members."""
        return names.MISC_SHARES_VIA_AGGREGATE in self.traits

    def capacity(self, rc: str) -> int:
        """Return the capacity of a class, used or not."""
        return int(self.inventories[rc].capacity)

    def free(self, rc: str) -> int:
        """Return the free amount of a class; 0 if it is overcommitted."""
        return max(self.capacity(rc) - self.used.get(rc, 0), 0)

    def can_provide(self, rc: str, amount: int) -> bool:
        """Return True if it could provide this amount of a class."""
        record = self.inventories.get(rc)
        return (
            record is not None
            and record.min_unit <= amount <= record.max_unit
            and amount % record.step_size == 0
            and self.used.get(rc, 0) + amount <= record.capacity
        )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """All providers that can be part of a candidate together with one tree.

    :ivar tree: the tree's providers, the root first
    :ivar sharing: providers of other trees that share with it
    :ivar reached: the uuids of the roots of the trees that it shares with
    """

    tree: Sequence[NearProvider]
    sharing: Sequence[NearProvider]
    reached: frozenset[str]

    @property
    def root(self) -> NearProvider:
        """The root of the tree."""
        return self.tree[0]

    @property
    def uuids(self) -> frozenset[str]:
        """The uuids of the tree's providers."""
        return frozenset(p.provider.uuid for p in self.tree)

    @property
    def providers(self) -> list[NearProvider]:
        """The tree's providers, then those that share with it."""
        return [*self.tree, *self.sharing]

    @property
    def shares(self) -> bool:
        """True if a provider of the tree shares with other trees."""
        return any(p.shares for p in self.tree)

    @property
    def shares_nothing(self) -> bool:
        """True if the tree shares nothing, and no other provider with it."""
        return not self.sharing and not self.shares

    def having(self, rc: str) -> list[NearProvider]:
        """Return the providers with a resource class, the tree's own first."""
        return [p for p in self.providers if rc in p.inventories]

    def is_candidate(self, found: answer.Answer) -> bool:
        """Return True if the tree is among the candidates."""
        return not self.uuids.isdisjoint(found.summaries)

    def is_compatible(self, found: answer.Answer) -> bool:
        """Return True if the tree could take part in a candidate.

        A tree can take part without providing a resource. Then all resources
        come from providers that share with the tree or, if the tree shares,
        from one tree with which it shares.
        """
        if self.is_candidate(found):
            return True
        sharing = {p.provider.uuid for p in self.sharing}
        return any(
            self._can_join(found, set(allocation.resources) - sharing)
            for allocation in found.allocations
        )

    def _can_join(self, found: answer.Answer, others: Iterable[str]) -> bool:
        """Return True if these providers can be in one candidate with it."""
        roots = {found.summaries[uuid].root_uuid for uuid in others}
        return not roots or (len(roots) == 1 and roots <= self.reached)
