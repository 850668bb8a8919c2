# SPDX-License-Identifier: Apache-2.0
"""One connection to the state database, which threads share.

It opens the file, copies it for commands that only read, and runs durable
transactions, with a message and advice if one of these fails. It knows no
table. The parts of ``state.py`` use it.
"""

import contextlib
import json
import pathlib
import sqlite3
import threading
from collections.abc import Iterable, Iterator

from ... import errors, private_files
from . import schema

# Errors that damaged rows raise: rows not as this agent wrote them.
_DAMAGED = (
    sqlite3.Error,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)


class Database:
    """An open state database; one thread at a time uses it.

    :param path: the file, checked before each write: it must still be the
        one that was opened
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
        """Return the database in a directory, which is created if missing.

        :raises errors.ConfigError: the file cannot be written, or is not a
            state database
        """
        path = directory / schema.FILE_NAME
        with schema.explained(path):
            private_files.make_directory(directory)
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
    def open_beside(cls, directory: pathlib.Path) -> 'Database':
        """Return the database that a daemon has open, and never migrate it.

        :raises errors.ConfigError: there is no database of this version, or
            it cannot be written
        """
        path = directory / schema.FILE_NAME
        with schema.explained(path):
            schema.check_links(path)
            uri = f'{path.resolve().as_uri()}?mode=rw'
            with contextlib.ExitStack() as undo:
                db = undo.enter_context(
                    contextlib.closing(schema.connect(uri))
                )
                schema.check_version(db, path)
                opened = cls(db, path)
                undo.pop_all()
                return opened

    @classmethod
    def open_copy(cls, directory: pathlib.Path) -> 'Database':
        """Return a copy of a directory's database; empty if it has none.

        :raises errors.ConfigError: the file cannot be read, or is not a
            state database
        """
        path = directory / schema.FILE_NAME
        with schema.explained(path):
            if not private_files.exists(path):
                return cls.in_memory()
            schema.check_links(path)
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
                    schema.remove_credentials(memory)
                    return cls(memory)
                except BaseException:
                    memory.close()
                    raise

    @classmethod
    def in_memory(cls) -> 'Database':
        """Return an empty database that ends with the process."""
        db = schema.connect(':memory:')
        db.executescript(schema.SCHEMA)
        return cls(db)

    def close(self) -> None:
        """Close the database; all writes are already durable."""
        with self._lock:
            self._db.close()

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection for reading; damaged rows raise.

        :raises errors.ConfigError: the database, or a row, cannot be read
        """
        with self._lock:
            try:
                yield self._db
            except _DAMAGED as exc:
                raise errors.ConfigError(
                    f'the state database cannot be read ({exc}): '
                    f'{schema.advice(exc)}'
                ) from exc

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection for one durable transaction.

        The transaction is committed as a whole, or rolled back if anything
        is raised.

        :raises errors.Unavailable: the database cannot be written
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
        """Refuse to write to a file that is no longer in its place.

        :raises errors.Unavailable: it was removed or replaced since it was
            opened
        """
        if self._path is None:
            return
        try:
            same = self._path.stat().st_ino == self._inode
        except OSError:
            same = False
        if not same:
            raise errors.Unavailable(
                f'{self._path} was removed or replaced while the agent was '
                'running: put it back, or restart the agent'
            )

    def _roll_back(self) -> None:
        if self._db.in_transaction:
            self._db.execute('rollback')


def packed(names: Iterable[str]) -> str:
    """Return names as the text of one column."""
    return json.dumps(sorted(names))


def unpacked(text: str) -> frozenset[str]:
    """Return the names in the text of one column."""
    return frozenset(json.loads(text))
