# SPDX-License-Identifier: Apache-2.0
"""The tree of resource providers that a driver edits.

Pure: no I/O, configuration, logging or clock. The public methods have nova's
names, argument order and return values, so the body of a nova driver's
``update_provider_tree`` runs on it unchanged. Each accepts a provider's name
or uuid. This module has the methods that add and remove providers;
``tree_queries.py`` has the methods that only read, ``tree_contents.py`` those
that edit inventory, traits and aggregates.

It differs from nova's tree on purpose in three ways. Bad input is refused
before anything changes. Names are as unique as uuids. The tree records what
each source asserted (``assertion.py``). It has no lock, because every cycle
owns its copy.
"""

import copy
import shlex
import uuid as uuidlib
from collections.abc import Container, Iterable, Mapping
from typing import Any, Self

from .. import error_text, errors
from . import assertion, children, hierarchy, names, provider, set_aside
from .children import Child
from .hierarchy import Records
from .inventory import InventoryRecord
from .tree_queries import ProviderData

__all__ = (
    'Child',
    'Description',
    'InventoryRecord',
    'ProviderData',
    'ProviderTree',
    'derived_uuid',
)

# The result of all edits of a tree, to be compared with another tree's.
Description = tuple[Any, ...]


class ProviderTree(set_aside.TreeSetAside):
    """One compute node's providers, and the sharing ones it can reach.

    :ivar baseline: the providers that the tree was made from, so that the
        edited tree can be compared with them
    :ivar detached: uuids of roots whose parent is outside this tree
    :ivar removed_by: uuid of a removed provider → the source that removed it
    :ivar departed: the sources that do not exist any more
    :ivar notes: lines for the operator
    :ivar faults: lines for the operator; a node with faults does not count as
        done
    :ivar counted_as: a resource class → the class as which its amounts count
        when allocations move
    """

    def __init__(self) -> None:
        super().__init__()
        self.detached: set[str] = set()
        self.removed_by: dict[str, str] = {}
        self.departed: set[str] = set()
        self.notes: list[str] = []
        self.faults: list[str] = []
        self.counted_as: dict[str, str] = {}
        # The uuids given as detached, for ``discard_edits``.
        self._detached_from_start = frozenset[str]()
        # The tree that this one is a copy of.
        self._original: ProviderTree | None = None
        # The providers of the baseline that no edit removed or replaced.
        self._untouched: set[str] = set()

    @classmethod
    def from_providers(
        cls,
        providers: Iterable[provider.Provider],
        detached: Container[str] = (),
    ) -> Self:
        """Return a tree of placement's providers, with nothing asserted.

        A provider whose parent is not among them becomes a detached root.

        :param detached: uuids of providers that become detached roots even if
            their parent is among the providers
        """
        return cls.from_snapshot(provider.snapshot(providers), detached)

    @classmethod
    def from_snapshot(
        cls, baseline: provider.Snapshot, detached: Container[str] = ()
    ) -> Self:
        """Return the same as ``from_providers``, from ordered providers."""
        tree = cls()
        tree.baseline = baseline
        tree._untouched = set(baseline)
        for uuid, seen in baseline.items():
            parent = seen.parent_uuid
            if uuid in detached or parent not in tree._hierarchy:
                parent = None
            tree._hierarchy.insert(
                hierarchy.Member.from_provider(seen, parent)
            )
            if parent is None and seen.parent_uuid is not None:
                tree.detached.add(uuid)
        tree._detached_from_start = frozenset(tree.detached)
        return tree

    def copy(self) -> Self:
        """Return the tree with its edits so far, to be edited alone.

        This tree must not be edited while the copy is in use.
        """
        made = copy.copy(self)
        vars(made).update(
            detached=self.detached.copy(),
            removed_by=self.removed_by.copy(),
            departed=self.departed.copy(),
            notes=self.notes.copy(),
            faults=self.faults.copy(),
            counted_as=self.counted_as.copy(),
            set_aside=self.set_aside.copy(),
            _hierarchy=self._hierarchy.copy(),
            _log=self._log.copy(),
            _untouched=self._untouched.copy(),
            _original=self,
        )
        return made

    def discard_edits(self) -> None:
        """Undo every edit; in a copy, every edit since it was made.

        A tree that is no copy then shows its baseline, and nothing is asserted.
        """
        source, own = self._log.current_source, self.own
        fresh = (
            self.from_snapshot(self.baseline, self._detached_from_start)
            if self._original is None
            else self._original.copy()
        )
        self.__dict__.update(vars(fresh))
        self._log.current_source, self.own = source, own

    # --- lines for the operator ----------------------------------------------

    def note(self, text: str) -> None:
        """Add a line for the operator; the node still counts as done.

        :raises errors.TreeError: this is no text
        """
        self.notes.append(_line(text, 'note'))

    def fault(self, text: str) -> None:
        """Add a line that says why the node is not as it should be.

        The node then does not count as done. The assertions are applied
        nevertheless, because they are the best description available.

        :raises errors.TreeError: this is no text
        """
        self.faults.append(_line(text, 'fault'))

    # --- allocations ----------------------------------------------------------

    def count_as(self, resource_class: str, other: str) -> None:
        """Let the driver turn allocations of one class into another, and back.

        Without this, each consumer has to keep its amount of each class when
        allocations move.

        :raises errors.InvalidName: an argument is no resource class
        :raises errors.TreeError: the two classes are the same
        """
        for rc in (resource_class, other):
            names.check_symbol(rc, 'resource class')
        if resource_class == other:
            raise errors.TreeError(
                f'{resource_class} counts as itself already: name the other '
                'class'
            )
        self.counted_as[resource_class] = other

    # --- providers -----------------------------------------------------------

    def new_root(
        self, name: str, uuid: str, generation: int | None = None
    ) -> str:
        """Add a provider without a parent; return its uuid.

        :raises errors.TreeError: the tree already has the uuid or the name
        :raises errors.Renamed: the tree has the uuid under another name,
            because the provider was renamed in placement
        """
        member = hierarchy.Member(
            uuid=names.check_uuid(uuid, 'provider'),
            name=names.check_provider_name(name),
            generation=hierarchy.check_generation(generation),
        )
        return self._insert(member)

    def new_child(
        self,
        name: str,
        parent: str,
        uuid: str | None = None,
        generation: int | None = None,
    ) -> str:
        """Add a provider below ``parent`` (its name or uuid); return its uuid.

        Without a uuid, the uuid is derived from parent and name. The same
        child gets the same uuid after a crash, so its creation can be
        repeated.

        :raises errors.TreeError: the tree lacks the parent, or already has
            the uuid or the name
        :raises errors.Renamed: the tree has the uuid under another name,
            because the provider was renamed in placement
        """
        if names.check_label(parent) not in self._hierarchy:
            self._refuse_swapped(name, parent)
        above = self._hierarchy[parent]
        names.check_provider_name(name)
        if uuid is None:
            uuid = self._derived_uuid(above.uuid, name)
        member = hierarchy.Member(
            uuid=names.check_uuid(uuid, 'provider'),
            name=name,
            generation=hierarchy.check_generation(generation),
            parent=above.uuid,
        )
        return self._insert(member)

    def reconcile_children(
        self, parent: str, wanted: Mapping[str, Child]
    ) -> dict[str, str]:
        """Make the children of ``parent`` these; return name → uuid.

        A child that is missing is created. The driver claims what it gives for
        each provider, as with ``declare_*``. A kind that it omits stays as it
        is. None stands for a kind that it cannot tell now. A child that is not
        wanted goes, with all below it, if this agent created it and no other
        driver reports it.

        :param wanted: name → ``inventory``, ``traits``, ``aggregates`` and
            ``uuid``, each if the driver knows it
        :raises errors.TreeError: the tree lacks the parent, has one of the
            names elsewhere or under another uuid, or a record is wrong
        :raises errors.InvalidName: placement would refuse a name
        :raises errors.Renamed: as for ``new_child``
        """
        return children.reconcile(
            self, parent, wanted, self.new_child, self.remove
        )

    def remove(self, name_or_uuid: str) -> None:
        """Remove a provider and all below it.

        If a node's root is not in placement yet, removing it means that
        nothing is reported of this node for now. To delete a node that
        placement has, leave it out of ``get_available_nodes()``.
        """
        for gone in self._hierarchy.remove(self._hierarchy[name_or_uuid]):
            self._forget(gone)

    def populate_from_iterable(
        self, provider_dicts: Iterable[Mapping[str, Any]] | None
    ) -> None:
        """Add or replace providers given as placement's API returns them.

        Keys: ``uuid`` and ``name``, and optionally ``generation`` and
        ``parent_provider_uuid``. A replaced provider loses its inventory,
        traits and aggregates, and those providers below it that are not given
        as well. If a parent is missing, a name comes twice or the parents form
        a cycle, nothing changes.

        :raises errors.TreeError: the result would not be a set of trees with
            distinct names and uuids, or these are no providers
        :raises errors.InvalidName: placement would refuse a name or a uuid
        """
        given = [_given(row) for row in _rows(provider_dicts)]
        for gone in self._hierarchy.replace(given):
            self._forget(gone)

    def description(self) -> Description:
        """Return the result of all edits of the tree, as one value.

        Two trees from the same observation are equal if their descriptions are
        equal.
        """
        return (
            [(m.uuid, m.name, m.parent) for m in self._hierarchy.members()],
            frozenset(self.detached),
            self.assertions,
            self._asserted_inventories(),
            self.notes,
            self.faults,
            self.set_aside,
        )

    # --- private -------------------------------------------------------------

    def _asserted_inventories(self) -> dict[str, Records]:
        """Return the records of the providers whose inventory was asserted."""
        return {
            uuid: self._hierarchy[uuid].inventory
            for uuid, kind in self.assertions
            if kind is assertion.Kind.INVENTORY
        }

    def _insert(self, member: hierarchy.Member) -> str:
        """Add a new provider; refuse a second name for an existing one."""
        if self._is_renamed(member.uuid, member.name):
            known = self.baseline[member.uuid].name
            raise errors.Renamed(
                f'placement knows provider {member.uuid} as {known}, the '
                f'driver calls it {member.name}: nothing of this node is '
                f'written; "compute-agent resource provider rename {member.uuid} '
                f'{shlex.quote(member.name)}" gives it that name again'
            )
        self._hierarchy.insert(member)
        return member.uuid

    def _refuse_swapped(self, name: str, parent: str) -> None:
        """Refuse the name of a parent in the place of the child's."""
        if isinstance(name, str) and name in self._hierarchy:
            raise errors.TreeError(
                f'{name} exists, and {parent} does not: give the name of the '
                'child first, then its parent, as in new_child(name, parent)'
            )

    def _is_renamed(self, uuid: str, name: str) -> bool:
        """Return True if placement has the provider under another name."""
        return uuid in self._untouched and name not in self._hierarchy

    def _derived_uuid(self, parent_uuid: str, name: str) -> str:
        attempt, text = 0, name
        while True:
            uuid = derived_uuid(parent_uuid, text)
            if uuid not in self._hierarchy or self._is_renamed(uuid, name):
                return uuid
            attempt += 1
            text = f'{name}#{attempt}'

    def _forget(self, gone: hierarchy.Member) -> None:
        """Drop the assertions and the marks of a provider that is removed."""
        self.detached.discard(gone.uuid)
        self._untouched.discard(gone.uuid)
        self.set_aside.pop(gone.uuid, None)
        self._log.forget(gone.uuid)
        self.removed_by[gone.uuid] = self._log.current_source


