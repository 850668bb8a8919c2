# SPDX-License-Identifier: Apache-2.0
"""The record in the state database: this agent's additions and the claims.

The tables ``created`` (providers that this agent created), ``ours`` (names
that it added), ``held`` (the claims) and ``taken_over`` (providers of others
that a person allowed it to write). They must be durable before a request is
sent. Without these tables the agent only adds, because it does not know which
names it added before. Methods that take a connection are steps of a
transaction of ``journal.py``, ``nodes.py`` or ``handover.py``.
"""

import contextlib
import functools
import itertools
import sqlite3
import sys
from collections.abc import Iterable, Mapping

from .. import errors
from ..ownership.record import NOTHING, Claimant, Record
from ..plan import intents
from ..plan.history_entry import Entry, What
from ..tree import assertion, provider
from ..tree.assertion import Claims, Key
from . import earlier_contents
from .database.database import Database, packed, unpacked
from .history.history import History
from .snapshot import Snapshot
from .values.cache import Cache

_TABLES = ('created', 'ours', 'held', 'taken_over', 'doubted')
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
        history: History,
    ) -> None:
        self._database = database
        self._cache = cache
        self._snapshot = snapshot
        self._history = history
        self.claims = RecordedClaims(cache)

    # --- reading --------------------------------------------------------------

    def check_files(self) -> None:
        """Check that the files of the database are where they were opened.

        :raises errors.Unavailable: a file was removed or replaced
        """
        self._database.check_files()

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

        :param wanted: node uuid → the providers in its record
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

    def without_rights(self, uuids: Iterable[str]) -> set[str]:
        """Return the roots among these that this agent may not write to yet.

        Nothing is recorded of them but, maybe, claims.
        """
        with self._database.reading() as db:
            return {
                uuid
                for (uuid,) in db.execute(
                    'select value from json_each(?)'
                    ' where value not in (select uuid from created)'
                    ' and value not in (select uuid from taken_over)'
                    ' and value not in (select uuid from ours)',
                    (packed(uuids),),
                )
            }

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
        for attempt in self._history.transactions():
            with attempt as db:
                self._take_over(db, taken)
                names = self._snapshot.last_names(db, taken)
                self._history.record(
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

    def count_as_ours(
        self,
        node_uuid: str,
        names: Mapping[Key, frozenset[str]],
        created: frozenset[str] = frozenset(),
    ) -> None:
        """Count names of providers, and providers, as added by this agent."""
        with self._database.writing() as db:
            self.add(db, node_uuid, Record(ours=names, created=created))

    def give_up(self, node_uuid: str, given: Record) -> None:
        """Drop a part of a node's record; placement stays as it is.

        :param given: the providers that no longer count as created, the names
            that no longer count as added, and the node's claims that end
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

    def has_absent(
        self, db: sqlite3.Connection, seen: provider.Provider
    ) -> bool:
        """Return True if ``drop_absent`` would drop a name."""
        return any(
            name not in seen.names_of(assertion.Kind(kind))
            for kind, name in db.execute(
                'select kind, name from ours where uuid = ?', (seen.uuid,)
            )
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

    def lose_names(self, db: sqlite3.Connection, uuid: str) -> None:
        """Count no name of a provider as added by this agent."""
        self._cache.drop(uuid)
        db.execute('delete from ours where uuid = ?', (uuid,))

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
        found = _read_rows(db, wanted, prior)
        for node_uuid, record in found.items():
            self._cache.keep_record(wanted[node_uuid], node_uuid, record)
        return found


class RecordedClaims:
    """The table ``held``: which source claims which names for which node.

    Each method is a step of a transaction.

    :param cache: drops the records of the providers whose claims change
    """

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def set(
        self,
        db: sqlite3.Connection,
        node_uuid: str,
        claims: Mapping[Key, Claims],
    ) -> None:
        """Record which source claims which names for a node from now on."""
        for uuid, _ in claims:
            self._cache.drop(uuid)
        db.executemany(
            'replace into held values (?, ?, ?, ?, ?)',
            [
                (uuid, kind, source, node_uuid, packed(names))
                for (uuid, kind), by_source in claims.items()
                for source, names in by_source.items()
            ],
        )

    def has_any_of(self, db: sqlite3.Connection, source: str) -> bool:
        """Return True if the source claims names, for any node."""
        query = 'select 1 from held where source = ? limit 1'
        return db.execute(query, (source,)).fetchone() is not None

    def rename_source(
        self,
        db: sqlite3.Connection,
        old: str,
        new: str,
        node_uuids: Iterable[str] | None = None,
    ) -> None:
        """Move the claims of a renamed source to its new name.

        :param node_uuids: only the claims for these nodes; None for all nodes
        """
        query = 'select uuid, node_uuid from held where source = ?'
        found = db.execute(query, (old,)).fetchall()
        wanted = None if node_uuids is None else set(node_uuids)
        for uuid, node_uuid in found:
            if wanted is None or node_uuid in wanted:
                self._cache.drop(uuid)
                db.execute(
                    'update or replace held set source = ?'
                    ' where uuid = ? and source = ? and node_uuid = ?',
                    (new, uuid, old, node_uuid),
                )

    def drop(self, db: sqlite3.Connection, node_uuid: str) -> None:
        """Drop all claims that were made for a node."""
        for (uuid,) in db.execute(
            'select distinct uuid from held where node_uuid = ?', (node_uuid,)
        ).fetchall():
            self._cache.drop(uuid)
        db.execute('delete from held where node_uuid = ?', (node_uuid,))


_ByClaimant = dict[Claimant, frozenset[str]]

_NONE = frozenset[str]()
# Quicker than the class itself, for the rows of thousands of nodes.
_kind = functools.lru_cache(maxsize=8)(assertion.Kind)


def _read_rows(
    db: sqlite3.Connection,
    wanted: Mapping[str, frozenset[str]],
    prior: Mapping[str, provider.Provider],
) -> dict[str, Record]:
    """Return each node's record.

    :param wanted: node uuid → the providers in its record
    :param prior: the providers as they were before others changed them
    """
    uuids = frozenset[str]().union(*wanted.values())
    ours, claims, created, taken_over = _rows_of(db, uuids)
    found = {}
    for node_uuid, of_node in wanted.items():
        keys = [(u, kind) for u in of_node for kind in assertion.Kind]
        own, others = _by_node(claims, keys, node_uuid)
        found[node_uuid] = Record(
            created=of_node if of_node <= created else of_node & created,
            ours={key: ours[key] for key in keys if key in ours},
            claims=own,
            others=others or NOTHING.others,
            taken_over=of_node & taken_over or _NONE,
            was={uuid: prior[uuid] for uuid in of_node & prior.keys()}
            or NOTHING.was,
        )
    return found


def _rows_of(
    db: sqlite3.Connection, uuids: Iterable[str]
) -> tuple[
    dict[Key, frozenset[str]],
    dict[Key, _ByClaimant],
    set[str],
    set[str],
]:
    """Return the names, claims, creations and takeovers of these providers."""
    wanted = packed(uuids)
    # SQLite returns a text for each provider and kind, and "unpacked" decodes
    # equal texts once.
    ours = {
        (sys.intern(uuid), _kind(kind)): unpacked(names)
        for uuid, kind, names in _rows(
            db,
            'ours',
            'uuid, kind, json_group_array(name)',
            wanted,
            'group by uuid, kind',
        )
    }
    claims: dict[Key, _ByClaimant] = {}
    for uuid, kind, source, node_uuid, names in _rows(
        db, 'held', 'uuid, kind, source, node_uuid, names', wanted
    ):
        key = sys.intern(uuid), _kind(kind)
        claimant = sys.intern(source), sys.intern(node_uuid)
        claims.setdefault(key, {})[claimant] = unpacked(names)
    created = {uuid for (uuid,) in _rows(db, 'created', 'uuid', wanted)}
    taken_over = {uuid for (uuid,) in _rows(db, 'taken_over', 'uuid', wanted)}
    return ours, claims, created, taken_over


def _rows(
    db: sqlite3.Connection,
    table: str,
    columns: str,
    uuids: str,
    grouped: str = '',
) -> sqlite3.Cursor:
    """Return a table's rows of these providers."""
    return db.execute(
        f'select {columns} from {table} where uuid in'  # noqa: S608 (constants)
        f' (select value from json_each(?)) {grouped}',
        (uuids,),
    )


def _by_node(
    claims: Mapping[Key, _ByClaimant],
    keys: Iterable[Key],
    node_uuid: str,
) -> tuple[dict[Key, dict[str, frozenset[str]]], dict[Key, _ByClaimant]]:
    """Return the claims made for a node, and those made for others."""
    own: dict[Key, dict[str, frozenset[str]]] = {}
    others: dict[Key, _ByClaimant] = {}
    for key in keys:
        mine = []
        for claimant, names in claims.get(key, {}).items():
            source, claimed_for = claimant
            if claimed_for == node_uuid:
                mine.append((source, names))
            else:
                others.setdefault(key, {})[claimant] = names
        if mine:
            own[key] = _same_claims(tuple(mine))
    return own, others


@functools.lru_cache(maxsize=4096)
def _same_claims(
    claims: tuple[tuple[str, frozenset[str]], ...],
) -> dict[str, frozenset[str]]:
    """Return these claims by source, the same object for many nodes."""
    return dict(claims)
