# SPDX-License-Identifier: Apache-2.0
"""Children of ours that another writer moved out of their node's tree.

Pure: no I/O, configuration, logging or clock. The driver still finds such a
child by its name and would go on describing it, although the node cannot use
it there. The agent writes nothing to it, and the node does not count as done.
The planner calls this after all sources have made their assertions.

If another writer deletes a node's root, the agent waits, or creates it again.
Nova deletes the root provider of a host whose service is deleted, so the
operator may want the host gone. ``cycle/node/node_checks.py`` asks before
the node is described; the state database remembers the deleted roots.
"""

from collections.abc import Collection, Container

from ..tree import assertion, names, provider, provider_tree
from .record import Record


def leave(
    tree: provider_tree.ProviderTree,
    node_uuid: str,
    record: Record,
) -> None:
    """Drop the assertions about children that were moved away; report them."""
    moved = _moved(tree, node_uuid, record)
    for uuid in moved:
        tree.withdraw_assertions(uuid)
        child = tree.baseline[uuid]
        if child.parent_uuid not in moved:
            tree.fault(_fault(child, tree.baseline))


def _moved(
    tree: provider_tree.ProviderTree,
    node_uuid: str,
    record: Record,
) -> list[str]:
    """Return the children that we created and that left the node's tree.

    The agent claims its own trait on children, but not on sharing providers
    that a driver creates; this tells the two apart. A child that the driver
    moves back below the node is not returned.
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
        and names.OWNER_NOVA in _claimed_by_agent(record, uuid)
    ]


def _claimed_by_agent(record: Record, uuid: str) -> Collection[str]:
    claims = record.claims.get((uuid, assertion.Kind.TRAIT), {})
    return claims.get(assertion.AGENT, ())


def _fault(child: provider.Provider, known: provider.Snapshot) -> str:
    parent = known.get(str(child.parent_uuid), child.parent_uuid)
    where = f'is below {parent} now' if parent else 'is a root now'
    return (
        f'{child}, which this agent created below this node, {where}: another '
        'writer moved it, so the node lacks its inventory, and the agent '
        'writes nothing of it; put it below its parent again (PUT '
        f'/resource_providers/{child.uuid} with "parent_provider_uuid", API '
        '1.37), or delete it ("compute-agent resource provider delete '
        f'{child.uuid}"), and the driver creates it again'
    )


_WHAT = (
    'another writer deleted its root provider, which had the traits '
    'COMPUTE_NODE and OWNER_NOVA ("openstack compute service delete" does so)'
)
_NEXT = (
    f'{_WHAT}; the agent creates it again in its next cycle if it is still '
    'gone. To prevent that, set [compute_agent] recreate_roots = false and '
    'send SIGHUP to the daemon'
)
_NEVER = (
    f'{_WHAT}, and [compute_agent] recreate_roots is false, so nothing is '
    'created. To have it created again, set recreate_roots = true and send '
    'SIGHUP to the daemon; to give the host up, stop the agent there'
)


def reason_to_wait(
    uuid: str,
    *,
    lost: Container[str],
    lost_before: Container[str],
    recreates: bool,
) -> str:
    """Return the reason why an absent root is not created now, or ''.

    :param lost: the roots that other writers deleted
    :param lost_before: those among them that were gone in an earlier cycle
    :param recreates: True if the operator wants them created again
    """
    if uuid not in lost:
        return ''
    if not recreates:
        return _NEVER
    return '' if uuid in lost_before else _NEXT
