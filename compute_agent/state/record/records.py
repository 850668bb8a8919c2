# SPDX-License-Identifier: Apache-2.0
"""The record in the state database: this agent's additions and the claims.

The tables ``created`` (providers that this agent created), ``ours`` (names
that it added), ``held`` (the claims, ``recorded_claims.py``) and ``taken_over``
(providers of others that a person allowed it to write).
They must be durable before a request is sent. Without these tables the agent
only adds, because it does not know which names it added before. Methods that
take a connection are steps of a transaction of ``journal.py``, ``nodes.py`` or
``handover/handover.py``.
"""

import contextlib
import itertools
import sqlite3
from collections.abc import Iterable, Mapping

from ... import errors
from ...ownership.record import Record
from ...plan import intents
from ...plan.history_entry import Entry, What
from ...tree import assertion, provider
from ..cache import Cache
from ..database.database import Database, packed
from ..history.history import History
from ..snapshot import earlier_contents
from ..snapshot.snapshot import Snapshot
from . import rows
from .recorded_claims import RecordedClaims

_TABLES = ('created', 'ours', 'held', 'taken_over')
# Nodes whose records one query returns: the rows of all nodes take memory.
_NODES_PER_QUERY = 500


class Records:
    """The providers and names that this agent added, and the claims.

    :param snapshot: has the states of providers before others changed them
    :ivar claims: the claims of all sources, for transactions over several tables
    """

    def __init__(
        self,
        database: Database,
        cache: Cache,
        snapshot: Snapshot,
        past: History,
    ) -> None:
        self._database = database
        self._cache = cache
        self._snapshot = snapshot
        self._past = past
        self.claims = RecordedClaims(cache)

    # --- reading --------------------------------------------------------------

    def record(self, uuids: Iterable[str], node_uuid: str) -> Record:
        """Return what earlier cycles recorded of these providers.

        The same object is returned until a write changes one of the records.

        :param node_uuid: the node whose sources' claims are ``claims``; those
            for other nodes are ``others``
        """
        wanted = frozenset(uuids)
        cached = self._cache.record(wanted, node_uuid)
        if cached is not None:
            return cached
        with self._database.reading() as db:
            return self._read(db, {node_uuid: wanted})[node_uuid]

    def preload(self, wanted: Mapping[str, frozenset[str]]) -> None:
        """Read the records of many nodes at once, for ``record`` to return.

        If a record cannot be read, ``record`` raises the error for that node.

        :param wanted: node uuid → the providers that its record is about
        """
        missing = (
            (node_uuid, uuids)
            for node_uuid, uuids in wanted.items()
            if not self._cache.has_record(uuids, node_uuid)
        )
        while batch := dict(itertools.islice(missing, _NODES_PER_QUERY)):
            with (
                contextlib.suppress(errors.ConfigError),
                self._database.reading() as db,
            ):
                self._read(db, batch)

    def created_for(self, node_uuids: Iterable[str]) -> dict[str, list[str]]:
        """Return the providers created for each of these nodes."""
        with self._database.reading() as db:
            return self.created_in(db, node_uuids)

    def created_in(
        self, db: sqlite3.Connection, node_uuids: Iterable[str]
    ) -> dict[str, list[str]]:
        """Return the same, as a step of the caller's transaction."""
        found: dict[str, list[str]] = {}
        for node_uuid, uuid in db.execute(
            'select node_uuid, uuid from created where node_uuid in'
            ' (select value from json_each(?))',
            (packed(node_uuids),),
        ):
            found.setdefault(node_uuid, []).append(uuid)
        return found

    def known_providers(self) -> frozenset[str]:
        """Return the providers that have a record."""
        with self._database.reading() as db:
            return frozenset(self.providers(db))

    # --- writing --------------------------------------------------------------

    def pass_on(self, uuid: str, node_uuid: str, heir_uuid: str) -> None:
        """Pass a provider, and the claims on it, to another node.

        The heir's own claims win over inherited ones. Claims of the agent
        itself are not inherited: the agent makes new ones for the heir.
        """
        with self._database.writing() as db:
            self._cache.drop(uuid)
            db.execute('replace into created values (?, ?)', (uuid, heir_uuid))
            db.execute(
                'update or ignore held set node_uuid = ?'
                ' where uuid = ? and node_uuid = ? and source != ?',
                (heir_uuid, uuid, node_uuid, assertion.AGENT),
            )

    def take_over(self, uuids: Iterable[str]) -> None:
        """Record that a person allowed this agent to write these providers."""
        taken = list(uuids)
        for attempt in self._past.transactions():
            with attempt as db:
                self._take_over(db, taken)
                names = self._snapshot.last_names(db, taken)
                self._past.record(
                    db,
                    [
                        Entry(
                            what=What.FIRST_WRITE,
                            uuid=uuid,
                            provider=names.get(uuid, ''),
                        )
                        for uuid in taken
                    ],
                )

    def give_up(self, node_uuid: str, given: Record) -> None:
        """Drop a part of a node's record; placement keeps all of it.

        :param given: the providers that no longer count as created, the names
            that are no longer ours, and the claims for the node that end
        """
        keys = (*given.ours, *given.claims)
        uuids = given.created | given.taken_over | {uuid for uuid, _ in keys}
        with self._database.writing() as db:
            held = self._read(db, {node_uuid: frozenset(uuids)})[node_uuid]
            for uuid in given.created:
                db.execute('delete from created where uuid = ?', (uuid,))
            for uuid in given.taken_over:
                db.execute('delete from taken_over where uuid = ?', (uuid,))
            for (uuid, kind), names in given.ours.items():
                db.execute(
                    'delete from ours where uuid = ? and kind = ? and name in'
                    ' (select value from json_each(?))',
                    (uuid, kind, packed(names)),
                )
            left = {
                key: {
                    source: names - by_source.get(source, frozenset())
                    for source, names in held.claims.get(key, {}).items()
                }
                for key, by_source in given.claims.items()
            }
            self.claims.set(db, node_uuid, left)
            # A companion makes no assertion about the root of its own.
            db.executemany(
                'delete from held where uuid = ? and kind = ? and source = ?'
                ' and node_uuid = ? and names = ?',
                [
                    (*key, assertion.AGENT, node_uuid, packed(()))
                    for key in left
                ],
            )
            for uuid in uuids:
                self._cache.drop(uuid)

    # --- steps of a transaction -----------------------------------------------

    def confirm(self, db: sqlite3.Connection, intent: intents.Intent) -> None:
        """Record that a write was carried out."""
        self._cache.drop(intent.uuid)
        if intent.kind is None:
            earlier_contents.regain(db, intent)
            db.execute(
                'replace into created values (?, ?)',
                (intent.uuid, intent.node_uuid),
            )
            return
        key = (intent.uuid, intent.kind)
        known = db.execute(
            'select name from ours where uuid = ? and kind = ?', key
        ).fetchall()
        before = {name for (name,) in known}
        ours = (before | intent.added) & intent.names
        earlier_contents.regain(db, intent)
        earlier_contents.lose_names(db, *key, before - ours, intent.generation)
        db.execute('delete from ours where uuid = ? and kind = ?', key)
        db.executemany(
            'insert into ours values (?, ?, ?)',
            [(*key, name) for name in sorted(ours)],
        )

    def drop_absent(
        self, db: sqlite3.Connection, seen: provider.Provider
    ) -> None:
        """Drop names from ``ours`` that the provider does not have.

        If such a name comes back, another writer may have added it.
        """
        self._cache.drop(seen.uuid)
        for kind in assertion.Kind:
            gone = db.execute(
                'delete from ours where uuid = ? and kind = ? and name not in'
                ' (select value from json_each(?)) returning name',
                (seen.uuid, kind, packed(seen.names_of(kind))),
            ).fetchall()
            earlier_contents.lose_names(
                db,
                seen.uuid,
                kind,
                [name for (name,) in gone],
                seen.generation or 0,
            )

    def add(
        self, db: sqlite3.Connection, node_uuid: str, added: Record
    ) -> None:
        """Add a record of a node's providers to the existing record."""
        for uuid in added.created:
            self._cache.drop(uuid)
        db.executemany(
            'replace into created values (?, ?)',
            [(uuid, node_uuid) for uuid in added.created],
        )
        for uuid, _ in added.ours:
            self._cache.drop(uuid)
        db.executemany(
            'insert or ignore into ours values (?, ?, ?)',
            [
                (uuid, kind, name)
                for (uuid, kind), names in added.ours.items()
                for name in names
            ],
        )
        self.claims.set(db, node_uuid, added.claims)
        self._take_over(db, added.taken_over)

    def forget(self, db: sqlite3.Connection, uuid: str) -> None:
        """Drop everything recorded of a provider."""
        self._cache.drop(uuid)
        for table in _TABLES:
            query = f'delete from {table} where uuid = ?'  # noqa: S608 (constants)
            db.execute(query, (uuid,))

    def is_created(self, db: sqlite3.Connection, uuid: str) -> bool:
        """Return True if this agent created or adopted a provider."""
        query = 'select 1 from created where uuid = ?'
        return db.execute(query, (uuid,)).fetchone() is not None

    def providers(self, db: sqlite3.Connection) -> set[str]:
        """Return the providers that have a record."""
        return {
            uuid
            for table in _TABLES
            for (uuid,) in db.execute(f'select uuid from {table}')  # noqa: S608 (constants)
        }

    # --- inside ---------------------------------------------------------------

    def _take_over(self, db: sqlite3.Connection, uuids: Iterable[str]) -> None:
        for uuid in uuids:
            self._cache.drop(uuid)
            db.execute('replace into taken_over values (?)', (uuid,))

    def _read(
        self, db: sqlite3.Connection, wanted: Mapping[str, frozenset[str]]
    ) -> dict[str, Record]:
        """Read the records of several nodes at once, and cache them."""
        uuids = frozenset[str]().union(*wanted.values())
        prior = self._snapshot.prior_states(db, uuids)
        found = rows.read(db, wanted, prior)
        for node_uuid, record in found.items():
            self._cache.keep_record(wanted[node_uuid], node_uuid, record)
        return found
