# SPDX-License-Identifier: Apache-2.0
"""The providers that a departed node leaves in placement, and their heirs.

Pure: no I/O, configuration, logging or clock. The agent deletes those
providers of the node's own tree that it created, and the providers that it
created for the node elsewhere, such as a sharing provider. If another node
uses such a provider, the provider passes to that node.
``cycle/departures/departed_nodes.py`` passes providers on; the planner
describes the remaining ones.
"""

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from typing import Protocol

from .. import errors
from ..tree import assertion, provider, provider_tree
from ..tree.node import Node


class Seen(Protocol):
    """The observation of a node."""

    @property
    def providers(self) -> provider.Snapshot:
        """The providers, parents first."""


Others = Mapping[str, Seen | errors.AgentError]


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
    :param elsewhere: the providers that were created for the node outside its
        tree
    :param is_reported: False if the node's root is another writer's and this
        agent never reported it; its inventory is left as it is
    :param is_novas: True if nova-compute deletes the root
    """
    with tree.asserting(assertion.AGENT):
        for uuid in elsewhere:
            if tree.exists(uuid):  # not removed yet with a provider above it
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
    for uuid in uuids:
        if uuid in created or uuid == root.uuid:
            reserved = tree.baseline[uuid].fully_reserved()
            tree.update_inventory(uuid, reserved.records())
    if is_novas:
        tree.note(
            'the node is gone, and its inventory is reserved, so that nothing '
            'is scheduled there; nova-compute deletes its providers'
        )
        return
    names = ', '.join(tree.data(u).name for u in others)
    why, remedy = 'somebody renamed or moved its provider', ''
    if others:
        why = f'this agent did not create {names}'
        remedy = (
            '; to let this agent delete them, run "compute-agent provider adopt '
            f'{root.uuid} --subtree"'
        )
    tree.fault(
        'the node is gone, and its inventory is reserved, so that nothing is '
        f'scheduled there; its providers are not deleted, because {why}; '
        f'delete them in placement{remedy}'
    )
