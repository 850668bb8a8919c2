# SPDX-License-Identifier: Apache-2.0
"""The operation that moves inventory together with its allocations.

Pure: no I/O, configuration, logging or clock. Placement carries it out as one
transaction; ``plan/diff/reshape.py`` decides its contents.
"""

import dataclasses
from collections.abc import Iterator

from ...tree import assertion, provider
from .. import allocations
from ..change import Change
from . import write
from .contents import SetInventories
from .write import Facet


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
    moves: tuple[allocations.Move, ...]

    @property
    def subject(self) -> str:
        """The node's uuid."""
        return self.uuid

    @property
    def providers(self) -> frozenset[str]:
        """The providers whose generations it moves."""
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
