# SPDX-License-Identifier: Apache-2.0
"""A provider's tree, what shares with it, and whom it shares with.

Pure: no I/O, configuration, logging or clock. These are the facts on which a
"why not" is put into words; who is a candidate is placement's to say.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from compute_agent.tree import inventory, names, provider

from .. import answer


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A provider, and how much of each resource class is used."""

    provider: provider.Provider
    used: Mapping[str, int]

    @property
    def name(self) -> str:
        """Its name."""
        return self.provider.name

    @property
    def traits(self) -> frozenset[str]:
        """Its traits."""
        return self.provider.traits

    @property
    def aggregates(self) -> frozenset[str]:
        """The uuids of its aggregates."""
        return self.provider.aggregates

    def has_any(self, traits: Iterable[str]) -> bool:
        """Whether it has one of these traits."""
        return not self.traits.isdisjoint(traits)

    def is_in(self, aggregates: Iterable[str]) -> bool:
        """Whether it is in one of these aggregates."""
        return not self.aggregates.isdisjoint(aggregates)

    @property
    def inventories(self) -> Mapping[str, inventory.Inventory]:
        """What it has, by resource class."""
        return self.provider.inventories

    @property
    def shares(self) -> bool:
        """Whether others may be given something of it."""
        return names.MISC_SHARES_VIA_AGGREGATE in self.traits

    def capacity(self, rc: str) -> int:
        """Return how much there is of a class, used or not."""
        return int(self.inventories[rc].capacity)

    def free(self, rc: str) -> int:
        """Return how much of a class is left."""
        return max(self.capacity(rc) - self.used.get(rc, 0), 0)

    def gives(self, rc: str, amount: int) -> bool:
        """Whether so much of a class could come from it."""
        record = self.inventories.get(rc)
        return (
            record is not None
            and record.min_unit <= amount <= record.max_unit
            and amount % record.step_size == 0
            and self.used.get(rc, 0) + amount <= record.capacity
        )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Vicinity:
    """All that could take part in a candidate together with one tree.

    :ivar tree: its providers, the root first
    :ivar sharing: those of other trees that share with it
    :ivar reached: roots of the trees that it shares with
    """

    tree: Sequence[Standing]
    sharing: Sequence[Standing]
    reached: frozenset[str]

    @property
    def root(self) -> Standing:
        """The root of the tree."""
        return self.tree[0]

    @property
    def uuids(self) -> frozenset[str]:
        """Those of its own providers."""
        return frozenset(one.provider.uuid for one in self.tree)

    @property
    def near(self) -> list[Standing]:
        """Its own providers, then those that share with it."""
        return [*self.tree, *self.sharing]

    @property
    def shares(self) -> bool:
        """Whether something of the tree is shared with others."""
        return any(one.shares for one in self.tree)

    @property
    def is_alone(self) -> bool:
        """Whether nothing is shared with the tree, nor by it."""
        return not self.sharing and not self.shares

    def having(self, rc: str) -> list[Standing]:
        """Return who has a resource class, the tree's own first."""
        return [one for one in self.near if rc in one.inventories]

    def takes_part(self, answer: answer.Answer) -> bool:
        """Whether the tree is among the candidates."""
        return not self.uuids.isdisjoint(answer.summaries)

    def goes_with(self, answer: answer.Answer) -> bool:
        """Whether the tree could take part, had it been asked for something.

        That is so where all would come from those that share with it, or, for
        one that shares, from one tree that it shares with.
        """
        if self.takes_part(answer):
            return True
        sharing = {one.provider.uuid for one in self.sharing}
        return any(
            self._complete(answer, set(one.resources) - sharing)
            for one in answer.allocations
        )

    def _complete(self, answer: answer.Answer, others: Iterable[str]) -> bool:
        """Whether these others can be one candidate with the tree."""
        roots = {answer.summaries[uuid].root_uuid for uuid in others}
        return not roots or (len(roots) == 1 and roots <= self.reached)
