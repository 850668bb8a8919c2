# SPDX-License-Identifier: Apache-2.0
"""The edits of a ProviderTree to inventory, traits and aggregates.

Pure: no I/O, configuration, logging or clock. An ``update_*`` method gives the
complete list and has nova's name, argument order and return value (seed 004).
``add_*``, ``remove_*`` and ``keep_*`` concern one source's names. Each edit is
recorded as an assertion of the current source. ``provider_tree.py`` adds the
edits that make and remove providers.
"""

import contextlib
import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from . import (
    assertion,
    assertion_log,
    hierarchy,
    inventory,
    inventory_records,
    names,
    tree_queries,
)
from .inventory_records import Records


class TreeContents(tree_queries.TreeQueries):
    """The names that providers have, and the assertions about them."""

    def __init__(self) -> None:
        super().__init__()
        self._log = assertion_log.AssertionLog()

    @contextlib.contextmanager
    def asserting(self, source: str) -> Iterator[Self]:
        """Record the edits made inside as this source's, not the driver's."""
        with self._log.source(source):
            yield self

    @property
    def assertions(self) -> assertion_log.Assertions:
        """(provider uuid, kind) → source → its assertion."""
        return self._log.by_key

    # --- inventory -----------------------------------------------------------

    def update_inventory(
        self,
        name_or_uuid: str,
        inventory: Records,
        generation: int | None = None,
    ) -> bool:
        """Set the provider's complete inventory; return True if it changed.

        :param inventory: resource class → record; an omitted allocation_ratio
            means that the source has no opinion on it
        """
        member = self._hierarchy[name_or_uuid]
        records = inventory_records.check(inventory)
        changed = inventory_records.differ(member.inventory, records)
        kind = assertion.Kind.INVENTORY
        others = self._log.names_of_others(member.uuid, kind)
        member.inventory = {
            **{rc: member.inventory[rc] for rc in others - set(records)},
            **records,
        }
        _set_generation(member, generation)
        self._log.replace(member.uuid, kind, records)
        return changed

    def add_inventory(
        self, name_or_uuid: str, rc: str, record: inventory.Record
    ) -> None:
        """Claim one resource class; the claims on others are not touched."""
        member = self._hierarchy[name_or_uuid]
        records = inventory_records.check({rc: record})
        member.inventory.update(records)
        self._log.add(member.uuid, assertion.Kind.INVENTORY, records)

    def keep_inventory(self, name_or_uuid: str) -> None:
        """Keep the source's earlier claims: it cannot tell this time."""
        self._keep(name_or_uuid, assertion.Kind.INVENTORY)

    def update_resources(
        self, name_or_uuid: str, resources: Mapping[str, Any]
    ) -> bool:
        """Store a driver's own resources; return True if they changed.

        They are never sent to placement.
        """
        member = self._hierarchy[name_or_uuid]
        changed = member.resources != resources
        member.resources = copy.deepcopy(dict(resources))
        return changed

    # --- traits --------------------------------------------------------------

    def update_traits(
        self,
        name_or_uuid: str,
        traits: Iterable[str],
        generation: int | None = None,
    ) -> bool:
        """Set the provider's complete traits; return True if they changed."""
        member = self._hierarchy[name_or_uuid]
        wanted = names.check_traits(traits)
        changed = wanted != member.traits
        kind = assertion.Kind.TRAIT
        others = self._log.names_of_others(member.uuid, kind)
        member.traits = set(wanted | others)
        _set_generation(member, generation)
        self._log.replace(member.uuid, kind, wanted)
        return changed

    def add_traits(self, name_or_uuid: str, *traits: str) -> None:
        """Claim these traits; other sources' traits are not touched."""
        member = self._hierarchy[name_or_uuid]
        added = names.check_traits(traits)
        member.traits |= added
        self._log.add(member.uuid, assertion.Kind.TRAIT, added)

    def remove_traits(self, name_or_uuid: str, *traits: str) -> None:
        """Remove these traits; the provider may lack some of them."""
        member = self._hierarchy[name_or_uuid]
        removed = names.check_traits(traits)
        member.traits -= removed
        self._log.remove(member.uuid, assertion.Kind.TRAIT, removed)

    def keep_traits(self, name_or_uuid: str) -> None:
        """Keep the source's earlier claims: it cannot tell this time."""
        self._keep(name_or_uuid, assertion.Kind.TRAIT)

    # --- aggregates ----------------------------------------------------------

    def update_aggregates(
        self,
        name_or_uuid: str,
        aggregates: Iterable[str],
        generation: int | None = None,
    ) -> bool:
        """Set the provider's complete aggregates; return True if changed."""
        member = self._hierarchy[name_or_uuid]
        wanted = names.check_aggregates(aggregates)
        changed = wanted != member.aggregates
        kind = assertion.Kind.AGGREGATE
        others = self._log.names_of_others(member.uuid, kind)
        member.aggregates = set(wanted | others)
        _set_generation(member, generation)
        self._log.replace(member.uuid, kind, wanted)
        return changed

    def add_aggregates(self, name_or_uuid: str, *aggregates: str) -> None:
        """Claim membership of these aggregates (uuids) beside others'."""
        member = self._hierarchy[name_or_uuid]
        added = names.check_aggregates(aggregates)
        member.aggregates |= added
        self._log.add(member.uuid, assertion.Kind.AGGREGATE, added)

    def remove_aggregates(self, name_or_uuid: str, *aggregates: str) -> None:
        """End membership of these aggregates (uuids)."""
        member = self._hierarchy[name_or_uuid]
        removed = names.check_aggregates(aggregates)
        member.aggregates -= removed
        self._log.remove(member.uuid, assertion.Kind.AGGREGATE, removed)

    def keep_aggregates(self, name_or_uuid: str) -> None:
        """Keep the source's earlier claims: it cannot tell this time."""
        self._keep(name_or_uuid, assertion.Kind.AGGREGATE)

    # --- any kind ------------------------------------------------------------

    def drop_earlier_claims(
        self, name_or_uuid: str, kind: assertion.Kind
    ) -> None:
        """Reduce the source's claims to the names it adds in this cycle.

        ``add_traits`` and ``add_aggregates`` without names do the same.
        Inventory needs this call, because ``update_inventory`` without
        records claims the complete inventory.
        """
        self._log.add(self._hierarchy[name_or_uuid].uuid, kind, ())

    def withdraw_assertions(self, name_or_uuid: str) -> None:
        """Drop every assertion about a provider, so that it stays as it is."""
        self._log.forget(self._hierarchy[name_or_uuid].uuid)

    def _keep(self, name_or_uuid: str, kind: assertion.Kind) -> None:
        self._log.keep(self._hierarchy[name_or_uuid].uuid, kind)


def _set_generation(member: hierarchy.Member, generation: int | None) -> None:
    if generation is not None:
        member.generation = generation
