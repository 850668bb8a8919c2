# SPDX-License-Identifier: Apache-2.0
"""The nodes that the drivers reported, also those that departed.

They are in the table ``node``. Methods that take a connection are steps of a
transaction of ``handover.py``. The table ``agreed_name`` has the names under
which this agent and placement last agreed on each node.
"""

import dataclasses
import functools
import sqlite3
import sys
from collections.abc import Collection, Container, Iterable, Mapping, Sequence

from .. import errors
from ..tree import assertion
from ..tree.node import Node
from ..virt import driver as virt
from ..virt.drivers import Drivers
from .database.database import Database
from .records import Records
from .snapshot import Snapshot


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class KnownNode:
    """A node that a driver lists, or once listed.

    :ivar drivers: the classes of the drivers that list it, or once listed it,
        each as ``module:Class``
    :ivar answer: the driver's last answer whether the node exists; None while
        the driver lists it
    :ivar asked_at: when the driver answered, in seconds since the epoch
    :ivar left_at: when the node was first missing, in seconds since the epoch;
        None while the driver lists it or confirms that it exists. Nodes that
        left in the same cycle have the same value, other nodes another.
    :ivar left_of: the number of nodes that the agent had then, negative if all
        of them left; 0 if a person approved the departure
    """

    name: str
    title: str = ''
    drivers: frozenset[str] = frozenset()
    answer: virt.Existence | None = None
    asked_at: float = 0.0
    left_at: float | None = None
    left_of: int = 0

    def node(self, uuid: str) -> Node:
        """Return the node with this uuid."""
        return Node(uuid=uuid, name=self.name, title=self.title)


_CREATED_FOR_UNRECORDED = (
    'select uuid, node_uuid from created'
    ' where node_uuid not in (select uuid from node)'
)
_INTENDED_FOR_UNRECORDED = (
    'select distinct node_uuid from intent'
    ' where node_uuid not in (select uuid from node)'
)
_DRIVERS = 'select distinct driver from node'


@dataclasses.dataclass(frozen=True, slots=True)
class _Row:
    """A row of the table ``node``."""

    uuid: str
    known: KnownNode

    @property
    def node(self) -> Node:
        """The node as a value."""
        return self.known.node(self.uuid)


