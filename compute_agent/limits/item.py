# SPDX-License-Identifier: Apache-2.0
"""An item: one name of a provider, and the state that the agent gives it.

Pure: no I/O, configuration, logging or clock. ``contention.py`` counts how
often another writer undoes an item.
"""

import dataclasses
from typing import TypeAlias

from ..tree import assertion, inventory

ItemKey: TypeAlias = tuple[str, assertion.Kind | None, str]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One name of a provider, and the state that the agent gives it.

    :ivar kind: None for the provider itself
    :ivar there: True if the provider gets the name, False if it loses it
    :ivar record: the inventory record, if the name is a resource class
    :ivar nodes: the nodes of this agent that undo each other's changes,
        because they want different states
    :ivar suspect: the other writer, as far as it is known
    """

    uuid: str
    kind: assertion.Kind | None
    name: str = ''
    there: bool = True
    record: inventory.Inventory | None = None
    nodes: tuple[str, ...] = dataclasses.field(default=(), compare=False)
    suspect: str = dataclasses.field(default='', compare=False)

    @property
    def key(self) -> ItemKey:
        """The name itself, whatever its state."""
        return self.uuid, self.kind, self.name
