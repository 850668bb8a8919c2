# SPDX-License-Identifier: Apache-2.0
"""What a node that is gone leaves in placement, and to whom.

Pure: no I/O, configuration, logging or clock. Its own tree goes, as far as this
agent created it. So does what was created for it elsewhere, such as a sharing
provider, unless another node has a use of that: then it passes to that node.
``cycle/departed_nodes.py`` passes it on, the planner describes what is left.
"""

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from typing import Protocol

from .. import errors
from ..tree import assertion, provider, provider_tree


class Seen(Protocol):
    """What placement holds of a node."""

    @property
    def providers(self) -> provider.Snapshot:
        """The providers, parents first."""


Others = Mapping[str, Seen | errors.AgentError]


def outside(
    node_uuid: str, seen: provider.Snapshot, created: Iterable[str]
) -> list[str]:
    """Return what was created for a node and is not in its own tree.

    :param created: for this node, there or not
    """
    home = provider.descendants(seen, node_uuid)
    return [uuid for uuid in created if uuid in seen and uuid not in home]


def heir(
    uuid: str,
    holders: Collection[str],
    others: Others,
    gone: Container[str],
) -> str | None:
    """Return the node that a provider passes to, None if no other uses it.

    One that asserts something of it, listed ones first; else one that reaches
    it.

    :param holders: the nodes for which something of it is held
    :param others: the nodes of the list, and what was seen of each
    :param gone: the nodes that are gone
    :raises errors.UnknownState: it cannot be told
    """
    holding = [node for node in sorted(holders) if node not in gone]
    for node in sorted(holding, key=lambda node: node not in others):
        return node
    for node, seen in sorted(others.items()):
        if not isinstance(seen, errors.AgentError) and uuid in seen.providers:
            return node
    for node, seen in sorted(others.items()):
        if isinstance(seen, errors.AgentError):
            raise errors.UnknownState(
                f'whether node {node} uses provider {uuid}, which was created '
                f'for this one, cannot be told ({seen}): nothing is removed'
            )
    return None


def describe_gone(
    tree: provider_tree.ProviderTree,
    node: tuple[str, str],
    created: Container[str],
    left: Sequence[str] = (),
) -> None:
    """Edit the tree until nothing of a node is offered that is gone.

    :param node: its uuid and name
    :param created: the providers that this agent created
    :param left: those that were created for the node elsewhere
    """
    with tree.asserting(assertion.AGENT):
        for uuid in left:
            if tree.exists(uuid):  # and did not go with one above it
                tree.remove(uuid)
    uuid, name = node
    if tree.exists(uuid):
        _describe_root(tree, tree.baseline[uuid], name, created)


def _describe_root(
    tree: provider_tree.ProviderTree,
    root: provider.Provider,
    name: str,
    created: Container[str],
) -> None:
    """Describe the node's own tree.

    What this agent created goes; where others' providers are in the tree, or
    others changed its root, it stays, reserved, for them to see to it.
    """
    uuids = tree.get_provider_uuids(root.uuid)
    others = [u for u in uuids if u not in created]
    changed = root.name != name or root.parent_uuid is not None
    if not others and not changed:
        with tree.asserting(assertion.AGENT):
            tree.remove(root.uuid)
        return
    for uuid in uuids:
        if uuid in created or uuid == root.uuid:
            reserved = tree.baseline[uuid].whole_reserved()
            tree.update_inventory(uuid, reserved.records())
    names = ', '.join(tree.data(u).name for u in others)
    why, mend = 'somebody renamed or moved its provider', ''
    if others:
        why = f'this agent did not create {names}'
        mend = f' ("compute-agent provider adopt {root.uuid} --subtree" lets this agent)'
    tree.fault(
        f'it is gone, but {why}: reserved, so that nothing is scheduled '
        f'there; delete it in placement{mend}'
    )
