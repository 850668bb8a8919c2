# SPDX-License-Identifier: Apache-2.0
"""The SQLite file of an embedded placement, before placement opens it.

It makes the file and keeps it private, keeps a second process away, and says
in one line what is wrong with it; placement itself would answer with a
traceback, or with a 500 per request. It knows nothing of placement beyond two
table names and writes no row. ``embedded_placement.py`` calls it.
"""

import contextlib
import fcntl
import os
import pathlib
import sqlite3
from collections.abc import Iterator

from .. import errors

_TABLES = frozenset({'alembic_version', 'resource_providers'})


@contextlib.contextmanager
def held(path: pathlib.Path) -> Iterator[None]:
    """Hold the file for one embedded placement; it is made where missing.

    :raises errors.ConfigError: it cannot be written, is held by another
        process, or is something other than a placement database
    """
    with contextlib.ExitStack() as undo:
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _lock(path, undo)
            _make_private(path)
        except OSError as exc:
            raise errors.ConfigError(
                f'the placement database {path} cannot be written: '
                f'{exc.strerror}; set state_path to a directory that can'
            ) from exc
        _check(path)
        yield


def _lock(path: pathlib.Path, undo: contextlib.ExitStack) -> None:
    """Lock a file of its own: on the database SQLite has its own locks."""
    lock = path.with_name(f'{path.name}.lock')
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    undo.callback(os.close, descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as exc:
        raise errors.ConfigError(
            f'the placement database {path} is in use by another embedded '
            'placement: stop that one, or set another state_path'
        ) from exc


def _make_private(path: pathlib.Path) -> None:
    """Make the file where missing; SQLite's side files take its mode."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.fchmod(descriptor, 0o600)
    finally:
        os.close(descriptor)


def _check(path: pathlib.Path) -> None:
    """Read the file through, and let readers in beside placement (WAL)."""
    try:
        with contextlib.closing(sqlite3.connect(path)) as connection:
            (verdict,) = connection.execute('PRAGMA quick_check(1)').fetchone()
            tables = {
                name
                for (name,) in connection.execute(
                    "SELECT name FROM sqlite_master WHERE type = 'table'"
                )
            }
            if verdict == 'ok' and (not tables or tables >= _TABLES):
                connection.execute('PRAGMA journal_mode = WAL')
                return
    except sqlite3.OperationalError as exc:
        raise errors.ConfigError(
            f'the placement database {path} cannot be used: {exc}'
        ) from exc
    except sqlite3.DatabaseError as exc:
        verdict, tables = str(exc), set()
    what = 'damaged' if verdict != 'ok' else 'no placement database'
    reason = verdict if verdict != 'ok' else 'it holds other tables'
    raise errors.ConfigError(
        f'the file {path} is {what} ({reason}): move it away, or set '
        'another state_path'
    )
