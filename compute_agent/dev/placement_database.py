# SPDX-License-Identifier: Apache-2.0
"""The SQLite file of an embedded placement, before placement opens it.

The module creates the file with private permissions, locks out a second
process, and reports a damaged file in one line; placement itself would raise a
traceback, or answer each request with 500. It knows only two of placement's
table names, and writes no row. ``embedded_placement.py`` calls it.
"""

import contextlib
import fcntl
import os
import pathlib
import sqlite3
from collections.abc import Iterator

from .. import errors, private_files

_TABLES = frozenset({'alembic_version', 'resource_providers'})


@contextlib.contextmanager
def lock(path: pathlib.Path) -> Iterator[None]:
    """Lock the file for one embedded placement; create it if missing.

    :raises errors.ConfigError: the file cannot be written, is in use by
        another process, or is not a placement database
    """
    with contextlib.ExitStack() as undo:
        try:
            private_files.make_directory(path.parent)
            _take_lock(path, undo)
            _make_private(path)
        except OSError as exc:
            raise errors.ConfigError(
                f'the placement database {path} cannot be written: '
                f'{exc.strerror}; set state_path to a writable directory'
            ) from exc
        _check(path)
        yield


def _take_lock(path: pathlib.Path, undo: contextlib.ExitStack) -> None:
    """Lock a separate file: SQLite has its own locks on the database."""
    lock_file = path.with_name(f'{path.name}.lock')
    descriptor = private_files.open_file(lock_file)
    undo.callback(os.close, descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as exc:
        raise errors.ConfigError(
            f'the placement database {path} is in use by another embedded '
            'placement: stop that one, or set another state_path'
        ) from exc


def _make_private(path: pathlib.Path) -> None:
    """Create the file if missing; SQLite's side files get its mode."""
    os.close(private_files.open_file(path))


def _check(path: pathlib.Path) -> None:
    """Check the whole file, and switch to WAL, which allows readers."""
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
    problem = 'damaged' if verdict != 'ok' else 'not a placement database'
    reason = verdict if verdict != 'ok' else 'it has other tables'
    raise errors.ConfigError(
        f'the file {path} is {problem} ({reason}): move it away, or set '
        'another state_path'
    )
