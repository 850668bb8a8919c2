# SPDX-License-Identifier: Apache-2.0
"""The names under which this agent and placement last agreed on a node.

The table ``agreed_name`` tells a host that was renamed, whose old name is the
agreed one, from a host whose provider somebody else renamed. It changes
seldom, so it is kept in memory.
"""

from ..database.database import Database


class AgreedNames:
    """The agreed name of each node."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._names: dict[str, str] | None = None

    def of(self, uuid: str) -> str | None:
        """Return the agreed name of a node, None if there never was one."""
        with self._database.reading() as db:
            if self._names is None:
                self._names = dict(
                    db.execute(
                        'select uuid, name from agreed_name where uuid in'
                        ' (select uuid from node)'
                    ).fetchall()
                )
            return self._names.get(uuid)

    def agree(self, uuid: str, name: str) -> None:
        """Record that placement and this agent call a node by this name."""
        if self.of(uuid) == name:
            return
        with self._database.writing() as db:
            db.execute('replace into agreed_name values (?, ?)', (uuid, name))
            db.execute(
                'delete from agreed_name where uuid != ? and uuid not in'
                ' (select uuid from node)',
                (uuid,),
            )
            self._names = None
