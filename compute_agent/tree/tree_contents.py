# SPDX-License-Identifier: Apache-2.0
"""The edits of a ProviderTree to inventory, traits and aggregates.

Pure: no I/O, configuration, logging or clock. ``add_*``, ``remove_*`` and
``update_*`` have nova's names, argument order, return values and meaning:
the given names and nothing else, or the provider's whole set.
``declare_*`` gives all names of one source, ``keep_*`` says that the source
cannot tell. Each edit is recorded as an assertion of the current source.
Several edits of one provider and kind apply in their order.
``provider_tree.py`` adds the edits that make and remove providers.

The edits of names go into an ``AssertionLog``: each of them adds to the
assertion of the source that is current.
"""

import contextlib
import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from .. import error_text, errors
from . import assertion, hierarchy, names, provider, tree_queries
from .hierarchy import Given

Assertions = dict[assertion.Key, dict[str, assertion.Assertion]]

_NONE = frozenset[str]()


class AssertionLog:
    """The assertions of each source, by provider and kind of name.

    :ivar by_key: (provider uuid, kind) → source → assertion
    :ivar current_source: the source whose edits are recorded now
    """

    def __init__(self) -> None:
        self.by_key: Assertions = {}
        self.current_source = assertion.DRIVER

    def copy(self) -> 'AssertionLog':
        """Return a log of the same assertions, to record others in."""
        made = AssertionLog()
        made.by_key = self.by_key.copy()
        made.current_source = self.current_source
        return made

    def add(
        self, uuid: str, kind: assertion.Kind, names: Iterable[str]
    ) -> None:
        """Record that the source asserts these names as well."""
        self._record(uuid, kind, self._current(uuid, kind).adding(names))

    def remove(
        self, uuid: str, kind: assertion.Kind, names: Iterable[str]
    ) -> None:
        """Record that the source removes these names."""
        self._record(uuid, kind, self._current(uuid, kind).removing(names))

    def declare(
        self, uuid: str, kind: assertion.Kind, names: Iterable[str]
    ) -> None:
        """Record that these are all names of the source."""
        self._record(uuid, kind, self._current(uuid, kind).declaring(names))

    def replace(
        self, uuid: str, kind: assertion.Kind, names: Iterable[str]
    ) -> None:
        """Record that these are all names of the provider."""
        self._record(uuid, kind, self._current(uuid, kind).setting(names))

    def keep(self, uuid: str, kind: assertion.Kind) -> None:
        """Record that the source cannot tell in this cycle."""
        self._record(uuid, kind, self._current(uuid, kind).keeping())

    def keep_only(self, uuid: str, kind: assertion.Kind) -> None:
        """Record that the source says nothing else of this kind."""
        self._record(uuid, kind, assertion.NOTHING.keeping())

    def dispute(
        self, uuid: str, kind: assertion.Kind, names: frozenset[str]
    ) -> None:
        """Take back what the source says of these names."""
        self._record(uuid, kind, self._current(uuid, kind).disputing(names))

    def put(
        self,
        uuid: str,
        kind: assertion.Kind,
        source: str,
        asserted: assertion.Assertion,
    ) -> None:
        """Put an assertion in the place of a source's; copies keep theirs."""
        others = self.by_key.get((uuid, kind), {})
        self.by_key[uuid, kind] = {**others, source: asserted}

    def names(self, uuid: str, kind: assertion.Kind) -> frozenset[str]:
        """Return the names that the source asserted in this cycle."""
        return self._current(uuid, kind).names

    def names_of_others(
        self, uuid: str, kind: assertion.Kind
    ) -> frozenset[str]:
        """Return the names that the other sources asserted in this cycle."""
        by_source = self.by_key.get((uuid, kind))
        if by_source is None:
            return _NONE
        others = by_source.keys() - {self.current_source}
        return _NONE.union(*(by_source[o].names for o in others))

    def forget(self, uuid: str) -> None:
        """Drop all assertions about a provider, of every source."""
        for kind in assertion.Kind:
            self.by_key.pop((uuid, kind), None)

    def _current(self, uuid: str, kind: assertion.Kind) -> assertion.Assertion:
        by_source = self.by_key.get((uuid, kind), {})
        return by_source.get(self.current_source, assertion.NOTHING)

    def _record(
        self, uuid: str, kind: assertion.Kind, asserted: assertion.Assertion
    ) -> None:
        self.put(uuid, kind, self.current_source, asserted)


