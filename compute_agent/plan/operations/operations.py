# SPDX-License-Identifier: Apache-2.0
"""The operations that a plan consists of: one value for each write.

Pure: no I/O, configuration, logging or clock. An operation carries no
generation (the executor keeps the ledger). ``write.py`` has the questions that
every operation answers; ``apply_to`` is what placement does with it, as a
function on snapshots. ``contents.py`` has the operations on contents. Names
belong to the whole placement service: all nodes share them, and no operation
removes one.
"""

import dataclasses
from collections.abc import Iterable, Iterator

from ...tree import assertion, names, provider, working_copy
from .. import removal
from ..change import Change
from . import write
from .contents import (
    Causes,
    Inventories,
    Reshape,
    SetAggregates,
    SetInventories,
    SetOperation,
    SetTraits,
)
from .write import Facet, Impossible, Write

__all__ = [
    'Causes',
    'CreateProvider',
    'CreateResourceClass',
    'CreateTrait',
    'DeleteProvider',
    'Impossible',
    'Inventories',
    'NameOperation',
    'Operation',
    'ProviderOperation',
    'Reshape',
    'SetAggregates',
    'SetInventories',
    'SetOperation',
    'SetTraits',
    'UpdateProvider',
    'Write',
    'created_names',
    'is_known',
    'simulate',
]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _CreateName(write.Write):
    is_shared = True

    name: str

    @property
    def subject(self) -> str:
        """The name."""
        return self.name

    @property
    def providers(self) -> frozenset[str]:
        """No provider."""
        return frozenset()

    @property
    def parts(self) -> frozenset[assertion.Key]:
        """No provider's part."""
        return frozenset()

    def changes(self) -> Iterator[Change]:
        """Yield nothing: only names of providers count as changes."""
        return iter(())

    def needs(
        self, providers: provider.Snapshot
    ) -> frozenset[write.Dependency]:
        """Return nothing."""
        del providers
        return frozenset()

    @property
    def gives(self) -> frozenset[write.Dependency]:
        """The name."""
        return frozenset({(write.Facet.NAME, self.name)})

    def advances(self) -> Iterator[write.Advance]:
        """Yield nothing: names have no generation."""
        return iter(())

    def apply_to(self, providers: provider.Snapshot) -> provider.Snapshot:
        """Return the providers as they are."""
        return providers


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CreateTrait(_CreateName):
    """Create a custom trait; ``PUT /traits/{name}`` (1.6)."""

    @property
    def created_names(self) -> names.KnownNames:
        """The trait."""
        return dataclasses.replace(
            write.NO_NAMES, traits=frozenset({self.name})
        )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CreateResourceClass(_CreateName):
    """Create a custom class; ``PUT /resource_classes/{name}`` (1.7)."""

    @property
    def created_names(self) -> names.KnownNames:
        """The resource class."""
        return dataclasses.replace(
            write.NO_NAMES, resource_classes=frozenset({self.name})
        )


