# SPDX-License-Identifier: Apache-2.0
"""The state of this agent: its record, and its snapshot of placement.

SQLite in ``state_path``, WAL. The *record* (``records.py``, and the intents in
``journal.py``) must be durable before a request is sent. If the *snapshot*
(``snapshot.py``) is lost, the agent only has to read placement again. It is
kept for each placement service (``site``): another spelling of an endpoint
costs a full read, but loses no record. ``nodes.py`` has the nodes that the
drivers reported.

The parts share one database and one cache (``values/cache.py``). A public
method of a part is one read of the database or one whole write. A method that
takes a connection is a step of a transaction that its caller opened. A write
that changes what several parts own is a method of ``journal.py`` if it is
about providers, and of ``handover.py`` if it is about a whole node. No part
knows HTTP or plans.
"""

import pathlib
import typing
from collections.abc import Collection, Mapping

from . import (
    approvals,
    documents,
    handover,
    journal,
    nodes,
    records,
    replica,
    snapshot,
    undos,
)
from .database import database
from .history import history
from .values import cache

NO_ID = '0' * 12


class State:
    """The state for one placement service; threads may share it.

    :ivar records: the additions of this agent, and the sources' claims
    :ivar journal: unconfirmed writes, and the outcome of writes
    :ivar snapshot: the last readings of placement
    :ivar site: the names that placement knows, and how many providers it has
    :ivar nodes: the nodes that the drivers reported
    :ivar handover: the records of whole nodes
    :ivar agreed_names: the names that placement and the agent agreed on
    :ivar undos: the changes that other writers undid
    :ivar approvals: a person's approvals that no cycle used yet
    :ivar masses: the masses of removals that wait for an approval
    :ivar history: what changed, when, by whom and why
    :ivar is_older: True if an old copy was put in the place of the database
    :param site: the placement service; empty if only the record is wanted
    """

    def __init__(self, database: database.Database, site: str) -> None:
        self._database = database
        self._shared_id = self._own_id = ''
        self.is_older = database.is_older
        self.undos = undos.Undos(database)
        self.history = history.History(database)
        self._cache = shared = cache.Cache()
        self.agreed_names = nodes.AgreedNames(database)
        self.approvals = approvals.Approvals(database, self.history)
        self.masses = approvals.Masses(database)
        self.site = snapshot.Site(database, site)
        self.snapshot = snapshot.Snapshot(database, shared, self.site)
        self.records = records.Records(
            database, shared, self.snapshot, self.history
        )
        self.journal = journal.Journal(
            database, self.records, self.snapshot, self.history
        )
        self.nodes = nodes.Nodes(database, self.records, self.snapshot)
        self.handover = handover.Handover(
            database,
            shared,
            records=self.records,
            journal=self.journal,
            snapshot=self.snapshot,
            nodes=self.nodes,
            history=self.history,
        )

    @property
    def agent_id(self) -> str:
        """The id of this agent; zeros if its state was never written.

        It is random, was made with the database, and moves with the whole
        state directory; the records of single nodes do not carry it.
        """
        if not self._shared_id and not self._own_id:
            with self._database.reading() as db:
                row = db.execute('select id from agent').fetchone()
            self._own_id = '' if row is None else str(row[0])
        return self._shared_id or self._own_id or NO_ID

    def take_id(self, agent_id: str) -> None:
        """Use the id of a share's agents while this process is a member.

        The database keeps its own: without the share, this is another agent.
        """
        self._shared_id = agent_id

    @classmethod
    def open(cls, directory: pathlib.Path, site: str = '') -> typing.Self:
        """Return the state in a directory, which is created if missing.

        :raises errors.ConfigError: the state cannot be written, or the file
            is not a state database
        """
        return cls(database.Database.open(directory), site)

    @classmethod
    def open_copy(cls, directory: pathlib.Path, site: str = '') -> typing.Self:
        """Return a copy of a directory's state that is never written back.

        For commands that only read, also while a daemon writes. Without a
        database the copy is empty.

        :raises errors.ConfigError: the state cannot be read, or the file is
            not a state database
        """
        return cls(database.Database.open_copy(directory), site)

    @classmethod
    def open_beside(cls, directory: pathlib.Path) -> typing.Self:
        """Return the state in a directory that a daemon has open.

        Only ``approvals`` may be written: the daemon keeps the other parts in
        memory.

        :raises errors.ConfigError: the file cannot be used, or the daemon is
            of another version
        """
        return cls(database.Database.open_beside(directory), '')

    @classmethod
    def in_memory(cls, site: str = '') -> typing.Self:
        """Return an empty state that ends with the process."""
        return cls(database.Database.in_memory(), site)

    def forget_except(self, node_uuids: Collection[str]) -> None:
        """Drop what is kept in memory about other nodes.

        The database keeps their records. Nothing is observed meanwhile.
        """
        self.journal.end_observations()
        with self._database.reading():
            self._cache.keep_only(node_uuids)

    def read_shared(self, shared: replica.Shared, place: str) -> None:
        """Give this copy of a state the record that a share's agents share.

        For commands that only read; nothing is ever written back.

        :raises: the same errors as ``Replica.catch_up``
        """
        self.replica(shared, place).catch_up()
        self._database.committing = database.committing_here

    def replica(self, shared: replica.Shared, place: str) -> replica.Replica:
        """Make this state a copy of the record that a share's agents share.

        From now on, a transaction that changes the record needs the share.

        :param place: the database and the share, as one text
        """
        self.approvals.is_shared = True
        made = replica.Replica(
            self._database,
            self.snapshot,
            self.journal,
            self.history,
            shared,
            place=place,
            forget_memory=self._forget_memory,
        )
        self.handover.moving = made.moving
        return made

    @property
    def place(self) -> str:
        """The share whose record this is a copy of; empty for none."""
        with self._database.reading() as db:
            return str(db.execute('select place from shared').fetchone()[0])

    def part(self) -> None:
        """Make this record independent: it is no copy any more."""
        with self._database.writing() as db:
            db.execute(
                "update shared set place = '', sequence = 0, is_older = 0"
            )

    def documents(self) -> Mapping[str, str]:
        """Return the whole record as documents."""
        with self._database.reading() as db:
            found = documents.read(db)
            return {k: v for k, v in found.items() if v is not None}

    def _forget_memory(self) -> None:
        """Drop what the parts keep in memory, as a step of a transaction."""
        self._cache.clear()
        self.nodes.forget_memory()
        self.agreed_names.forget_memory()

    def close(self) -> None:
        """Close the database; all writes are already durable."""
        self._database.close()
