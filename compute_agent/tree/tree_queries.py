# SPDX-License-Identifier: Apache-2.0
"""The methods of a ProviderTree that only read, as in nova.

Pure: no I/O, configuration, logging or clock. Each method has nova's name,
argument order and return value, and accepts a provider's name or uuid. A
method that returns a provider returns a copy. ``provider_tree.py`` adds the
edits.
"""

import copy
import dataclasses
from typing import Any

from . import hierarchy, names
from .hierarchy import Given


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ProviderData:
    """A copy of one provider, as ``data()`` returns it; it is safe to edit.

    :ivar inventory: resource class → record of placement's fields
    :ivar resources: the objects a driver stored with ``update_resources``
    """

    uuid: str
    name: str
    generation: int | None
    parent_uuid: str | None
    inventory: dict[str, dict[str, int | float]]
    traits: set[str]
    aggregates: set[str]
    resources: dict[str, Any]


class TreeQueries:
    """The questions that a driver may ask about the tree it edits."""

    def __init__(self) -> None:
        self._hierarchy = hierarchy.Hierarchy()

    @property
    def roots(self) -> list[ProviderData]:
        """Copies of the providers that have no parent in this tree."""
        return [_copy(member) for member in self._hierarchy.roots()]

    def exists(self, name_or_uuid: str) -> bool:
        """Return True if the tree has this provider.

        :raises errors.InvalidName: this is neither a name nor a uuid
        """
        return names.check_label(name_or_uuid) in self._hierarchy

    def data(self, name_or_uuid: str) -> ProviderData:
        """Return a copy of one provider.

        :raises errors.TreeError: the tree has no provider of that name or uuid
        """
        return _copy(self._hierarchy[name_or_uuid])

    def get_provider_uuids(self, name_or_uuid: str | None = None) -> list[str]:
        """Return this provider's uuid and those below it, parents first.

        :param name_or_uuid: None for every provider of every tree
        """
        if name_or_uuid is None:
            return self._hierarchy.order()
        top = self._hierarchy[name_or_uuid]
        return [m.uuid for m in self._hierarchy.walk(top)]

    def get_provider_uuids_in_tree(self, name_or_uuid: str) -> list[str]:
        """Return the uuids of this provider's whole tree, root first."""
        root = self._hierarchy.root_of(self._hierarchy[name_or_uuid])
        return [m.uuid for m in self._hierarchy.walk(root)]

    def has_inventory(self, name_or_uuid: str) -> bool:
        """Return True if the provider has inventory of any class."""
        return bool(self._hierarchy[name_or_uuid].inventory)

    def has_inventory_changed(
        self, name_or_uuid: str, inventory: Given
    ) -> bool:
        """Return True if these records differ from the provider's.

        Fields that a record omits count with placement's defaults.
        """
        current = self._hierarchy[name_or_uuid].inventory
        return hierarchy.records_differ(
            current, hierarchy.check_records(inventory, current)
        )

    def has_sharing_provider(self, rc: str) -> bool:
        """Return True if a provider of this tree shares that class.

        :raises errors.InvalidName: this is no resource class
        """
        names.check_symbol(rc, 'resource class')
        sharing = names.MISC_SHARES_VIA_AGGREGATE
        return any(
            rc in m.inventory and sharing in m.traits
            for m in self._hierarchy.members()
        )

    def has_traits(self, name_or_uuid: str, traits: names.Names) -> bool:
        """Return True if the provider has all of these traits."""
        current = self._hierarchy[name_or_uuid].traits
        return names.check_traits(traits) <= current

    def have_traits_changed(
        self, name_or_uuid: str, traits: names.Names
    ) -> bool:
        """Return True if this set differs from the provider's traits."""
        current = self._hierarchy[name_or_uuid].traits
        return names.check_traits(traits) != current

    def in_aggregates(
        self, name_or_uuid: str, aggregates: names.Names
    ) -> bool:
        """Return True if the provider is in all of these aggregates."""
        current = self._hierarchy[name_or_uuid].aggregates
        return names.check_aggregates(aggregates) <= current

    def have_aggregates_changed(
        self, name_or_uuid: str, aggregates: names.Names
    ) -> bool:
        """Return True if this set differs from the provider's aggregates."""
        current = self._hierarchy[name_or_uuid].aggregates
        return names.check_aggregates(aggregates) != current


def _copy(member: hierarchy.Member) -> ProviderData:
    return ProviderData(
        uuid=member.uuid,
        name=member.name,
        generation=member.generation,
        parent_uuid=member.parent,
        inventory={rc: dict(r) for rc, r in member.inventory.items()},
        traits=set(member.traits),
        aggregates=set(member.aggregates),
        resources=copy.deepcopy(dict(member.resources))
        if member.resources
        else {},
    )