class TreeContents(tree_queries.TreeQueries):
    """The names that providers have, and the assertions about them."""

    def __init__(self) -> None:
        super().__init__()
        self.baseline: provider.Snapshot = {}
        self._log = AssertionLog()

    @contextlib.contextmanager
    def asserting(self, source: str) -> Iterator[Self]:
        """Record the edits made inside as this source's, not the driver's."""
        before, self._log.current_source = self._log.current_source, source
        try:
            yield self
        finally:  # the log may be another one by now
            self._log.current_source = before

    @property
    def assertions(self) -> Assertions:
        """(provider uuid, kind) → source → its assertion."""
        return self._log.by_key

    # --- inventory -----------------------------------------------------------

    def update_inventory(
        self,
        name_or_uuid: str,
        inventory: Given,
        generation: int | None = None,
    ) -> bool:
        """Set the provider's complete inventory; return True if it changed.

        :param inventory: resource class → record, in the unit of the class
            (MEMORY_MB in MiB, DISK_GB in GiB); an omitted allocation_ratio
            means that the source has no opinion on it
        """
        member = self._hierarchy.to_edit(name_or_uuid)
        records = hierarchy.check_records(inventory, member.inventory)
        generation = _generation(generation, member)
        changed = hierarchy.records_differ(member.inventory, records)
        kind = assertion.Kind.INVENTORY
        others = self._log.names_of_others(member.uuid, kind)
        member.inventory = {
            **{rc: member.inventory[rc] for rc in others - set(records)},
            **records,
        }
        member.generation = generation
        self._log.replace(member.uuid, kind, records)
        return changed

    def declare_inventory(self, name_or_uuid: str, inventory: Given) -> None:
        """Claim exactly these classes, beside the classes of other sources.

        Classes that this source claimed earlier, and that are not among
        these, go.

        :param inventory: resource class → record, in the unit of the class
            (MEMORY_MB in MiB, DISK_GB in GiB); see ``InventoryRecord``
        """
        member = self._hierarchy.to_edit(name_or_uuid)
        records = hierarchy.check_records(inventory, member.inventory)
        dropped = self._dropped(member, assertion.Kind.INVENTORY, records)
        kept = {
            rc: record
            for rc, record in member.inventory.items()
            if rc not in dropped
        }
        member.inventory = kept | records
        self._log.declare(member.uuid, assertion.Kind.INVENTORY, records)

    def keep_inventory(self, name_or_uuid: str) -> None:
        """Keep all earlier claims: the source cannot tell this time."""
        self._keep(name_or_uuid, assertion.Kind.INVENTORY)

    def update_resources(
        self, name_or_uuid: str, resources: Mapping[str, Any]
    ) -> bool:
        """Store a driver's own resources; return True if they changed.

        They are never sent to placement.

        :raises errors.TreeError: the resources are no mapping
        """
        if not isinstance(resources, Mapping):
            raise errors.TreeError(
                f'{error_text.excerpt(resources)} are no resources: give '
                'resource class → the objects, {} for none'
            )
        member = self._hierarchy.to_edit(name_or_uuid)
        changed = member.resources != resources
        member.resources = copy.deepcopy(dict(resources))
        return changed

    # --- traits --------------------------------------------------------------

    def update_traits(
        self,
        name_or_uuid: str,
        traits: names.Names,
        generation: int | None = None,
    ) -> bool:
        """Set the provider's complete traits; return True if they changed."""
        member = self._hierarchy.to_edit(name_or_uuid)
        wanted = names.check_traits(traits)
        generation = _generation(generation, member)
        changed = wanted != member.traits
        kind = assertion.Kind.TRAIT
        others = self._log.names_of_others(member.uuid, kind)
        member.traits = wanted | others
        member.generation = generation
        self._log.replace(member.uuid, kind, wanted)
        return changed

    def declare_traits(self, name_or_uuid: str, *traits: str) -> None:
        """Claim exactly these traits, beside the traits of other sources.

        Traits that this source claimed earlier, and that are not among these,
        go.
        """
        member = self._hierarchy.to_edit(name_or_uuid)
        wanted = names.check_traits(traits)
        member.traits -= self._dropped(member, assertion.Kind.TRAIT, wanted)
        member.traits |= wanted
        self._log.declare(member.uuid, assertion.Kind.TRAIT, wanted)

    def add_traits(self, name_or_uuid: str, *traits: str) -> None:
        """Add these traits; no other trait is touched, now or later.

        The source claims them until ``remove_traits``, ``update_traits`` or
        ``declare_traits`` ends that. If another writer removes one of them,
        it is restored in a cycle that adds it again, and otherwise left gone.
        """
        member = self._hierarchy.to_edit(name_or_uuid)
        added = names.check_traits(traits)
        member.traits |= added
        self._log.add(member.uuid, assertion.Kind.TRAIT, added)

    def remove_traits(self, name_or_uuid: str, *traits: str) -> None:
        """Remove these traits, whoever added them, and no other trait.

        The provider may lack some of them.
        """
        member = self._hierarchy.to_edit(name_or_uuid)
        removed = names.check_traits(traits)
        member.traits -= removed
        self._log.remove(member.uuid, assertion.Kind.TRAIT, removed)

    def keep_traits(self, name_or_uuid: str) -> None:
        """Keep all earlier claims: the source cannot tell this time."""
        self._keep(name_or_uuid, assertion.Kind.TRAIT)

    # --- aggregates ----------------------------------------------------------

    def update_aggregates(
        self,
        name_or_uuid: str,
        aggregates: names.Names,
        generation: int | None = None,
    ) -> bool:
        """Set the provider's complete aggregates; return True if changed."""
        member = self._hierarchy.to_edit(name_or_uuid)
        wanted = names.check_aggregates(aggregates)
        generation = _generation(generation, member)
        changed = wanted != member.aggregates
        kind = assertion.Kind.AGGREGATE
        others = self._log.names_of_others(member.uuid, kind)
        member.aggregates = wanted | others
        member.generation = generation
        self._log.replace(member.uuid, kind, wanted)
        return changed

    def declare_aggregates(self, name_or_uuid: str, *aggregates: str) -> None:
        """Claim membership of exactly these aggregates, beside others'.

        Membership of aggregates that this source claimed earlier, and that
        are not among these, ends.
        """
        member = self._hierarchy.to_edit(name_or_uuid)
        wanted = names.check_aggregates(aggregates)
        kind = assertion.Kind.AGGREGATE
        member.aggregates -= self._dropped(member, kind, wanted)
        member.aggregates |= wanted
        self._log.declare(member.uuid, kind, wanted)

    def add_aggregates(self, name_or_uuid: str, *aggregates: str) -> None:
        """Add the provider to these aggregates (uuids) and touch no other.

        The source claims the membership for as long as ``add_traits`` claims
        a trait.
        """
        member = self._hierarchy.to_edit(name_or_uuid)
        added = names.check_aggregates(aggregates)
        member.aggregates |= added
        self._log.add(member.uuid, assertion.Kind.AGGREGATE, added)

    def remove_aggregates(self, name_or_uuid: str, *aggregates: str) -> None:
        """Remove the provider from these aggregates (uuids), and no other."""
        member = self._hierarchy.to_edit(name_or_uuid)
        removed = names.check_aggregates(aggregates)
        member.aggregates -= removed
        self._log.remove(member.uuid, assertion.Kind.AGGREGATE, removed)

    def keep_aggregates(self, name_or_uuid: str) -> None:
        """Keep all earlier claims: the source cannot tell this time."""
        self._keep(name_or_uuid, assertion.Kind.AGGREGATE)

    # --- any kind ------------------------------------------------------------

    def withdraw_assertions(self, name_or_uuid: str) -> None:
        """Drop every assertion about a provider, so that it stays as it is."""
        self._log.forget(self._hierarchy[name_or_uuid].uuid)

    def replace_assertion(
        self,
        uuid: str,
        kind: assertion.Kind,
        source: str,
        asserted: assertion.Assertion,
    ) -> None:
        """Put another assertion in the place of a source's."""
        self._log.put(uuid, kind, source, asserted)

    def keep_only(self, name_or_uuid: str, kind: assertion.Kind) -> None:
        """Have the source say nothing of this kind, and keep its claims."""
        self._log.keep_only(self._hierarchy[name_or_uuid].uuid, kind)

    def release(self, name_or_uuid: str, kind: assertion.Kind) -> None:
        """End all claims of the source on this kind of names."""
        self._log.declare(self._hierarchy[name_or_uuid].uuid, kind, ())

    def dispute(
        self, name_or_uuid: str, kind: assertion.Kind, names: frozenset[str]
    ) -> None:
        """Have the source say nothing of these names, and keep its claims."""
        self._log.dispute(self._hierarchy[name_or_uuid].uuid, kind, names)

    def _keep(self, name_or_uuid: str, kind: assertion.Kind) -> None:
        self._log.keep(self._hierarchy[name_or_uuid].uuid, kind)

    def _dropped(
        self,
        member: hierarchy.Member,
        kind: assertion.Kind,
        wanted: Iterable[str],
    ) -> frozenset[str]:
        """Return the names that the source asserted until this declaration.

        Names that placement has, or that other sources assert, are not among
        them: these may stay.
        """
        known = self.baseline.get(member.uuid)
        return self._log.names(member.uuid, kind).difference(
            wanted,
            self._log.names_of_others(member.uuid, kind),
            known.names_of(kind) if known else (),
        )


def _generation(
    generation: int | None, member: hierarchy.Member
) -> int | None:
    """Return the generation that a source gives, else the provider's own."""
    given = hierarchy.check_generation(generation)
    return member.generation if given is None else given
