# SPDX-License-Identifier: Apache-2.0
"""This agent's copy of the record that the agents of a share have in common.

The agent works on its own database. With a fleet, each transaction that
changes the record commits the changed documents (``documents.py``) in the
shared database first, and then here; only then are requests sent. If the
shared database does not take them, the transaction is rolled back here, and
the caller gets the error. If it takes them and the commit here fails, or if
nobody knows whether it took them, this copy is behind: nothing is written until
``catch_up`` has applied what is missing.

A holder writes, a standby only follows. Nothing of this is imported or done
without a fleet. The snapshot of placement is not shared: if another agent
changed a document, the readings of its provider's tree are dropped.
"""

import contextlib
import dataclasses
import logging
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Protocol

from .. import errors
from . import documents, intents
from .database.database import Database
from .history.history import History
from .journal import Journal
from .snapshot import Snapshot

LOG = logging.getLogger(__name__)
# A name may have been lost and added by another writer since the record was
# made; see ``Journal``.
_DOUBT = """
insert or ignore into doubted
select uuid from ours union select uuid from intent union
select uuid from past_ours
"""

# Where an entry of the history names a node and a provider.
_SUBJECTS = tuple(map(documents.HISTORY.index, ('node_uuid', 'uuid')))

Documents = Mapping[str, str | None]
#: An entry of the history, in the order of ``documents.HISTORY``.
HistoryRow = Sequence[Any]


class Changes(Protocol):
    """The documents that were committed after some sequence."""

    @property
    def sequence(self) -> int:
        """The sequence of the last commit or beat, which nothing here lacks."""

    @property
    def documents(self) -> Documents:
        """The documents by key, None for each that has no rows any more."""


