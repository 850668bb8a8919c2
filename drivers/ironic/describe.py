# SPDX-License-Identifier: Apache-2.0
"""Edits a provider tree until it describes one bare-metal node.

Pure: no I/O, configuration, logging or clock. A node without a usable resource
class offers nothing, so that no instance is scheduled to a machine of unknown
kind. If placement has the node, its inventory stays, fully reserved. If not,
the node is not created there.
"""

import dataclasses
from collections.abc import Mapping

from compute_agent.tree import provider, provider_tree

from . import classes, inventory, traits
from . import node as ironic


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """The options for the description of nodes.

    :ivar exclusive: Ironic's traits are the node's complete list
    :ivar skip_in_use: do not reserve a node because of its instance
    """

    exclusive: bool = True
    skip_in_use: bool = False


def describe(
    tree: provider_tree.ProviderTree,
    node: ironic.Node,
    problems: Mapping[str, classes.Problem],
    manner: Manner,
) -> None:
    """Make the node's root in the tree match the node in Ironic.

    :param problems: the resource classes of the listing that cannot be used
    """
    current = tree.baseline.get(node.uuid)
    problem = problems.get(node.resource_class or '')
    if node.resource_class and (problem is None or _has(current, problem)):
        if problem is not None:
            why = problem.of(node.called)
            tree.note(f'{why}; {node.called} has it already')
        records = inventory.records(node, skip_in_use=manner.skip_in_use)
        tree.update_inventory(node.uuid, records)
    elif current is None:
        _leave_out(tree, node, problem)
        return
    else:
        _reserve(tree, node, current, problem)
    _set_traits(tree, node, manner)


def _has(current: provider.Provider | None, problem: classes.Problem) -> bool:
    """Return True if the provider already has just that class."""
    return current is not None and set(current.inventories) == {problem.name}


def _leave_out(
    tree: provider_tree.ProviderTree,
    node: ironic.Node,
    problem: classes.Problem | None,
) -> None:
    """Report nothing of a node that placement does not have yet."""
    tree.remove(node.uuid)
    if problem is None:
        tree.note(f'{_no_class(node)}: it is not reported; {_give_one(node)}')
    else:
        why = problem.of(node.called)
        tree.fault(f'{node.called} is not added to placement: {why}')


def _reserve(
    tree: provider_tree.ProviderTree,
    node: ironic.Node,
    current: provider.Provider,
    problem: classes.Problem | None,
) -> None:
    """Keep the node's inventory in placement, fully reserved."""
    tree.update_inventory(node.uuid, current.fully_reserved().records())
    kept = ', '.join(sorted(current.inventories))
    stays = f'{kept} stays, reserved' if kept else 'it offers nothing'
    if problem is not None:
        tree.fault(f'{node.called}: {stays}: {problem.of(node.called)}')
    elif kept:
        tree.fault(f'{_no_class(node)}: {stays}; {_give_one(node)}')
    else:
        tree.note(f'{_no_class(node)}: {stays}; {_give_one(node)}')


def _no_class(node: ironic.Node) -> str:
    return f'{node.called} has no resource class in Ironic'


def _give_one(node: ironic.Node) -> str:
    return f'{classes.mend(node.called)} to give it one'


def _set_traits(
    tree: provider_tree.ProviderTree, node: ironic.Node, manner: Manner
) -> None:
    wanted = traits.reported(node)
    if manner.exclusive:
        tree.update_traits(node.uuid, wanted)
    else:
        tree.declare_traits(node.uuid, *wanted)
    for trait, why in traits.left_out(node).items():
        tree.note(
            f'{node.called} has trait {trait!r} in Ironic, which is left out: '
            f'{why}'
        )
