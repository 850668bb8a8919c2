# SPDX-License-Identifier: Apache-2.0
"""The tree of resource providers that a driver edits (seed 004).

Pure: no I/O, configuration, logging or clock. The public methods carry nova's
names, argument order and return values, so that the body of a nova driver's
``update_provider_tree`` runs on it unchanged; each accepts a provider's name or
uuid. What differs on purpose: bad input is refused before anything is changed,
names are as unique as uuids, and the tree records what each source asserted
(``assertion.py``). It has no lock: every cycle owns its copy.
"""

import contextlib
import copy
import dataclasses
import shlex
import uuid as uuidlib
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from .. import errors
from . import assertion, hierarchy, inventory, names, provider

Records = Mapping[str, inventory.Record]
Assertions = dict[tuple[str, assertion.Kind], dict[str, assertion.Assertion]]

_NONE = frozenset[str]()

# All that was made of a tree, to be compared with what was made of another.
Said = tuple[Any, ...]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ProviderData:
    """A copy of one provider, as ``data()`` returns it; editing it is safe.

    ``inventory`` maps resource class to a record of placement's fields,
    ``resources`` is what a driver stored with ``update_resources``.
    """

    uuid: str
    name: str
    generation: int | None
    parent_uuid: str | None
    inventory: dict[str, dict[str, int | float]]
    traits: set[str]
    aggregates: set[str]
    resources: dict[str, Any]


