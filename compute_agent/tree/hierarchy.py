# SPDX-License-Identifier: Apache-2.0
"""The members of a ProviderTree and how they hang together.

Pure: no I/O, configuration, logging or clock. Every uuid and every name is
there once and found at once; a change that would break that, lose a parent or
close a ring is refused before anything is touched. Used by ``provider_tree.py``
alone: drivers never see a member itself.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from .. import errors
from . import provider


@dataclasses.dataclass(slots=True, kw_only=True)
class Member:
    """One provider in the making; parent and children are uuids."""

    uuid: str
    name: str
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
    def of(cls, one: provider.Provider, parent: str | None) -> 'Member':
        """Return a member with what placement holds."""
        return cls(
            uuid=one.uuid,
            name=one.name,
            generation=one.generation,
            parent=parent,
            inventory={
                rc: record.to_record()
                for rc, record in one.inventories.items()
            },
            traits=set(one.traits),
            aggregates=set(one.aggregates),
        )


class Forest:
    """Members by uuid and by name."""

    def __init__(self) -> None:
        self._members: dict[str, Member] = {}
        self._uuids: dict[str, str] = {}
        self._order: list[str] | None = None

    def __contains__(self, name_or_uuid: object) -> bool:
        return name_or_uuid in self._members or name_or_uuid in self._uuids

    def __getitem__(self, name_or_uuid: str) -> Member:
        member = self._members.get(name_or_uuid)
        if member is None:
            member = self._members.get(self._uuids.get(name_or_uuid, ''))
        if member is None:
            raise errors.TreeError(f'No such provider {name_or_uuid}')
        return member

    def members(self) -> list[Member]:
        """Return all members, in the order they came."""
        return list(self._members.values())

    def roots(self) -> list[Member]:
        """Return the members without a parent."""
        return [m for m in self._members.values() if m.parent is None]

    def root_of(self, member: Member) -> Member:
        """Return the member at the top of this one's tree."""
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
        found, waiting = [], [top]
        while waiting:
            member = waiting.pop()
            found.append(member)
            waiting += [self._members[u] for u in reversed(member.children)]
        return found

    def insert(self, member: Member) -> None:
        """Add a member below its parent.

        :raises errors.TreeError: its uuid or name is taken
        """
        for taken in (member.uuid, member.name):
            if taken in self:
                raise errors.TreeError(f'Provider {taken} already exists')
        self._order = None
        self._members[member.uuid] = member
        self._uuids[member.name] = member.uuid
        if member.parent is not None:
            self._members[member.parent].children.append(member.uuid)

    def remove(self, top: Member) -> list[Member]:
        """Remove a member and all below it; return them."""
        self._order = None
        gone = self.walk(top)
        for member in gone:
            del self._members[member.uuid]
            del self._uuids[member.name]
        if top.parent is not None:
            self._members[top.parent].children.remove(top.uuid)
        return gone

    def replace(self, given: Sequence[Member]) -> list[Member]:
        """Put these members in, in whatever order they come; return who went.

        One that was there before goes first, with all below it. It costs what
        is given and what goes, however large the rest is.

        :raises errors.TreeError: a name or uuid twice, a parent that is not
            there, or a ring; then nothing is changed
        """
        new = {m.uuid: m for m in given}
        out = {
            m.uuid: m
            for uuid in new
            if uuid in self._members
            for m in self.walk(self._members[uuid])
        }
        self._check_names(given, out)
        ordered = self._ordered(new, out)
        for uuid in new:
            if uuid in self._members:
                self.remove(self._members[uuid])
        for member in ordered:
            self.insert(member)
        return list(out.values())

    def _check_names(
        self, given: Sequence[Member], out: Mapping[str, Member]
    ) -> None:
        labels = set[str]()
        for member in given:
            if member.uuid in labels:
                raise errors.TreeError(f'Provider {member.uuid} comes twice')
            for label in {member.uuid, member.name}:
                holder = self._holder(label)
                if label in labels or (holder and holder not in out):
                    raise errors.TreeError(f'Provider {label} already exists')
            labels |= {member.uuid, member.name}

    def _holder(self, label: str) -> str | None:
        """Return the uuid of the member with this uuid or name."""
        return label if label in self._members else self._uuids.get(label)

    def _ordered(
        self, new: Mapping[str, Member], out: Mapping[str, Member]
    ) -> list[Member]:
        """Return the new members, each one after its parent."""
        below: dict[str, list[Member]] = {}
        waiting = []
        for member in new.values():
            parent = member.parent
            if parent in new:
                below.setdefault(str(parent), []).append(member)
            elif parent is None or (
                parent in self._members and parent not in out
            ):
                waiting.append(member)
            else:
                raise errors.TreeError(
                    f'parent {parent} of provider {member.name} is not there'
                )
        waiting.reverse()
        ordered: dict[str, Member] = {}
        while waiting:
            member = waiting.pop()
            ordered[member.uuid] = member
            waiting.extend(reversed(below.get(member.uuid, [])))
        ring = sorted(m.name for u, m in new.items() if u not in ordered)
        if ring:
            raise errors.TreeError(f'{", ".join(ring)} would be in a cycle')
        return list(ordered.values())
