# SPDX-License-Identifier: Apache-2.0
"""The record in the state database: what this agent added, and to what.

Created, ours and held, which must be durable before a request is sent, and the
nodes they belong to; intents are ``intents.py``'s. Losing it means to
add only, until it is known again what was added. Each function is one part of
a look or a write that ``state.py`` begins and ends.
"""

import sqlite3
from collections.abc import Iterable, Mapping

from ..ownership.record import Claimant, Record
from ..tree import assertion, intents, provider
from ..tree.assertion import Claims, Key
from ..virt import driver as virt
from . import database, handover
from .known_node import KnownNode

_TABLES = ('created', 'ours', 'held', 'intent')

# --- providers ----------------------------------------------------------------


def record(
    db: sqlite3.Connection, uuids: Iterable[str], node_uuid: str
) -> Record:
    """Return what earlier cycles left of these providers, as a node has it."""
    return records(db, {node_uuid: frozenset(uuids)}, {})[node_uuid]


def records(
    db: sqlite3.Connection,
    wanted: Mapping[str, frozenset[str]],
    was: Mapping[str, provider.Provider],
) -> dict[str, Record]:
    """Return the records of several nodes at once.

    :param wanted: node uuid → the providers it is about
    :param was: providers as they stood before others changed them
    """
    some = database.packed({u for uuids in wanted.values() for u in uuids})
    ours: dict[Key, set[str]] = {}
    for uuid, kind, name in _rows(db, 'ours', some, 'uuid, kind, name'):
        ours.setdefault((uuid, assertion.Kind(kind)), set()).add(name)
    claims: dict[Key, dict[Claimant, frozenset[str]]] = {}
    for uuid, kind, source, node, packed in _rows(
        db, 'held', some, 'uuid, kind, source, node_uuid, names'
    ):
        by_holder = claims.setdefault((uuid, assertion.Kind(kind)), {})
        by_holder[source, node] = database.unpacked(packed)
    created = {uuid for (uuid,) in _rows(db, 'created', some, 'uuid')}
    found = {}
    for node_uuid, uuids in wanted.items():
        keys = [(uuid, kind) for uuid in uuids for kind in assertion.Kind]
        mine, others = _by_node(claims, keys, node_uuid)
        found[node_uuid] = Record(
            created=uuids & created,
            ours={key: frozenset(ours[key]) for key in keys if key in ours},
            claims=mine,
            others=others,
            was={uuid: was[uuid] for uuid in uuids & was.keys()},
        )
    return found


def created_for(
    db: sqlite3.Connection, node_uuids: Iterable[str]
) -> dict[str, list[str]]:
    """Return the providers created while each of these was described."""
    found: dict[str, list[str]] = {}
    for node_uuid, uuid in db.execute(
        'select node_uuid, uuid from created where node_uuid in'
        ' (select value from json_each(?))',
        (database.packed(node_uuids),),
    ):
        found.setdefault(node_uuid, []).append(uuid)
    return found


def hold(
    db: sqlite3.Connection,
    node_uuid: str,
    claims: Mapping[Key, Claims],
) -> None:
    """Record which source holds which names for a node from now on."""
    db.executemany(
        'replace into held values (?, ?, ?, ?, ?)',
        [
            (uuid, kind, source, node_uuid, database.packed(some))
            for (uuid, kind), by_source in claims.items()
            for source, some in by_source.items()
        ],
    )


def keep_to(db: sqlite3.Connection, one: provider.Provider) -> None:
    """Drop of ours what a provider does not have.

    What is not there is nobody's: it may come back as another's.
    """
    for kind in assertion.Kind:
        there = database.packed(intents.carried(one, kind))
        db.execute(
            'delete from ours where uuid = ? and kind = ? and name not in'
            ' (select value from json_each(?))',
            (one.uuid, kind, there),
        )


def every_provider(db: sqlite3.Connection) -> set[str]:
    """Return the providers of which anything is recorded."""
    return {
        uuid
        for table in _TABLES
        for (uuid,) in db.execute(f'select uuid from {table}')  # noqa: S608 (constants)
    }


