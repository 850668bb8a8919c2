# SPDX-License-Identifier: Apache-2.0
"""One connection to the state database, which threads share.

How it is opened, looked at, and written to durably, and what is said when that
fails. It knows no table: those are ``records.py``'s and
``snapshot.py``'s. Used by ``state.py`` alone.
"""

import contextlib
import json
import pathlib
import sqlite3
import threading
from collections.abc import Iterable, Iterator

from .. import errors
from . import schema

# What comes of rows that are not what was written.
_NOT_UNDERSTOOD = (
    sqlite3.Error,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)


class Database:
    """An open state database; one thread at a time is let in.

    :param path: the file, which must stay the one that was opened
    """

    def __init__(
        self, connection: sqlite3.Connection, path: pathlib.Path | None = None
    ) -> None:
        self._db = connection
        self._path = path
        self._inode = path.stat().st_ino if path else None
        self._lock = threading.RLock()

    @classmethod
    def open(cls, directory: pathlib.Path) -> 'Database':
        """Return the database kept in a directory, made there if need be.

        :raises errors.ConfigError: it cannot be written, or is not ours
        """
        path = directory / schema.FILE_NAME
        with schema.explained(path):
            directory.mkdir(parents=True, exist_ok=True)
            schema.make_private(path)
            with contextlib.ExitStack() as undo:
                db = undo.enter_context(
                    contextlib.closing(schema.connect(path.as_posix()))
                )
                db.execute('pragma journal_mode = wal')
                schema.prepare(db, path)
                opened = cls(db, path)
                undo.pop_all()
                return opened

    @classmethod
    def look(cls, directory: pathlib.Path) -> 'Database':
        """Return a copy of a directory's database, an empty one of none.

        :raises errors.ConfigError: it cannot be read, or is not ours
        """
        path = directory / schema.FILE_NAME
        with schema.explained(path):
            if not path.exists():
                return cls.in_memory()
            with contextlib.closing(
                schema.connect(f'{path.resolve().as_uri()}?mode=ro')
            ) as db:
                if schema.is_new(db):
                    return cls.in_memory()
                memory = schema.connect(':memory:')
                try:
                    db.backup(memory)
                    schema.migrate(memory)
                    schema.check_version(memory, path)
                    return cls(memory)
                except BaseException:
                    memory.close()
                    raise

    @classmethod
    def in_memory(cls) -> 'Database':
        """Return a database that is forgotten with the process."""
        db = schema.connect(':memory:')
        db.executescript(schema.SCHEMA)
        return cls(db)

    def close(self) -> None:
        """Close it; what was written is there."""
        with self._lock:
            self._db.close()

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One look; what cannot be understood is said and not guessed.

        :raises errors.ConfigError: it cannot be read
        """
        with self._lock:
            try:
                yield self._db
            except _NOT_UNDERSTOOD as exc:
                raise errors.ConfigError(
                    f'the state database cannot be read ({exc}): '
                    f'{schema.advice(exc)}'
                ) from exc

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One durable write, whole or not at all.

        :raises errors.Unavailable: it cannot be written
        """
        with self._lock:
            self._check_file()
            try:
                self._db.execute('begin immediate')
                yield self._db
                self._db.execute('commit')
            except sqlite3.Error as exc:
                self._roll_back()
                raise errors.Unavailable(
                    f'the state database cannot be written ({exc}): '
                    f'{schema.advice(exc)}'
                ) from exc
            except BaseException:
                self._roll_back()
                raise

    def _check_file(self) -> None:
        """Refuse to write into a file that is no longer there.

        :raises errors.Unavailable: it was removed or replaced meanwhile
        """
        if self._path is None:
            return
        try:
            same = self._path.stat().st_ino == self._inode
        except OSError:
            same = False
        if not same:
            raise errors.Unavailable(
                f'{self._path} was removed or replaced while the agent runs: '
                'put it back, or start the agent anew'
            )

    def _roll_back(self) -> None:
        if self._db.in_transaction:
            self._db.execute('rollback')


def packed(names: Iterable[str]) -> str:
    """Return names as they stand in one column."""
    return json.dumps(sorted(names))


def unpacked(text: str) -> frozenset[str]:
    """Return the names that stand in one column."""
    return frozenset(json.loads(text))
