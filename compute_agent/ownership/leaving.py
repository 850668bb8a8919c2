# SPDX-License-Identifier: Apache-2.0
"""Remove all that this agent added to a node, and nothing else.

Pure: no I/O, configuration, logging or clock. The agent leaves a node before it
is decommissioned, or before it is uninstalled: nova can delete the root of a
compute service only if nobody's allocations are left below it. The command
``leave`` plans this; a companion also does it for nodes that departed.

A node that departed leaves providers in placement, too. The agent deletes those
providers of the node's own tree that it created, and the pools that it created
or changed for the node. If another of the agent's nodes uses such a pool, the
pool passes to that node, its heir. ``pools.py`` keeps a pool that others use.
``cycle/departures/departed_nodes.py`` passes providers on; the planner
describes the remaining ones.
"""

from collections.abc import Collection, Container, Iterable, Mapping, Sequence

from .. import errors
from ..fleet.values import mark
from ..plan.observation import Observation
from ..tree import assertion, inventory, names, provider, provider_tree
from ..tree.assertion import Kind
from ..tree.node import Node
from .beside_nova import given_up
from .policy import Mode
from .record import Record
from .undeletable import is_derived, reservation


def describe(
    tree: provider_tree.ProviderTree,
    node_uuid: str,
    record: Record,
    *,
    mode: Mode = Mode.OWNER,
    left: Container[str] = (),
) -> None:
    """Edit the tree until it has nothing more of this agent.

    The providers of the node's own tree that this agent created are deleted,
    with everything below them. On all other providers, every source gives up
    its names: names that this agent added are removed, the others stay. A pool
    that it created or described goes, unless another node's sources describe
    it. If it described only a part of others' pool, ``pools.py`` lets only
    that go. Beside nova-compute, the root and its inventory stay, and so do
    the children that nova-compute took over from a companion. Custom names
    stay in placement, and a note names them.

    :param left: the nodes that are left together
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
    staying = [u for u in home if u == node_uuid or u not in novas]
    _note_names(tree, staying, record, novas)
    for uuid in pools(record, home):
        if tree.exists(uuid):
            _leave_pool(tree, uuid, record, left)


def pools(record: Record, home: Container[str]) -> list[str]:
    """Return the pools that the agent created, or describes for the node."""
    described = {u for (u, _), by in record.claims.items() if any(by.values())}
    return sorted(u for u in record.created | described if u not in home)


def _leave_pool(
    tree: provider_tree.ProviderTree,
    uuid: str,
    record: Record,
    left: Container[str],
) -> None:
    """Remove a pool; if another node describes it, end this node's claims."""
    if record.nodes_that_claim(uuid, but=left):
        for (claimed, kind), claims in sorted(record.claims.items()):
            for source in sorted(claims) if claimed == uuid else ():
                _give_up(tree, uuid, kind, source)
        return
    with tree.asserting(assertion.AGENT):
        tree.remove(uuid)


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
                f'run "compute-agent resource provider delete {uuid}"'
            )
    return children


def _note_names(
    tree: provider_tree.ProviderTree,
    uuids: Iterable[str],
    record: Record,
    novas: Container[str],
) -> None:
    """Note the custom names that this agent no longer uses for the node.

    Placement refuses each query with a name that it does not know, so a flavor
    that forbids a deleted trait could be scheduled nowhere.
    """
    traits: set[str] = set()
    classes: set[str] = set()
    for uuid in uuids:
        traits |= record.ours.get((uuid, Kind.TRAIT), frozenset())
        classes |= record.ours.get((uuid, Kind.INVENTORY), frozenset())
        if uuid in record.created and uuid not in novas:
            traits |= tree.baseline[uuid].traits
            classes |= {*tree.baseline[uuid].inventories}
    listed = sorted(
        name
        for name in filter(names.is_custom, traits | classes)
        if mark.parse(name) is None
    )
    if listed:
        tree.note(
            'these custom names stay in placement, because flavors and other '
            f'hosts may use them: {", ".join(listed)}; "compute-agent audit" '
            'finds the names that nobody uses'
        )


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


Others = Mapping[str, Observation | errors.AgentError]


