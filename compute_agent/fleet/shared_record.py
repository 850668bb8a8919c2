# SPDX-License-Identifier: Apache-2.0
"""The record of a share in the shared database: documents, requests, history.

A commit is one transaction that begins with the fence of the lease, so an
agent that was deposed writes nothing. Its sequence is the beat of its fence:
of two commits of a share, the later one has the higher sequence.
``state/documents.py`` knows the contents of a document. The record of a node
that moves to another share is between two commits the record of no share
(``given``).
"""

import contextlib
import dataclasses
import itertools
import json
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from .. import errors
from ..watchers import Watchers
from . import lease
from .database import connection, tables

_LEASE, _RECORD = tables.LEASE.c, tables.NODE_RECORD.c
_REQUEST, _HISTORY = tables.REQUEST.c, tables.HISTORY.c
_MANY = 500  # documents of one statement, entries of one row
_NO_SHARE = ''  # a record that was given, until an agent takes it
_PUT = tables.replacing(tables.NODE_RECORD)
_TELL = sa.insert(tables.HISTORY)
#: The seconds that each commit of a holder took.
COMMITS: Watchers[float] = Watchers()
_HOUR, _DAY = 3600.0, 86400.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The changes that were committed after some sequence.

    :ivar sequence: the sequence of the last commit or beat in it
    :ivar epoch: the epoch of the lease then; 0 before the first holder
    :ivar documents: by key; None for each that was deleted
    """

    sequence: int
    epoch: int = 0
    documents: Mapping[str, str | None] = dataclasses.field(
        default_factory=dict
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The record of a node that no share has now.

    :ivar epoch: the epoch of the agent that gave it, in its share
    :ivar sequence: the sequence of the commit that gave it
    """

    epoch: int
    sequence: int
    document: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request of a person, for the holder.

    :ivar key: made by the command that asks
    :ivar content: the request, in the form of the control socket
    :ivar who: the person, and the machine
    :ivar at: when it was made, by the clock of that machine
    :ivar epoch: the epoch of the holder that took it; 0 until then
    :ivar answer: the holder's answer; None until it has come
    """

    key: str
    content: str
    who: str
    at: float
    epoch: int = 0
    answer: str | None = None


class SharedRecord:
    """The record of one share; threads may share it.

    :param who: the identity of this agent, as in its ``lease.Member``; empty
        for one that only reads
    :param history_days: the days for which the history's entries are kept
    :ivar share: its name
    """

    def __init__(
        self,
        engine: sa.Engine,
        share: str,
        who: str = '',
        *,
        history_days: int = 90,
    ) -> None:
        self._engine = engine
        self.share = self._share = share
        self._who = who
        self._history_days = history_days
        self._cleaned = 0.0
        self._lock = threading.Lock()
        self._doubt: int | None = None

    # --- the holder -----------------------------------------------------------

    def commit(
        self,
        epoch: int,
        documents: Mapping[str, str | None],
        history: Sequence[Sequence[Any]] = (),
        moved: Mapping[str, str | Given] | None = None,
    ) -> int:
        """Put documents in the record, in one transaction; return its sequence.

        If the connection is lost while it is committed, the row of the lease
        tells if it was.

        :param documents: by key; None deletes the document
        :param history: entries, each in the order of ``documents.HISTORY``
        :param moved: node → the record that this agent gives away or takes
        :raises errors.Refused: another agent took one before; nothing was done
        :raises errors.Deposed: another agent has the lease
        :raises errors.Unavailable: the commit failed, or its outcome is
            unknown
        """
        sequence = 0

        def work(db: sa.Connection) -> int:
            nonlocal sequence
            sequence = lease.fence(
                db,
                self._share,
                epoch,
                self._who,
                sequence=lease.NEXT_BEAT,
            )
            _put(db, self._share, epoch, sequence, documents)
            if moved:
                self._move(db, epoch, sequence, moved)
            self._tell(db, sequence, history)
            return sequence

        began = time.monotonic()
        try:
            with self._lock:
                self._settle()
                try:
                    return connection.run(self._engine, work)
                except connection.InDoubt:
                    self._doubt = epoch
            return self._outcome(sequence)
        finally:
            COMMITS.tell(time.monotonic() - began)

    def clear(self, epoch: int) -> None:
        """Delete the documents and the history; requests stay.

        :raises: the same errors as ``commit``
        """

        def work(db: sa.Connection) -> None:
            sequence = lease.fence(
                db, self._share, epoch, self._who, sequence=lease.NEXT_BEAT
            )
            db.execute(
                sa.update(tables.NODE_RECORD)
                .where(_RECORD.share == self._share)
                .values(document=None, epoch=epoch, sequence=sequence)
            )
            db.execute(
                sa.delete(tables.HISTORY).where(_HISTORY.share == self._share)
            )

        connection.run_again(self._engine, work)

    def _outcome(self, sequence: int) -> int:
        """Return the sequence of a commit whose answer was lost, if it was done.

        :raises: the same errors as ``commit``
        """
        if self._settle() == sequence:
            return sequence
        raise errors.Unavailable(
            f'the shared database {connection.place(self._engine)} closed the '
            'connection in the middle of a commit, and did not carry it out: '
            'check it, and what lies between it and this host'
        )

    def _settle(self) -> int:
        """Wait for the end of a commit in doubt; return the last sequence.

        The fence needs the row that the unfinished commit has locked. If the
        agent was deposed meanwhile, the commit cannot come any more.
        """
        epoch = self._doubt
        if epoch is None:
            return 0

        def work(db: sa.Connection) -> int:
            lease.fence(db, self._share, epoch, self._who)
            query = sa.select(_LEASE.sequence)
            return int(
                db.execute(
                    query.where(_LEASE.share == self._share)
                ).scalar_one()
            )

        try:
            found = connection.run_again(self._engine, work)
        except errors.Deposed:
            self._doubt = None
            raise
        self._doubt = None
        return found

    def _move(
        self,
        db: sa.Connection,
        epoch: int,
        sequence: int,
        moved: Mapping[str, str | Given],
    ) -> None:
        """Give records of nodes away, and take others that nobody has.

        :raises errors.Refused: another agent took a record first
        """
        row = _RECORD.share == _NO_SHARE
        for key, what in moved.items():
            if isinstance(what, Given):
                same = (_RECORD.epoch == what.epoch) & (
                    _RECORD.sequence == what.sequence
                )
                taken = sa.delete(tables.NODE_RECORD).where(
                    row & (_RECORD.key == key) & same
                )
                if not db.execute(taken).rowcount:
                    raise errors.Refused(
                        f'another agent took the record of node {key} before'
                    )
        given = {k: v for k, v in moved.items() if isinstance(v, str)}
        _put(db, _NO_SHARE, epoch, sequence, given)

    def _tell(
        self,
        db: sa.Connection,
        sequence: int,
        history: Sequence[Sequence[Any]],
    ) -> None:
        """Add to the history; once an hour, drop what is too old.

        The entries themselves tell the time. An entry of a clock that is far
        ahead drops nothing: the age of others counts from the newest one before.
        """
        for position, some in enumerate(_parts(history)):
            row = {
                'share': self._share,
                'sequence': sequence,
                'position': position,
                'at': max(float(entry[0]) for entry in some),
                'entries': json.dumps([list(entry) for entry in some]),
            }
            db.execute(_TELL, row)
        newest = max((float(entry[0]) for entry in history), default=0.0)
        if history and abs(newest - self._cleaned) >= _HOUR:
            now = min(newest, self._told_before(db, sequence, newest))
            oldest = now - self._history_days * _DAY
            db.execute(
                sa.delete(tables.HISTORY).where(
                    (_HISTORY.share == self._share) & (_HISTORY.at < oldest)
                )
            )
            self._cleaned = newest

    def _told_before(
        self, db: sa.Connection, sequence: int, otherwise: float
    ) -> float:
        """Return the time of the newest entry of earlier commits."""
        query = sa.select(sa.func.max(_HISTORY.at)).where(
            (_HISTORY.share == self._share) & (_HISTORY.sequence < sequence)
        )
        found = db.execute(query).scalar()
        return otherwise if found is None else float(found)

    # --- everybody ------------------------------------------------------------

    def changed(self, since: int) -> Changes:
        """Return what was committed after a sequence; 0 means everything.

        :raises errors.Unavailable: the database is away
        """

        def work(db: sa.Connection) -> Changes:
            # Read the row first: the documents may then include later commits,
            # which have a higher sequence.
            row = db.execute(
                sa.select(_LEASE.beat, _LEASE.epoch).where(
                    _LEASE.share == self._share
                )
            ).first()
            found = db.execute(
                sa.select(
                    _RECORD.key, _RECORD.sequence, _RECORD.document
                ).where(
                    (_RECORD.share == self._share) & (_RECORD.sequence > since)
                )
            ).all()
            beat, epoch = (row.beat, row.epoch) if row else (0, 0)
            return Changes(
                sequence=max([beat, *(one.sequence for one in found)]),
                epoch=epoch,
                documents={one.key: one.document for one in found},
            )

        with self._lock, contextlib.suppress(errors.Deposed):
            self._settle()
        return connection.run_again(self._engine, work)

    def history(self, since: int = 0) -> list[list[Any]]:
        """Return the entries that were committed after a sequence, in order.

        :raises errors.Unavailable: the database is away
        """
        query = (
            sa.select(_HISTORY.entries)
            .where(
                (_HISTORY.share == self._share) & (_HISTORY.sequence > since)
            )
            .order_by(_HISTORY.sequence, _HISTORY.position)
        )
        found = connection.run_again(
            self._engine, lambda db: db.execute(query).scalars().all()
        )
        return [entry for some in found for entry in json.loads(some)]

    # --- the records of other shares ------------------------------------------

    def elsewhere(self, keys: Collection[str]) -> dict[str, dict[str, str]]:
        """Return the documents that other shares have with these keys, by key.

        :return: key → share → document
        :raises errors.Unavailable: the database is away
        """
        others = sa.select(_LEASE.share).where(_LEASE.share != self._share)
        found: dict[str, dict[str, str]] = {}
        for some in _parts(keys):
            query = sa.select(
                _RECORD.key, _RECORD.share, _RECORD.document
            ).where(
                _RECORD.share.in_(others)
                & _RECORD.key.in_(some)
                & _RECORD.document.isnot(None)
            )
            for row in self._rows(query):
                found.setdefault(row.key, {})[row.share] = row.document
        return found

    def given(self, keys: Collection[str] | None = None) -> dict[str, Given]:
        """Return the records that agents gave, and that nobody took, by node.

        :param keys: None for all documents
        :raises errors.Unavailable: the database is away
        """
        query = sa.select(
            _RECORD.key, _RECORD.epoch, _RECORD.sequence, _RECORD.document
        ).where(_RECORD.share == _NO_SHARE)
        queries = (
            [query]
            if keys is None
            else [query.where(_RECORD.key.in_(s)) for s in _parts(keys)]
        )
        return {
            row.key: Given(
                epoch=row.epoch, sequence=row.sequence, document=row.document
            )
            for one in queries
            for row in self._rows(one)
        }

    def _rows(self, query: sa.Select[Any]) -> Sequence[Any]:
        return connection.run_again(
            self._engine, lambda db: db.execute(query).all()
        )

    # --- requests -------------------------------------------------------------

    def ask(self, asked: Asked) -> None:
        """Ask the holder; it takes the request soon.

        :raises errors.Unavailable: the database does not answer, or the
            outcome is unknown
        """
        row = {'share': self._share, **dataclasses.asdict(asked)}

        def work(db: sa.Connection) -> None:
            with contextlib.suppress(connection.DUPLICATE):
                db.execute(sa.insert(tables.REQUEST).values(row))

        connection.run_again(self._engine, work)

    def asked(self, key: str) -> Asked | None:
        """Return a request with its present state; None if it was deleted.

        :raises errors.Unavailable: the database is away
        """
        found = self._asked(_REQUEST.key == key)
        return found[0] if found else None

    def take_asked(self, epoch: int) -> list[Asked]:
        """Take the requests that have no answer, as the holder.

        A holder that is gone had taken the requests of an earlier epoch.

        :raises errors.Deposed: another agent has the lease
        :raises errors.Unavailable: the database is away
        """
        mine = _REQUEST.share == self._share
        found = self._asked(mine & _REQUEST.answer.is_(None))
        fresh = [one.key for one in found if not one.epoch]
        if fresh:
            # A command that ended has not read the answer of an earlier one.
            old = mine & _REQUEST.answer.isnot(None) & (_REQUEST.epoch < epoch)

            def work(db: sa.Connection) -> None:
                lease.fence(db, self._share, epoch, self._who)
                db.execute(sa.delete(tables.REQUEST).where(old))
                for some in _parts(fresh):
                    db.execute(
                        sa.update(tables.REQUEST)
                        .where(_REQUEST.key.in_(some) & (_REQUEST.epoch == 0))
                        .values(epoch=epoch)
                    )

            connection.run_again(self._engine, work)
            found = self._asked(mine & _REQUEST.answer.is_(None))
        return [one for one in found if one.epoch]

    def answer(self, epoch: int, key: str, text: str) -> None:
        """Answer a request, as the holder.

        :raises: the same errors as ``take_asked``
        """

        def work(db: sa.Connection) -> None:
            lease.fence(db, self._share, epoch, self._who)
            db.execute(
                sa.update(tables.REQUEST)
                .where(_REQUEST.key == key)
                .values(answer=text)
            )

        connection.run_again(self._engine, work)

    def withdraw(self, key: str) -> bool:
        """Drop a request that is not in the hands of a holder.

        :return: False if the holder took the request; then it stays
        :raises errors.Unavailable: the database does not answer, or the
            outcome is unknown
        """
        is_free = (_REQUEST.epoch == 0) | _REQUEST.answer.isnot(None)

        def work(db: sa.Connection) -> None:
            db.execute(
                sa.delete(tables.REQUEST).where(
                    (_REQUEST.key == key) & is_free
                )
            )

        connection.run_again(self._engine, work)
        return self.asked(key) is None

    def _asked(self, where: sa.ColumnElement[bool]) -> list[Asked]:
        names = [_REQUEST[f.name] for f in dataclasses.fields(Asked)]
        query = (
            sa.select(*names).where(where).order_by(_REQUEST.at, _REQUEST.key)
        )
        found = connection.run_again(
            self._engine, lambda db: db.execute(query).mappings().all()
        )
        return [Asked(**one) for one in found]


def _put(
    db: sa.Connection,
    share: str,
    epoch: int,
    sequence: int,
    documents: Mapping[str, str | None],
) -> None:
    """Add these documents; replace those with the same keys.

    Many rows are one statement. psycopg would send rows of their own as a
    pipeline, and no timeout of PostgreSQL ends that of an agent that stops
    within it: its locks would stay.
    """
    for some in _parts(documents):
        rows = [
            {
                'share': share,
                'key': key,
                'epoch': epoch,
                'sequence': sequence,
                'document': documents[key],
            }
            for key in some
        ]
        db.execute(_PUT[db.dialect.name].values(rows))


def _parts(items: Collection[Any]) -> Iterator[list[Any]]:
    """Yield parts of a collection, each for one statement."""
    left = iter(items)
    while some := list(itertools.islice(left, _MANY)):
        yield some
