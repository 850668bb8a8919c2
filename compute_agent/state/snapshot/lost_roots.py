# SPDX-License-Identifier: Apache-2.0
"""The roots that other writers deleted, until they are there again.

The table ``lost_root`` has them for each placement service. All functions are
steps of a transaction of ``journal.py``, ``snapshot.py`` or ``nodes.py``.
"""

import sqlite3


def keep(db: sqlite3.Connection, site: int, uuid: str) -> None:
    """Remember a root that another writer deleted."""
    db.execute('replace into lost_root values (?, ?)', (site, uuid))


def every(db: sqlite3.Connection, site: int) -> frozenset[str]:
    """Return the roots that other writers deleted."""
    rows = db.execute('select uuid from lost_root where site = ?', (site,))
    return frozenset(uuid for (uuid,) in rows)


def drop(db: sqlite3.Connection, site: int, uuid: str) -> None:
    """Drop a root that is there again."""
    db.execute(
        'delete from lost_root where site = ? and uuid = ?', (site, uuid)
    )


def drop_everywhere(db: sqlite3.Connection, uuid: str) -> None:
    """Drop the root of a node that is forgotten."""
    db.execute('delete from lost_root where uuid = ?', (uuid,))
