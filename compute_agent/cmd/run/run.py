# SPDX-License-Identifier: Apache-2.0
"""``compute-agent run``: the daemon."""

import argparse
import contextlib
import logging
import os
import threading
import typing
from collections.abc import Sequence

from oslo_config import cfg
from oslo_log import log

from ... import errors
from ...cycle import garbage, service
from ...cycle.node import node_result
from ...cycle.node.node_result import NodeResult
from ...state.database import lock
from .. import tree
from ..app import command, configuration, plain_text, signals
from ..control import daemon
from ..plan import masks
from ..wiring import agent_settings, placement
from ..wiring.agent import DAEMON, Agent, open_agent
from . import cycles, daemon_history, lifetime, monitors

LOG = logging.getLogger(__name__)

GRACE = 1.0  # seconds that a running cycle gets when the daemon stops


class Run(command.AgentCommand):
    """Run the daemon: one cycle after the other, until it is stopped.

    Each cycle makes placement match this agent's nodes. On SIGHUP the daemon
    reads its configuration and its provider-config files again, and a cycle
    begins at once. On SIGUSR2, it writes what it does into the file report.txt
    in its state directory. With "[placement] embedded = true" the daemon also
    serves the embedded placement. In a systemd unit of Type=notify, it says
    when it is ready and feeds the watchdog.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--show-tree',
            action='store_true',
            help='Print the provider tree after the first cycle.',
        )
        return parser

    def conf(self) -> cfg.ConfigOpts:
        """Return the configuration, including oslo.log's options.

        The daemon never takes its account from the environment unasked.
        """
        return configuration.load(
            self.app.global_options,
            register=_register_logging,
            environment=False,
        )

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Run until SIGINT or SIGTERM; reload the files on SIGHUP."""
        conf = self.conf()
        _set_up_logging(conf, debug=self.app.global_options.debug)
        requests = signals.DaemonSignals()
        requests.listen()
        with contextlib.ExitStack() as stack:
            folder = agent_settings.state_path(conf)
            stack.enter_context(lock.hold(folder, lifetime.about()))
            if conf.placement.embedded:
                stack.enter_context(placement.embedded_placement(conf))
            agent = stack.enter_context(
                open_agent(
                    conf,
                    read_only=False,
                    wait=requests.wait_for_stop,
                    by=DAEMON,
                )
            )
            agent.begin_files()
            work = cycles.Cycles(conf, self.conf, agent, requests)
            life = lifetime.Lifetime(conf, requests, work.interval)
            control = daemon.Control(requests.request_cycle)
            life.listeners.add(control.states)
            life.listeners.add(control.cycles)
            stack.enter_context(
                monitors.monitored(conf, agent, life, work.interval)
            )
            past = daemon_history.begin(agent.state.history, life.listeners)
            life.started()
            first_tree = _FirstTree(
                self.app.stdout, agent, placement.where(conf)
            )
            log_masks = masks.UnmatchedMasks(conf.compute_agent.masked_traits)

            def done(results: Sequence[NodeResult]) -> None:
                log_masks.log(results)
                if parsed_args.show_tree:
                    first_tree.show(results)

            worker = _Worker(work, requests, done, life)
            with control.serving(
                folder, life.status, agent.state.approvals, agent.client.broken
            ):
                work.wait_before_first()
                agent.drivers.subscribe(requests.hint)
                worker.start()
                requests.wait_for_stop()
                life.stopping()
                worker.join(GRACE)
            told = past.stopping(requests.reason or str(worker.failure))
            if worker.is_alive() or not told:
                # A request or a disk that hangs keeps a thread. A cycle may
                # end after any of its steps, so the thread is abandoned.
                LOG.warning('%s', _abandoned(in_cycle=worker.is_alive()))
                life.stopped(worker.failure)
                self.app.stdout.flush()
                os._exit(0 if worker.failure is None else 1)
            life.stopped(worker.failure)
        if worker.failure is not None:
            raise worker.failure
        return 0


