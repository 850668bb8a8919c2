# SPDX-License-Identifier: Apache-2.0
"""The members of a ProviderTree and how they hang together.

Pure: no I/O, configuration, logging or clock. Every uuid and every name is
there once and found at once; a change that would break that, lose a parent or
close a ring is refused before anything is touched. Used by ``provider_tree.py``
alone: drivers never see a member itself.
"""

import copy
import dataclasses
from collections.abc import Iterable
from typing import Any

from . import errors, provider


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

    @classmethod
    def grown(cls, members: Iterable[Member]) -> 'Forest':
        """Return a forest of these members, in whatever order they come.

        :raises errors.TreeError: a name or uuid twice, a parent that is not
            there, or a ring
        """
        grown, left = cls(), dict[str, Member]()
        for member in members:
            if member.uuid in left:
                raise errors.TreeError(f'Provider {member.uuid} comes twice')
            left[member.uuid] = member
        for member in left.values():
            if member.parent is not None and member.parent not in left:
                raise errors.TreeError(
                    f'parent {member.parent} of provider {member.name} is '
                    'not there'
                )
        below: dict[str | None, list[Member]] = {}
        for member in left.values():
            below.setdefault(member.parent, []).append(member)
        waiting = list(reversed(below.get(None, [])))
        while waiting:
            member = waiting.pop()
            grown.insert(dataclasses.replace(member, children=[]))
            waiting.extend(reversed(below.get(member.uuid, [])))
        ring = sorted(m.name for m in left.values() if m.uuid not in grown)
        if ring:
            raise errors.TreeError(f'{", ".join(ring)} would be in a cycle')
        return grown

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
        self._members[member.uuid] = member
        self._uuids[member.name] = member.uuid
        if member.parent is not None:
            self._members[member.parent].children.append(member.uuid)

    def remove(self, top: Member) -> list[Member]:
        """Remove a member and all below it; return them."""
        gone = self.walk(top)
        for member in gone:
            del self._members[member.uuid]
            del self._uuids[member.name]
        if top.parent is not None:
            self._members[top.parent].children.remove(top.uuid)
        return gone

    def replaced(self, given: Iterable[Member]) -> 'Forest':
        """Return a forest in which these members stand for themselves.

        One that was there before goes with all below it; the rest stays.

        :raises errors.TreeError: the result would be no forest
        """
        given = list(given)
        out = {
            member.uuid
            for one in given
            if one.uuid in self._members
            for member in self.walk(self._members[one.uuid])
        }
        kept = [
            copy.deepcopy(m)
            for m in self._members.values()
            if m.uuid not in out
        ]
        return Forest.grown([*kept, *given])
