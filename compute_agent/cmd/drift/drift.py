# SPDX-License-Identifier: Apache-2.0
"""``compute-agent drift``: what other writers changed, and what comes of it."""

import argparse
import typing

from ... import errors
from ...ownership.explanations import drift
from ...tree import node as node_module
from ..app import command
from ..wiring.agent import open_agent
from . import drift_view, reading


class Drift(command.Report):
    """Compare placement with what the agent last wrote or found there.

    For each provider of this agent's nodes, the command prints what another
    writer added, removed or changed since the agent last wrote to it, and if
    the next cycle restores it, removes it or leaves it alone. It asks no
    driver (that is the difference from "plan"), writes nothing, and works
    beside a daemon. Exit code 0: no drift, 2: drift, 1: an error, or nodes
    whose state is unknown.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the nodes."""
        parser = super().get_parser(prog_name)
        command.add_nodes(parser, 'Compare only these nodes.')
        return parser

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Return the drift of each node."""
        conf = self.conf()
        with open_agent(conf, read_only=True, describes=False) as agent:
            nodes = node_module.selected(
                agent.state.nodes.all(), parsed_args.nodes
            )
            known = (
                reading.Reading(conf, agent, reading.authority(conf)).nodes(
                    nodes
                )
                if nodes
                else {}
            )
        found = {}
        for node in nodes:
            answer = known[node.uuid]
            if isinstance(answer, errors.AgentError):
                self.say(node.line(str(answer)))
            else:
                found[node] = drift.drift(answer)
        data = [drift_view.data(*pair) for pair in found.items()]
        text = (
            drift_view.total(found)
            if len(nodes) > 1
            else '\n'.join(drift_view.text(*pair) for pair in found.items())
        )
        drifts = 2 if any(found.values()) else 0
        return (
            data,
            text if nodes else 'no node is recorded',
            1 if len(found) < len(nodes) else drifts,
        )
