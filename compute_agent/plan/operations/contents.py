# SPDX-License-Identifier: Apache-2.0
"""Operations that replace a provider's contents, or move them.

Pure: no I/O, configuration, logging or clock. Contents are traits, aggregates
and inventories. Each operation also has the names that were there before, so
that it can tell which names it adds and removes. ``Reshape`` moves inventory
together with its allocations: placement carries it out as one transaction, and
``plan/diff/reshape.py`` decides what it contains.
"""

import abc
import dataclasses
from collections.abc import Iterator, Mapping
from typing import ClassVar

from ...tree import assertion, inventory, provider, working_copy
from .. import allocations, removal
from ..change import Change
from . import write
from .write import Facet

Inventories = Mapping[str, inventory.Inventory]
# The causes of removals, by name.
Causes = Mapping[str, removal.Cause]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _SetContents(write.Write):
    """Replace one provider's contents of one kind.

    :ivar foreign: the removed names that other writers added
    :ivar causes: the cause of each removal; two operations that differ only in
        it are equal
    """

    uuid: str
    name: str
    foreign: frozenset[str] = frozenset()
    causes: Causes = dataclasses.field(default_factory=dict, compare=False)

    kind: ClassVar[assertion.Kind]

    @property
    @abc.abstractmethod
    def added(self) -> frozenset[str]:
        """The names that come."""

    @property
    @abc.abstractmethod
    def removed(self) -> frozenset[str]:
        """The names that go."""

    @property
    def subject(self) -> str:
        """The provider's uuid."""
        return self.uuid

    @property
    def providers(self) -> frozenset[str]:
        """The provider."""
        return frozenset({self.uuid})

    @property
    def parts(self) -> frozenset[assertion.Key]:
        """The provider and the kind of its contents."""
        return frozenset({(self.uuid, self.kind)})

    def _removals(self, before: Inventories | None = None) -> Iterator[Change]:
        for name in sorted(self.removed):
            yield Change(
                uuid=self.uuid,
                kind=self.kind,
                name=name,
                existed=True,
                exists=False,
                before=before[name] if before else None,
                cause=self.causes.get(name),
            )

    def _need(self, *facets: Facet) -> set[write.Dependency]:
        """Return these facets of the provider, and the added names."""
        names = {(Facet.NAME, name) for name in self.added}
        return names | {(facet, self.uuid) for facet in facets}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _SetNames(_SetContents):
    names: frozenset[str]
    before: frozenset[str]

    @property
    def added(self) -> frozenset[str]:
        """The names that come."""
        return self.names - self.before

    @property
    def removed(self) -> frozenset[str]:
        """The names that go."""
        return self.before - self.names

    def changes(self) -> Iterator[Change]:
        """Yield the added and the removed names."""
        for name in sorted(self.added):
            yield Change(
                uuid=self.uuid,
                kind=self.kind,
                name=name,
                existed=False,
                exists=True,
            )
        yield from self._removals()

    def needs(
        self, providers: provider.Snapshot
    ) -> frozenset[write.Dependency]:
        """Return the provider, the new names and maybe the inventory.

        If the change of the inventory was refused, traits and aggregates may
        still be added, which is always safe. None is removed, because the old
        inventory still needs them.
        """
        del providers
        needed = self._need(Facet.PROVIDER)
        if self.removed:
            needed.add((Facet.INVENTORY, self.uuid))
        return frozenset(needed)

    @property
    def gives(self) -> frozenset[write.Dependency]:
        """The provider's traits and aggregates."""
        return frozenset({(Facet.LABELS, self.uuid)})

    def advances(self) -> Iterator[write.Advance]:
        """Yield the new set, at the next generation."""
        yield write.Advance(
            uuid=self.uuid,
            kind=self.kind,
            raises=1,
            names=self.names,
            added=self.added,
        )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SetTraits(_SetNames):
    """Replace traits; ``PUT /resource_providers/{uuid}/traits`` (1.6)."""

    kind = assertion.Kind.TRAIT

    def apply_to(self, providers: provider.Snapshot) -> provider.Snapshot:
        """Return the snapshot with the provider's new traits."""
        old = write.existing(providers, self.uuid)
        new = dataclasses.replace(old, traits=self.names)
        return working_copy.replaced(providers, new)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SetAggregates(_SetNames):
    """Replace aggregates; ``PUT .../{uuid}/aggregates`` (guarded: 1.19)."""

    kind = assertion.Kind.AGGREGATE

    def apply_to(self, providers: provider.Snapshot) -> provider.Snapshot:
        """Return the snapshot with the provider's new aggregates."""
        old = write.existing(providers, self.uuid)
        new = dataclasses.replace(old, aggregates=self.names)
        return working_copy.replaced(providers, new)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SetInventories(_SetContents):
    """Replace inventories; ``PUT .../{uuid}/inventories`` (1.26).

    ``inventories`` and ``before`` map resource class to Inventory.
    """

    inventories: Inventories = dataclasses.field(hash=False)
    before: Inventories = dataclasses.field(hash=False)

    kind = assertion.Kind.INVENTORY

    @property
    def names(self) -> frozenset[str]:
        """The resource classes that stay or are added."""
        return frozenset(self.inventories)

    @property
    def added(self) -> frozenset[str]:
        """The added resource classes."""
        return self.names - set(self.before)

    @property
    def removed(self) -> frozenset[str]:
        """The removed resource classes."""
        return frozenset(self.before) - self.names

    @property
    def changed(self) -> frozenset[str]:
        """The resource classes that stay but get another record."""
        both = self.names & set(self.before)
        return frozenset(
            rc for rc in both if self.inventories[rc] != self.before[rc]
        )

    @property
    def reduced_classes(self) -> frozenset[str]:
        """The resource classes whose capacity it lowers."""
        return _grown(self.inventories, self.before)

    @property
    def grown_classes(self) -> frozenset[str]:
        """The resource classes whose capacity it raises."""
        return _grown(self.before, self.inventories)

    def changes(self) -> Iterator[Change]:
        """Yield the added, changed and removed resource classes."""
        for rc in sorted(self.added | self.changed):
            yield Change(
                uuid=self.uuid,
                kind=self.kind,
                name=rc,
                existed=rc in self.before,
                exists=True,
                before=self.before.get(rc),
                after=self.inventories[rc],
            )
        yield from self._removals(self.before)

    def needs(
        self, providers: provider.Snapshot
    ) -> frozenset[write.Dependency]:
        """Return the provider, the new classes, and the earlier contents.

        Inventory that grows depends on traits and aggregates, so that no
        capacity is offered without them.
        """
        del providers
        return frozenset(
            self._need(Facet.PROVIDER, Facet.INVENTORY, Facet.LABELS)
        )

    @property
    def gives(self) -> frozenset[write.Dependency]:
        """The provider's inventories."""
        return frozenset({(Facet.INVENTORY, self.uuid)})

    def advances(self) -> Iterator[write.Advance]:
        """Yield the new classes, at the next generation."""
        yield self.advance(raises=1)

    def advance(self, raises: int) -> write.Advance:
        """Return the new classes, this many generations later."""
        return write.Advance(
            uuid=self.uuid,
            kind=self.kind,
            raises=raises,
            names=self.names,
            added=self.added,
        )

    def apply_to(self, providers: provider.Snapshot) -> provider.Snapshot:
        """Return the snapshot with the provider's new inventories."""
        old = write.existing(providers, self.uuid)
        new = dataclasses.replace(old, inventories=self.inventories)
        return working_copy.replaced(providers, new)


