# SPDX-License-Identifier: Apache-2.0
"""The record in the state database: what this agent added, and to what.

Created, ours, held and intents, which must be durable before a request is
sent, and the nodes they belong to. Losing it means to add only, until it is
known again what was added. Each function is one part of a look or a write that
``state.py`` begins and ends.
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from . import (
    assertion,
    departures,
    hand_over,
    intentions,
    ownership,
    provider,
    state_database,
)
from .virt import driver as virt

_TABLES = ('created', 'ours', 'held', 'intent')

# --- providers ----------------------------------------------------------------


def record(db: sqlite3.Connection, uuids: Iterable[str]) -> ownership.Record:
    """Return what earlier cycles left of these providers."""
    ours: dict[ownership.Key, frozenset[str]] = {}
    held: dict[ownership.Key, dict[str, frozenset[str]]] = {}
    created = set()
    for uuid in uuids:
        for kind, name in _rows(db, 'ours', uuid, 'kind, name'):
            key = (uuid, assertion.Kind(kind))
            ours[key] = ours.get(key, frozenset()) | {name}
        for kind, source, some in _rows(
            db, 'held', uuid, 'kind, source, names'
        ):
            key = (uuid, assertion.Kind(kind))
            held.setdefault(key, {})[source] = state_database.unpacked(some)
        if _rows(db, 'created', uuid, 'uuid'):
            created.add(uuid)
    return ownership.Record(created=frozenset(created), ours=ours, held=held)


def created_for(db: sqlite3.Connection, node_uuid: str) -> list[str]:
    """Return the providers created while this node was described."""
    rows = db.execute(
        'select uuid from created where node_uuid = ?', (node_uuid,)
    ).fetchall()
    return [uuid for (uuid,) in rows]


def hold(
    db: sqlite3.Connection, held: Mapping[ownership.Key, ownership.Held]
) -> None:
    """Record who holds which names from now on."""
    db.executemany(
        'replace into held values (?, ?, ?, ?)',
        [
            (uuid, kind, source, state_database.packed(some))
            for (uuid, kind), by_source in held.items()
            for source, some in by_source.items()
        ],
    )


def keep_to(db: sqlite3.Connection, one: provider.Provider) -> None:
    """Drop of ours what a provider does not have.

    What is not there is nobody's: it may come back as another's.
    """
    for kind in assertion.Kind:
        there = state_database.packed(intentions.carried(one, kind))
        db.execute(
            'delete from ours where uuid = ? and kind = ? and name not in'
            ' (select value from json_each(?))',
            (one.uuid, kind, there),
        )


def forget(db: sqlite3.Connection, uuid: str) -> None:
    """Drop all that is recorded of a provider."""
    for table in _TABLES:
        query = f'delete from {table} where uuid = ?'  # noqa: S608 (constants)
        db.execute(query, (uuid,))


def take_over(
    db: sqlite3.Connection, node_uuid: str, taken: ownership.Record
) -> None:
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
    hold(db, taken.held)


# --- intents ------------------------------------------------------------------


def intents(
    db: sqlite3.Connection, node_uuid: str
) -> dict[str, list[intentions.Intent]]:
    """Return this node's unconfirmed intents by provider, oldest first."""
    found: dict[str, list[intentions.Intent]] = {}
    for row in db.execute(
        'select uuid, kind, generation, names, added from intent'
        ' where node_uuid = ? order by position',
        (node_uuid,),
    ):
        found.setdefault(row[0], []).append(_intent(*row))
    return found


def intend(
    db: sqlite3.Connection,
    node_uuid: str,
    sent: Sequence[intentions.Intent],
) -> None:
    """Record what is about to be sent."""
    db.executemany(
        'replace into intent values (?, ?, ?, ?, ?, ?, ?)',
        [
            (
                node_uuid,
                position,
                i.uuid,
                i.kind,
                i.generation,
                state_database.packed(i.names),
                state_database.packed(i.added),
            )
            for position, i in enumerate(sent)
        ],
    )


def intends(
    db: sqlite3.Connection, node_uuid: str, uuids: Iterable[str]
) -> bool:
    """Whether a write to this node, or to these providers, is unconfirmed."""
    return bool(intents(db, node_uuid)) or any(
        _rows(db, 'intent', uuid, 'uuid') for uuid in uuids
    )


def confirm(db: sqlite3.Connection, intent: intentions.Intent) -> None:
    """Record that an intent was done, before it is dropped."""
    if intent.kind is None:
        db.execute(
            'replace into created select uuid, node_uuid from intent'
            ' where uuid = ? and kind is null',
            (intent.uuid,),
        )
        return
    key = (intent.uuid, intent.kind)
    had = db.execute(
        'select name from ours where uuid = ? and kind = ?', key
    ).fetchall()
    stay = ({n for (n,) in had} | intent.added) & intent.names
    db.execute('delete from ours where uuid = ? and kind = ?', key)
    db.executemany(
        'insert into ours values (?, ?, ?)',
        [(*key, name) for name in sorted(stay)],
    )


def drop_intent(db: sqlite3.Connection, intent: intentions.Intent) -> None:
    """Drop an intent that is settled."""
    db.execute(
        'delete from intent where uuid = ? and kind is ? and generation = ?',
        (intent.uuid, intent.kind, intent.generation),
    )


# --- nodes --------------------------------------------------------------------


def nodes(
    db: sqlite3.Connection,
) -> list[tuple[hand_over.Node, departures.Known]]:
    """Return every driver's nodes, and what it last said of each."""
    rows = db.execute(
        'select uuid, name, title, driver, answer, asked_at from node'
        ' order by name, uuid'
    )
    return [
        (
            hand_over.Node(uuid=uuid, name=name, title=title, driver=driver),
            departures.Known(
                name=name,
                title=title,
                answer=None if answer is None else virt.Existence(answer),
                asked_at=asked_at,
            ),
        )
        for uuid, name, title, driver, answer, asked_at in rows
    ]


def keep_node(
    db: sqlite3.Connection, uuid: str, driver: str, known: departures.Known
) -> None:
    """Record that a driver has this node, and what it said of it."""
    answer = None if known.answer is None else known.answer.value
    db.execute(
        'replace into node values (?, ?, ?, ?, ?, ?)',
        (uuid, known.name, known.title, driver, answer, known.asked_at),
    )


def forget_node(db: sqlite3.Connection, uuid: str) -> None:
    """Drop a node; what is recorded of its providers stays."""
    db.execute('delete from node where uuid = ?', (uuid,))


# --- inside -------------------------------------------------------------------


def _rows(
    db: sqlite3.Connection, table: str, uuid: str, columns: str
) -> list[tuple[str, ...]]:
    query = f'select {columns} from {table} where uuid = ?'  # noqa: S608 (constants)
    return db.execute(query, (uuid,)).fetchall()


def _intent(
    uuid: str, kind: str | None, generation: str, sent: str, added: str
) -> intentions.Intent:
    return intentions.Intent(
        uuid=uuid,
        kind=None if kind is None else assertion.Kind(kind),
        generation=int(generation),
        names=state_database.unpacked(sent),
        added=state_database.unpacked(added),
    )
