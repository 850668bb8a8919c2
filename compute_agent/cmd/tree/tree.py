# SPDX-License-Identifier: Apache-2.0
"""``compute-agent tree show``: a node's providers as placement has them."""

import argparse
import typing

from ...tree import node as node_module
from ..app import command


class TreeShow(command.Report):
    """Show the providers of a node, with inventory, traits and aggregates.

    The sharing providers that the node reaches through its aggregates are
    shown beside it.
    """

    styled = True

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the node."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'node',
            nargs='?',
            metavar='NODE',
            help='The name or uuid of a node (default: all nodes of this agent).',
        )
        return parser

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Return the trees of the selected nodes."""
        from ... import errors  # noqa: PLC0415 (quick --help)
        from ..wiring.agent import open_agent  # noqa: PLC0415
        from . import tree_view  # noqa: PLC0415

        with open_agent(self.conf(), read_only=True) as agent:
            nodes = node_module.chosen(agent.tracker.nodes(), parsed_args.node)
            seen = agent.client.observe([n.uuid for n in nodes])
        found = []
        for node in nodes:
            observed = seen[node.uuid]
            if isinstance(observed, errors.AgentError):
                raise observed
            found.append((node, observed.providers))
        data = [tree_view.data(node, providers) for node, providers in found]
        texts = [
            tree_view.text(node, providers, self.app.stdout)
            for node, providers in found
        ]
        return data, '\n'.join(texts) if texts else 'no nodes', 0
