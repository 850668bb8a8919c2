# SPDX-License-Identifier: Apache-2.0
"""Edits a provider tree until it describes one bare-metal node.

Pure: no I/O, configuration, logging or clock. A node without a usable resource
class offers nothing, so that no instance is scheduled to a machine of unknown
kind. If placement has the node, its inventory stays, fully reserved. If not,
the node is not created there.

Ironic accepts any text of up to 80 characters as a class, placement only
``CUSTOM_`` names. So a class may be too long, and two classes may become the same
name. Two such classes are refused, because flavors for one kind of machine would
get the other kind.
"""

import dataclasses
from collections.abc import Iterable, Mapping

from compute_agent import errors
from compute_agent.tree import inventory, names, provider, provider_tree

from . import node as ironic

_SHOWN = 3


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """The reason why one resource class cannot be used.

    :ivar end: the end of the remedy, such as ``with a shorter one``
    :ivar name: the name in placement that it shares with another class; None
        if it has no valid name there
    """

    why: str
    end: str
    name: str | None = None

    def for_node(self, node: str) -> str:
        """Return the reason, and the remedy for one node.

        :param node: the node's name in Ironic, or its uuid
        """
        return f'{self.why}: {mend(node)} {self.end}'


def mend(node: str) -> str:
    """Return the command that gives a node another class."""
    return f'run "baremetal node set {node} --resource-class CLASS"'


def problems(spellings: Iterable[str | None]) -> Mapping[str, Problem]:
    """Return the classes that cannot be used, by Ironic's spelling.

    :param spellings: the classes of all nodes in the listing; None and ''
        mean that a node has no class
    """
    found: dict[str, Problem] = {}
    by_name: dict[str, list[str]] = {}
    for spelling in sorted({s for s in spellings if s}):
        try:
            name = names.custom_name(spelling)
        except errors.InvalidName:
            found[spelling] = _too_long(spelling)
        else:
            by_name.setdefault(name, []).append(spelling)
    for name, same in by_name.items():
        if len(same) > 1:
            found.update(dict.fromkeys(same, _collision(name, same)))
    return found


def _too_long(spelling: str) -> Problem:
    most = names.MAX_NAME - len(names.CUSTOM_PREFIX)
    return Problem(
        why=f'its resource class {spelling!r:.40}... has {len(spelling)} '
        f'characters, and placement accepts at most {most}',
        end='with a shorter one',
    )


def _collision(name: str, same: list[str]) -> Problem:
    shown = ' and '.join(repr(s) for s in same[:_SHOWN])
    more = f' and {len(same) - _SHOWN} more' if len(same) > _SHOWN else ''
    return Problem(
        name=name,
        why=f'the resource classes {shown}{more} would all be {name} in '
        'placement',
        end='to make them one, or to tell them apart',
    )


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
    problems: Mapping[str, Problem],
    manner: Manner,
) -> None:
    """Make the node's root in the tree match the node in Ironic.

    :param problems: the resource classes of the listing that cannot be used
    """
    current = tree.baseline.get(node.uuid)
    problem = problems.get(node.resource_class or '')
    if node.resource_class and (problem is None or _has(current, problem)):
        if problem is not None:
            why = problem.for_node(node.called)
            tree.note(f'{why}; {node.called} has it already')
        records = ironic.records(node, skip_in_use=manner.skip_in_use)
        tree.update_inventory(node.uuid, inventory.as_given(records))
    elif current is None:
        _leave_out(tree, node, problem)
        return
    else:
        _reserve(tree, node, current, problem)
    _set_traits(tree, node, manner)


def _has(current: provider.Provider | None, problem: Problem) -> bool:
    """Return True if the provider already has just that class."""
    return current is not None and set(current.inventories) == {problem.name}


def _leave_out(
    tree: provider_tree.ProviderTree,
    node: ironic.Node,
    problem: Problem | None,
) -> None:
    """Report nothing of a node that placement does not have yet."""
    tree.remove(node.uuid)
    if problem is None:
        tree.note(f'{_no_class(node)}: it is not reported; {_give_one(node)}')
    else:
        why = problem.for_node(node.called)
        tree.fault(f'{node.called} is not added to placement: {why}')


def _reserve(
    tree: provider_tree.ProviderTree,
    node: ironic.Node,
    current: provider.Provider,
    problem: Problem | None,
) -> None:
    """Keep the node's inventory in placement, fully reserved."""
    reserved = inventory.as_given(current.fully_reserved().records())
    tree.update_inventory(node.uuid, reserved)
    kept = ', '.join(sorted(current.inventories))
    stays = f'{kept} stays, reserved' if kept else 'it offers nothing'
    if problem is not None:
        tree.fault(f'{node.called}: {stays}: {problem.for_node(node.called)}')
    elif kept:
        tree.fault(f'{_no_class(node)}: {stays}; {_give_one(node)}')
    else:
        tree.note(f'{_no_class(node)}: {stays}; {_give_one(node)}')


def _no_class(node: ironic.Node) -> str:
    return f'{node.called} has no resource class in Ironic'


def _give_one(node: ironic.Node) -> str:
    return f'{mend(node.called)} to give it one'


def _set_traits(
    tree: provider_tree.ProviderTree, node: ironic.Node, manner: Manner
) -> None:
    wanted = ironic.reported(node)
    if manner.exclusive:
        tree.update_traits(node.uuid, wanted)
    else:
        tree.declare_traits(node.uuid, *wanted)
    for trait, why in ironic.left_out(node).items():
        tree.note(
            f'{node.called} has trait {trait!r} in Ironic, which is left out: '
            f'{why}'
        )