class ProviderTree:
    """One compute node's providers, and the sharing ones it can reach.

    A tree made by ``from_providers`` remembers them as ``baseline``, so what
    it became can be compared with what it was.
    """

    def __init__(self) -> None:
        self._forest = hierarchy.Forest()
        self._source = assertion.DRIVER
        self.baseline: provider.Snapshot = {}
        #: Those of the baseline that nobody removed or gave anew.
        self._untouched: set[str] = set()
        #: Providers whose parent stands outside of this tree.
        self.lone: set[str] = set()
        self.assertions: Assertions = {}
        #: The source that removed a provider, by the provider's uuid.
        self.removed_by: dict[str, str] = {}
        #: Lines for the operator; a node with faults does not count as done.
        self.notes: list[str] = []
        self.faults: list[str] = []

    @classmethod
    def from_providers(
        cls,
        providers: Iterable[provider.Provider],
        lone: Container[str] = (),
    ) -> 'ProviderTree':
        """Return a tree of what placement holds, with nothing asserted.

        A provider whose parent is not among them becomes a lone root.

        :param lone: uuids of providers to stand as lone roots all the same
        """
        return cls.from_snapshot(provider.snapshot(providers), lone)

    @classmethod
    def from_snapshot(
        cls, baseline: provider.Snapshot, lone: Container[str] = ()
    ) -> 'ProviderTree':
        """Return the same of providers that are in order already."""
        tree = cls()
        tree.baseline = baseline
        tree._untouched = set(tree.baseline)
        for one in tree.baseline.values():
            below = one.uuid not in lone and one.parent_uuid in tree._forest
            parent = one.parent_uuid if below else None
            tree._forest.insert(hierarchy.Member.of(one, parent))
            if parent is None and one.parent_uuid is not None:
                tree.lone.add(one.uuid)
        return tree

    # --- who is speaking ------------------------------------------------------

    @contextlib.contextmanager
    def asserting(self, source: str) -> Iterator['ProviderTree']:
        """Record the edits made inside as this source's, not the driver's."""
        before, self._source = self._source, source
        try:
            yield self
        finally:
            self._source = before

    def note(self, text: str) -> None:
        """Tell the operator something; the node counts as done all the same."""
        self.notes.append(text)

    def fault(self, text: str) -> None:
        """Tell the operator why the node is not as it should be.

        What was asserted is written all the same: it is the best there is.
        """
        self.faults.append(text)

    # --- reading --------------------------------------------------------------

    @property
    def roots(self) -> list[ProviderData]:
        """Copies of the providers that have no parent in this tree."""
        return [_data(member) for member in self._forest.roots()]

    def exists(self, name_or_uuid: str) -> bool:
        """Whether the tree has this provider."""
        return name_or_uuid in self._forest

    def data(self, name_or_uuid: str) -> ProviderData:
        """Return a copy of one provider.

        :raises TreeError: there is none of that name or uuid
        """
        return _data(self._forest[name_or_uuid])

    def get_provider_uuids(self, name_or_uuid: str | None = None) -> list[str]:
        """Return this provider's uuid and those below it, parents first.

        :param name_or_uuid: None for every provider of every tree
        """
        if name_or_uuid is None:
            return self._forest.order()
        return [m.uuid for m in self._forest.walk(self._forest[name_or_uuid])]

    def get_provider_uuids_in_tree(self, name_or_uuid: str) -> list[str]:
        """Return the uuids of the whole tree this provider is in, root first."""
        root = self._forest.root_of(self._forest[name_or_uuid])
        return [m.uuid for m in self._forest.walk(root)]

    def has_inventory(self, name_or_uuid: str) -> bool:
        """Whether the provider has inventory of any class."""
        return bool(self._forest[name_or_uuid].inventory)

    def has_inventory_changed(
        self, name_or_uuid: str, inventory: Records
    ) -> bool:
        """Whether these records differ from the provider's, defaults filled."""
        mine = self._forest[name_or_uuid].inventory
        return _whole(mine) != _whole(_checked(inventory))

    def has_sharing_provider(self, rc: str) -> bool:
        """Whether a provider of this tree shares that resource class."""
        sharing = names.MISC_SHARES_VIA_AGGREGATE
        return any(
            rc in n.inventory and sharing in n.traits
            for n in self._forest.members()
        )

    def has_traits(self, name_or_uuid: str, traits: Iterable[str]) -> bool:
        """Whether the provider has all of these traits."""
        return names.check_traits(traits) <= self._forest[name_or_uuid].traits

    def have_traits_changed(
        self, name_or_uuid: str, traits: Iterable[str]
    ) -> bool:
        """Whether this set differs from the provider's traits."""
        return names.check_traits(traits) != self._forest[name_or_uuid].traits

    def in_aggregates(
        self, name_or_uuid: str, aggregates: Iterable[str]
    ) -> bool:
        """Whether the provider is in all of these aggregates."""
        wanted = names.check_aggregates(aggregates)
        return wanted <= self._forest[name_or_uuid].aggregates

    def have_aggregates_changed(
        self, name_or_uuid: str, aggregates: Iterable[str]
    ) -> bool:
        """Whether this set differs from the provider's aggregates."""
        wanted = names.check_aggregates(aggregates)
        return wanted != self._forest[name_or_uuid].aggregates

    # --- shape ----------------------------------------------------------------

    def new_root(
        self, name: str, uuid: str, generation: int | None = None
    ) -> str:
        """Add a provider without a parent; return its uuid.

        :raises TreeError: the uuid or the name is in the tree already
        :raises Renamed: the uuid is, and somebody renamed it in placement
        """
        member = hierarchy.Member(
            uuid=names.check_uuid(uuid, 'provider'),
            name=names.check_provider_name(name),
            generation=generation,
        )
        self._check_not_renamed(member.uuid, name)
        self._forest.insert(member)
        return member.uuid

    def new_child(
        self,
        name: str,
        parent: str,
        uuid: str | None = None,
        generation: int | None = None,
    ) -> str:
        """Add a provider below ``parent`` (its name or uuid); return its uuid.

        Without a uuid one is derived from parent and name: the same child gets
        the same uuid after a crash, so its creation can be repeated.

        :raises TreeError: no such parent, or the uuid or name is taken
        :raises Renamed: the uuid is, and somebody renamed it in placement
        """
        above = self._forest[parent]
        names.check_provider_name(name)
        if uuid is None:
            uuid = self._derived_uuid(above.uuid, name)
        member = hierarchy.Member(
            uuid=names.check_uuid(uuid, 'provider'),
            name=name,
            generation=generation,
            parent=above.uuid,
        )
        self._check_not_renamed(member.uuid, name)
        self._forest.insert(member)
        return member.uuid

    def remove(self, name_or_uuid: str) -> None:
        """Remove a provider and all below it.

        Removing a node's root that placement does not have yet means: nothing
        is reported of this node for now. One that placement has goes by being
        left out of ``get_available_nodes()``.
        """
        for gone in self._forest.remove(self._forest[name_or_uuid]):
            self._take_back(gone)

    def populate_from_iterable(
        self, provider_dicts: Iterable[Mapping[str, Any]] | None
    ) -> None:
        """Add or replace providers given as placement's API returns them.

        Keys: ``uuid`` and ``name``, and optionally ``generation`` and
        ``parent_provider_uuid``. A replaced provider loses its inventory,
        traits, aggregates and whatever below it is not given too. All or
        nothing: a missing parent, a cycle or a name twice changes nothing.

        :raises TreeError: the result would be no forest of distinct providers
        """
        given = [
            hierarchy.Member(
                uuid=names.check_uuid(one['uuid'], 'provider'),
                name=names.check_provider_name(one['name']),
                generation=one.get('generation'),
                parent=one.get('parent_provider_uuid'),
            )
            for one in provider_dicts or ()
        ]
        for member in self._forest.replace(given):
            self._take_back(member)

    # --- inventory ------------------------------------------------------------

    def update_inventory(
        self,
        name_or_uuid: str,
        inventory: Records,
        generation: int | None = None,
    ) -> bool:
        """Set the provider's whole inventory; return whether it changed.

        :param inventory: resource class → record; an omitted allocation_ratio
            means the source has no opinion on it
        """
        member = self._forest[name_or_uuid]
        records = _checked(inventory)
        changed = _whole(member.inventory) != _whole(records)
        others = self._asserted_by_others(member, assertion.Kind.INVENTORY)
        member.inventory = {
            **{rc: member.inventory[rc] for rc in others - set(records)},
            **records,
        }
        self._note(member, generation)
        self._assert(member, assertion.Kind.INVENTORY, 'setting', records)
        return changed

    def add_inventory(
        self, name_or_uuid: str, rc: str, record: inventory.Record
    ) -> None:
        """Assert one resource class, leaving the others to their sources."""
        member = self._forest[name_or_uuid]
        records = _checked({rc: record})
        member.inventory.update(records)
        self._assert(member, assertion.Kind.INVENTORY, 'adding', records)

    def keep_inventory(self, name_or_uuid: str) -> None:
        """Say: unknown this time; what was held stays held."""
        self._keep(name_or_uuid, assertion.Kind.INVENTORY)

    def update_resources(
        self, name_or_uuid: str, resources: Mapping[str, Any]
    ) -> bool:
        """Store a driver's own resources; they are never sent to placement."""
        member = self._forest[name_or_uuid]
        changed = member.resources != resources
        member.resources = copy.deepcopy(dict(resources))
        return changed

    # --- traits ---------------------------------------------------------------

    def update_traits(
        self,
        name_or_uuid: str,
        traits: Iterable[str],
        generation: int | None = None,
    ) -> bool:
        """Set the provider's whole set of traits; return whether it changed."""
        member = self._forest[name_or_uuid]
        wanted = names.check_traits(traits)
        changed = wanted != member.traits
        others = self._asserted_by_others(member, assertion.Kind.TRAIT)
        member.traits = set(wanted | others)
        self._note(member, generation)
        self._assert(member, assertion.Kind.TRAIT, 'setting', wanted)
        return changed

    def add_traits(self, name_or_uuid: str, *traits: str) -> None:
        """Hold these traits, leaving all others alone."""
        member = self._forest[name_or_uuid]
        wanted = names.check_traits(traits)
        member.traits |= wanted
        self._assert(member, assertion.Kind.TRAIT, 'adding', wanted)

    def remove_traits(self, name_or_uuid: str, *traits: str) -> None:
        """Remove these traits; one that is not there is no mistake."""
        member = self._forest[name_or_uuid]
        gone = names.check_traits(traits)
        member.traits -= gone
        self._assert(member, assertion.Kind.TRAIT, 'removing', gone)

    def keep_traits(self, name_or_uuid: str) -> None:
        """Say: unknown this time; what was held stays held."""
        self._keep(name_or_uuid, assertion.Kind.TRAIT)

    # --- aggregates -----------------------------------------------------------

    def update_aggregates(
        self,
        name_or_uuid: str,
        aggregates: Iterable[str],
        generation: int | None = None,
    ) -> bool:
        """Set the provider's whole set of aggregates; return if it changed."""
        member = self._forest[name_or_uuid]
        wanted = names.check_aggregates(aggregates)
        changed = wanted != member.aggregates
        others = self._asserted_by_others(member, assertion.Kind.AGGREGATE)
        member.aggregates = set(wanted | others)
        self._note(member, generation)
        self._assert(member, assertion.Kind.AGGREGATE, 'setting', wanted)
        return changed

    def add_aggregates(self, name_or_uuid: str, *aggregates: str) -> None:
        """Hold membership of these aggregates (uuids), leaving others alone."""
        member = self._forest[name_or_uuid]
        wanted = names.check_aggregates(aggregates)
        member.aggregates |= wanted
        self._assert(member, assertion.Kind.AGGREGATE, 'adding', wanted)

    def remove_aggregates(self, name_or_uuid: str, *aggregates: str) -> None:
        """End membership of these aggregates (uuids)."""
        member = self._forest[name_or_uuid]
        gone = names.check_aggregates(aggregates)
        member.aggregates -= gone
        self._assert(member, assertion.Kind.AGGREGATE, 'removing', gone)

    def keep_aggregates(self, name_or_uuid: str) -> None:
        """Say: unknown this time; what was held stays held."""
        self._keep(name_or_uuid, assertion.Kind.AGGREGATE)

    # --- any kind -------------------------------------------------------------

    def visit(self, name_or_uuid: str, kind: assertion.Kind) -> None:
        """Say: all that this source holds is what it adds in this cycle.

        Adding nothing says the same of traits and of aggregates; inventory has
        no such call, for ``update_inventory`` claims the whole of it.
        """
        self._assert(self._forest[name_or_uuid], kind, 'adding', ())

    def leave(self, name_or_uuid: str) -> None:
        """Take back all that was said of a provider: it stays as it is."""
        self._unsay(self._forest[name_or_uuid].uuid)

    def said(self) -> Said:
        """Return all that was made of the tree since it was observed.

        Two trees of one observation for which this is equal are alike.
        """
        return (
            [(m.uuid, m.name, m.parent) for m in self._forest.members()],
            frozenset(self.lone),
            self.assertions,
            self._inventories(),
            self.notes,
            self.faults,
        )

    # --- inside ---------------------------------------------------------------

    def _inventories(self) -> dict[str, Records]:
        """Return the records of the providers whose inventory was asserted."""
        return {
            uuid: self._forest[uuid].inventory
            for uuid, kind in self.assertions
            if kind is assertion.Kind.INVENTORY
        }

    def _derived_uuid(self, parent_uuid: str, name: str) -> str:
        attempt, text = 0, name
        while True:
            uuid = derived_uuid(parent_uuid, text)
            if uuid not in self._forest or self._is_renamed(uuid, name):
                return uuid
            attempt += 1
            text = f'{name}#{attempt}'

    def _check_not_renamed(self, uuid: str, name: str) -> None:
        """Refuse a second provider for one that is there by another name."""
        if self._is_renamed(uuid, name):
            known = self.baseline[uuid].name
            raise errors.Renamed(
                f'placement knows provider {uuid} as {known}, the driver '
                f'calls it {name}: nothing of this node is written; '
                f'"compute-agent provider rename {uuid} {shlex.quote(name)}" '
                'gives it that name again'
            )

    def _is_renamed(self, uuid: str, name: str) -> bool:
        """Whether placement has this provider, and only by another name."""
        return uuid in self._untouched and name not in self._forest

    def _assert(
        self,
        member: hierarchy.Member,
        kind: assertion.Kind,
        verb: str,
        what: Iterable[str],
    ) -> None:
        said = self.assertions.setdefault((member.uuid, kind), {})
        earlier = said.get(self._source, assertion.NOTHING)
        said[self._source] = getattr(earlier, verb)(what)

    def _keep(self, name_or_uuid: str, kind: assertion.Kind) -> None:
        said = self.assertions.setdefault(
            (self._forest[name_or_uuid].uuid, kind), {}
        )
        earlier = said.get(self._source, assertion.NOTHING)
        said[self._source] = earlier.keeping()

    def _asserted_by_others(
        self, member: hierarchy.Member, kind: assertion.Kind
    ) -> frozenset[str]:
        """What other sources said in this cycle; it is not ours to drop."""
        said = self.assertions.get((member.uuid, kind))
        if not said:
            return _NONE
        return _NONE.union(
            *(
                one.names
                for source, one in said.items()
                if source != self._source
            )
        )

    def _take_back(self, member: hierarchy.Member) -> None:
        """Forget what was said of a member that is gone."""
        self.lone.discard(member.uuid)
        self._untouched.discard(member.uuid)
        self._unsay(member.uuid)
        self.removed_by[member.uuid] = self._source

    def _unsay(self, uuid: str) -> None:
        for kind in assertion.Kind:
            self.assertions.pop((uuid, kind), None)

    @staticmethod
    def _note(member: hierarchy.Member, generation: int | None) -> None:
        if generation is not None:
            member.generation = generation


