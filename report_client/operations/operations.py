# SPDX-License-Identifier: Apache-2.0
"""The operations a plan is made of: one value for each write to placement.

Pure: no I/O, configuration, logging or clock. They carry no generation (the
executor keeps the ledger) but what is there before, so that each can say what
it adds and takes away. ``apply_to`` is what placement does with it, as a
function on snapshots: it refuses what placement would refuse.
"""

import dataclasses
from collections.abc import Iterable, Mapping

from compute_agent.tree import assertion, inventory, provider, removal

from . import allocations as alloc

# Why names go, by name.
Causes = Mapping[str, removal.Cause]


class Impossible(ValueError):
    """Placement would refuse this operation on that snapshot."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CreateTrait:
    """Create a custom trait; ``PUT /traits/{name}`` (1.6)."""

    name: str

    def apply_to(self, providers: provider.Snapshot) -> provider.Snapshot:
        """Change no provider."""
        return providers


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CreateResourceClass:
    """Create a custom class; ``PUT /resource_classes/{name}`` (1.7)."""

    name: str

    def apply_to(self, providers: provider.Snapshot) -> provider.Snapshot:
        """Change no provider."""
        return providers


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CreateProvider:
    """Create a provider; ``POST /resource_providers`` (body from 1.20)."""

    uuid: str
    name: str
    parent_uuid: str | None

    def apply_to(self, providers: provider.Snapshot) -> provider.Snapshot:
        """Return the snapshot with the new, empty provider in it."""
        _name_is_free(providers, self.name)
        if self.uuid in providers:
            raise Impossible(f'{self.uuid} exists')
        _parent_is_there(providers, self.parent_uuid)
        new = provider.Provider(
            uuid=self.uuid, name=self.name, parent_uuid=self.parent_uuid
        )
        return provider.snapshot([*providers.values(), new])


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class UpdateProvider:
    """Rename or move a provider; ``PUT /resource_providers/{uuid}`` (1.37)."""

    uuid: str
    name: str
    parent_uuid: str | None
    old_name: str
    old_parent_uuid: str | None

    def apply_to(self, providers: provider.Snapshot) -> provider.Snapshot:
        """Return the snapshot with the provider's new name and place."""
        one = _existing(providers, self.uuid)
        if self.name != one.name:
            _name_is_free(providers, self.name)
        if self.parent_uuid != one.parent_uuid:
            _parent_is_there(providers, self.parent_uuid)
            if self.parent_uuid in provider.descendants(providers, self.uuid):
                raise Impossible(f'{one} would be below itself')
        moved = dataclasses.replace(
            one, name=self.name, parent_uuid=self.parent_uuid
        )
        return provider.snapshot({**providers, self.uuid: moved}.values())


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DeleteProvider:
    """Delete a provider; ``DELETE /resource_providers/{uuid}``."""

    uuid: str
    name: str
    cause: removal.Cause | None = dataclasses.field(
        default=None, compare=False
    )

    def apply_to(self, providers: provider.Snapshot) -> provider.Snapshot:
        """Return the snapshot without the provider."""
        _existing(providers, self.uuid)
        if any(p.parent_uuid == self.uuid for p in providers.values()):
            raise Impossible(f'{self.name} has children')
        return {u: p for u, p in providers.items() if u != self.uuid}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _SetNames:
    """Replace one provider's names of one kind.

    :ivar foreign: the names among those removed that others put there
    :ivar causes: why each of those removed goes; it does not make two
        operations different
    """

    uuid: str
    name: str
    names: frozenset[str]
    before: frozenset[str]
    foreign: frozenset[str] = frozenset()
    causes: Causes = dataclasses.field(default_factory=dict, compare=False)

    @property
    def added(self) -> frozenset[str]:
        """What is new."""
        return self.names - self.before

    @property
    def removed(self) -> frozenset[str]:
        """What goes."""
        return self.before - self.names


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SetTraits(_SetNames):
    """Replace traits; ``PUT /resource_providers/{uuid}/traits`` (1.6)."""

    kind = assertion.Kind.TRAIT

    def apply_to(self, providers: provider.Snapshot) -> provider.Snapshot:
        """Return the snapshot with the provider's new traits."""
        one = _existing(providers, self.uuid)
        changed = dataclasses.replace(one, traits=self.names)
        return {**providers, self.uuid: changed}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SetAggregates(_SetNames):
    """Replace aggregates; ``PUT .../{uuid}/aggregates`` (guarded: 1.19)."""

    kind = assertion.Kind.AGGREGATE

    def apply_to(self, providers: provider.Snapshot) -> provider.Snapshot:
        """Return the snapshot with the provider's new aggregates."""
        one = _existing(providers, self.uuid)
        changed = dataclasses.replace(one, aggregates=self.names)
        return {**providers, self.uuid: changed}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SetInventories:
    """Replace inventories; ``PUT .../{uuid}/inventories`` (1.26).

    ``inventories`` and ``before`` map resource class to Inventory.
    """

    uuid: str
    name: str
    inventories: Mapping[str, inventory.Inventory]
    before: Mapping[str, inventory.Inventory]
    foreign: frozenset[str] = frozenset()
    causes: Causes = dataclasses.field(default_factory=dict, compare=False)

    kind = assertion.Kind.INVENTORY

    @property
    def names(self) -> frozenset[str]:
        """The resource classes that stay or come."""
        return frozenset(self.inventories)

    @property
    def added(self) -> frozenset[str]:
        """The resource classes that come."""
        return self.names - set(self.before)

    @property
    def removed(self) -> frozenset[str]:
        """The resource classes that go."""
        return frozenset(self.before) - self.names

    @property
    def changed(self) -> frozenset[str]:
        """The resource classes that stay, with another record."""
        both = self.names & set(self.before)
        return frozenset(
            rc for rc in both if self.inventories[rc] != self.before[rc]
        )

    def apply_to(self, providers: provider.Snapshot) -> provider.Snapshot:
        """Return the snapshot with the provider's new inventories."""
        one = _existing(providers, self.uuid)
        changed = dataclasses.replace(one, inventories=self.inventories)
        return {**providers, self.uuid: changed}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Reshape:
    """Move inventory with what is allocated of it; ``POST /reshaper`` (1.30).

    :ivar uuid: the node, and so is ``name``
    :ivar inventories: whole inventories, as they would be set by themselves
    :ivar moves: the consumers that have it elsewhere afterwards, with all
        that they have
    """

    uuid: str
    name: str
    inventories: tuple[SetInventories, ...]
    moves: tuple[alloc.Move, ...]

    @property
    def providers(self) -> frozenset[str]:
        """The providers whose generations it moves."""
        return frozenset(
            {one.uuid for one in self.inventories}
            | {uuid for move in self.moves for uuid in move.allocations}
        )

    @property
    def added(self) -> frozenset[str]:
        """The resource classes that come to a provider."""
        return frozenset[str]().union(*(i.added for i in self.inventories))

    @property
    def moved(self) -> frozenset[str]:
        """The resource classes of which something is elsewhere afterwards."""
        changes = [change for move in self.moves for change in move.changes()]
        return frozenset(rc for _, rc, _ in changes)

    def apply_to(self, providers: provider.Snapshot) -> provider.Snapshot:
        """Return the snapshot with the new inventories."""
        for one in self.inventories:
            providers = one.apply_to(providers)
        for move in self.moves:
            for uuid, resources in move.allocations.items():
                there = providers.get(uuid)
                lacks = there and set(resources) - set(there.inventories)
                if lacks:
                    raise Impossible(f'{there} has no {", ".join(lacks)}')
        return providers