class Nodes:
    """The nodes of every driver."""

    def __init__(
        self, database: Database, records: Records, snapshot: Snapshot
    ) -> None:
        self._database = database
        self._records = records
        self._snapshot = snapshot
        self._rows: Sequence[_Row] | None = None
        self._of_drivers: dict[frozenset[str], Mapping[str, KnownNode]] = {}

    def of_drivers(self, drivers: Collection[str]) -> Mapping[str, KnownNode]:
        """Return the nodes that one of these drivers reported, by uuid.

        The same object is returned until a node is recorded or dropped.
        """
        wanted = frozenset(drivers)
        with self._database.reading() as db:
            rows = self._all_rows(db)
            if wanted not in self._of_drivers:
                self._of_drivers[wanted] = {
                    row.uuid: row.known
                    for row in rows
                    if not wanted.isdisjoint(row.known.drivers)
                }
            return self._of_drivers[wanted]

    def elsewhere(self, listed: Container[str]) -> set[str]:
        """Return the nodes that left the list, and exist or may exist."""
        with self._database.reading() as db:
            return {
                row.uuid
                for row in self._all_rows(db)
                if row.uuid not in listed
                and row.known.answer is not virt.Existence.NO
            }

    def all(self) -> list[Node]:
        """Return the nodes that any driver reported."""
        with self._database.reading() as db:
            return self.all_in(db)

    def unrecorded(self) -> dict[str, str]:
        """Return nodes that left a provider or an intent, but have no row.

        The value is the last name of the node's provider, or its uuid. An
        agent of an earlier version may have recorded a node only after its
        providers. Providers that were read from another placement service do
        not count.
        """
        with self._database.reading() as db:
            created = dict(db.execute(_CREATED_FOR_UNRECORDED).fetchall())
            intended = db.execute(_INTENDED_FOR_UNRECORDED).fetchall()
            if not created and not intended:
                return {}
            read = self._snapshot.readings(created)
            uuids = {created[uuid] for uuid in read}
            uuids |= {uuid for (uuid,) in intended}
            names = self._snapshot.last_names(db, uuids)
            return {uuid: names.get(uuid, uuid) for uuid in uuids}

    def drivers(self) -> set[str]:
        """Return the drivers that reported a node."""
        with self._database.reading() as db:
            return {
                driver
                for (drivers,) in db.execute(_DRIVERS)
                for driver in split(drivers)
            }

    def keep(self, known: Mapping[str, KnownNode]) -> None:
        """Record these nodes, their drivers, and when these were asked."""
        with self._database.writing() as db:
            for uuid, node in known.items():
                self.record(db, uuid, node)

    def settle_sources(self, drivers: Drivers) -> None:
        """Give the claims of these drivers the names of their sources.

        The source of the only driver of an agent is ``driver``, that of each
        of several is ``driver:NAME``. If the number changes, the claims go
        along. Call it before anything else is done with the database.
        """
        before, *_ = (
            [assertion.DRIVER]
            if drivers.are_several
            else [f'{assertion.DRIVER_PREFIX}{one.name}' for one in drivers]
        )
        with self._database.reading() as db:
            if not self._records.claims.has_any_of(db, before):
                return
        with self._database.writing() as db:
            if not drivers.are_several:
                self._records.claims.rename_source(
                    db, before, assertion.DRIVER
                )
                return
            of_node = dict(db.execute('select uuid, driver from node'))
            for one in drivers:
                nodes = {u for u, d in of_node.items() if d == one.reference}
                self._records.claims.rename_source(
                    db, before, one.source, nodes
                )

    def forget(self, uuids: Iterable[str]) -> None:
        """Drop nodes; the record of their providers stays.

        No driver reports these nodes any more, so the claims that were made
        for them are dropped, too.
        """
        with self._database.writing() as db:
            for uuid in uuids:
                self.drop(db, uuid)

    # --- steps of a transaction -----------------------------------------------

    def all_in(self, db: sqlite3.Connection) -> list[Node]:
        """Return the same as ``all``."""
        return [row.node for row in _read(db)]

    def forget_memory(self) -> None:
        """Read the rows again before they are used."""
        self._rows = None

    def driver_of(self, db: sqlite3.Connection, node: Node) -> str:
        """Return the classes that described a node, with commas between.

        :raises errors.ConfigError: no driver reported the node
        """
        query = 'select driver from node where uuid = ?'
        row = db.execute(query, (node.uuid,)).fetchone()
        if row is None:
            raise errors.ConfigError(f'the state database has no node {node}')
        return str(row[0])

    def record(
        self, db: sqlite3.Connection, uuid: str, known: KnownNode
    ) -> None:
        """Record that drivers have this node, and their last answer."""
        self._rows = None
        answer = None if known.answer is None else known.answer.value
        db.execute(
            'replace into node values (?, ?, ?, ?, ?, ?, ?, ?)',
            (
                uuid,
                known.name,
                known.title,
                ','.join(sorted(known.drivers)),
                answer,
                known.asked_at,
                known.left_at,
                known.left_of,
            ),
        )

    def drop(self, db: sqlite3.Connection, uuid: str) -> None:
        """Drop a node, and the claims that were made for it."""
        self._rows = None
        db.execute('delete from node where uuid = ?', (uuid,))
        self._snapshot.drop_lost_root(db, uuid)
        self._records.claims.drop(db, uuid)

    def _all_rows(self, db: sqlite3.Connection) -> Sequence[_Row]:
        """Return the rows, read once until one of them changes."""
        if self._rows is None:
            self._rows = _read(db)
            self._of_drivers = {}
        return self._rows


@functools.lru_cache(maxsize=1024)
def split(drivers: str) -> frozenset[str]:
    """Return the classes of drivers that have commas between them."""
    return frozenset(drivers.split(','))


def _read(db: sqlite3.Connection) -> list[_Row]:
    """Return every driver's nodes, each with its last answer."""
    rows = db.execute(
        'select uuid, name, title, driver, answer, asked_at, left_at, left_of'
        ' from node'
        ' order by name, uuid'
    )
    return [
        _Row(
            sys.intern(uuid),
            KnownNode(
                name=sys.intern(name),
                title=title,
                drivers=split(drivers),
                answer=None if answer is None else virt.Existence(answer),
                asked_at=asked_at,
                left_at=left_at,
                left_of=left_of,
            ),
        )
        for uuid, name, title, drivers, answer, asked_at, left_at, left_of in rows
    ]


class AgreedNames:
    """The agreed name of each node.

    With it, the agent tells a renamed host, whose old name is the agreed one,
    from a host whose provider somebody else renamed. It changes seldom, so it
    is kept in memory.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._names: dict[str, str] | None = None

    def agreed_name(self, uuid: str) -> str | None:
        """Return the agreed name of a node; None if no name was agreed."""
        with self._database.reading() as db:
            if self._names is None:
                self._names = dict(
                    db.execute(
                        'select uuid, name from agreed_name where uuid in'
                        ' (select uuid from node)'
                    ).fetchall()
                )
            return self._names.get(uuid)

    def forget_memory(self) -> None:
        """Read the names again before they are used."""
        self._names = None

    def agree(self, uuid: str, name: str) -> None:
        """Record that placement and this agent call a node by this name."""
        if self.agreed_name(uuid) == name:
            return
        with self._database.writing() as db:
            db.execute('replace into agreed_name values (?, ?)', (uuid, name))
            db.execute(
                'delete from agreed_name where uuid != ? and uuid not in'
                ' (select uuid from node)',
                (uuid,),
            )
            self._names = None