def derived_uuid(parent_uuid: str, name: str) -> str:
    """Return the uuid of a child whose driver gives none."""
    return str(uuidlib.uuid5(uuidlib.UUID(parent_uuid), name))


def _data(member: hierarchy.Member) -> ProviderData:
    return ProviderData(
        uuid=member.uuid,
        name=member.name,
        generation=member.generation,
        parent_uuid=member.parent,
        inventory=copy.deepcopy(member.inventory),
        traits=set(member.traits),
        aggregates=set(member.aggregates),
        resources=copy.deepcopy(member.resources),
    )


def _checked(records: Records) -> dict[str, dict[str, int | float]]:
    """Return copies of these records, each one valid."""
    if not isinstance(records, Mapping):
        raise errors.TreeError(
            f'{records!r} is not an inventory: give resource class → record'
        )
    for rc, record in records.items():
        names.check_symbol(rc, 'resource class')
        try:
            inventory.Inventory.from_record(record)
        except errors.TreeError as exc:
            raise errors.TreeError(f'inventory of {rc}: {exc}') from exc
    return {rc: dict(record) for rc, record in records.items()}


def _whole(records: Records) -> dict[str, inventory.Inventory]:
    return {
        rc: inventory.Inventory.from_record(record)
        for rc, record in records.items()
    }
