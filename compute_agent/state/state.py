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
from collections.abc import Collection

from . import approvals, handover, journal, nodes, records, snapshot, undos
from .database import database
from .history import history
from .values import cache


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
    :ivar history: what changed, when, by whom and why
    :param site: the placement service; empty if only the record is wanted
    """

    def __init__(self, database: database.Database, site: str) -> None:
        self._database = database
        self.undos = undos.Undos(database)
        self.history = history.History(database)
        self._cache = shared = cache.Cache()
        self.agreed_names = nodes.AgreedNames(database)
        self.approvals = approvals.Approvals(database, self.history)
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

    def close(self) -> None:
        """Close the database; all writes are already durable."""
        self._database.close()
