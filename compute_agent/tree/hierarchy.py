# SPDX-License-Identifier: Apache-2.0
"""The members of a ProviderTree, and their parents.

Pure: no I/O, configuration, logging or clock. Every uuid and every name is
unique, and a member is found by either in constant time. A change that would
break this, leave a member without its parent or form a cycle is refused before
anything changes. A copy shares its members with the original: the first of the
two that edits a member takes a copy of that member. Only the ProviderTree uses
it: drivers get copies of members.

A driver's record may omit fields, and an omitted allocation ratio means that
the driver has no opinion on it. Therefore members keep the records as they were
given; they become ``Inventory`` values when ownership is resolved.
"""

import copy
import dataclasses
import typing
from collections.abc import Mapping, Sequence
from typing import Any

from .. import error_text, errors
from . import inventory, names, provider

Records = Mapping[str, inventory.Record]
# Resource class → record, as a driver gives them.
Given = Mapping[str, inventory.InventoryRecord]


def check_records(
    records: Records | Given, current: Records
) -> dict[str, dict[str, int | float]]:
    """Return copies of these records, each of them valid.

    :param current: the provider's own records; a source may repeat one that
        offers nothing, because another writer may have made it
    :raises errors.TreeError: placement would refuse the record, or it offers
        nothing, probably by mistake
    :raises errors.InvalidName: a resource class outside the grammar of names
    """
    if not isinstance(records, Mapping):
        raise errors.TreeError(
            f'{error_text.excerpt(records)} is not an inventory: give '
            "resource class → record, such as {'VCPU': {'total': 8}}"
        )
    for rc, record in records.items():
        names.check_symbol(rc, 'resource class')
        try:
            inventory.from_source(
                typing.cast(inventory.Record, record), current.get(rc)
            )
        except errors.TreeError as exc:
            raise errors.TreeError(f'inventory of {rc}: {exc}') from exc
    own = typing.cast(Records, records)
    return {rc: dict(record) for rc, record in own.items()}


def check_generation(generation: object) -> int | None:
    """Return a generation that a source gives, or None.

    :raises errors.TreeError: the generation is no whole number
    """
    if generation is None:
        return None
    if not inventory.whole_number(generation):
        raise errors.TreeError(
            f'generation {error_text.excerpt(generation)} must be a whole '
            'number: leave it out, because the agent knows it'
        )
    return typing.cast(int, generation)


def records_differ(records: Records, others: Records) -> bool:
    """Return True if two inventories differ once defaults are filled in."""
    return records.keys() != others.keys() or (
        _complete(records) != _complete(others)
    )


def _complete(records: Records) -> dict[str, inventory.Inventory]:
    return {
        rc: inventory.Inventory.from_record(record)
        for rc, record in records.items()
    }


@dataclasses.dataclass(slots=True, kw_only=True)
class Member:
    """One provider while it is edited; parent and children are uuids.

    An edit replaces its contents, so several members can have the same ones.
    """

    uuid: str
    name: str
    generation: int | None = None
    parent: str | None = None
    children: list[str] = dataclasses.field(default_factory=list)
    inventory: Records = dataclasses.field(default_factory=dict)
    traits: frozenset[str] = frozenset()
    aggregates: frozenset[str] = frozenset()
    resources: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @classmethod
    def from_provider(
        cls, seen: provider.Provider, parent: str | None
    ) -> 'Member':
        """Return a member with the contents that placement shows."""
        return cls(
            uuid=seen.uuid,
            name=seen.name,
            generation=seen.generation,
            parent=parent,
            inventory={
                rc: record.to_record()
                for rc, record in seen.inventories.items()
            },
            traits=seen.traits,
            aggregates=seen.aggregates,
        )

    def copy(self) -> 'Member':
        """Return a member with the same contents, to be edited alone."""
        return dataclasses.replace(self, children=self.children.copy())


def _lower(label: object) -> str:
    """Return a uuid as placement spells it; empty for anything else."""
    return str(label).lower() if names.is_uuid(label) else ''


