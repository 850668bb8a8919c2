# SPDX-License-Identifier: Apache-2.0
"""The directory of a local Ironic, before one starts in it.

It keeps a second one away, and tells whether the database is ready. It knows
nothing of Ironic beyond alembic's table and writes no row. ``local_ironic.py``
calls it.
"""

import contextlib
import fcntl
import os
import pathlib
import sqlite3
import time
from collections.abc import Iterator

from .. import errors
from . import server_process

_LOCK = 'lock'


@contextlib.contextmanager
def held(directory: pathlib.Path) -> Iterator[int]:
    """Hold the directory; yield the lock, which the server is to hold too.

    :raises errors.ConfigError: another Ironic runs there, or nothing can be
        written there
    """
    path = directory / _LOCK
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as exc:
        raise errors.ConfigError(
            f'{path} cannot be written: {exc.strerror}; give Ironic another '
            'directory'
        ) from exc
    deadline = time.monotonic() + server_process.GRACE
    try:
        while not _taken(lock, directory, deadline):
            time.sleep(0.05)  # its owner was killed, and it is ending
        yield lock
    finally:
        os.close(lock)


def _taken(lock: int, directory: pathlib.Path, deadline: float) -> bool:
    """Whether the lock is ours now, or else may soon be.

    :raises errors.ConfigError: another has it, and keeps it
    """
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as exc:
        owner = os.pread(lock, 20, 0).decode(errors='replace').strip()
        if time.monotonic() < deadline and not _lives(owner):
            return False
        raise errors.ConfigError(
            f'process {owner or "unknown"} runs an Ironic in {directory}: '
            'stop it, or take another directory'
        ) from exc
    os.ftruncate(lock, 0)
    os.pwrite(lock, f'{os.getpid()}\n'.encode(), 0)
    return True


def _lives(pid: str) -> bool:
    return not pid.isdigit() or pathlib.Path('/proc', pid).exists()


def has_schema(database: pathlib.Path) -> bool:
    """Whether all tables are there: alembic's, the last one, tells.

    :raises errors.ConfigError: it is something else
    """
    if not database.exists():
        return False
    try:
        with contextlib.closing(sqlite3.connect(database)) as connection:
            tables = connection.execute('SELECT name FROM sqlite_master')
            if ('alembic_version',) not in tables:
                return False
            version = connection.execute('SELECT * FROM alembic_version')
            return version.fetchone() is not None
    except sqlite3.Error as exc:
        raise errors.ConfigError(
            f'the Ironic database {database} cannot be used: {exc}; move it '
            'away to begin with an empty one'
        ) from exc
