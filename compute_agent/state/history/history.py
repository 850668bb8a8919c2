# SPDX-License-Identifier: Apache-2.0
"""The history: changes by this agent and other writers, with their reasons.

The table ``history`` has an entry for each operation, each change of another
writer that a reading shows, each approval, outage, start and stop. An entry is
written in the transaction of the change that it describes. So no crash
separates the two, and entries cost no disk write of their own. If the table
cannot be written, the transaction goes on without it, and one line of the log
says so. SQLite ends the whole transaction if the disk is full;
``transactions`` repeats it then. An entry that cannot be read is left out, and
one line says that, too.
"""

import contextlib
import logging
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from ... import error_text, errors
from ...plan.history_entry import OTHERS, Entry, KeptEntry, Result, What
from ...tree import provider
from ...tree.assertion import Kind
from ..database.database import Database
from ..values import history_rows
from . import annotations, rotation

LOG = logging.getLogger(__name__)

# Errors of SQLite, and of rows that are not as this agent wrote them.
_DAMAGED = (sqlite3.Error, LookupError, TypeError, ValueError)

# Errors of an entry that is not as this agent wrote it.
_UNREADABLE = (
    errors.AgentError,
    ArithmeticError,
    AttributeError,
    LookupError,
    OSError,
    RecursionError,
    TypeError,
    ValueError,
)

_MOST = 500  # entries that ``author`` looks at

_COLUMNS = 'at, node_uuid, uuid, by, what, result, content'
# As bytes: SQLite refuses to return text that is not UTF-8, with all that
# follows it.
_SELECT = 'select id, at' + ''.join(
    f', cast({name} as blob)' for name in _COLUMNS.split(', ')[1:]
)
_INSERT = (
    f'insert into history ({_COLUMNS}, size)'  # noqa: S608 (constants)
    ' values (?, ?, ?, ?, ?, ?, ?, ?)'
)


