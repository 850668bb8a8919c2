# SPDX-License-Identifier: Apache-2.0
"""The table ``held``: which source claims which names for which node.

Each method is a step of a transaction of ``records.py``, ``journal.py`` or
``nodes.py``.
"""

import sqlite3
from collections.abc import Iterable, Mapping

from ...tree.assertion import Claims, Key
from ..cache import Cache
from ..database.database import packed


class RecordedClaims:
    """The claims of all sources.

    :param cache: drops the records of the providers whose claims change
    """

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def set(
        self,
        db: sqlite3.Connection,
        node_uuid: str,
        claims: Mapping[Key, Claims],
    ) -> None:
        """Record which source claims which names for a node from now on."""
        for uuid, _ in claims:
            self._cache.drop(uuid)
        db.executemany(
            'replace into held values (?, ?, ?, ?, ?)',
            [
                (uuid, kind, source, node_uuid, packed(names))
                for (uuid, kind), by_source in claims.items()
                for source, names in by_source.items()
            ],
        )

    def has_any_of(self, db: sqlite3.Connection, source: str) -> bool:
        """Return True if the source claims names, for any node."""
        query = 'select 1 from held where source = ? limit 1'
        return db.execute(query, (source,)).fetchone() is not None

    def rename_source(
        self,
        db: sqlite3.Connection,
        old: str,
        new: str,
        node_uuids: Iterable[str] | None = None,
    ) -> None:
        """Give the claims of a source to another name of it.

        :param node_uuids: only the claims for these nodes; None for all nodes
        """
        query = 'select uuid, node_uuid from held where source = ?'
        found = db.execute(query, (old,)).fetchall()
        wanted = None if node_uuids is None else set(node_uuids)
        for uuid, node_uuid in found:
            if wanted is None or node_uuid in wanted:
                self._cache.drop(uuid)
                db.execute(
                    'update or replace held set source = ?'
                    ' where uuid = ? and source = ? and node_uuid = ?',
                    (new, uuid, old, node_uuid),
                )

    def drop(self, db: sqlite3.Connection, node_uuid: str) -> None:
        """Drop all claims that were made for a node."""
        for (uuid,) in db.execute(
            'select distinct uuid from held where node_uuid = ?', (node_uuid,)
        ).fetchall():
            self._cache.drop(uuid)
        db.execute('delete from held where node_uuid = ?', (node_uuid,))
