# SPDX-License-Identifier: Apache-2.0
"""Children of ours that another moved out of their node's tree.

Pure: no I/O, configuration, logging or clock. The driver still finds such a
one by its name and would go on describing it where it is of no use to the
node. Nothing of it is written, and the node does not count as done. The
planner asks for it when everybody has spoken.
"""

from collections.abc import Collection

from ..tree import assertion, names, provider, provider_tree
from .record import Record


def leave(
    tree: provider_tree.ProviderTree,
    node_uuid: str,
    record: Record,
) -> None:
    """Leave what was moved away as it is, and say so."""
    moved = _moved(tree, node_uuid, record)
    for uuid in moved:
        tree.leave(uuid)
        one = tree.baseline[uuid]
        if one.parent_uuid not in moved:
            tree.fault(_line(one, tree.baseline))


def _moved(
    tree: provider_tree.ProviderTree,
    node_uuid: str,
    record: Record,
) -> list[str]:
    """Return the children we made that are not below the node any more.

    That the agent holds its trait there tells them from the sharing providers
    that a driver makes; one that the driver takes back goes on.
    """
    every = tree.get_provider_uuids()
    below = tree.get_provider_uuids(node_uuid)
    if len(below) == len(every):
        return []
    home = {*below, *provider.descendants(tree.baseline, node_uuid)}
    return [
        uuid
        for uuid in every
        if uuid not in home
        and uuid in record.created
        and uuid in tree.baseline
        and names.OWNER_NOVA in _held_by_agent(record, uuid)
    ]


def _held_by_agent(record: Record, uuid: str) -> Collection[str]:
    claims = record.claims.get((uuid, assertion.Kind.TRAIT), {})
    return claims.get(assertion.AGENT, ())


def _line(one: provider.Provider, known: provider.Snapshot) -> str:
    above = known.get(str(one.parent_uuid), one.parent_uuid)
    where = f'stands below {above} now' if above else 'is a root now'
    return (
        f'{one}, which this agent created below this node, {where}: another '
        'moved it, so the node does not have what it offers, and nothing of '
        'it is written; put it below its parent again (PUT '
        f'/resource_providers/{one.uuid} with "parent_provider_uuid", API '
        '1.37), or delete it ("compute-agent provider delete '
        f'{one.uuid}"), and the driver makes it anew'
    )
