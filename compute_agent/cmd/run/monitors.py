# SPDX-License-Identifier: Apache-2.0
"""The daemon's metrics and health, connected as the options say.

Without ``metrics_bind`` and ``metrics_textfile`` nothing is counted.
``run.py`` enters ``monitored`` once, before the first cycle.
"""

import contextlib
import functools
import importlib.metadata
import logging
import pathlib
import typing
from collections.abc import Callable, Iterator, Mapping

import prometheus_client
from oslo_config import cfg

from compute_agent.plan.operations import operations

from ... import errors, extras, forks
from ...monitoring import current, server, textfile
from ...monitoring.metrics import Metrics
from ...monitoring.values import address, health
from ...transport.watched import SENT
from ...virt.driver_calls import CALLS
from ...virt.drivers import Drivers
from ..control.node_states import NodeStates
from ..wiring.agent import Agent
from . import service_manager
from .lifetime import Lifetime

if typing.TYPE_CHECKING:
    from ..explore import daemon_page

LOG = logging.getLogger(__name__)

_FOR_PROGRAMS = frozenset({'/metrics', '/healthz', '/livez', '/readyz'})


@contextlib.contextmanager
def monitored(
    conf: cfg.ConfigOpts,
    agent: Agent,
    life: Lifetime,
    interval: Callable[[], float],
    states: NodeStates,
) -> Iterator[str]:
    """Serve metrics, health and page until the end; yield the page's URL.

    The address is empty without a page, or if no browser can open it.

    :param states: the nodes that the page shows
    :param interval: returns the seconds from one cycle to the next
    :raises errors.ConfigError: the address cannot be used
    """
    group = conf.compute_agent
    if not group.metrics_bind and not group.metrics_textfile:
        yield ''
        return
    page = ''
    with contextlib.ExitStack() as stack:
        metrics = _metrics(conf, agent, life, interval)
        stack.enter_context(SENT.watching(metrics.sent))
        stack.enter_context(CALLS.watching(metrics.called))
        if agent.sharing is not None:
            watched = agent.sharing.commits.watching(metrics.committed)
            stack.enter_context(watched)
        life.listeners.add(metrics)
        if group.metrics_bind:
            longest = _longest_cycle()
            bind = address.parse(group.metrics_bind)
            answers = server.Answers(
                metrics.registry,
                lambda: health.judge(life.status, interval(), longest),
                _Page(agent, life, states)
                if bind.is_local
                else server.no_pages,
            )
            serving = _serve(bind, answers)
            if bind.is_local and bind.path is None:
                page = f'http://{serving.where}/'
            stack.callback(serving.close)
            stack.enter_context(forks.closed_in_child(serving.fileno()))
        if group.metrics_textfile:
            file = textfile.TextFile(
                pathlib.Path(group.metrics_textfile),
                lambda: prometheus_client.generate_latest(metrics.registry),
            )
            file.start()
            stack.callback(file.close)
            life.listeners.add(file)
        yield page


class _Page:
    """The daemon's page; what makes it is imported when somebody asks."""

    def __init__(
        self, agent: Agent, life: Lifetime, states: NodeStates
    ) -> None:
        self._agent = agent
        self._life = life
        self._states = states

    def __call__(
        self, path: str, headers: Mapping[str, str]
    ) -> 'daemon_page.Answer | None':
        """Return the answer to a request; None if it is for no page."""
        if path.partition('?')[0] in _FOR_PROGRAMS:
            return None
        try:
            made = self._made
        except ImportError as exc:
            package = (exc.name or str(exc)).partition('.')[0]
            why = f'the page needs {package}: {extras.advice("explore")}\n'
            return 404, [('Content-Type', 'text/plain')], why.encode()
        return made.answer(path, headers)

    @functools.cached_property
    def _made(self) -> 'daemon_page.DaemonPage':
        from ..explore import daemon_page  # noqa: PLC0415 (an extra)

        return daemon_page.DaemonPage(
            self._life.status, self._states, self._agent.client.broken
        )


def _metrics(
    conf: cfg.ConfigOpts,
    agent: Agent,
    life: Lifetime,
    interval: Callable[[], float],
) -> Metrics:
    now = current.Current(
        life.status,
        breaker_is_open=lambda: bool(agent.client.broken()),
        interval=interval,
        names=conf.compute_agent.metrics_nodes,
        longest=_longest_cycle(),
        lease=None if agent.sharing is None else agent.sharing.membership,
        driver_values=DriverValues(agent.drivers),
    )
    made = Metrics(life.status, now)
    made.identify(
        importlib.metadata.version('compute-agent'),
        typing.get_args(operations.Operation),
    )
    return made


class DriverValues:
    """Asks the drivers for their numbers; a failure is said when it begins."""

    def __init__(self, every: Drivers) -> None:
        self._drivers = every
        self._said: dict[str, str] = {}

    def __call__(self) -> current.Values:
        """Return the numbers, by driver and name."""
        found: dict[tuple[str, str], float] = {}
        for one in self._drivers:
            try:
                given = one.metrics()
            except errors.AgentError as exc:
                if self._said.get(one.source) != str(exc):
                    LOG.warning('no metrics of the driver: %s', exc)
                self._said[one.source] = str(exc)
                continue
            self._said.pop(one.source, None)
            found |= {(one.called, k): float(v) for k, v in given.items()}
        return found


def _longest_cycle() -> float:
    """Return the seconds from which on a cycle hangs, for systemd too."""
    given = service_manager.cycle_time() / service_manager.MICROSECONDS
    return given or health.LONGEST


def _serve(
    bind: address.Address, answers: server.Answers
) -> server.MonitoringServer:
    """Return a server that answers at an address."""
    made = server.MonitoringServer(bind, answers)
    made.start()
    LOG.info('metrics and health at %s', made.where)
    if not bind.is_local:
        LOG.warning(
            '[compute_agent] metrics_bind: other hosts can read the metrics '
            'at %s, without a password; a firewall should let Prometheus only '
            'pass',
            made.where,
        )
    return made
