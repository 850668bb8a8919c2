# SPDX-License-Identifier: Apache-2.0
"""Operations that create custom traits and resource classes.

Pure: no I/O, configuration, logging or clock. Names belong to the whole
placement service: all nodes share them, and no operation removes one.
"""

import dataclasses
from collections.abc import Iterator

from ...tree import assertion, names, provider
from ..change import Change
from . import write


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
