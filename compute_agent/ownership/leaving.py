# SPDX-License-Identifier: Apache-2.0
"""Take off a node all that this agent added to it, and nothing else.

Pure: no I/O, configuration, logging or clock. The agent leaves a node before it
is decommissioned, or before it is uninstalled: nova can delete the root of a
compute service only if nobody's allocations are left below it. The command
``leave`` plans this; a companion also does it for nodes that departed.
"""

from ..tree import assertion, provider, provider_tree
from ..tree.assertion import Kind
from .beside_nova import given_up
from .policy import Mode
from .record import Record
from .undeletable import is_derived


def describe(
    tree: provider_tree.ProviderTree,
    node_uuid: str,
    record: Record,
    *,
    mode: Mode = Mode.OWNER,
) -> None:
    """Edit the tree until it has nothing more of this agent.

    The providers of the node's own tree that this agent created go, with what
    is below them. On all other providers, every source gives up its names;
    those that this agent added then go, the others stay. Providers that it
    created elsewhere, such as sharing providers, stay: other nodes may use
    them. Beside nova-compute, the root and its inventory stay, and so do the
    children that nova-compute took over from a companion.
    """
    home = provider.descendants(tree.baseline, node_uuid)
    novas = frozenset({node_uuid} if mode.is_beside_nova else ())
    if mode is Mode.COMPANION:
        novas |= _novas_children(tree, record)
    with tree.asserting(assertion.AGENT):
        for uuid in home:
            if uuid in record.created - novas and tree.exists(uuid):
                tree.remove(uuid)
    for (uuid, kind), claims in sorted(record.claims.items()):
        if tree.exists(uuid) and uuid in home:
            if uuid in novas and not (
                uuid == node_uuid and kind is not Kind.INVENTORY
            ):
                continue
            for source in sorted(claims):
                _give_up(tree, uuid, kind, source)
    for uuid in sorted(record.created - set(home)):
        if tree.exists(uuid):
            tree.note(
                f'{tree.baseline[uuid]}: stays, because it is not in the tree '
                'of this node and other nodes may use it; if it should go, run '
                f'"compute-agent provider delete {uuid}"'
            )


def _novas_children(
    tree: provider_tree.ProviderTree, record: Record
) -> frozenset[str]:
    """Return the children of nova-compute, and note them.

    Only a child that this agent created is worth a note.
    """
    before = tree.baseline
    children = given_up.novas_children(record, before)
    for uuid in sorted(children):
        if uuid in record.created or is_derived(before, uuid):
            tree.note(
                f'{before[uuid]}: stays, because nova-compute has taken it '
                'over (its traits say so); if nova-compute does not report it, '
                f'run "compute-agent provider delete {uuid}"'
            )
    return children


def _give_up(
    tree: provider_tree.ProviderTree, uuid: str, kind: Kind, source: str
) -> None:
    """Have a source declare that it has no names of a kind any more."""
    with tree.asserting(source):
        match kind:
            case Kind.TRAIT:
                tree.declare_traits(uuid)
            case Kind.AGGREGATE:
                tree.declare_aggregates(uuid)
            case Kind.INVENTORY:
                tree.declare_inventory(uuid, {})
