# SPDX-License-Identifier: Apache-2.0
"""``compute-agent sync``: run one cycle and report each node's result."""

import argparse
import contextlib
from collections.abc import Sequence

from oslo_config import cfg

from .. import errors
from ..cycle.node.node_result import NodeResult
from ..ownership import policy
from ..state.database import lock
from .app import command, progress
from .control import asking, client, protocol, without_daemon
from .plan import pruning, result_view, waiting
from .wiring import agent_settings
from .wiring.opening import open_agent

_NO_SOCKET = (
    'that process is another command, which will end, or a daemon without its '
    'control socket, whose log says why and whose next cycle begins on SIGHUP'
)


class Sync(command.Report):
    """Run one cycle: make placement match this agent's nodes.

    Beside a running daemon, the command asks it for a cycle of all its nodes
    at once, and shows the result, of all or of the given nodes. Changes that
    wait for a person are listed. Exit code 0: every node is done, 1: an error,
    or nodes that are not done.
    """

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the nodes, and the options about removals."""
        command.add_nodes(
            parser,
            'Synchronize only these nodes. Nodes that left the '
            "driver's list are then left as they are. Beside a daemon: show "
            'only these nodes of its cycle.',
        )
        parser.add_argument(
            '--yes',
            action='store_true',
            help='Allow whatever waits for a person, unseen: removals above '
            'the limits of [compute_agent], the departures of all nodes, and '
            'first writes to providers that another writer created. '
            'Beside a running daemon, this is "compute-agent approve --all"; '
            '"compute-agent approve DIGEST" allows only what somebody has '
            'seen.',
        )
        pruning.add_options(parser)

    def report(self, parsed_args: argparse.Namespace) -> command.Reported:
        """Run a cycle, or have the daemon run one."""
        conf = self.conf()
        folder = agent_settings.state_path(conf)
        # As "status" does: the daemon is asked by root, not by its own user.
        if lock.is_anothers(folder) or conf.compute_agent.state_connection:
            with contextlib.suppress(client.NoDaemon):
                return self._ask(conf, parsed_args)
        try:
            return self._cycle(conf, parsed_args)
        except errors.StateInUse as exc:
            in_use = exc
        except errors.ConfigError:
            if not (parsed_args.yes and parsed_args.nodes):
                raise
            # A node that left the driver's list has no cycle of its own.
            return without_daemon.approve(self, conf, parsed_args.nodes, ())
        try:
            return self._ask(conf, parsed_args)
        except client.NoDaemon as exc:
            if parsed_args.yes and not parsed_args.prune:
                return without_daemon.approve(
                    self, conf, parsed_args.nodes, ()
                )
            raise errors.StateInUse(f'{in_use}; {exc}; {_NO_SOCKET}') from exc

    def _ask(
        self, conf: cfg.ConfigOpts, parsed_args: argparse.Namespace
    ) -> command.Reported:
        """Have the daemon run a cycle.

        :raises client.NoDaemon: no daemon runs here
        """
        request = protocol.Request(
            command=protocol.Command.APPROVE
            if parsed_args.yes
            else protocol.Command.CYCLE,
            nodes=tuple(parsed_args.nodes),
            person=client.person(),
            **pruning.for_a_daemon(parsed_args),
        )
        return asking.cycle(self, conf, request)

    def _cycle(
        self, conf: cfg.ConfigOpts, parsed_args: argparse.Namespace
    ) -> command.Reported:
        """Run a cycle; return each node's result."""
        prune = pruning.parse(parsed_args)
        with lock.hold_as_owner(agent_settings.state_path(conf)):
            said, results = self._results(conf, parsed_args, prune)
        for line in pruning.unmet(prune, results):
            self.say(line)
        done = [r.is_settled for r in results]
        return (
            [result_view.data(r) for r in results],
            '\n'.join([*said, result_view.text(results)]),
            0 if all(done) else 1,
        )

    def _results(
        self,
        conf: cfg.ConfigOpts,
        parsed_args: argparse.Namespace,
        prune: policy.Prune,
    ) -> tuple[list[str], Sequence[NodeResult]]:
        """Return what --yes allows, and the results."""
        said, nodes = list[str](), parsed_args.nodes
        with (
            open_agent(
                conf, read_only=False, prune=prune, by=self.actor
            ) as agent,
            progress.bar(self.app.stderr, 'nodes') as advance,
        ):
            pruning.check_node(prune, agent.tracker.nodes)
            if parsed_args.yes:
                allowed = without_daemon.waiting_in(
                    agent.tracker.plan(), nodes
                )
                said = [waiting.approved(waiting.data(allowed), shows=True)]
                agent.current.value = agent_settings.from_conf(
                    conf, unlimited=True, prune=prune
                )
            return said, agent.tracker.sync(advance, nodes)
