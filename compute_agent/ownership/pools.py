# SPDX-License-Identifier: Apache-2.0
"""Pools: the providers outside a node's own tree that it reaches or describes.

Pure: no I/O, configuration, logging or clock. A pool, such as shared storage,
belongs to all agents whose drivers or files describe it, whoever created it.
Each of these agents writes to it. An agent knows only its own claims. So it
removes only what it claimed, and only while no provider outside its own trees
is in an aggregate of the pool. If there is such a provider, the agent's claims
end, and placement keeps everything. ``resolve.py`` asks about each pool.
"""

from collections.abc import Container, Iterable, Mapping

from .. import error_text
from ..plan.needs import Outsiders
from ..tree import provider
from ..tree.assertion import Claims, Key, Kind
from .record import NOTHING, Record

_NO_NAMES = frozenset[str]()
_STAYS = (
    '{}: not deleted, because {} may use it through its aggregates; the claims '
    'of this agent end, and the last agent that describes it deletes it; to '
    'delete it all the same, run "compute-agent resource provider delete {}"'
)
_KEEPS = (
    '{}: keeps {}, which this agent no longer reports, because {} may use the '
    'provider through its aggregates; the last agent that reports them removes '
    'them; if no other does, remove them by hand ("compute-agent resource provider")'
)
_NOT_DESCRIBED = (
    '{}: not deleted, because this agent neither created it nor describes all '
    'of it; if it should go, run "compute-agent resource provider delete {}"'
)


class Pools:
    """The pools that one node sees, and what stays on them.

    :ivar needs: the pools whose members decide and are unknown, by the root of
        their tree, with the aggregates of that tree
    """

    def __init__(
        self,
        before: provider.Snapshot,
        home: Container[str],
        record: Record,
        outsiders: Outsiders,
    ) -> None:
        """Begin without a note.

        :param home: the providers of the node's own tree
        :param outsiders: as in ``plan/needs.py``
        """
        self.needs: dict[str, frozenset[str]] = {}
        self._before = before
        self._home = home
        self._record = record
        self._outsiders = outsiders
        # The names that stay or go, the removed pools that stay, other notes.
        self._kept: dict[Key, frozenset[str]] = {}
        self._going: dict[Key, frozenset[str]] = {}
        self._staying: list[str] = []
        self._lines: list[str] = []

    def has(self, uuid: str) -> bool:
        """Return True if a provider exists outside the node's own tree."""
        return uuid in self._before and uuid not in self._home

    def ours(self, key: Key) -> frozenset[str]:
        """Return the names that this agent added, or claimed on a pool."""
        added = self._record.ours.get(key, _NO_NAMES)
        if not self.has(key[0]):
            return added
        return added.union(*self._record.claims.get(key, {}).values())

    def keep_names(self, key: Key, names: frozenset[str]) -> bool:
        """Return True if names stay that the agent would remove from a pool."""
        if self._is_free(key[0]):
            self._going[key] = names
            return False
        self._kept[key] = names
        return True

    def is_partly_ours(self, uuid: str) -> bool:
        """Return True for another's pool if the agent claims a part of it.

        If a source removes such a pool, only the claims end.
        """
        return (
            self.has(uuid)
            and self._is_claimed(uuid)
            and not self._is_ours(uuid)
        )

    def keep(self, removed: Iterable[str]) -> set[str]:
        """Return the pools among these removed providers that must stay."""
        stay = set()
        for uuid in filter(self.has, removed):
            if not self._is_ours(uuid):
                one = self._before[uuid]
                self._lines.append(_NOT_DESCRIBED.format(one, uuid))
            elif self._is_free(uuid):
                continue
            else:
                self._staying.append(uuid)
            stay.add(uuid)
        return stay

    def ended(self) -> dict[Key, Claims]:
        """Return the claims on the removed pools that stay: none is left."""
        return {
            key: dict.fromkeys(by_source, _NO_NAMES)
            for key, by_source in self._record.claims.items()
            if key[0] in self._staying and any(by_source.values())
        }

    def taken(self) -> dict[Key, frozenset[str]]:
        """Return the names of others that the agent begins to remove.

        Their claims end before the write. If the write fails, the names must
        count as the agent's, so that the next cycle removes them.
        """
        ours = self._record.ours
        return {
            key: names - ours.get(key, _NO_NAMES)
            for key, names in self._going.items()
            if names - ours.get(key, _NO_NAMES)
        }

    def given_up(self, claims: Mapping[Key, Claims]) -> Record:
        """Return the items that stay, but no longer count as this agent's.

        :param claims: the claims for the node from now on, where they change
        """
        if not (self._staying or self._kept):
            return NOTHING
        record = self._record
        whole = [(uuid, kind) for uuid in self._staying for kind in Kind]
        ours = {
            key: record.ours[key]
            & self._kept.get(key, record.ours[key])
            - record.claimed_for_other_nodes(key)
            for key in (*self._kept, *whole)
            if key in record.ours
        }
        claimed = {
            uuid
            for (uuid, _), by in {**record.claims, **claims}.items()
            if any(by.values())
        }
        touched = {*self._staying, *(uuid for uuid, _ in self._kept)}
        found = Record(
            created=frozenset(
                uuid
                for uuid in record.created & touched - claimed
                if not record.nodes_that_claim(uuid)
            ),
            ours={key: names for key, names in ours.items() if names},
        )
        return NOTHING if found == NOTHING else found

    def lines(self) -> list[str]:
        """Return the notes about what stays, and why."""
        names: dict[str, frozenset[str]] = {}
        for (uuid, _), kept in self._kept.items():
            names[uuid] = names.get(uuid, _NO_NAMES) | kept
        return [
            *self._lines,
            *(
                _STAYS.format(self._before[uuid], self._users(uuid), uuid)
                for uuid in self._staying
            ),
            *(
                _KEEPS.format(
                    self._before[uuid],
                    error_text.listed(kept),
                    self._users(uuid),
                )
                for uuid, kept in names.items()
            ),
        ]

    def _is_ours(self, uuid: str) -> bool:
        """Return True if the agent created a pool, or claims all of it."""
        record, one = self._record, self._before[uuid]
        return uuid in record.created or (
            self._is_claimed(uuid)
            and all(
                one.names_of(kind)
                <= self.ours((uuid, kind))
                | record.claimed_for_other_nodes((uuid, kind))
                for kind in Kind
            )
        )

    def _is_claimed(self, uuid: str) -> bool:
        return any(
            any(self._record.claims.get((uuid, kind), {}).values())
            for kind in Kind
        )

    def _is_free(self, uuid: str) -> bool:
        """Return True if no provider of others may use a pool.

        False also if that is unknown; then ``needs`` has the pool.
        """
        root = provider.root(self._before, uuid).uuid
        aggregates = _NO_NAMES.union(
            *(
                self._before[each].aggregates
                for each in provider.descendants(self._before, root)
            )
        )
        if aggregates and root not in self._outsiders:
            self.needs[root] = aggregates
            return False
        return not self._outsiders.get(root)

    def _users(self, uuid: str) -> str:
        root = provider.root(self._before, uuid).uuid
        return error_text.listed(map(str, self._outsiders.get(root, ())))