class Hierarchy:
    """One or more trees of members, indexed by uuid and by name."""

    def __init__(self) -> None:
        self._members: dict[str, Member] = {}
        self._uuids: dict[str, str] = {}
        self._order: list[str] | None = None
        # The members that no other hierarchy shares.
        self._own: set[str] = set()

    def copy(self) -> 'Hierarchy':
        """Return the same trees; each of the two can be edited alone."""
        self._own = set()
        made = copy.copy(self)
        vars(made).update(
            _members=self._members.copy(),
            _uuids=self._uuids.copy(),
            _own=set(),
        )
        return made

    def __contains__(self, name_or_uuid: object) -> bool:
        return (
            name_or_uuid in self._members
            or name_or_uuid in self._uuids
            or _lower(name_or_uuid) in self._members
        )

    def __getitem__(self, name_or_uuid: str) -> Member:
        """Return one member.

        :raises errors.NoProvider: no member has this name or uuid
        :raises errors.InvalidName: this is neither a name nor a uuid
        """
        label = names.check_label(name_or_uuid)
        member = self._members.get(label)
        if member is None:
            other = self._uuids.get(label) or _lower(label)
            member = self._members.get(other)
        if member is None:
            raise errors.NoProvider(label, tuple(self._uuids))
        return member

    def to_edit(self, name_or_uuid: str) -> Member:
        """Return a member that this hierarchy does not share any more."""
        member = self[name_or_uuid]
        if member.uuid not in self._own:
            member = self._members[member.uuid] = member.copy()
            self._own.add(member.uuid)
        return member

    def members(self) -> list[Member]:
        """Return all members, in the order of insertion."""
        return list(self._members.values())

    def roots(self) -> list[Member]:
        """Return the members without a parent."""
        return [m for m in self._members.values() if m.parent is None]

    def root_of(self, member: Member) -> Member:
        """Return the root of this member's tree."""
        while member.parent is not None:
            member = self._members[member.parent]
        return member

    def order(self) -> list[str]:
        """Return all uuids, tree by tree, parents first."""
        if self._order is None:
            self._order = [
                member.uuid
                for top in self.roots()
                for member in self.walk(top)
            ]
        return self._order.copy()

    def walk(self, top: Member) -> list[Member]:
        """Return this member and all below it, parents first."""
        found, pending = [], [top]
        while pending:
            member = pending.pop()
            found.append(member)
            pending += [self._members[u] for u in reversed(member.children)]
        return found

    def insert(self, member: Member) -> None:
        """Add a member below its parent.

        :raises errors.TreeError: another member has its uuid or name
        """
        for label in (member.uuid, member.name):
            if label in self:
                raise errors.TreeError(
                    f'Provider {label} already exists: ask exists() first'
                )
        self._order = None
        self._members[member.uuid] = member
        self._uuids[member.name] = member.uuid
        self._own.add(member.uuid)
        if member.parent is not None:
            self.to_edit(member.parent).children.append(member.uuid)

    def remove(self, top: Member) -> list[Member]:
        """Remove a member and all below it; return them."""
        self._order = None
        gone = self.walk(top)
        for member in gone:
            del self._members[member.uuid]
            del self._uuids[member.name]
            self._own.discard(member.uuid)
        if top.parent is not None:
            self.to_edit(top.parent).children.remove(top.uuid)
        return gone

    def replace(self, given: Sequence[Member]) -> list[Member]:
        """Insert members, in any order; return the members that they replace.

        A member that exists already is removed first, with all below it. The
        cost depends on the members given and removed, not on the others.

        :raises errors.TreeError: a name or uuid comes twice, a parent is
            missing, or the parents form a cycle; then nothing changes
        """
        new = {m.uuid: m for m in given}
        removed = {
            m.uuid: m
            for uuid in new
            if uuid in self._members
            for m in self.walk(self._members[uuid])
        }
        self._check_names(given, removed)
        ordered = self._ordered(new, removed)
        for uuid in new:
            if uuid in self._members:
                self.remove(self._members[uuid])
        for member in ordered:
            self.insert(member)
        return list(removed.values())

    def _check_names(
        self, given: Sequence[Member], removed: Mapping[str, Member]
    ) -> None:
        labels = set[str]()
        for member in given:
            if member.uuid in labels:
                raise errors.TreeError(
                    f'Provider {member.uuid} comes twice: give it once'
                )
            for label in {member.uuid, member.name}:
                holder = self._holder(label)
                if label in labels or (holder and holder not in removed):
                    raise errors.TreeError(
                        f'Provider {label} already exists: give each provider '
                        'a name and a uuid of its own'
                    )
            labels |= {member.uuid, member.name}

    def _holder(self, label: str) -> str | None:
        """Return the uuid of the member with this uuid or name."""
        return label if label in self._members else self._uuids.get(label)

    def _ordered(
        self, new: Mapping[str, Member], removed: Mapping[str, Member]
    ) -> list[Member]:
        """Return the new members, each after its parent."""
        below: dict[str, list[Member]] = {}
        pending = []
        for member in new.values():
            parent = member.parent
            if parent in new:
                below.setdefault(str(parent), []).append(member)
            elif parent is None or (
                parent in self._members and parent not in removed
            ):
                pending.append(member)
            else:
                raise errors.TreeError(
                    f'parent {parent} of provider {member.name} is not there: '
                    'add it to the list'
                )
        pending.reverse()
        ordered: dict[str, Member] = {}
        while pending:
            member = pending.pop()
            ordered[member.uuid] = member
            pending.extend(reversed(below.get(member.uuid, [])))
        cycle = sorted(m.name for u, m in new.items() if u not in ordered)
        if cycle:
            raise errors.TreeError(f'{", ".join(cycle)} would be in a cycle')
        return list(ordered.values())
