# SPDX-License-Identifier: Apache-2.0
"""The process of the daemon: it runs cycles until it is stopped."""

import contextlib
import functools
import logging
import os
import threading
import typing
from collections.abc import Sequence

from oslo_config import cfg
from oslo_log import log

from ... import errors
from ...cycle import garbage, service
from ...cycle.node.node_result import NodeResult
from ...cycle.node_list import Changed
from ...state.database import lock
from .. import tree
from ..app import configuration, main, plain_text, signals
from ..control import between_cycles, cycle_requests, daemon
from ..plan import masks
from ..wiring import agent_settings, placement
from ..wiring.agent import Agent
from ..wiring.opening import DAEMON, open_agent
from . import cycles, daemon_history, lifetime, monitors, repeats, turns

LOG = logging.getLogger(__name__)


def _conf(options: main.GlobalOptions) -> cfg.ConfigOpts:
    """Return the configuration, including oslo.log's options.

    Those are registered for the check of names; ``_logs`` has their values.
    The daemon never takes its account from the environment unasked.
    """
    return configuration.load(
        options,
        register=_register_logging,
        environment=False,
    )


def _logs(options: main.GlobalOptions) -> cfg.ConfigOpts:
    """Return oslo.log's options, set up; nova's files set none of them."""
    logs = configuration.load_own(options, _register_logging)
    _set_up_logging(logs, debug=options.debug)
    return logs


def run(
    options: main.GlobalOptions, out: typing.TextIO, *, show_tree: bool
) -> int:
    """Run until SIGINT or SIGTERM; reload the files on SIGHUP.

    :param out: the stream for the tree
    :param show_tree: print it after the first cycle
    """
    read = functools.partial(_conf, options)
    conf = read()
    logs = _logs(options)
    requests = signals.DaemonSignals()
    requests.listen()
    with contextlib.ExitStack() as stack:
        folder = agent_settings.state_path(conf)
        stack.enter_context(lock.hold(folder, lifetime.about()))
        stack.enter_context(placement.embedded_if_asked(conf))
        agent = stack.enter_context(
            open_agent(
                conf,
                read_only=False,
                wait=requests.wait_for_stop,
                by=DAEMON,
            )
        )
        agent.begin_files()
        work = cycles.Cycles(conf, read, agent, requests, logs)
        life = lifetime.Lifetime(conf, requests, work.interval)
        control = daemon.Control(
            agent.share, lambda: agent.state.agent_id, requests.request_cycle
        )
        few = stack.enter_context(repeats.installed())
        for listener in (control.states, control.cycles, few):
            life.listeners.add(listener)
        page = stack.enter_context(
            monitors.monitored(
                conf, agent, life, work.interval, control.states
            )
        )
        turn = turns.Turns(agent, work, life, requests, asked=control.cycles)
        life.listeners.add(turn)
        past = daemon_history.begin(agent.state.history, turn.may_write)
        turn.past = past
        life.started()
        first_tree = _FirstTree(out, agent, placement.where(conf), page)
        log_masks = masks.UnmatchedMasks(conf.compute_agent.masked_traits)

        def done(results: Sequence[NodeResult]) -> None:
            if life.status.standby:
                return
            log_masks.log(results)
            if show_tree:
                first_tree.show(results)

        worker = _Worker(work, requests, done, life, turn, control.cycles)
        with control.serving(
            folder,
            life.status,
            agent.state.approvals,
            agent.client.broken,
            between_cycles.Records(agent.state, agent.take_over),
            agent.sharing,
        ):
            turn.wait_for_first()
            with signals.kept():
                agent.drivers.subscribe(turn.watch.wake)
            worker.start()
            requests.wait_guarded()
            life.stopping()
            worker.join(turn.stop())
        told = past.stopping(requests.reason or str(worker.failure))
        if not worker.is_alive():
            turn.finish()
        if worker.is_alive() or not told:
            # A request or a disk that hangs keeps a thread. A cycle may
            # end after any of its steps, so the thread is abandoned.
            LOG.warning('%s', _abandoned(in_cycle=worker.is_alive()))
            life.stopped(worker.failure)
            out.flush()
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
        turn: turns.Turns,
        asked: cycle_requests.CycleRequests,
    ) -> None:
        super().__init__(name='cycles', daemon=True)
        self._turn = turn
        self._asked = asked
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
            pause=self._pause,
            collect=self._garbage.collect,
        )
        self.failure: BaseException | None = None

    def run(self) -> None:
        """Run the service; keep an unexpected error for the main thread."""
        try:
            self._service.run()
        except BaseException as exc:  # noqa: BLE001 (raised in the main thread)
            self.failure = exc
        finally:
            self._requests.set()

    def _cycle(self) -> Sequence[NodeResult]:
        self._requests.take_requests()
        if self._requests.take_reload():
            with self._life.reloading():
                self._work.reload()
            self._garbage.note_reload()
        self._service.interval = self._work.interval()
        self._service.outage_retry = self._work.outage_retry()
        if not self._turn.is_mine():
            self.failure = self._turn.failure
            return ()
        self._asked.work_off()
        self._turn.watch.begin()
        with self._life.cycle() as finished:
            results = self._work.sync(
                self._asked.prune(), self._life.status.advance
            )
            finished(results)
        return results if self._turn.is_still_mine() else ()

    def _pause(self, seconds: float | None) -> service.Cycle | None:
        """Wait; return the cycle of the nodes that may have changed."""
        names = self._turn.pause(seconds)
        return functools.partial(self._changed, names) if names else None

    def _changed(self, names: Changed) -> Sequence[NodeResult]:
        """Do a cycle of these nodes; return the results of all nodes."""
        with self._life.part() as finished:
            results = self._work.sync_changed(names)
            finished(results)
        return self._life.status.results if self._turn.is_still_mine() else ()


class _FirstTree:
    """Prints the trees, once: after the first cycle that reached placement."""

    def __init__(
        self, out: typing.TextIO, agent: Agent, where: str, page: str
    ) -> None:
        self._page = page
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
        undone = sum(not r.is_settled for r in results)
        state = (
            f'{undone} of {len(nodes)} nodes not done' if undone else 'in step'
        )
        self._out.write(f'{state} with {self._where}; Ctrl-C stops it\n')
        if self._page:
            self._out.write(f'see it in a browser: {self._page}\n')
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
