# SPDX-License-Identifier: Apache-2.0
"""The table ``intent``: the writes whose outcome is unknown.

Each function is a step of a transaction of ``journal.py`` or
``handover.py``. A plus before a column makes SQLite use the index of the
provider: a node may have thousands of intents.
"""

import sqlite3
from collections.abc import Iterable, Sequence

from ..plan.intents import Intent
from ..tree import assertion
from .database.database import packed, unpacked

_COLUMNS = 'node_uuid, uuid, kind, generation, names, added'


def of_nodes(
    db: sqlite3.Connection, node_uuids: Iterable[str]
) -> dict[str, dict[str, Sequence[Intent]]]:
    """Return these nodes' open intents by provider, oldest first."""
    found: dict[str, dict[str, Sequence[Intent]]] = {}
    for row in db.execute(
        f'select {_COLUMNS} from intent where node_uuid in'  # noqa: S608 (constants)
        ' (select value from json_each(?))'
        ' order by node_uuid, position',
        (packed(node_uuids),),
    ):
        intent = _intent(*row)
        of_node = found.setdefault(intent.node_uuid, {})
        of_node[intent.uuid] = [*of_node.get(intent.uuid, []), intent]
    return found


def on_providers(
    db: sqlite3.Connection, uuids: Iterable[str]
) -> dict[str, list[Intent]]:
    """Return the open intents on these providers, of any node."""
    query = f'select {_COLUMNS} from intent where uuid = ?'  # noqa: S608 (constants)
    found = {
        uuid: [_intent(*row) for row in db.execute(query, (uuid,))]
        for uuid in uuids
    }
    return {uuid: intents for uuid, intents in found.items() if intents}


def providers(db: sqlite3.Connection) -> set[str]:
    """Return the providers that have open intents."""
    return {uuid for (uuid,) in db.execute('select uuid from intent')}


def replace(
    db: sqlite3.Connection, node_uuid: str, intents: Sequence[Intent]
) -> None:
    """Make these the only open intents of a node."""
    db.execute('delete from intent where node_uuid = ?', (node_uuid,))
    _insert(db, node_uuid, 0, intents)


def replace_on(
    db: sqlite3.Connection,
    node_uuid: str,
    uuids: Iterable[str],
    intents: Sequence[Intent],
) -> None:
    """Make these the only open intents of a node on these providers."""
    db.executemany(
        'delete from intent where +node_uuid = ? and uuid = ?',
        [(node_uuid, uuid) for uuid in uuids],
    )
    ((begin,),) = db.execute(
        'select coalesce(max(position) + 1, 0) from intent where node_uuid = ?',
        (node_uuid,),
    )
    _insert(db, node_uuid, begin, intents)


def _insert(
    db: sqlite3.Connection,
    node_uuid: str,
    begin: int,
    intents: Sequence[Intent],
) -> None:
    """Add intents of a node, from this position on."""
    db.executemany(
        'insert into intent values (?, ?, ?, ?, ?, ?, ?)',
        [
            (
                node_uuid,
                position,
                intent.uuid,
                intent.kind,
                intent.generation,
                packed(intent.names),
                packed(intent.added),
            )
            for position, intent in enumerate(intents, begin)
        ],
    )


def drop(db: sqlite3.Connection, intent: Intent) -> None:
    """Drop one intent of its node."""
    db.execute(
        'delete from intent where +node_uuid = ? and uuid = ? and kind is ?'
        ' and generation = ?',
        (intent.node_uuid, intent.uuid, intent.kind, intent.generation),
    )


def drop_on(db: sqlite3.Connection, uuid: str) -> None:
    """Drop the open intents on a provider, of any node."""
    db.execute('delete from intent where uuid = ?', (uuid,))


def _intent(
    node_uuid: str,
    uuid: str,
    kind: str | None,
    generation: str,
    names: str,
    added: str,
) -> Intent:
    return Intent(
        node_uuid=node_uuid,
        uuid=uuid,
        kind=None if kind is None else assertion.Kind(kind),
        generation=int(generation),
        names=unpacked(names),
        added=unpacked(added),
    )
