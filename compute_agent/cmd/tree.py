# SPDX-License-Identifier: Apache-2.0
"""``compute-agent tree show``: a node's providers as placement holds them."""

import argparse
import typing

from ..tree import node as node_module
from .app import command


class TreeShow(command.Report):
    """Show the providers of a node, with inventory, traits and aggregates.

    Sharing providers that it reaches through aggregates stand beside it.
    """

    styled = True

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the node."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'node',
            nargs='?',
            metavar='NODE',
            help="A node's name or uuid (default: all of this agent's).",
        )
        return parser

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Return the trees of the nodes asked for."""
        from .. import errors  # noqa: PLC0415 (quick --help)
        from . import tree_view  # noqa: PLC0415
        from .wiring import agent as wiring  # noqa: PLC0415

        with wiring.agent(self.conf(), looking=True) as agent:
            nodes = node_module.chosen(agent.tracker.nodes(), parsed_args.node)
            seen = agent.client.observe([n.uuid for n in nodes])
        found = []
        for node in nodes:
            one = seen[node.uuid]
            if isinstance(one, errors.AgentError):
                raise one
            found.append((node, one))
        data = [tree_view.data(n, one.providers) for n, one in found]
        texts = [
            tree_view.text(n, one.providers, self.app.stdout)
            for n, one in found
        ]
        return data, '\n'.join(texts) if texts else 'no nodes', 0