NameOperation = CreateTrait | CreateResourceClass


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _ProviderWrite(write.Write):
    uuid: str
    name: str

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
        """No part: the contents stay, or are deleted with the provider."""
        return frozenset()

    @property
    def gives(self) -> frozenset[write.Dependency]:
        """The provider."""
        return frozenset({(Facet.PROVIDER, self.uuid)})


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CreateProvider(_ProviderWrite):
    """Create a provider; ``POST /resource_providers`` (body from 1.20)."""

    parent_uuid: str | None

    def changes(self) -> Iterator[Change]:
        """Yield the created provider."""
        yield Change(uuid=self.uuid, kind=None, existed=False, exists=True)

    def needs(
        self, providers: provider.Snapshot
    ) -> frozenset[write.Dependency]:
        """Return its parent, and the provider that must give up its name."""
        return _place_needs(self.uuid, self.name, self.parent_uuid, providers)

    def advances(self) -> Iterator[write.Advance]:
        """Yield the creation, at generation 0."""
        yield write.Advance(uuid=self.uuid, kind=None, raises=0)

    def apply_to(self, providers: provider.Snapshot) -> provider.Snapshot:
        """Return the snapshot with the new, empty provider in it."""
        _check_name_is_free(providers, self.name)
        if self.uuid in providers:
            raise write.Impossible(f'{self.uuid} exists')
        _check_parent_exists(providers, self.parent_uuid)
        new = provider.Provider(
            uuid=self.uuid, name=self.name, parent_uuid=self.parent_uuid
        )
        return working_copy.replaced(providers, new)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class UpdateProvider(_ProviderWrite):
    """Rename or move a provider; ``PUT /resource_providers/{uuid}`` (1.37)."""

    parent_uuid: str | None
    old_name: str
    old_parent_uuid: str | None

    def changes(self) -> Iterator[Change]:
        """Yield nothing: a rename or a move adds and removes no name."""
        return iter(())

    def needs(
        self, providers: provider.Snapshot
    ) -> frozenset[write.Dependency]:
        """Return its parent, and the provider that must give up its name."""
        return _place_needs(self.uuid, self.name, self.parent_uuid, providers)

    def advances(self) -> Iterator[write.Advance]:
        """Yield nothing: placement leaves the generation as it is."""
        return iter(())

    def apply_to(self, providers: provider.Snapshot) -> provider.Snapshot:
        """Return the snapshot with the provider's new name and place."""
        old = write.existing(providers, self.uuid)
        if self.name != old.name:
            _check_name_is_free(providers, self.name)
        if self.parent_uuid != old.parent_uuid:
            _check_parent_exists(providers, self.parent_uuid)
            if self.uuid in _upwards(providers, self.parent_uuid):
                raise write.Impossible(f'{old} would be below itself')
        moved = dataclasses.replace(
            old, name=self.name, parent_uuid=self.parent_uuid
        )
        return working_copy.replaced(providers, moved)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DeleteProvider(_ProviderWrite):
    """Delete a provider; ``DELETE /resource_providers/{uuid}``.

    :ivar cause: why it is deleted; two deletions that differ only in it are
        equal
    """

    is_done_if_absent = True

    cause: removal.Cause | None = dataclasses.field(
        default=None, compare=False
    )

    def changes(self) -> Iterator[Change]:
        """Yield the deleted provider."""
        yield Change(
            uuid=self.uuid,
            kind=None,
            existed=True,
            exists=False,
            cause=self.cause,
        )

    def needs(
        self, providers: provider.Snapshot
    ) -> frozenset[write.Dependency]:
        """Return the deletions of its children, and of its inventory."""
        children = {
            (Facet.PROVIDER, child)
            for child in working_copy.children(providers, self.uuid)
        }
        own = {(Facet.PROVIDER, self.uuid), (Facet.INVENTORY, self.uuid)}
        return frozenset(own | children)

    def advances(self) -> Iterator[write.Advance]:
        """Yield nothing: a deleted provider has no generation."""
        return iter(())

    def apply_to(self, providers: provider.Snapshot) -> provider.Snapshot:
        """Return the snapshot without the provider."""
        write.existing(providers, self.uuid)
        if working_copy.children(providers, self.uuid):
            raise write.Impossible(f'{self.name} has children')
        return working_copy.without(providers, self.uuid)


ProviderOperation = (
    CreateProvider | UpdateProvider | DeleteProvider | SetOperation | Reshape
)
# Every kind: a match over these ends in assert_never.
Operation = NameOperation | ProviderOperation


def simulate(
    operations: Iterable[Write], providers: provider.Snapshot
) -> provider.Snapshot:
    """Return the providers after these operations, carried out in order.

    :raises Impossible: placement would refuse one of them
    """
    after: provider.Snapshot = working_copy.WorkingCopy(providers)
    for operation in operations:
        after = operation.apply_to(after)
    return after


def created_names(operations: Iterable[Write]) -> names.KnownNames:
    """Return the traits and the resource classes that these create."""
    created = [operation.created_names for operation in operations]
    return names.KnownNames(
        traits=frozenset[str]().union(*(c.traits for c in created)),
        resource_classes=frozenset[str]().union(
            *(c.resource_classes for c in created)
        ),
    )


def is_known(operation: Write, known: names.KnownNames) -> bool:
    """Return True if placement knows all names that it creates."""
    created = operation.created_names
    return (
        created.traits <= known.traits
        and created.resource_classes <= known.resource_classes
    )


def _place_needs(
    uuid: str,
    name: str,
    parent_uuid: str | None,
    providers: provider.Snapshot,
) -> frozenset[write.Dependency]:
    """Return what a provider needs to get this name and this parent."""
    holders = set(working_copy.holders(providers, name))
    above = set() if parent_uuid is None else {parent_uuid}
    return frozenset(
        (Facet.PROVIDER, needed) for needed in {uuid} | above | holders
    )


def _check_name_is_free(providers: provider.Snapshot, name: str) -> None:
    if working_copy.holders(providers, name):
        raise write.Impossible(f'the name {name} is taken')


def _check_parent_exists(
    providers: provider.Snapshot, parent_uuid: str | None
) -> None:
    if parent_uuid is not None and parent_uuid not in providers:
        raise write.Impossible(f'the parent {parent_uuid} does not exist')


def _upwards(providers: provider.Snapshot, uuid: str | None) -> Iterator[str]:
    """Yield a provider and all above it."""
    while uuid is not None and uuid in providers:
        yield uuid
        uuid = providers[uuid].parent_uuid
