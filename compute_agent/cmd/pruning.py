# SPDX-License-Identifier: Apache-2.0
"""``sync --prune`` and ``plan --prune``: names that go though none recorded them.

After a lost state database the agent no longer knows what it added, and only
adds. What should go is named here, one by one; a name that a source holds
stays all the same.
"""

import argparse
import dataclasses
import re
import typing
from collections.abc import Callable, Iterable, Sequence

from .. import errors
from ..cycle import node_result
from ..ownership import policy
from ..tree import names
from ..tree import node as node_module
from ..tree.node import Node

_NAME = re.compile(r'[A-Z0-9_]{1,255}')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Prune:
    """What is to go, and of which node.

    :ivar node: its name, title or uuid; None for every node
    """

    names: frozenset[str] = frozenset()
    node: str | None = None

    def of(self, node: Node) -> frozenset[str]:
        """Return what is to go of one node."""
        chosen = {None, node.name, node.called, node.uuid}
        return self.names if self.node in chosen else frozenset()


NOTHING = Prune()


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        '--prune',
        action='append',
        default=[],
        metavar='NAME,...',
        help='Also remove these traits, resource classes and aggregates from '
        "the nodes' providers, whoever put them there, unless the driver "
        'reports them: what an agent left whose state was lost. May be '
        'repeated.',
    )
    parser.add_argument(
        '--node',
        metavar='NODE',
        help='With --prune: only of this node, given by name or uuid.',
    )


def given(parsed_args: argparse.Namespace) -> Prune:
    """Return what is to be pruned.

    :raises errors.ConfigError: a name is none, or there is a node alone
    """
    listed = [n for some in parsed_args.prune for n in some.split(',')]
    if parsed_args.node is not None and not listed:
        raise errors.ConfigError('--node chooses for --prune: give that too')
    chosen = frozenset(_checked(n.strip()) for n in listed)
    policy.Orders(prune=chosen)  # refuses what must not go
    return Prune(names=chosen, node=parsed_args.node)


def check_node(prune: Prune, nodes: Callable[[], Iterable[Node]]) -> None:
    """Refuse a node that is none.

    :raises errors.ConfigError: no node is called that
    """
    if prune.node is not None:
        node_module.chosen(nodes(), prune.node)


def unmet(
    prune: Prune, results: Iterable[node_result.NodeResult]
) -> list[str]:
    """Return a line for each name that goes from no provider.

    Of a node that is not done nobody knows yet whether it has it.
    """
    asked = [result for result in results if prune.of(result.node)]
    gone = {
        name
        for result in asked
        for operation in (*result.applied, *_planned(result))
        for name in getattr(operation, 'removed', ())
    }
    undone = sum(r.status is not node_result.Status.DONE for r in asked)
    why = (
        f'{undone} of {len(asked)} nodes are not done'
        if undone
        else 'none has it, or a source holds it'
    )
    return [
        f'{name} goes from no provider: {why}'
        for name in sorted(prune.names - gone)
    ]


def _planned(result: node_result.NodeResult) -> Sequence[typing.Any]:
    plan: typing.Any = result.plan
    return plan.operations if plan is not None else ()


def _checked(name: str) -> str:
    if names.is_uuid(name):
        return name.lower()
    if not _NAME.fullmatch(name):
        raise errors.ConfigError(
            f'--prune: {name!r} is no trait, resource class or aggregate: '
            'give whole names, one by one, with commas between'
        )
    return name