def _grown(before: Inventories, after: Inventories) -> frozenset[str]:
    """Return the resource classes that have more capacity afterwards."""
    return frozenset(
        rc
        for rc, record in after.items()
        if rc not in before or record.capacity > before[rc].capacity
    )


SetOperation = SetTraits | SetAggregates | SetInventories


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Reshape(write.Write):
    """Move inventory with its allocations; ``POST /reshaper`` (1.30).

    :ivar uuid: the node's uuid; ``name`` is the node's name
    :ivar inventories: one operation for each complete inventory that it
        replaces
    :ivar moves: the consumers whose allocations move, with all their
        allocations
    """

    tells_generations = False

    uuid: str
    name: str
    inventories: tuple[SetInventories, ...]
    moves: tuple[allocations.Move, ...] = dataclasses.field(hash=False)

    @property
    def subject(self) -> str:
        """The node's uuid."""
        return self.uuid

    @property
    def providers(self) -> frozenset[str]:
        """The providers whose generations the operation raises."""
        return frozenset({i.uuid for i in self.inventories}) | self._allocated

    @property
    def _allocated(self) -> frozenset[str]:
        """The providers whose allocations are sent, changed or not."""
        return frozenset(u for move in self.moves for u in move.allocations)

    @property
    def parts(self) -> frozenset[assertion.Key]:
        """The inventories that it replaces."""
        return frozenset[assertion.Key]().union(
            *(one.parts for one in self.inventories)
        )

    @property
    def added(self) -> frozenset[str]:
        """The resource classes that a provider gets."""
        return frozenset[str]().union(*(i.added for i in self.inventories))

    @property
    def moved_classes(self) -> frozenset[str]:
        """The resource classes whose allocations move."""
        return frozenset(
            rc for move in self.moves for _, rc, _ in move.changes()
        )

    def changes(self) -> Iterator[Change]:
        """Yield the added, changed and removed resource classes."""
        for one in self.inventories:
            yield from one.changes()

    def needs(
        self, providers: provider.Snapshot
    ) -> frozenset[write.Dependency]:
        """Return what each of the inventories needs."""
        return frozenset[write.Dependency]().union(
            *(one.needs(providers) for one in self.inventories)
        )

    @property
    def gives(self) -> frozenset[write.Dependency]:
        """The inventories that it replaces."""
        return frozenset((Facet.INVENTORY, i.uuid) for i in self.inventories)

    def advances(self) -> Iterator[write.Advance]:
        """Yield the resulting state of each provider, inventories first.

        Placement writes an inventory twice if it does not become empty: first
        the new and the old resource classes together, so that allocations can
        move, then the new ones alone. It writes the allocations once
        for each provider whose allocations are sent, changed or not.
        """
        allocated = self._allocated
        for one in self.inventories:
            sets = 2 if one.inventories else 1
            yield one.advance(raises=sets + (one.uuid in allocated))
        for uuid in sorted(allocated - {i.uuid for i in self.inventories}):
            yield write.Advance(
                uuid=uuid,
                kind=assertion.Kind.INVENTORY,
                raises=1,
                names=None,
            )

    def apply_to(self, providers: provider.Snapshot) -> provider.Snapshot:
        """Return the snapshot with the new inventories."""
        for one in self.inventories:
            providers = one.apply_to(providers)
        for move in self.moves:
            for uuid, resources in move.allocations.items():
                there = providers.get(uuid)
                lacks = there and set(resources) - set(there.inventories)
                if lacks:
                    raise write.Impossible(
                        f'{there} has no {", ".join(lacks)}'
                    )
        return providers
