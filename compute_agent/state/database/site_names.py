# SPDX-License-Identifier: Apache-2.0
"""Take passwords out of the names of placement services in the database.

Earlier releases stored the address of a service as the operator wrote it, and
it may contain a user and a password. ``schema.py`` calls this when it opens a
database.
"""

import sqlite3

from ... import error_text

_TABLES = (
    'reading',
    'was',
    'known',
    'past_contents',
)  # with the snapshot of a service


def has_credentials(db: sqlite3.Connection) -> bool:
    """Return True if a name in the database has a user or a password."""
    return bool(_renamed(db))


def remove_credentials(db: sqlite3.Connection) -> None:
    """Rename these services; a snapshot that is there twice is dropped.

    The caller commits.
    """
    for name, new in _renamed(db):
        taken = db.execute('select id from site where name = ?', (new,))
        if taken.fetchone() is None:
            db.execute('update site set name = ? where name = ?', (new, name))
            continue
        for table in _TABLES:
            db.execute(
                f'delete from {table} where site = '  # noqa: S608 (a constant)
                '(select id from site where name = ?)',
                (name,),
            )
        db.execute('delete from site where name = ?', (name,))


def erase_freed_pages(db: sqlite3.Connection) -> None:
    """Remove what was deleted from the file and its log, outside of writes."""
    db.execute('vacuum')
    db.execute('pragma wal_checkpoint(truncate)')


def _renamed(db: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return the names with credentials, and the names without them."""
    names = [str(row[0]) for row in db.execute('select name from site')]
    return [
        (name, new)
        for name in names
        if (new := error_text.without_credentials(name)) != name
    ]