def _abandoned(*, in_cycle: bool) -> str:
    """Return a line about a thread that the daemon does not wait for."""
    if in_cycle:
        return 'stopping in the middle of a cycle'
    return 'stopping although the state database does not answer'


class _Worker(threading.Thread):
    """The thread that runs the cycles; the main thread handles signals."""

    def __init__(
        self,
        work: cycles.Cycles,
        requests: signals.DaemonSignals,
        done: typing.Callable[..., None],
        life: lifetime.Lifetime,
    ) -> None:
        super().__init__(name='cycles', daemon=True)
        self._work = work
        self._requests = requests
        self._life = life
        self._garbage = garbage.Collector()
        self._service = service.Service(
            self._cycle,
            interval=work.interval(),
            outage_retry=work.outage_retry(),
            stop=requests,
            done=done,
            pause=requests.wait_for_hint,
            collect=self._garbage.collect,
        )
        self.failure: Exception | None = None

    def run(self) -> None:
        """Run the service; keep an unexpected error for the main thread."""
        try:
            self._service.run()
        except Exception as exc:  # noqa: BLE001 (raised in the main thread)
            self.failure = exc
        finally:
            self._requests.set()

    def _cycle(self) -> Sequence[NodeResult]:
        self._requests.take_hint()
        if self._requests.take_reload():
            with self._life.reloading():
                self._work.reload()
            self._garbage.note_reload()
        self._service.interval = self._work.interval()
        self._service.outage_retry = self._work.outage_retry()
        with self._life.cycle() as finished:
            results = self._work.sync()
            finished(results)
        return results


class _FirstTree:
    """Prints the trees, once: after the first cycle that reached placement."""

    def __init__(self, out: typing.TextIO, agent: Agent, where: str) -> None:
        self._out = out
        self._agent = agent
        self._where = where
        self._shown = False

    def show(self, results: Sequence[NodeResult]) -> None:
        """Print the tree of each node, at the first call only."""
        if self._shown:
            return
        nodes = [result.node for result in results]
        seen = self._agent.client.observe([node.uuid for node in nodes])
        for node in nodes:
            observed = seen[node.uuid]
            if isinstance(observed, errors.AgentError):
                continue
            view = tree.drawn(node, observed.providers, self._out)
            self._out.write(f'{view}\n')
        undone = sum(r.status is not node_result.Status.DONE for r in results)
        state = (
            f'{undone} of {len(nodes)} nodes not done' if undone else 'in step'
        )
        self._out.write(f'{state} with {self._where}; Ctrl-C stops it\n')
        self._out.flush()
        self._shown = True


def _register_logging(conf: cfg.ConfigOpts) -> None:
    log.register_options(conf)
    conf.set_default('use_stderr', True)  # stdout has the results
    log.set_defaults(
        default_log_levels=[
            'keystoneauth=WARNING',
            'placement=WARNING',
            'alembic=WARNING',
            'oslo_db=WARNING',
            'oslo_policy=WARNING',
            'stevedore=WARNING',
            'urllib3=WARNING',
            'waitress=WARNING',
        ],
    )


def _set_up_logging(conf: cfg.ConfigOpts, *, debug: bool) -> None:
    """Set up oslo.log with the options of the configuration."""
    if debug:
        conf.set_override('debug', True)
    for handler in list(logging.getLogger().handlers):
        logging.getLogger().removeHandler(handler)
    try:
        log.setup(conf, configuration.PROJECT)
    except RuntimeError as exc:
        raise errors.ConfigError(
            f'[DEFAULT] use_journal cannot be used: {exc}; install the Python '
            'package systemd-python, or remove the option'
        ) from exc
    except (log.LogConfigError, OSError, TypeError, ValueError) as exc:
        raise errors.ConfigError(
            'the log options (log_file, log_dir, log_config_append, '
            f'syslog_log_facility) cannot be used: {exc}'
        ) from exc
    plain_text.escape_logs()