class Shared(Protocol):
    """The record in the shared database; each method is one transaction."""

    def commit(
        self,
        epoch: int,
        documents: Documents,
        history: Sequence[HistoryRow] = ...,
        moved: Mapping[str, Any] | None = ...,
    ) -> int:
        """Put these documents in the record; return this commit's sequence.

        :param moved: the records of nodes that go to another share, or come
        :raises errors.Refused: another agent took one of the records first
        :raises errors.Deposed: another agent holds the share
        :raises errors.Unavailable: the outcome of the commit is unknown
        """

    def changed(self, since: int) -> Changes:
        """Return the documents that were committed after a sequence."""

    def history(self, since: int) -> Sequence[HistoryRow]:
        """Return the entries that were committed after a sequence."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Known:
    """The row of ``shared``: which state of a shared record this copy has.

    :ivar place: empty if this copy never had any
    :ivar is_older: True if the shared database lost commits that this copy
        had, so that the record is an older one
    """

    place: str = ''
    sequence: int = 0
    is_older: bool = False


class Replica:
    """The record of a share as this agent has it.

    :param place: the shared database and the share, without a password;
        sequences of other places say nothing
    :param forget_memory: drops what the parts of the state keep in memory
    """

    def __init__(
        self,
        database: Database,
        snapshot: Snapshot,
        journal: Journal,
        history: History,
        shared: Shared,
        *,
        place: str,
        forget_memory: Callable[[], None],
    ) -> None:
        self._database = database
        self._snapshot = snapshot
        self._journal = journal
        self._history = history
        self._shared = shared
        self._place = place
        self._forget_memory = forget_memory
        self._epoch: int | None = None
        self._seen = 0
        # A second lock: a commit holds the database's lock for long.
        self._noting = threading.Lock()
        self._is_loaded = self._went_back = False
        self._is_behind = True
        self._owes = False
        # The documents of this copy, of a standby: only ``_put`` changes them.
        # None if they must be read.
        self._mine: dict[str, str] | None = None
        self._moved: Mapping[str, Any] = {}
        with database.reading() as db:
            documents.watch(db)
        database.committing = self._committing

    # --- a standby, and every start --------------------------------------------

    @property
    def epoch(self) -> int | None:
        """The epoch under which this agent writes; None for a standby."""
        return self._epoch

    @property
    def is_behind(self) -> bool:
        """True if a commit is missing here, or there: catch up before a cycle."""
        return self._is_behind or self._went_back

    @property
    def _may_owe(self) -> bool:
        """True if the databases can differ only in outcomes of intents."""
        return (
            self._epoch is not None and self._is_loaded and not self.is_behind
        )

    @property
    def seen(self) -> int:
        """The highest sequence that this copy followed, or this agent wrote."""
        return self._seen

    def saw(self, sequence: int, *, above: int) -> None:
        """Note the sequence of a beat.

        :param above: what ``seen`` was before the beat was sent. If the beat
            is not above it, the shared database lost commits.
        """
        with self._noting:
            self._went_back |= sequence <= above
            self._seen = max(self._seen, sequence)

    def catch_up(self) -> None:
        """Make this copy equal to the shared record.

        The first time, all documents are compared; later, what was committed
        since the last time is applied. If the shared database lost commits, a
        holder commits its whole record again; a standby takes the older
        record, and remembers that it is one.

        :raises errors.Unavailable: a database does not answer
        :raises errors.Deposed: another agent holds the share
        :raises errors.ConfigError: an agent of a newer version wrote a document
        """
        if self._epoch is None and self._owes:
            self._drop_debts()
        with self._database.reading() as db:
            known, seen = self._known(db), self._seen
        changes = self._shared.changed(
            known.sequence if self._is_loaded else 0
        )
        lost = self._went_back or changes.sequence < max(known.sequence, seen)
        if self._epoch is not None and lost:
            self._went_back, self._is_behind = True, False
            with self._database.writing():
                return  # ``_committing`` commits everything again
        if lost and self._is_loaded:
            changes = self._shared.changed(0)
        if lost or not self._is_loaded:
            self._load(known, changes, lost=lost)
        else:
            self._follow(known, changes)
        with self._noting:
            self._seen = max(self._seen, changes.sequence)
        self._is_behind = False

    def _drop_debts(self) -> None:
        """Have all documents compared: some outcomes are only here.

        The agent that holds the share now has the intents, and settles them.
        """
        with self._database.reading() as db:
            documents.forget_touched(db)
        self._is_loaded = self._owes = False

    def _follow(self, known: _Known, changes: Changes) -> None:
        """Apply others' commits, and own commits with an unknown outcome."""
        entries = self._shared.history(known.sequence)
        if changes.documents or entries:
            mine, self._mine = self._mine, None
            with self._applying(known, changes.sequence) as db:
                self._put(db, changes.documents, entries)
                self._history.copy(db, entries)
            if mine is not None:
                self._mine = _existing({**mine, **changes.documents})

    def _load(self, known: _Known, changes: Changes, *, lost: bool) -> None:
        """Drop this copy for all documents of the shared record."""
        mine, theirs = self._mine, _existing(changes.documents)
        with self._database.reading() as db:
            # A command beside this daemon writes approvals.
            some = None if mine is None else [documents.OF_NO_PROVIDER]
            read = documents.read(db, some)
        mine = _existing({**(mine or {}), **read})
        self._mine = None
        if not theirs and not known.place:
            return  # no agent has reported this share with a fleet yet
        if lost:
            LOG.warning(
                'the shared database %s lost commits: it had number %d, and '
                'has %d; until a provider is read, no name on it is removed',
                self._place,
                max(known.sequence, self._seen),
                changes.sequence,
            )
        elif mine and not known.place:
            LOG.warning(
                'the record that this host had without a fleet does not count, '
                'because %s has a record of the share',
                self._place,
            )
        is_other = lost or not known.place
        entries = self._shared.history(0 if is_other else known.sequence)
        known = dataclasses.replace(known, is_older=known.is_older or lost)
        keys = mine.keys() | theirs.keys()
        with self._applying(known, changes.sequence) as db:
            self._put(
                db,
                {
                    key: theirs.get(key)
                    for key in keys
                    if mine.get(key) != theirs.get(key)
                },
                entries,
            )
            self._history.copy(db, entries, whole=is_other and bool(entries))
        self._is_loaded = True
        if self._epoch is None:
            self._mine = theirs
        self._begin_anew(changes.sequence)

    @contextlib.contextmanager
    def _applying(
        self, known: _Known, sequence: int
    ) -> Iterator[sqlite3.Connection]:
        """Lend the connection for one transaction that is not shared."""
        with self._database.writing() as db:
            yield db
            self._note(db, sequence, is_older=known.is_older)
            documents.forget_touched(db)

    def _put(
        self,
        db: sqlite3.Connection,
        changed: Documents,
        entries: Sequence[HistoryRow],
    ) -> None:
        """Put these documents here; drop the readings that they make old.

        The same holds for an event in the history, such as another writer's
        rename of a provider: this agent must not record it again.
        """
        told = {str(row[at]) for row in entries for at in _SUBJECTS} - {''}
        if not changed and not told:
            return
        documents.replace(db, changed)
        self._snapshot.forget_trees(db, {*changed, *told})
        self._forget_memory()

    # --- a holder -------------------------------------------------------------

    def take_over(self, epoch: int) -> None:
        """Begin to write: this agent holds the share from now on.

        All documents are compared once more: they are the truth, whatever this
        copy followed.

        Call it after the lease was taken, because the predecessor may commit
        until then. The first holder of a share brings its own record along.

        :raises: the same errors as ``catch_up``
        """
        self.stand_by()
        self._is_loaded = False
        self.catch_up()
        with self._database.reading() as db:
            known = self._known(db)
            self._journal.inherit(intents.providers(db), self._prove)
        self._epoch, self._mine = epoch, None
        if self._is_loaded and not known.is_older:
            return
        try:
            with self._database.writing() as db:
                if known.is_older:
                    db.execute(_DOUBT)
                    db.execute('update reading set read_at = 0')
                    self._forget_memory()
        except BaseException:
            self.stand_by()
            raise

    @contextlib.contextmanager
    def moving(self, moved: Mapping[str, Any]) -> Iterator[None]:
        """Commit with the next transaction that records of nodes move.

        :param moved: as for ``Shared.commit``
        """
        self._moved = moved
        try:
            yield
        finally:
            self._moved = {}

    def stand_by(self) -> None:
        """Write nothing from now on: another agent has the share, or will."""
        self._epoch = None
        self._journal.inherit(())

    def pay(self) -> None:
        """Commit in the shared database what is committed here only.

        :raises: the same errors as ``catch_up``
        """
        if self._owes and self._epoch is not None:
            with self._database.writing():
                return  # ``_committing`` commits it

    @contextlib.contextmanager
    def _committing(
        self, db: sqlite3.Connection, *, is_late: bool
    ) -> Iterator[None]:
        """Commit in the shared database what a transaction changed.

        The transaction is committed here within this context. The outcome of
        intents comes there with the next commit: a successor that lacks it
        settles the intents.
        """
        keys = documents.touched(db)
        if is_late and self._may_owe:
            yield
            self._owes = True
            return
        is_whole = not self._is_loaded or self._went_back
        if self._epoch is None and not keys:
            yield
            return
        entries = documents.told(db)
        if not (keys or entries or is_whole or self._moved):
            yield
            return
        if self._epoch is None:
            raise errors.Deposed(
                'this agent is a standby: only the holder of the share changes '
                'its record'
            )
        if self._is_behind:
            raise errors.Unavailable(
                'the record here may lack a commit of the shared database: it '
                'is compared before the next cycle'
            )
        self._is_behind = True
        try:
            self._commit(db, self._epoch, keys, entries)
        except errors.Deposed:
            self.stand_by()
            raise
        except errors.Refused:
            self._is_behind = False  # nothing was committed
            raise
        yield
        self._is_loaded, self._is_behind = True, False
        self._owes = False

    def _commit(
        self,
        db: sqlite3.Connection,
        epoch: int,
        keys: Collection[str],
        entries: Sequence[HistoryRow],
    ) -> None:
        """Commit these documents, or the whole record if others are missing."""
        documents.forget_touched(db)
        known, seen = self._known(db), self._seen
        changed, sequence = documents.read(db, keys) if keys else {}, 0
        moved, self._moved = self._moved, {}
        if self._is_loaded and not self._went_back:
            sequence = self._shared.commit(epoch, changed, entries, moved)
            moved = {}
            self._went_back |= sequence <= max(known.sequence, seen)
        if not self._is_loaded or self._went_back:
            missing = dict.fromkeys(self._shared.changed(0).documents)
            every = {**missing, **documents.read(db)}
            if not self._is_loaded:
                entries = documents.told(db, every=True)
            sequence = self._shared.commit(
                epoch, every, [] if sequence else entries, moved
            )
            self._begin_anew(sequence)
        else:
            self.saw(sequence, above=seen)
        self._note(db, sequence, is_older=False)

    def _prove(self) -> None:
        """Commit nothing, to be sure that this agent holds the share.

        :raises errors.Deposed: this agent does not hold the share
        :raises errors.Unavailable: the shared database is away
        """
        epoch = self._epoch
        if epoch is None:
            raise errors.Deposed('this agent does not hold the share any more')
        above = self._seen
        self.saw(self._shared.commit(epoch, {}), above=above)

    def _begin_anew(self, sequence: int) -> None:
        """Note that the shared database has all that this copy has."""
        with self._noting:
            self._went_back, self._seen = False, sequence

    # --- the row of this copy -------------------------------------------------

    def _known(self, db: sqlite3.Connection) -> _Known:
        """Return the row about the shared record that this copy follows."""
        query = 'select place, sequence, is_older from shared'
        place, sequence, is_older = db.execute(query).fetchone()
        if place != self._place:
            return _Known()
        return _Known(place, int(sequence), bool(is_older))

    def _note(
        self, db: sqlite3.Connection, sequence: int, *, is_older: bool
    ) -> None:
        db.execute(
            'update shared set place = ?, sequence = ?, is_older = ?',
            (self._place, sequence, is_older),
        )


def _existing(some: Documents) -> dict[str, str]:
    """Return these documents, without documents whose rows are all gone."""
    return {key: text for key, text in some.items() if text is not None}
