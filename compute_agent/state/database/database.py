# SPDX-License-Identifier: Apache-2.0
"""One connection to the state database, which threads share.

It opens the file, copies it for commands that only read, and runs durable
transactions, with a message and advice if one of these fails. It knows no
table. The parts of ``state.py`` use it.
"""

import contextlib
import functools
import json
import os
import pathlib
import sqlite3
import sys
import threading
from collections.abc import Iterable, Iterator
from typing import Protocol

from ... import errors, private_files
from . import schema, write_count

# Errors that damaged rows raise: rows not as this agent wrote them.
_DAMAGED = (
    sqlite3.Error,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)


class Committing(Protocol):
    """Returns the context in which a transaction is committed."""

    def __call__(
        self, db: sqlite3.Connection, /, *, is_late: bool
    ) -> contextlib.AbstractContextManager[object]:
        """Return the context.

        :param is_late: as for ``Database.writing``
        """


def committing_here(
    _db: sqlite3.Connection, /, *, is_late: bool
) -> contextlib.AbstractContextManager[object]:
    """Return the context of a database that no fleet shares."""
    del is_late
    return contextlib.nullcontext()


class Database:
    """An open state database; one thread at a time uses it.

    :param path: the file, checked before each write: it and the files beside it
        must still be those that were opened
    :param count: the file with the number of writes, if this connection notes
        it
    :ivar committing: the context in which each transaction is committed; if it
        raises, the transaction is rolled back
    :ivar is_older: True if an old copy was put in the place of the database,
        so that it does not know any more which names this agent added
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: pathlib.Path | None = None,
        *,
        count: int | None = None,
    ) -> None:
        self._db = connection
        self._count = count
        self._inodes = {} if path is None else _inodes(path)
        self._lock = threading.RLock()
        self.committing: Committing = committing_here
        self.is_older = False

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
                beside = path.with_name(write_count.FILE_NAME)
                count = private_files.open_file(beside)
                undo.callback(os.close, count)
                opened = cls(db, path, count=count)
                opened.is_older = write_count.forget_if_older(
                    db, write_count.noted(directory)
                )
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
        """Return a copy of a directory's database; an empty one if missing.

        :raises errors.ConfigError: the file cannot be read, or is not a
            state database
        """
        path = directory / schema.FILE_NAME
        with schema.explained(path):
            if not private_files.exists(path):
                return cls(_empty())
            schema.check_links(path)
            with contextlib.closing(
                schema.connect(f'{path.resolve().as_uri()}?mode=ro')
            ) as db:
                if schema.is_new(db):
                    return cls(_empty())
                # Read it before the copy, because a daemon may write
                # meanwhile.
                writes = write_count.noted(directory)
                memory = schema.connect(':memory:')
                try:
                    db.backup(memory)
                    schema.migrate(memory)
                    schema.check_version(memory, path)
                    schema.remove_credentials(memory)
                    copy = cls(memory)
                    copy.is_older = write_count.forget_if_older(memory, writes)
                except BaseException:
                    memory.close()
                    raise
                return copy

    @classmethod
    def in_memory(cls) -> 'Database':
        """Return an empty database that ends with the process."""
        db = _empty()
        schema.make_id(db)
        return cls(db)

    def close(self) -> None:
        """Close the database; all writes are already durable."""
        with self._lock:
            self._db.close()
            if self._count is not None:
                os.close(self._count)
                self._count = None

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
    def writing(
        self, *, is_late: bool = False
    ) -> Iterator[sqlite3.Connection]:
        """Lend the connection for one durable transaction.

        The transaction is committed as a whole, or rolled back if anything
        is raised. An ``Unavailable`` whose cause is SQLite's is about this
        database, any other is about that of a fleet.

        :param is_late: True for the outcome of intents. A host that loses its
            power may lose the commit. A fleet's database gets it with the next
            commit. What placement has then settles the intents.
        :raises errors.Unavailable: the database cannot be written
        """
        with self._lock:
            self.check_files()
            try:
                # In WAL mode this leaves out the disk's sync, nothing else.
                sync = 'normal' if is_late else 'full'
                self._db.execute(f'pragma synchronous = {sync}')
                self._db.execute('begin immediate')
                yield self._db
                writes = write_count.count(self._db)
                with self.committing(self._db, is_late=is_late):
                    self._db.execute('commit')
                # The file must never have more writes than the database.
                if self._count is not None and not is_late:
                    write_count.note(self._count, writes)
            except sqlite3.Error as exc:
                self._roll_back()
                raise errors.Unavailable(
                    f'the state database cannot be written ({exc}): '
                    f'{schema.advice(exc)}'
                ) from exc
            except BaseException:
                self._roll_back()
                raise

    def check_files(self) -> None:
        """Refuse to go on with files that are no longer in their places.

        If only the log of the database is missing, its content is moved to the
        database, so that nothing is lost if the agent is killed now.

        :raises errors.Unavailable: a file was removed or replaced since it was
            opened
        """
        found = {path: _inode(path) for path in self._inodes}
        other = [path for path in found if found[path] != self._inodes[path]]
        if not other:
            return
        database, *_ = self._inodes
        if database not in other and not any(map(found.get, other)):
            with contextlib.suppress(sqlite3.Error), self._lock:
                self._db.execute('pragma wal_checkpoint(passive)')
        raise errors.Unavailable(
            f'{other[0]} was removed or replaced while the agent was '
            'running: put it back, or restart the agent'
        )

    def _roll_back(self) -> None:
        if self._db.in_transaction:
            self._db.execute('rollback')


def _empty() -> sqlite3.Connection:
    """Return an empty database of an agent that has no id yet."""
    db = schema.connect(':memory:')
    db.executescript(schema.SCHEMA)
    return db


def _inodes(path: pathlib.Path) -> dict[pathlib.Path, int]:
    """Return the files of an open database, itself first, with their inodes."""
    beside = (path.with_name(path.name + end) for end in schema.OPEN_BESIDE)
    return {file: _inode(file) for file in (path, *beside)}


def _inode(path: pathlib.Path) -> int:
    """Return the inode of a file; 0 if it is missing."""
    try:
        return path.stat().st_ino
    except OSError:
        return 0


def packed(names: Iterable[str]) -> str:
    """Return names as a text for one column of the database."""
    return json.dumps(sorted(names))


@functools.lru_cache(maxsize=4096)
def unpacked(text: str) -> frozenset[str]:
    """Return the names in the text of one column of the database.

    Cached, because many nodes have the same names.
    """
    return frozenset(map(sys.intern, json.loads(text)))
