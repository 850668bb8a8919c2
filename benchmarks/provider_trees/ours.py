# SPDX-License-Identifier: Apache-2.0
"""This agent's trees: one for each node, as its cycles have them.

The step ``diff`` is the agent's own: it resolves ownership and lists the
operations that its plan has.
"""

from collections.abc import Sequence

from compute_agent.ownership import policy, record, resolve
from compute_agent.plan.diff import diff
from compute_agent.tree import inventory, provider
from compute_agent.tree.provider_tree import ProviderTree

from . import work


class New:
    """Trees that a driver fills by its calls."""

    def build(self, nodes: Sequence[work.Node]) -> None:
        """Make the providers as a driver does."""
        self._roots = [node[0].uuid for node in nodes]
        self._trees = [_described(node) for node in nodes]

    def copy(self) -> None:
        """Copy each tree."""
        self._copies = [tree.copy() for tree in self._trees]

    def edit(self, nodes: Sequence[work.Node]) -> None:
        """Change one provider in ten."""
        for tree, node in zip(self._copies, nodes, strict=True):
            for one in node:
                if one.is_edited:
                    tree.update_inventory(one.uuid, work.EDITED_INVENTORY)
                    tree.update_traits(one.uuid, work.EDITED_TRAITS)

    def diff(self) -> int:
        """Plan each node."""
        planned = zip(self._copies, self._roots, strict=True)
        return sum(_changed(tree, root) for tree, root in planned)


class Known(New):
    """Trees of what placement has."""

    def build(self, nodes: Sequence[work.Node]) -> None:
        """Make the providers as an observation does."""
        self._roots = [node[0].uuid for node in nodes]
        self._trees = [
            ProviderTree.from_providers([_observed(one) for one in node])
            for node in nodes
        ]


def _described(node: work.Node) -> ProviderTree:
    tree = ProviderTree()
    for one in node:
        if one.parent_uuid is None:
            tree.new_root(one.name, one.uuid)
        else:
            tree.new_child(one.name, one.parent_uuid, one.uuid)
        tree.update_inventory(one.uuid, one.inventory)
        tree.update_traits(one.uuid, work.TRAITS)
    return tree


def _observed(one: work.Provider) -> provider.Provider:
    return provider.Provider(
        uuid=one.uuid,
        name=one.name,
        parent_uuid=one.parent_uuid,
        generation=1,
        inventories={
            rc: inventory.Inventory.from_record(given)
            for rc, given in one.inventory.items()
        },
        traits=frozenset(work.TRAITS),
    )


def _changed(tree: ProviderTree, root: str) -> int:
    """Return the number of providers that the plan of a node writes to."""
    resolved = resolve.resolve(tree, root, record.Record(), policy.Policy())
    planned = diff.operations(
        tree.baseline,
        resolved.after,
        resolved.foreign,
        causes=resolved.causes,
    )
    return len({uuid for op in planned for uuid in op.providers})


if __name__ == '__main__':
    work.main({'new': New, 'known': Known})