def forget(db: sqlite3.Connection, uuid: str) -> None:
    """Drop all that is recorded of a provider."""
    for table in _TABLES:
        query = f'delete from {table} where uuid = ?'  # noqa: S608 (constants)
        db.execute(query, (uuid,))


def take_over(db: sqlite3.Connection, node_uuid: str, taken: Record) -> None:
    """Add what another agent recorded of a node's providers."""
    db.executemany(
        'replace into created values (?, ?)',
        [(uuid, node_uuid) for uuid in taken.created],
    )
    db.executemany(
        'insert or ignore into ours values (?, ?, ?)',
        [
            (uuid, kind, name)
            for (uuid, kind), some in taken.ours.items()
            for name in some
        ],
    )
    hold(db, node_uuid, taken.claims)


def pass_on(
    db: sqlite3.Connection, uuid: str, node_uuid: str, heir_uuid: str
) -> None:
    """Let a provider, and what is held of it for a node, be another's.

    What the other's sources said themselves counts, not what they inherit;
    and the agent says itself what belongs to the other.
    """
    db.execute('replace into created values (?, ?)', (uuid, heir_uuid))
    db.execute(
        'update or ignore held set node_uuid = ?'
        ' where uuid = ? and node_uuid = ? and source != ?',
        (heir_uuid, uuid, node_uuid, assertion.AGENT),
    )


# --- nodes --------------------------------------------------------------------


def nodes(
    db: sqlite3.Connection,
) -> list[tuple[handover.Node, KnownNode]]:
    """Return every driver's nodes, and what it last said of each."""
    rows = db.execute(
        'select uuid, name, title, driver, answer, asked_at from node'
        ' order by name, uuid'
    )
    return [
        (
            handover.Node(uuid=uuid, name=name, title=title, driver=driver),
            KnownNode(
                name=name,
                title=title,
                answer=None if answer is None else virt.Existence(answer),
                asked_at=asked_at,
            ),
        )
        for uuid, name, title, driver, answer, asked_at in rows
    ]


def keep_node(
    db: sqlite3.Connection, uuid: str, driver: str, known: KnownNode
) -> None:
    """Record that a driver has this node, and what it said of it."""
    answer = None if known.answer is None else known.answer.value
    db.execute(
        'replace into node values (?, ?, ?, ?, ?, ?)',
        (uuid, known.name, known.title, driver, answer, known.asked_at),
    )


def held_for(db: sqlite3.Connection, node_uuid: str) -> list[str]:
    """Return the providers of which a source holds anything for a node."""
    query = 'select distinct uuid from held where node_uuid = ?'
    return [uuid for (uuid,) in db.execute(query, (node_uuid,))]


def forget_node(db: sqlite3.Connection, uuid: str) -> None:
    """Drop a node; what is recorded of its providers stays.

    Nobody speaks for it any more, so no source holds anything for it.
    """
    db.execute('delete from node where uuid = ?', (uuid,))
    db.execute('delete from held where node_uuid = ?', (uuid,))


# --- inside -------------------------------------------------------------------


def _by_node(
    claims: Mapping[Key, Mapping[Claimant, frozenset[str]]],
    keys: Iterable[Key],
    node_uuid: str,
) -> tuple[
    dict[Key, dict[str, frozenset[str]]],
    dict[Key, dict[Claimant, frozenset[str]]],
]:
    """Return what is held for a node, and what for others."""
    mine: dict[Key, dict[str, frozenset[str]]] = {}
    others: dict[Key, dict[Claimant, frozenset[str]]] = {}
    for key in keys:
        for holder, names in claims.get(key, {}).items():
            source, node = holder
            if node == node_uuid:
                mine.setdefault(key, {})[source] = names
            else:
                others.setdefault(key, {})[holder] = names
    return mine, others


def _rows(
    db: sqlite3.Connection, table: str, packed: str, columns: str
) -> sqlite3.Cursor:
    """Return a table's rows of these providers."""
    return db.execute(
        f'select {columns} from {table} where uuid in'  # noqa: S608 (constants)
        ' (select value from json_each(?))',
        (packed,),
    )