def outside(
    node_uuid: str, seen: provider.Snapshot, created: Iterable[str]
) -> list[str]:
    """Return the providers created for a node that are not in its own tree.

    :param created: the providers created for this node; some may not exist any
        more
    """
    home = provider.descendants(seen, node_uuid)
    return [uuid for uuid in created if uuid in seen and uuid not in home]


def heir(
    uuid: str,
    claimants: Collection[str],
    others: Others,
    gone: Container[str],
) -> str | None:
    """Return the node that inherits a provider; None if no node uses it.

    A node with a claim on the provider comes first, listed nodes before
    others; then a node that reaches it.

    :param claimants: the nodes for which a source claims something of the
        provider
    :param others: the nodes of the list, and the observation of each
    :param gone: the departed nodes
    :raises errors.UnknownState: a node could not be observed, so it may use
        the provider
    """
    claiming = [node for node in sorted(claimants) if node not in gone]
    for node in sorted(claiming, key=lambda node: node not in others):
        return node
    for node, seen in sorted(others.items()):
        if not isinstance(seen, errors.AgentError) and uuid in seen.providers:
            return node
    for node, seen in sorted(others.items()):
        if isinstance(seen, errors.AgentError):
            raise errors.UnknownState(
                f'nothing is removed: provider {uuid} was created for this '
                f'node, and node {node}, which may use it, could not be '
                f'observed: {seen}'
            )
    return None


def describe_gone(
    tree: provider_tree.ProviderTree,
    node: Node,
    created: Container[str],
    elsewhere: Sequence[str] = (),
    *,
    is_reported: bool = True,
    is_novas: bool = False,
) -> None:
    """Edit the tree until it offers nothing of a departed node.

    :param created: the providers that this agent created
    :param elsewhere: the node's providers outside its tree that nothing else
        of this agent uses
    :param is_reported: False if the node's root is another writer's and this
        agent never reported it; its inventory is left as it is
    :param is_novas: True if nova-compute deletes the root
    """
    with tree.asserting(assertion.AGENT):
        for uuid in elsewhere:
            if tree.exists(uuid):  # skip one that was removed with its parent
                tree.remove(uuid)
    if tree.exists(node.uuid):
        root = tree.baseline[node.uuid]
        uuids = tree.get_provider_uuids(root.uuid)
        if is_reported or any(uuid in created for uuid in uuids):
            _describe_root(tree, root, node.name, created, is_novas=is_novas)
        else:
            tree.note(_NEVER_REPORTED)


_NEVER_REPORTED = (
    'the node is gone; its root provider is left as it is, because this agent '
    'has no record that it created or changed it; if no other agent reports '
    'it, delete it in placement'
)


def _describe_root(
    tree: provider_tree.ProviderTree,
    root: provider.Provider,
    name: str,
    created: Container[str],
    *,
    is_novas: bool,
) -> None:
    """Remove the node's own tree, or reserve its inventory.

    The tree stays, reserved, if other writers have providers in it or changed
    its root. These writers must remove it.
    """
    uuids = tree.get_provider_uuids(root.uuid)
    others = [u for u in uuids if u not in created]
    changed = root.name != name or root.parent_uuid is not None
    if not others and not changed and not is_novas:
        with tree.asserting(assertion.AGENT):
            tree.remove(root.uuid)
        return
    ours = [
        tree.baseline[uuid]
        for uuid in uuids
        if uuid in created or uuid == root.uuid
    ]
    for one in ours:
        reserved = inventory.as_given(one.fully_reserved().records())
        tree.update_inventory(one.uuid, reserved)
    gone = f'the node is gone, and {reservation(ours)}'
    if is_novas:
        tree.note(f'{gone}; nova-compute deletes its providers')
        return
    listed = ', '.join(tree.data(u).name for u in others)
    why, remedy = 'somebody renamed or moved its provider', ''
    if others:
        why = f'this agent did not create {listed}'
        remedy = (
            '; to let this agent delete them, run "compute-agent resource provider adopt '
            f'{root.uuid} --subtree"'
        )
    tree.fault(
        f'{gone}; its providers are not deleted, because {why}; delete them in '
        f'placement{remedy}'
    )
