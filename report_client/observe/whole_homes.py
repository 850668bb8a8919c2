# SPDX-License-Identifier: Apache-2.0
"""Find the nodes whose recorded providers are all in their own trees.

Nothing else has to be read for such a node. In a quiet cycle the records are
not even read. This module reads the state database only; ``observer.py``
calls it.
"""

from collections.abc import Collection

from compute_agent.plan.observation import Observation

from . import store

_NOBODY = frozenset[str]()


class WholeHomes:
    """Remembers the nodes that had no recorded providers in other trees."""

    def __init__(self, state: store.State) -> None:
        self._store = state
        # After so many writes to the state database: node uuid → the observation
        # that was checked.
        self._checked = 0, dict[str, Observation]()

    def only(self, found: dict[str, Observation]) -> dict[str, Observation]:
        """Leave out the nodes with recorded providers in other trees.

        A node that lacked none is not looked up again before the next write to
        the state database.

        :param found: node uuid → its observation; it is changed and returned
        """
        writes = self._store.journal.writes()
        at, checked = self._checked
        if at != writes:
            checked = {}
            self._checked = writes, checked
        asked = [u for u, one in found.items() if checked.get(u) is not one]
        if asked:
            created = self._store.records.created_for(asked)
            members = self._store.snapshot.members(asked)
            for uuid in asked:
                known = members.get(uuid, _NOBODY)
                if not found[uuid].home.issuperset(
                    [*known, *created.get(uuid, ())]
                ):
                    del found[uuid]
        # Another thread may have begun a new one after a write.
        checked |= found
        return found

    def keep_only(self, node_uuids: Collection[str]) -> None:
        """Forget all other nodes."""
        _, checked = self._checked
        for uuid in checked.keys() - set(node_uuids):
            del checked[uuid]