class History:
    """The entries of one state database.

    :ivar by: the actor of the entries that name none: this process
    :ivar clock: seconds since the epoch; the same that tells when a provider
        was read
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._rotation = rotation.Rotation()
        self._is_broken = False
        self._has_told = False
        # For the running transaction:
        self._is_off = self._has_tried = self._has_failed = False
        self.by = 'this agent'
        self.clock: Callable[[], float] = time.time

    def keep(self, bounds: rotation.Bounds) -> None:
        """Keep so much from now on."""
        self._rotation.bounds = bounds

    # --- writing --------------------------------------------------------------

    def add(self, entries: Iterable[Entry]) -> None:
        """Write entries in a transaction of their own, if possible."""
        try:
            with self._transaction([]) as db:
                self.record(db, entries)
        except errors.Unavailable as exc:
            self._warn(exc)

    def transactions(
        self, *, are_late: bool = False
    ) -> Iterator[contextlib.AbstractContextManager[sqlite3.Connection]]:
        """Yield a durable transaction, and a second one if need be.

        The second one is the same without history: it follows if the first
        one wrote history and failed. The body must do the same in both.

        :param are_late: as ``is_late`` of ``Database.writing``
        :raises errors.Unavailable: the database cannot be written
        """
        failed = list[Exception]()
        yield self._transaction(failed, is_late=are_late)
        if failed:
            yield self._without_history(is_late=are_late)

    # --- steps of a transaction -----------------------------------------------

    def record(
        self,
        db: sqlite3.Connection,
        entries: Iterable[Entry],
        prior: provider.Snapshot | None = None,
    ) -> None:
        """Write entries; if that fails, the transaction goes on without them.

        :param prior: the providers as they were before others changed them
        :raises sqlite3.Error: SQLite ended the whole transaction
        """
        found = list(entries)
        if self._is_off or not found or not self._rotation.bounds.days:
            return
        self._has_tried = True
        db.execute('savepoint history')
        try:
            self._insert(db, found, prior or {})
        except _DAMAGED as exc:
            if not db.in_transaction:
                raise
            db.execute('rollback to history')
            self._rotation.count_again()
            self._has_failed = True
            self._warn(exc)
        db.execute('release history')

    def copy(
        self,
        db: sqlite3.Connection,
        rows: Sequence[Sequence[object]],
        *,
        whole: bool = False,
    ) -> None:
        """Add entries that other agents of a share wrote.

        :param whole: True if they take the place of all entries here
        """
        now = self.clock()
        before = rotation.newest(db, now)
        if whole:
            db.execute('delete from history')
            self._rotation.count_again()
        db.executemany(_INSERT, rows)
        written = sum(len(str(row[6])) + rotation.OVERHEAD for row in rows)
        self._rotation.turn(db, now, written, before)

    def own_since(
        self, db: sqlite3.Connection, uuid: str, moment: float
    ) -> Sequence[Entry]:
        """Return this agent's writes to a provider since a moment, in order.

        Those of its commands are among them.
        """
        with self._harmless():
            return [
                kept.entry
                for kept in self._read(
                    db,
                    'where uuid = ? and at > ? and by != ? and result != ?'
                    ' order by id',
                    (uuid, moment, OTHERS, Result.REFUSED),
                )
            ]
        return ()

    # --- reading --------------------------------------------------------------

    def entries(
        self, since: float = 0.0, until: float | None = None
    ) -> list[KeptEntry]:
        """Return the entries of a time, oldest first.

        :raises errors.ConfigError: the history cannot be read
        """
        with self._database.reading() as db:
            return self._read(
                db,
                'where at >= ? and at < coalesce(?, at + 1) order by id',
                (since, until),
            )

    def last(self, kinds: Sequence[What]) -> KeptEntry | None:
        """Return the last entry of one of these kinds; None if none exists."""
        marks = ', '.join('?' * len(kinds))
        condition = f'where what in ({marks}) order by id desc limit 1'
        with self._harmless(), self._database.reading() as db:
            return next(iter(self._read(db, condition, kinds)), None)
        return None

    def about(self, uuid: str, most: int) -> Sequence[KeptEntry]:
        """Return the newest entries about a provider, the newest first."""
        condition = 'where uuid = ? order by id desc limit ?'
        with self._harmless(), self._database.reading() as db:
            return self._read(db, condition, (uuid, most))
        return ()

    def author(self, changed: provider.Provider, kind: Kind, name: str) -> str:
        """Return the command on this host that last changed a name, and when.

        Placement does not say who wrote, but the history has what this agent
        and its commands wrote. Return an empty text if another writer changed
        the name, or if the history does not tell.

        :param changed: the provider in its present state
        """
        for kept in self.about(changed.uuid, _MOST):
            for change in kept.entry.changes:
                if (change.kind, change.name) != (kind, name):
                    continue
                if kept.entry.result is Result.REFUSED:
                    continue
                if kept.entry.by == OTHERS or not change.is_in(changed):
                    return ''
                at = error_text.moment(kept.at)
                return f'compute-agent {kept.entry.by} at {at}'
        return ''

    # --- inside ---------------------------------------------------------------

    @contextlib.contextmanager
    def _transaction(
        self, failed: list[Exception], *, is_late: bool = False
    ) -> Iterator[sqlite3.Connection]:
        """Lend the connection; keep the error if history was written, too."""
        tried = False
        try:
            with self._database.writing(is_late=is_late) as db:
                self._has_tried = self._has_failed = False
                try:
                    yield db
                finally:
                    tried, good = self._has_tried, not self._has_failed
        except errors.Unavailable as exc:
            if not tried or not isinstance(exc.__cause__, sqlite3.Error):
                raise
            self._rotation.count_again()
            failed.append(exc)
            self._warn(exc)
        else:
            self._is_broken = self._is_broken and not (tried and good)

    @contextlib.contextmanager
    def _without_history(
        self, *, is_late: bool
    ) -> Iterator[sqlite3.Connection]:
        with self._database.writing(is_late=is_late) as db:
            self._is_off = True
            try:
                yield db
            finally:
                self._is_off = False

    def _insert(
        self,
        db: sqlite3.Connection,
        entries: Iterable[Entry],
        prior: provider.Snapshot,
    ) -> None:
        now, written = self.clock(), 0
        before = rotation.newest(db, now)
        for entry in entries:
            if annotations.is_repeated(db, entry):
                continue
            noted = annotations.annotated(db, entry, prior)
            content = history_rows.text(annotations.plain(noted))
            size = len(content) + rotation.OVERHEAD
            written += size
            db.execute(
                _INSERT,
                (
                    now,
                    entry.node_uuid,
                    entry.uuid,
                    entry.by or self.by,
                    entry.what,
                    entry.result,
                    content,
                    size,
                ),
            )
        self._rotation.turn(db, now, written, before)

    @contextlib.contextmanager
    def _harmless(self) -> Iterator[None]:
        """Log an error of the history once, in place of raising it."""
        try:
            yield
        except (*_DAMAGED, errors.ConfigError) as exc:
            self._warn(exc)

    def _warn(self, exc: Exception) -> None:
        if not self._is_broken:
            self._is_broken = True
            LOG.warning(
                'the history cannot be written (%s); the agent goes on '
                'without it',
                exc,
            )

    def _read(
        self, db: sqlite3.Connection, condition: str, values: Sequence[object]
    ) -> list[KeptEntry]:
        """Return the entries that can be read, without the others."""
        found, lost = [], []
        for number, *values_read in db.execute(
            f'{_SELECT} from history {condition}', tuple(values)
        ):
            try:
                found.append(history_rows.entry(*values_read))
            except _UNREADABLE as exc:
                lost.append((number, error_text.one_line(exc)))
        if lost and not self._has_told:
            self._has_told = True
            LOG.warning(
                'the history is shown without %d of its entries, which cannot '
                'be read; the first is row %d (%s)',
                len(lost),
                *lost[0],
            )
        return found
