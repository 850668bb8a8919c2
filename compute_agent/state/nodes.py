# SPDX-License-Identifier: Apache-2.0
"""The nodes in the state database, and everything recorded of each.

The table ``node`` has the nodes that the drivers reported, also those that
departed. All transactions over a whole node are here: its record is shown,
exported, imported and forgotten as a whole.
"""

import dataclasses
import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from .. import errors
from ..ownership import record_rows
from ..tree.node import Node
from ..virt import driver as virt
from .cache import Cache
from .database.database import Database
from .handover.node_record import NodeRecord
from .journal import Journal
from .known_node import KnownNode
from .record.records import Records
from .snapshot import history, lost_roots
from .snapshot.snapshot import Snapshot

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
    driver: str
    known: KnownNode

    @property
    def node(self) -> Node:
        """The node as a value."""
        return self.known.node(self.uuid)


class Nodes:
    """The nodes of every driver, and their records."""

    def __init__(
        self,
        database: Database,
        cache: Cache,
        records: Records,
        journal: Journal,
        snapshot: Snapshot,
    ) -> None:
        self._database = database
        self._cache = cache
        self._records = records
        self._journal = journal
        self._snapshot = snapshot
        self._rows: Sequence[_Row] | None = None

    # --- which nodes there are ------------------------------------------------

    def of_driver(self, driver: str) -> dict[str, KnownNode]:
        """Return the nodes that this driver reported, by uuid."""
        with self._database.reading() as db:
            if self._rows is None:
                self._rows = _read(db)
            return {r.uuid: r.known for r in self._rows if r.driver == driver}

    def all(self) -> list[Node]:
        """Return the nodes that any driver reported."""
        with self._database.reading() as db:
            return [row.node for row in _read(db)]

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
            return {driver for (driver,) in db.execute(_DRIVERS)}

    def keep(self, driver: str, known: Mapping[str, KnownNode]) -> None:
        """Record that the driver has these nodes, and when it was asked."""
        with self._database.writing() as db:
            self._rows = None
            for uuid, node in known.items():
                _keep(db, uuid, driver, node)

    def forget(self, uuids: Iterable[str]) -> None:
        """Drop nodes; the record of their providers stays.

        No driver reports these nodes any more, so the claims that were made
        for them are dropped, too.
        """
        with self._database.writing() as db:
            self._rows = None
            for uuid in uuids:
                self._forget(db, uuid)

    # --- everything recorded of a node ----------------------------------------

    def accounts(self, node: Node | None = None) -> list[record_rows.Account]:
        """Return everything recorded of one node, or of all nodes for None.

        For None, the last account has the providers that belong to no node.
        """
        with self._database.reading() as db:
            nodes = [r.node for r in _read(db)] if node is None else [node]
            found = [
                self._account(db, n.called, self._with_uncreated(db, n), n)
                for n in nodes
            ]
            every = self._records.providers(db) | self._journal.providers(db)
            other = every.difference(*(a.providers for a in found))
            if node is None and other:
                found.append(self._account(db, '', other))
            return found

    def export_record(self, node: Node) -> NodeRecord:
        """Return everything recorded of a node and of its providers.

        :raises errors.UnknownState: a write to it is not confirmed
        :raises errors.ConfigError: nothing is recorded
        """
        with self._database.reading() as db:
            uuids = self._providers(db, node.uuid)
            if self._has_intents(node.uuid, uuids):
                raise errors.UnknownState(
                    f'the outcome of a write to {node} is not known, so its '
                    'record is not certain: run "compute-agent sync", or let '
                    'the daemon do a cycle, and export the record then'
                )
            record = self._records.record(uuids, node.uuid)
            return NodeRecord(
                node=node,
                driver=_driver_of(db, node),
                # Claims for other nodes stay with those nodes.
                record=dataclasses.replace(
                    record, others={}, was={}, taken_over=frozenset()
                ),
            )

    def import_record(self, handed: NodeRecord) -> None:
        """Add another agent's record of a node, in one transaction.

        The next cycle reads the node's providers again, so that names which
        are no longer there do not count as added by this agent. The other
        agent wrote to these providers, so this one may, too.
        """
        node = handed.node
        known = KnownNode(name=node.name, title=node.title)
        with self._database.writing() as db:
            self._clear_cache()
            _keep(db, node.uuid, handed.driver, known)
            record = dataclasses.replace(
                handed.record, taken_over=frozenset(handed.providers)
            )
            self._records.add(db, node.uuid, record)
            for uuid in handed.providers:
                self._snapshot.invalidate(db, uuid)

    def forget_with_record(self, uuid: str) -> None:
        """Drop a node that moved, and everything about its providers."""
        with self._database.writing() as db:
            self._clear_cache()
            for provider_uuid in self._providers(db, uuid):
                self._records.forget(db, provider_uuid)
                self._journal.drop_intents_on(db, provider_uuid)
                self._snapshot.forget_everywhere(db, provider_uuid)
                history.forget(db, provider_uuid)
            self._forget(db, uuid)

    # --- inside ---------------------------------------------------------------

    def _forget(self, db: sqlite3.Connection, uuid: str) -> None:
        db.execute('delete from node where uuid = ?', (uuid,))
        lost_roots.drop_everywhere(db, uuid)
        self._records.drop_claims(db, uuid)

    def _clear_cache(self) -> None:
        self._cache.clear()
        self._rows = None

    def _providers(self, db: sqlite3.Connection, node_uuid: str) -> set[str]:
        """Return a node's root, its tree, and the providers created for it."""
        return {
            node_uuid,
            *self._records.created_in(db, [node_uuid]).get(node_uuid, ()),
            *self._snapshot.members_anywhere(db, node_uuid),
        }

    def _with_uncreated(self, db: sqlite3.Connection, node: Node) -> set[str]:
        """Return a node's providers, and those that may have been created."""
        intents = self._journal.intents([node.uuid]).get(node.uuid, {})
        return self._providers(db, node.uuid) | set(intents)

    def _has_intents(self, node_uuid: str, uuids: Iterable[str]) -> bool:
        """True if a write for this node, or to these providers, is open."""
        return bool(
            self._journal.intents([node_uuid])
            or self._journal.intents_on(uuids)
        )

    def _account(
        self,
        db: sqlite3.Connection,
        called: str,
        uuids: set[str],
        node: Node | None = None,
    ) -> record_rows.Account:
        """Return everything recorded of some providers.

        :param node: the node that they belong to, if they belong to one
        """
        root_uuid = '' if node is None else node.uuid
        names = self._snapshot.last_names(db, uuids)
        return record_rows.Account(
            node=called,
            providers=sorted(
                uuids, key=lambda u: (u != root_uuid, names.get(u, ''), u)
            ),
            names=names,
            record=self._records.record(uuids, root_uuid),
            intents=self._journal.intents_on(uuids),
        )


