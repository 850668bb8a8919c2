# SPDX-License-Identifier: Apache-2.0
"""``compute-agent sync``: run one cycle and report each node's result."""

import argparse
import typing

from ... import errors
from ..app import command
from ..plan import pruning, result_view

_BESIDE = (
    'if it is a daemon, SIGHUP starts its next cycle, and "compute-agent sync '
    '--yes" approves the changes that it holds back'
)


class Sync(command.Report):
    """Run one cycle: make placement match this agent's nodes.

    Exit code 0: every node is done, 1: an error, or nodes that are not done.
    Beside a running daemon, --yes approves the removals and the first writes
    that the daemon holds back; exit code 0: there are none, or they are
    approved.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the nodes, and the options about removals."""
        parser = super().get_parser(prog_name)
        command.add_nodes(
            parser,
            'Synchronize only these nodes. Nodes that left the '
            "driver's list are then left as they are.",
        )
        parser.add_argument(
            '--yes',
            action='store_true',
            help='Lift the limits on removals: [compute_agent] max_deletions, '
            'max_removed_percent and max_capacity_loss_percent. Also delete '
            'the departed nodes if the driver has no node left. Also allow '
            'the first write to a provider with inventory that another writer '
            'created. Beside a running daemon: show the removals and the first '
            'writes that it holds back, of all or of the given nodes, ask, and '
            'let it do exactly these in its next cycle.',
        )
        pruning.add_options(parser)
        return parser

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Run a cycle, or approve the changes that a daemon holds back."""
        from . import approving  # noqa: PLC0415 (quick --help)

        try:
            return self._cycle(parsed_args)
        except errors.StateInUse as exc:
            if not parsed_args.yes or parsed_args.prune:
                raise errors.StateInUse(f'{exc}; {_BESIDE}') from exc
            in_use = str(exc)
        return approving.approve(self, in_use, parsed_args.nodes)

    def _cycle(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Run a cycle; return each node's result."""
        from ...cycle.node import node_result  # noqa: PLC0415 (quick --help)
        from ...state.database import lock  # noqa: PLC0415
        from ..app import progress  # noqa: PLC0415
        from ..wiring import agent_settings  # noqa: PLC0415
        from ..wiring.agent import open_agent  # noqa: PLC0415

        prune = pruning.parse(parsed_args)
        conf = self.conf()
        with (
            lock.hold(agent_settings.state_path(conf)),
            open_agent(
                conf, read_only=False, unlimited=parsed_args.yes, prune=prune
            ) as agent,
            progress.bar(self.app.stderr, 'nodes') as advance,
        ):
            pruning.check_node(prune, agent.tracker.nodes)
            results = agent.tracker.sync(advance, parsed_args.nodes)
        for line in pruning.unmet(prune, results):
            self.say(line)
        done = [r.status is node_result.Status.DONE for r in results]
        return (
            [result_view.data(r) for r in results],
            result_view.text(results),
            0 if all(done) else 1,
        )
