# SPDX-License-Identifier: Apache-2.0
"""The daemon's metrics and health, connected as the options say.

Without ``metrics_bind`` and ``metrics_textfile`` nothing is counted.
``run.py`` enters ``monitored`` once, before the first cycle.
"""

import contextlib
import importlib.metadata
import logging
import pathlib
import typing
from collections.abc import Callable, Iterator

import prometheus_client
from oslo_config import cfg

from compute_agent.plan.operations import operations

from ... import forks
from ...monitoring import current, server, textfile
from ...monitoring.metrics import Metrics
from ...monitoring.values import address, health
from ...transport.watched import SENT
from ...virt.driver_calls import CALLS
from ..wiring.agent import Agent
from . import service_manager
from .lifetime import Lifetime

LOG = logging.getLogger(__name__)


@contextlib.contextmanager
def monitored(
    conf: cfg.ConfigOpts,
    agent: Agent,
    life: Lifetime,
    interval: Callable[[], float],
) -> Iterator[None]:
    """Count and answer until the context ends.

    :param interval: returns the seconds from one cycle to the next
    :raises errors.ConfigError: the address cannot be used
    """
    group = conf.compute_agent
    if not group.metrics_bind and not group.metrics_textfile:
        yield
        return
    with contextlib.ExitStack() as stack:
        metrics = _metrics(conf, agent, life, interval)
        stack.enter_context(SENT.watching(metrics.sent))
        stack.enter_context(CALLS.watching(metrics.called))
        if agent.sharing is not None:
            from ...fleet import shared_record  # noqa: PLC0415 (needs "fleet")

            watched = shared_record.COMMITS.watching(metrics.committed)
            stack.enter_context(watched)
        life.listeners.add(metrics)
        if group.metrics_bind:
            longest = _longest_cycle()
            answers = server.Answers(
                metrics.registry,
                lambda: health.judge(life.status, interval(), longest),
            )
            serving = _serve(group.metrics_bind, answers)
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
        yield


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
    )
    made = Metrics(life.status, now)
    made.identify(
        importlib.metadata.version('compute-agent'),
        typing.get_args(operations.Operation),
    )
    return made


def _longest_cycle() -> float:
    """Return the seconds from which on a cycle hangs, for systemd too."""
    given = service_manager.cycle_time() / service_manager.MICROSECONDS
    return given or health.LONGEST


def _serve(text: str, answers: server.Answers) -> server.MonitoringServer:
    """Return a server that answers at an address."""
    bind = address.parse(text)
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
