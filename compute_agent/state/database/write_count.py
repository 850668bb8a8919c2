# SPDX-License-Identifier: Apache-2.0
"""The number of writes, kept in the database and in a file beside it.

If the database has fewer writes than the file says, somebody put an old copy of
it in its place. Its record lists names that the agent has removed since, and
another writer may have added them again. So no name counts as added by this
agent any more, and no unconfirmed write is settled. ``database.py`` calls it.
"""

import os
import pathlib
import sqlite3

from ... import private_files

FILE_NAME = 'state.writes'
_DIGITS = 20
_WRITES = 'update written set writes = ?'
_FORGET = ('delete from ours', 'delete from intent', 'delete from past_ours')


def count(db: sqlite3.Connection) -> int:
    """Count one more write; the caller commits."""
    query = 'update written set writes = writes + 1 returning writes'
    ((writes,),) = db.execute(query).fetchall()
    return int(writes)


def current(db: sqlite3.Connection) -> int:
    """Return the number of writes that were committed."""
    (writes,) = db.execute('select writes from written').fetchone()
    return int(writes)


def note(file: int, writes: int) -> None:
    """Note in the file beside the database how many writes were committed.

    After a crash of the host the file may have a lower number, which does no
    harm.
    """
    os.pwrite(file, f'{writes:0{_DIGITS}d}\n'.encode(), 0)


def noted(directory: pathlib.Path) -> int:
    """Return the number of writes that the file has; 0 if it cannot be read."""
    path = directory / FILE_NAME
    try:
        private_files.check_not_link(path)
        with path.open('rb') as file:
            return int(file.read(_DIGITS))
    except (OSError, ValueError):
        return 0


def forget_if_older(db: sqlite3.Connection, writes: int) -> bool:
    """Forget the names if the database is an older copy; return True if it is.

    :param writes: the number of writes in the file beside it
    """
    if current(db) >= writes:
        return False
    (names,) = db.execute('select count(*) from ours').fetchone()
    db.execute('begin immediate')
    for statement in (*_FORGET, _WRITES):
        db.execute(statement, (writes + 1,) if statement == _WRITES else ())
    db.execute('commit')
    return bool(names)