Inventories = Mapping[str, inventory.Inventory]
NameOperation = CreateTrait | CreateResourceClass
SetOperation = SetTraits | SetAggregates | SetInventories
ProviderOperation = (
    CreateProvider | UpdateProvider | DeleteProvider | SetOperation | Reshape
)
Operation = NameOperation | ProviderOperation


def simulate(
    operations: Iterable[Operation], providers: provider.Snapshot
) -> provider.Snapshot:
    """Return what placement would hold after these operations, in order.

    :raises Impossible: it would refuse one of them
    """
    for operation in operations:
        providers = operation.apply_to(providers)
    return providers


def created_names(
    operations: Iterable[Operation],
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the traits and the resource classes that these create."""
    done = list(operations)
    return (
        frozenset(op.name for op in done if isinstance(op, CreateTrait)),
        frozenset(
            op.name for op in done if isinstance(op, CreateResourceClass)
        ),
    )


def _existing(providers: provider.Snapshot, uuid: str) -> provider.Provider:
    if uuid not in providers:
        raise Impossible(f'{uuid} does not exist')
    return providers[uuid]


def _name_is_free(providers: provider.Snapshot, name: str) -> None:
    if any(p.name == name for p in providers.values()):
        raise Impossible(f'the name {name} is taken')


def _parent_is_there(
    providers: provider.Snapshot, parent_uuid: str | None
) -> None:
    if parent_uuid is not None and parent_uuid not in providers:
        raise Impossible(f'the parent {parent_uuid} does not exist')