def _read(db: sqlite3.Connection) -> list[_Row]:
    """Return every driver's nodes, each with its last answer."""
    rows = db.execute(
        'select uuid, name, title, driver, answer, asked_at, left_at, left_of'
        ' from node'
        ' order by name, uuid'
    )
    return [
        _Row(
            uuid,
            driver,
            KnownNode(
                name=name,
                title=title,
                answer=None if answer is None else virt.Existence(answer),
                asked_at=asked_at,
                left_at=left_at,
                left_of=left_of,
            ),
        )
        for uuid, name, title, driver, answer, asked_at, left_at, left_of in rows
    ]


def _keep(
    db: sqlite3.Connection, uuid: str, driver: str, known: KnownNode
) -> None:
    """Record that a driver has this node, and its last answer."""
    answer = None if known.answer is None else known.answer.value
    db.execute(
        'replace into node values (?, ?, ?, ?, ?, ?, ?, ?)',
        (
            uuid,
            known.name,
            known.title,
            driver,
            answer,
            known.asked_at,
            known.left_at,
            known.left_of,
        ),
    )


def _driver_of(db: sqlite3.Connection, node: Node) -> str:
    """Return the class that described a node, as ``module:Class``."""
    query = 'select driver from node where uuid = ?'
    row = db.execute(query, (node.uuid,)).fetchone()
    if row is None:
        raise errors.ConfigError(f'the state database has no node {node}')
    return str(row[0])
