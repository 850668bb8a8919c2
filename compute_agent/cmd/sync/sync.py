# SPDX-License-Identifier: Apache-2.0
"""``compute-agent sync``: run one cycle and report each node's result."""

import argparse
import typing

from oslo_config import cfg

from ... import errors
from ...cycle.node import node_result
from ...state.database import lock
from ..app import command, progress
from ..control import client
from ..plan import pruning, result_view
from ..wiring import agent_settings
from ..wiring.agent import open_agent
from . import approving

_PRUNE = (
    '--prune cannot be asked of a daemon: stop it, run the command, and start '
    'it again'
)
_NO_SOCKET = (
    'that process is another command, which will end, or a daemon without its '
    'control socket, whose log says why and whose next cycle begins on SIGHUP'
)


class Sync(command.Report):
    """Run one cycle: make placement match this agent's nodes.

    Beside a running daemon, the command asks it for a cycle of all its nodes
    at once, and shows the result, of all or of the given nodes. With --yes, it
    first approves the removals and the first writes that the daemon holds
    back. Exit code 0: every node is done, 1: an error, or nodes that are not
    done.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser with the nodes, and the options about removals."""
        parser = super().get_parser(prog_name)
        command.add_nodes(
            parser,
            'Synchronize only these nodes. Nodes that left the '
            "driver's list are then left as they are. Beside a daemon: show "
            'only these nodes of its cycle.',
        )
        parser.add_argument(
            '--yes',
            action='store_true',
            help='Lift the limits on removals: [compute_agent] max_deletions, '
            'max_removed_percent and max_capacity_loss_percent. Also delete '
            'the departed nodes if the driver has no node left. Also allow '
            'the first write to a provider with inventory that another writer '
            'created. Beside a running daemon: show the removals and the first '
            'writes that wait, of all or of the given nodes, ask, and let it '
            'do exactly these in a cycle that begins at once. Without a '
            'terminal it does not ask: the option confirms whatever waits, '
            'and "compute-agent approve DIGEST" only what somebody has seen.',
        )
        pruning.add_options(parser)
        return parser

    def report(
        self, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Run a cycle, or have the daemon run one."""
        conf = self.conf()
        try:
            return self._cycle(conf, parsed_args)
        except errors.StateInUse as exc:
            if parsed_args.prune:
                raise errors.StateInUse(f'{exc}; {_PRUNE}') from exc
            in_use = exc
        ask = approving.approve if parsed_args.yes else approving.cycle
        try:
            return ask(self, conf, parsed_args.nodes)
        except client.NoDaemon as exc:
            raise errors.StateInUse(f'{in_use}; {exc}; {_NO_SOCKET}') from exc

    def _cycle(
        self, conf: cfg.ConfigOpts, parsed_args: argparse.Namespace
    ) -> tuple[typing.Any, str | None, int]:
        """Run a cycle; return each node's result."""
        prune = pruning.parse(parsed_args)
        with (
            lock.hold(agent_settings.state_path(conf)),
            open_agent(
                conf,
                read_only=False,
                unlimited=parsed_args.yes,
                prune=prune,
                by=self.actor,
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
