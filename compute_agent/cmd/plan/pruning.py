# SPDX-License-Identifier: Apache-2.0
"""The options ``--prune`` and ``--node`` of ``sync`` and ``plan``.

``compute_agent/ownership/policy.py`` has the rules; this module reads the
words, and reports the names that are removed from no provider.
"""

import argparse
import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from compute_agent.plan.operations.operations import Operation

from ... import errors
from ...cycle.node.node_result import NodeResult
from ...ownership.policy import Prune
from ...tree import node as node_module
from ...tree.node import Node


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        '--prune',
        action='append',
        default=[],
        metavar='NAME,...',
        help='Also remove these traits, resource classes and aggregates from '
        "the nodes' providers, whoever added them, unless the driver reports "
        'them. Use it after the state database of an agent was lost. May be '
        'repeated.',
    )
    parser.add_argument(
        '--node',
        metavar='NODE',
        help='Prune only the providers of this node, given by name or uuid.',
    )


def parse(parsed_args: argparse.Namespace) -> Prune:
    """Return the names to prune.

    :raises errors.ConfigError: a word is not a name, or --node stands alone
    """
    return Prune.parse(parsed_args.prune, parsed_args.node)


def for_a_daemon(parsed_args: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of a request, so that a daemon prunes the same.

    :raises errors.ConfigError: see ``parse``; or it is about several nodes
    """
    prune, nodes = parse(parsed_args), parsed_args.nodes
    if prune.node is None and prune.names and nodes:
        if len(nodes) > 1:
            raise errors.ConfigError(
                'a daemon runs a cycle of all its nodes, and prunes all of '
                'them or one: give --node NODE in place of the nodes'
            )
        prune = dataclasses.replace(prune, node=nodes[0])
    return {
        'prune': tuple(sorted(prune.names)),
        'prune_node': prune.node or '',
    }


def check_node(prune: Prune, nodes: Callable[[], Iterable[Node]]) -> None:
    """Check that the driver has the node that --node names.

    :raises errors.ConfigError: the driver has no such node
    """
    if prune.node is not None:
        node_module.chosen(nodes(), prune.node)


def unmet(prune: Prune, results: Iterable[NodeResult]) -> list[str]:
    """Return a line for each name that is removed from no provider.

    A node that is not done may still have the name.
    """
    selected = [result for result in results if prune.names_for(result.node)]
    removed = {
        name
        for result in selected
        for operation in (*result.applied, *_planned(result))
        for name in getattr(operation, 'removed', ())
    }
    undone = sum(not r.is_settled for r in selected)
    why = (
        f'{undone} of {len(selected)} nodes are not done'
        if undone
        else 'no provider has it, or a source claims it'
    )
    return [
        f'{name} is removed from no provider: {why}'
        for name in prune.remaining(removed)
    ]


def _planned(result: NodeResult) -> Sequence[Operation]:
    return result.plan.operations if result.plan is not None else ()
