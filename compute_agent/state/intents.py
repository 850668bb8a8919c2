# SPDX-License-Identifier: Apache-2.0
"""The unconfirmed writes in the state database, and what becomes of them.

Written down before a request is sent, dropped when it is known what became of
it; what was done is then created, or ours (``records.py``). Each function
is one part of a look or a write that ``state.py`` begins and ends.
"""

import sqlite3
from collections.abc import Iterable, Sequence

from ..tree import assertion
from ..tree.intents import Intent
from . import database

_COLUMNS = 'node_uuid, uuid, kind, generation, names, added'


def intents(
    db: sqlite3.Connection, node_uuids: Iterable[str]
) -> dict[str, dict[str, Sequence[Intent]]]:
    """Return these nodes' unconfirmed intents by provider, oldest first."""
    found: dict[str, dict[str, Sequence[Intent]]] = {}
    for row in db.execute(
        f'select {_COLUMNS} from intent where node_uuid in'  # noqa: S608 (constants)
        ' (select value from json_each(?)) order by node_uuid, position',
        (database.packed(node_uuids),),
    ):
        intent = _intent(*row)
        of_node = found.setdefault(intent.node_uuid, {})
        of_node[intent.uuid] = [*of_node.get(intent.uuid, []), intent]
    return found


def intents_of(
    db: sqlite3.Connection, uuids: Iterable[str]
) -> dict[str, list[Intent]]:
    """Return the unconfirmed intents of these providers, whoever's node."""
    found = {uuid: _of(db, uuid) for uuid in uuids}
    return {uuid: some for uuid, some in found.items() if some}


def intend(
    db: sqlite3.Connection,
    node_uuid: str,
    sent: Sequence[Intent],
) -> None:
    """Record what is about to be sent; that is all that is open then."""
    db.execute('delete from intent where node_uuid = ?', (node_uuid,))
    db.executemany(
        'insert into intent values (?, ?, ?, ?, ?, ?, ?)',
        [
            (
                node_uuid,
                position,
                i.uuid,
                i.kind,
                i.generation,
                database.packed(i.names),
                database.packed(i.added),
            )
            for position, i in enumerate(sent)
        ],
    )


def intends(
    db: sqlite3.Connection, node_uuid: str, uuids: Iterable[str]
) -> bool:
    """Whether a write to this node, or to these providers, is unconfirmed."""
    return bool(intents(db, [node_uuid]) or intents_of(db, uuids))


def confirm(db: sqlite3.Connection, intent: Intent) -> None:
    """Record that an intent was done, before it is dropped."""
    if intent.kind is None:
        db.execute(
            'replace into created values (?, ?)',
            (intent.uuid, intent.node_uuid),
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


def drop_intent(db: sqlite3.Connection, intent: Intent) -> None:
    """Drop a node's intent that is settled."""
    db.execute(
        'delete from intent where node_uuid = ? and uuid = ? and kind is ?'
        ' and generation = ?',
        (intent.node_uuid, intent.uuid, intent.kind, intent.generation),
    )


def _of(db: sqlite3.Connection, uuid: str) -> list[Intent]:
    query = f'select {_COLUMNS} from intent where uuid = ?'  # noqa: S608 (constants)
    return [_intent(*row) for row in db.execute(query, (uuid,))]


def _intent(
    node_uuid: str,
    uuid: str,
    kind: str | None,
    generation: str,
    sent: str,
    added: str,
) -> Intent:
    return Intent(
        node_uuid=node_uuid,
        uuid=uuid,
        kind=None if kind is None else assertion.Kind(kind),
        generation=int(generation),
        names=database.unpacked(sent),
        added=database.unpacked(added),
    )
