# SPDX-License-Identifier: Apache-2.0
"""Which providers a node has in the state database, and all that is there.

What is shown of a node, handed over with it, and forgotten with it. Each
function is one part of a look or a write that ``state.py`` begins and ends.
"""

import dataclasses
import sqlite3

from .. import errors
from ..ownership import record_rows
from . import handover, snapshot
from . import intents as intended
from . import records as recorded
from .known_node import KnownNode


def providers(db: sqlite3.Connection, node_uuid: str) -> set[str]:
    """Return the node's provider, those in its tree, those made for it."""
    return {
        node_uuid,
        *recorded.created_for(db, [node_uuid]).get(node_uuid, ()),
        *snapshot.members_anywhere(db, node_uuid),
    }


def accounts(
    db: sqlite3.Connection, node: handover.Node | None
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


def exported(
    db: sqlite3.Connection, node: handover.Node
) -> handover.NodeRecord:
    """Return what is recorded of a node and of its providers.

    :raises errors.UnknownState: a write of its was not confirmed
    :raises errors.ConfigError: nothing is recorded
    """
    uuids = providers(db, node.uuid)
    if intended.intends(db, node.uuid, uuids):
        raise errors.UnknownState(
            f'a write to {node} is not confirmed, so what is recorded of it '
            'is not certain: run "compute-agent sync", or let the daemon do '
            'its cycle, and export it then'
        )
    # What is held for other nodes stays with them.
    record = dataclasses.replace(
        recorded.record(db, uuids, node.uuid), others={}
    )
    return handover.NodeRecord(node=node, record=record)


def take_over(db: sqlite3.Connection, handed: handover.NodeRecord) -> None:
    """Add another agent's record of a node."""
    node = handed.node
    known = KnownNode(name=node.name, title=node.title)
    recorded.keep_node(db, node.uuid, node.driver, known)
    recorded.take_over(db, node.uuid, handed.record)
    for uuid in handed.providers:
        snapshot.doubt(db, uuid)


def forget(db: sqlite3.Connection, node_uuid: str) -> None:
    """Drop a node, and all that is known of its providers."""
    for uuid in providers(db, node_uuid):
        recorded.forget(db, uuid)
        snapshot.forget_everywhere(db, uuid)
    recorded.forget_node(db, node_uuid)


def _with_unmade(db: sqlite3.Connection, node_uuid: str) -> set[str]:
    """Return the node's providers, and those that may have been created."""
    unsure = intended.intents(db, [node_uuid]).get(node_uuid, {})
    return providers(db, node_uuid) | set(unsure)


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
