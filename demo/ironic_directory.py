# SPDX-License-Identifier: Apache-2.0
"""The directory of a local Ironic, before Ironic starts in it.

The module locks the directory against a second Ironic, and finds out if the
database is ready. It knows only alembic's table, and writes no row.
``local_ironic.py`` calls it.
"""

import contextlib
import fcntl
import os
import pathlib
import sqlite3
import time
from collections.abc import Iterator

from compute_agent import errors

from . import server_process

_LOCK = 'lock'


@contextlib.contextmanager
def lock(directory: pathlib.Path) -> Iterator[int]:
    """Lock the directory; yield the descriptor, for the server to inherit.

    :raises errors.ConfigError: another Ironic runs there, or the directory
        cannot be written
    """
    path = directory / _LOCK
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(
            path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600
        )
    except OSError as exc:
        raise errors.ConfigError(
            f'{path} cannot be written: {exc.strerror}; choose another '
            'directory for Ironic'
        ) from exc
    deadline = time.monotonic() + server_process.GRACE
    try:
        while not _take_lock(descriptor, directory, deadline):
            time.sleep(0.05)  # an Ironic is ending after its owner was killed
        yield descriptor
    finally:
        os.close(descriptor)


def _take_lock(
    descriptor: int, directory: pathlib.Path, deadline: float
) -> bool:
    """Return True if the lock was taken, False to try again.

    :raises errors.ConfigError: a running process has the lock
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as exc:
        owner = os.pread(descriptor, 20, 0).decode(errors='replace').strip()
        if time.monotonic() < deadline and not _lives(owner):
            return False
        raise errors.ConfigError(
            f'process {owner or "unknown"} runs an Ironic in {directory}: '
            'stop it, or choose another directory'
        ) from exc
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f'{os.getpid()}\n'.encode(), 0)
    return True


def _lives(pid: str) -> bool:
    return not pid.isdigit() or pathlib.Path('/proc', pid).exists()


def has_schema(database: pathlib.Path) -> bool:
    """Return True if all tables exist; alembic's table is created last.

    :raises errors.ConfigError: the file is not a usable database
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
            'away to start with an empty database'
        ) from exc
