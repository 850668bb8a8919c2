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
import uuid as uuidlib
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from . import assertion, errors, inventory, names, provider

Records = Mapping[str, inventory.Record]
Assertions = dict[tuple[str, assertion.Kind], dict[str, assertion.Assertion]]


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
        self._nodes: dict[str, _Node] = {}
        self._uuids: dict[str, str] = {}
        self._source = assertion.DRIVER
        self.baseline: provider.Snapshot = {}
        self.assertions: Assertions = {}

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
        tree = cls()
        tree.baseline = provider.snapshot(providers)
        for p in tree.baseline.values():
            below = p.uuid not in lone and p.parent_uuid in tree._nodes
            tree._insert(
                _Node.from_provider(p), p.parent_uuid if below else None
            )
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

    # --- reading --------------------------------------------------------------

    @property
    def roots(self) -> list[ProviderData]:
        """Copies of the providers that have no parent in this tree."""
        return [
            self.data(u) for u, n in self._nodes.items() if n.parent is None
        ]

    def exists(self, name_or_uuid: str) -> bool:
        """Whether the tree has this provider."""
        return name_or_uuid in self._nodes or name_or_uuid in self._uuids

    def data(self, name_or_uuid: str) -> ProviderData:
        """Return a copy of one provider.

        :raises TreeError: there is none of that name or uuid
        """
        return self._find(name_or_uuid).data()

    def get_provider_uuids(self, name_or_uuid: str | None = None) -> list[str]:
        """Return this provider's uuid and those below it, parents first.

        :param name_or_uuid: None for every provider of every tree
        """
        if name_or_uuid is not None:
            return self._walk(self._find(name_or_uuid))
        roots = [n for n in self._nodes.values() if n.parent is None]
        return [uuid for root in roots for uuid in self._walk(root)]

    def get_provider_uuids_in_tree(self, name_or_uuid: str) -> list[str]:
        """Return the uuids of the whole tree this provider is in, root first."""
        node = self._find(name_or_uuid)
        while node.parent is not None:
            node = self._nodes[node.parent]
        return self._walk(node)

    def has_inventory(self, name_or_uuid: str) -> bool:
        """Whether the provider has inventory of any class."""
        return bool(self._find(name_or_uuid).inventory)

    def has_inventory_changed(
        self, name_or_uuid: str, inventory: Records
    ) -> bool:
        """Whether these records differ from the provider's, defaults filled."""
        mine = self._find(name_or_uuid).inventory
        return _whole(mine) != _whole(inventory)

    def has_sharing_provider(self, rc: str) -> bool:
        """Whether a provider of this tree shares that resource class."""
        sharing = names.MISC_SHARES_VIA_AGGREGATE
        return any(
            rc in n.inventory and sharing in n.traits
            for n in self._nodes.values()
        )

    def has_traits(self, name_or_uuid: str, traits: Iterable[str]) -> bool:
        """Whether the provider has all of these traits."""
        return names.check_traits(traits) <= self._find(name_or_uuid).traits

    def have_traits_changed(
        self, name_or_uuid: str, traits: Iterable[str]
    ) -> bool:
        """Whether this set differs from the provider's traits."""
        return names.check_traits(traits) != self._find(name_or_uuid).traits

    def in_aggregates(
        self, name_or_uuid: str, aggregates: Iterable[str]
    ) -> bool:
        """Whether the provider is in all of these aggregates."""
        wanted = names.check_aggregates(aggregates)
        return wanted <= self._find(name_or_uuid).aggregates

    def have_aggregates_changed(
        self, name_or_uuid: str, aggregates: Iterable[str]
    ) -> bool:
        """Whether this set differs from the provider's aggregates."""
        wanted = names.check_aggregates(aggregates)
        return wanted != self._find(name_or_uuid).aggregates

    # --- shape ----------------------------------------------------------------

    def new_root(
        self, name: str, uuid: str, generation: int | None = None
    ) -> str:
        """Add a provider without a parent; return its uuid.

        :raises TreeError: the uuid or the name is in the tree already
        """
        node = _Node(names.check_provider_name(name), uuid, generation)
        node.uuid = names.check_uuid(uuid, 'provider')
        self._insert(node, None)
        return node.uuid

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
        """
        above = self._find(parent)
        names.check_provider_name(name)
        if uuid is None:
            uuid = self._derived_uuid(above.uuid, name)
        uuid = names.check_uuid(uuid, 'provider')
        self._insert(_Node(name, uuid, generation), above.uuid)
        return uuid

    def remove(self, name_or_uuid: str) -> None:
        """Remove a provider and all below it."""
        node = self._find(name_or_uuid)
        for uuid in self._walk(node):
            gone = self._nodes.pop(uuid)
            del self._uuids[gone.name]
            for kind in assertion.Kind:
                self.assertions.pop((uuid, kind), None)
        if node.parent is not None:
            self._nodes[node.parent].children.remove(node.uuid)

    def populate_from_iterable(
        self, provider_dicts: Iterable[Mapping[str, Any]]
    ) -> None:
        """Add or replace providers given as placement's API returns them.

        Keys: ``uuid`` and ``name``, and optionally ``generation`` and
        ``parent_provider_uuid``. A replaced provider loses its inventory,
        traits, aggregates and whatever below it is not given too. All or
        nothing: a missing parent, a cycle or a name twice changes nothing.

        :raises TreeError: the result would be no forest of distinct providers
        """
        given = [
            _Node(
                names.check_provider_name(d['name']),
                names.check_uuid(d['uuid'], 'provider'),
                d.get('generation'),
                parent=d.get('parent_provider_uuid'),
            )
            for d in provider_dicts
        ]
        replaced = {
            uuid
            for node in given
            if node.uuid in self._nodes
            for uuid in self._walk(self._nodes[node.uuid])
        }
        kept = [n for u, n in self._nodes.items() if u not in replaced]
        merged = {n.uuid: copy.deepcopy(n) for n in kept}
        merged.update({n.uuid: n for n in given})
        rebuilt = _rebuild(merged)
        self._nodes, self._uuids = rebuilt._nodes, rebuilt._uuids

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
        node = self._find(name_or_uuid)
        records = _checked(inventory)
        changed = _whole(node.inventory) != _whole(records)
        node.inventory = records
        self._note(node, generation)
        self._assert(node, assertion.Kind.INVENTORY, 'setting', records)
        return changed

    def add_inventory(
        self, name_or_uuid: str, rc: str, record: inventory.Record
    ) -> None:
        """Assert one resource class, leaving the others to their sources."""
        node = self._find(name_or_uuid)
        records = _checked({rc: record})
        node.inventory.update(records)
        self._assert(node, assertion.Kind.INVENTORY, 'adding', records)

    def keep_inventory(self, name_or_uuid: str) -> None:
        """Say: unknown this time; what was held stays held."""
        self._keep(name_or_uuid, assertion.Kind.INVENTORY)

    def update_resources(
        self, name_or_uuid: str, resources: Mapping[str, Any]
    ) -> bool:
        """Store a driver's own resources; they are never sent to placement."""
        node = self._find(name_or_uuid)
        changed = node.resources != resources
        node.resources = copy.deepcopy(dict(resources))
        return changed

    # --- traits ---------------------------------------------------------------

    def update_traits(
        self,
        name_or_uuid: str,
        traits: Iterable[str],
        generation: int | None = None,
    ) -> bool:
        """Set the provider's whole set of traits; return whether it changed."""
        node = self._find(name_or_uuid)
        wanted = names.check_traits(traits)
        changed = wanted != node.traits
        node.traits = set(wanted)
        self._note(node, generation)
        self._assert(node, assertion.Kind.TRAIT, 'setting', wanted)
        return changed

    def add_traits(self, name_or_uuid: str, *traits: str) -> None:
        """Hold these traits, leaving all others alone."""
        node = self._find(name_or_uuid)
        wanted = names.check_traits(traits)
        node.traits |= wanted
        self._assert(node, assertion.Kind.TRAIT, 'adding', wanted)

    def remove_traits(self, name_or_uuid: str, *traits: str) -> None:
        """Remove these traits; one that is not there is no mistake."""
        node = self._find(name_or_uuid)
        gone = names.check_traits(traits)
        node.traits -= gone
        self._assert(node, assertion.Kind.TRAIT, 'removing', gone)

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
        node = self._find(name_or_uuid)
        wanted = names.check_aggregates(aggregates)
        changed = wanted != node.aggregates
        node.aggregates = set(wanted)
        self._note(node, generation)
        self._assert(node, assertion.Kind.AGGREGATE, 'setting', wanted)
        return changed

    def add_aggregates(self, name_or_uuid: str, *aggregates: str) -> None:
        """Hold membership of these aggregates (uuids), leaving others alone."""
        node = self._find(name_or_uuid)
        wanted = names.check_aggregates(aggregates)
        node.aggregates |= wanted
        self._assert(node, assertion.Kind.AGGREGATE, 'adding', wanted)

    def remove_aggregates(self, name_or_uuid: str, *aggregates: str) -> None:
        """End membership of these aggregates (uuids)."""
        node = self._find(name_or_uuid)
        gone = names.check_aggregates(aggregates)
        node.aggregates -= gone
        self._assert(node, assertion.Kind.AGGREGATE, 'removing', gone)

    def keep_aggregates(self, name_or_uuid: str) -> None:
        """Say: unknown this time; what was held stays held."""
        self._keep(name_or_uuid, assertion.Kind.AGGREGATE)

    # --- inside ---------------------------------------------------------------

    def _find(self, name_or_uuid: str) -> '_Node':
        node = self._nodes.get(name_or_uuid)
        if node is None:
            node = self._nodes.get(self._uuids.get(name_or_uuid, ''))
        if node is None:
            raise errors.TreeError(f'No such provider {name_or_uuid}')
        return node

    def _insert(self, node: '_Node', parent: str | None) -> None:
        if node.uuid in self._nodes:
            raise errors.TreeError(f'Provider {node.uuid} already exists')
        if node.name in self._uuids:
            raise errors.TreeError(f'Provider {node.name} already exists')
        node.parent = parent
        self._nodes[node.uuid] = node
        self._uuids[node.name] = node.uuid
        if parent is not None:
            self._nodes[parent].children.append(node.uuid)

    def _walk(self, top: '_Node') -> list[str]:
        found, waiting = [], [top.uuid]
        while waiting:
            uuid = waiting.pop()
            found.append(uuid)
            waiting.extend(reversed(self._nodes[uuid].children))
        return found

    def _derived_uuid(self, parent_uuid: str, name: str) -> str:
        attempt, text = 0, name
        while True:
            uuid = str(uuidlib.uuid5(uuidlib.UUID(parent_uuid), text))
            if uuid not in self._nodes:
                return uuid
            attempt += 1
            text = f'{name}#{attempt}'

    def _assert(
        self,
        node: '_Node',
        kind: assertion.Kind,
        verb: str,
        what: Iterable[str],
    ) -> None:
        said = self.assertions.setdefault((node.uuid, kind), {})
        earlier = said.get(self._source, assertion.Assertion())
        said[self._source] = getattr(earlier, verb)(what)

    def _keep(self, name_or_uuid: str, kind: assertion.Kind) -> None:
        said = self.assertions.setdefault(
            (self._find(name_or_uuid).uuid, kind), {}
        )
        earlier = said.get(self._source, assertion.Assertion())
        said[self._source] = earlier.keeping()

    @staticmethod
    def _note(node: '_Node', generation: int | None) -> None:
        if generation is not None:
            node.generation = generation


