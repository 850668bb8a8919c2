# SPDX-License-Identifier: Apache-2.0
"""Which providers a node has in the state database, and all that is there.

Each function is one part of a look that ``state.py`` begins and ends.
"""

import sqlite3

from . import hand_over, record_rows
from . import state_intents as intended
from . import state_record as recorded
from . import state_snapshot as snapshot


def providers(db: sqlite3.Connection, node_uuid: str) -> set[str]:
    """Return the node's provider, those in its tree, those made for it."""
    return {
        node_uuid,
        *recorded.created_for(db, node_uuid),
        *snapshot.members_anywhere(db, node_uuid),
    }


def accounts(
    db: sqlite3.Connection, node: hand_over.Node | None
) -> list[record_rows.Account]:
    """Return what is recorded of a node; of all, and of none, for None."""
    nodes = [n for n, _ in recorded.nodes(db)] if node is None else [node]
    found = [
        _account(db, n.called, _with_unmade(db, n.uuid), n.uuid) for n in nodes
    ]
    known = {uuid for one in found for uuid in one.providers}
    left = recorded.every_provider(db) - known
    if node is None and left:
        found.append(_account(db, '', left))
    return found


def _with_unmade(db: sqlite3.Connection, node_uuid: str) -> set[str]:
    """Return the node's providers, and those that may have been created."""
    return providers(db, node_uuid) | set(intended.intents(db, node_uuid))


def _account(
    db: sqlite3.Connection, called: str, uuids: set[str], first: str = ''
) -> record_rows.Account:
    """Return all that is recorded of some providers.

    :param first: the node's uuid, if they are a node's
    """
    names = snapshot.last_names(db, uuids)
    return record_rows.Account(
        node=called,
        providers=sorted(
            uuids, key=lambda u: (u != first, names.get(u, ''), u)
        ),
        names=names,
        record=recorded.record(db, uuids, first),
        intents=intended.intents_of(db, uuids),
    )
