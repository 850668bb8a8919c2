# SPDX-License-Identifier: Apache-2.0
"""The rows of the record as values: the records of several nodes at once.

``records.py`` calls it within a read of the database.
"""

import sqlite3
from collections.abc import Iterable, Mapping

from ...ownership.record import Claimant, Record
from ...tree import assertion, provider
from ...tree.assertion import Key
from ..database.database import packed, unpacked

_ByClaimant = dict[Claimant, frozenset[str]]


def read(
    db: sqlite3.Connection,
    wanted: Mapping[str, frozenset[str]],
    prior: Mapping[str, provider.Provider],
) -> dict[str, Record]:
    """Return each node's record.

    :param wanted: node uuid → the providers that its record is about
    :param prior: the providers as they were before others changed them
    """
    uuids = frozenset[str]().union(*wanted.values())
    ours, claims, created, taken_over = _rows_of(db, uuids)
    found = {}
    for node_uuid, of_node in wanted.items():
        keys = [(u, kind) for u in of_node for kind in assertion.Kind]
        own, others = _by_node(claims, keys, node_uuid)
        found[node_uuid] = Record(
            created=of_node & created,
            ours={key: frozenset(ours[key]) for key in keys if key in ours},
            claims=own,
            others=others,
            taken_over=of_node & taken_over,
            was={uuid: prior[uuid] for uuid in of_node & prior.keys()},
        )
    return found


def _rows_of(
    db: sqlite3.Connection, uuids: Iterable[str]
) -> tuple[
    dict[Key, set[str]],
    dict[Key, _ByClaimant],
    set[str],
    set[str],
]:
    """Return the names, claims, creations and takeovers of these providers."""
    wanted = packed(uuids)
    ours: dict[Key, set[str]] = {}
    for uuid, kind, name in _rows(db, 'ours', 'uuid, kind, name', wanted):
        ours.setdefault((uuid, assertion.Kind(kind)), set()).add(name)
    claims: dict[Key, _ByClaimant] = {}
    for uuid, kind, source, node_uuid, names in _rows(
        db, 'held', 'uuid, kind, source, node_uuid, names', wanted
    ):
        by_claimant = claims.setdefault((uuid, assertion.Kind(kind)), {})
        by_claimant[source, node_uuid] = unpacked(names)
    created = {uuid for (uuid,) in _rows(db, 'created', 'uuid', wanted)}
    taken_over = {uuid for (uuid,) in _rows(db, 'taken_over', 'uuid', wanted)}
    return ours, claims, created, taken_over


def _rows(
    db: sqlite3.Connection, table: str, columns: str, uuids: str
) -> sqlite3.Cursor:
    """Return a table's rows of these providers."""
    return db.execute(
        f'select {columns} from {table} where uuid in'  # noqa: S608 (constants)
        ' (select value from json_each(?))',
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
        for claimant, names in claims.get(key, {}).items():
            source, claimed_for = claimant
            if claimed_for == node_uuid:
                own.setdefault(key, {})[source] = names
            else:
                others.setdefault(key, {})[claimant] = names
    return own, others