@dataclasses.dataclass(slots=True)
class _Node:
    """One provider inside the tree; parent and children are uuids."""

    name: str
    uuid: str
    generation: int | None = None
    parent: str | None = None
    children: list[str] = dataclasses.field(default_factory=list)
    inventory: dict[str, dict[str, int | float]] = dataclasses.field(
        default_factory=dict
    )
    traits: set[str] = dataclasses.field(default_factory=set)
    aggregates: set[str] = dataclasses.field(default_factory=set)
    resources: dict[str, Any] = dataclasses.field(default_factory=dict)

    @classmethod
    def from_provider(cls, p: provider.Provider) -> '_Node':
        return cls(
            p.name,
            p.uuid,
            p.generation,
            inventory={rc: i.to_record() for rc, i in p.inventories.items()},
            traits=set(p.traits),
            aggregates=set(p.aggregates),
        )

    def data(self) -> ProviderData:
        return ProviderData(
            uuid=self.uuid,
            name=self.name,
            generation=self.generation,
            parent_uuid=self.parent,
            inventory=copy.deepcopy(self.inventory),
            traits=set(self.traits),
            aggregates=set(self.aggregates),
            resources=copy.deepcopy(self.resources),
        )


def _rebuild(nodes: Mapping[str, _Node]) -> ProviderTree:
    """Return a fresh tree of these nodes, each below its ``parent``."""
    tree = ProviderTree()
    below: dict[str | None, list[_Node]] = {}
    for node in nodes.values():
        if node.parent is not None and node.parent not in nodes:
            raise errors.TreeError(
                f'parent {node.parent} of provider {node.name} is not there'
            )
        below.setdefault(node.parent, []).append(node)
    waiting = list(reversed(below.get(None, [])))
    while waiting:
        node = waiting.pop()
        node.children = []
        tree._insert(node, node.parent)
        waiting.extend(reversed(below.get(node.uuid, [])))
    if len(tree._nodes) != len(nodes):
        stray = sorted(
            n.name for u, n in nodes.items() if u not in tree._nodes
        )
        raise errors.TreeError(f'{", ".join(stray)} would be in a cycle')
    return tree


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
