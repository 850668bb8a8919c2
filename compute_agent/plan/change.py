# SPDX-License-Identifier: Apache-2.0
"""A change of one name of a provider, or of the provider itself.

Pure: no I/O, configuration, logging or clock. Each operation of a plan returns
its changes as these values; the agent counts removals and contended items with
them (``limits/effects.py``).
"""

import dataclasses
from collections.abc import Iterator

from ..tree import assertion, inventory, provider
from . import removal


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The effect of one write on one name of a provider, or on the provider.

    :ivar kind: the kind of the name; None for the provider itself
    :ivar name: empty for the provider itself
    :ivar existed: True if it is there before the write
    :ivar exists: True if it is there after the write
    :ivar before: a resource class's inventory before the write
    :ivar after: a resource class's inventory after the write
    :ivar cause: the cause of a removal, if it is known
    """

    uuid: str
    kind: assertion.Kind | None
    name: str = ''
    existed: bool
    exists: bool
    before: inventory.Inventory | None = None
    after: inventory.Inventory | None = None
    cause: removal.Cause | None = dataclasses.field(
        default=None, compare=False
    )

    @property
    def is_removal(self) -> bool:
        """True if the name or the provider is removed."""
        return self.existed and not self.exists

    def is_in(self, seen: provider.Provider) -> bool:
        """Return True if a provider still shows the result of this change."""
        if self.kind is None:
            return False
        if self.kind is assertion.Kind.INVENTORY:
            return seen.inventories.get(self.name) == self.after
        return (self.name in seen.names_of(self.kind)) is self.exists


def between(
    old: provider.Provider, new: provider.Provider, kind: assertion.Kind
) -> Iterator[Change]:
    """Yield each name of one kind that differs."""
    for name in sorted(old.names_of(kind) | new.names_of(kind)):
        before = after = None
        if kind is assertion.Kind.INVENTORY:
            before, after = (
                old.inventories.get(name),
                new.inventories.get(name),
            )
        existed, exists = (
            name in old.names_of(kind),
            name in new.names_of(kind),
        )
        if existed != exists or before != after:
            yield Change(
                uuid=new.uuid,
                kind=kind,
                name=name,
                existed=existed,
                exists=exists,
                before=before,
                after=after,
            )