def _line(text: object, method: str) -> str:
    """Return a line for the operator.

    :raises errors.TreeError: the line is no text, or an empty text
    """
    if not isinstance(text, str) or not text.strip():
        raise errors.TreeError(
            f'{method} {error_text.excerpt(text)} is no line for the '
            'operator: give a text that says what happened, and to what'
        )
    return text


def _rows(given: object) -> Iterable[object]:
    """Return the rows of ``populate_from_iterable``.

    :raises errors.TreeError: the argument has no such rows
    """
    if given is None or given == {}:
        return ()
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(
        given, Iterable
    ):
        raise errors.TreeError(
            f'{error_text.excerpt(given)} is no list of providers: give a '
            "list of mappings, each with 'uuid' and 'name'"
        )
    return given


def _given(row: object) -> hierarchy.Member:
    """Return a provider of ``populate_from_iterable``.

    :raises errors.TreeError: the row is no provider
    :raises errors.InvalidName: placement would refuse its name or a uuid
    """
    if not isinstance(row, Mapping) or not {'uuid', 'name'} <= row.keys():
        raise errors.TreeError(
            f'{error_text.excerpt(row)} is no provider: give a mapping with '
            "'uuid' and 'name'"
        )
    parent = row.get('parent_provider_uuid')
    return hierarchy.Member(
        uuid=names.check_uuid(row['uuid'], 'provider'),
        name=names.check_provider_name(row['name']),
        generation=hierarchy.check_generation(row.get('generation')),
        parent=None if parent is None else names.check_uuid(parent, 'parent'),
    )


def derived_uuid(parent_uuid: str, name: str) -> str:
    """Return the uuid of a child whose driver gives none."""
    return str(uuidlib.uuid5(uuidlib.UUID(parent_uuid), name))
