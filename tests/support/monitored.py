# SPDX-License-Identifier: Apache-2.0
"""An agent whose cycles are measured as the daemon's are, on a test's clock.

``Monitored(agent, placement, clock)`` counts the agent's cycles, its requests
and the calls of its driver. ``scrape()`` returns the samples as Prometheus
would store them.
"""

import collections.abc
import contextlib
import typing

import prometheus_client
from agents import Agent, Clock
from prometheus_client import parser

from compute_agent import errors
from compute_agent.cmd.control.node_states import Moment
from compute_agent.cmd.run import cycle_listeners, status
from compute_agent.monitoring import current, metrics
from compute_agent.monitoring.values import health
from compute_agent.plan.operations import operations
from compute_agent.testing import Placement
from compute_agent.transport import watched
from compute_agent.virt import driver_calls

INTERVAL = 60.0

# A sample's name and labels, as Prometheus writes them.
Samples: typing.TypeAlias = dict[str, float]


class Monitored:
    """The metrics of an agent, as the daemon has them.

    :param clock: the time of the cycles; it moves in the test's hands
    :param names: the largest number of nodes that are named
    :param lease: of the agent in its share, if it has one
    """

    def __init__(
        self,
        agent: Agent,
        clock: Clock,
        *,
        names: int = 0,
        lease: current.Lease | None = None,
    ) -> None:
        self.agent = agent
        self.clock = clock
        self.status = status.DaemonStatus(
            lambda: Moment(date=clock(), uptime=clock())
        )
        now = current.Current(
            self.status,
            breaker_is_open=lambda: bool(agent.client.broken()),
            interval=lambda: INTERVAL,
            names=names,
            lease=lease,
            driver_values=lambda: {('fake', 'fans'): 2.0},
        )
        self.metrics = metrics.Metrics(self.status, now, clock)
        self.metrics.identify('0', typing.get_args(operations.Operation))
        self.listeners = cycle_listeners.CycleListeners(
            [self.status, self.metrics]
        )

    @classmethod
    @contextlib.contextmanager
    def of(
        cls,
        agent: Agent,
        placement: Placement,
        clock: Clock,
        *,
        names: int = 0,
        lease: current.Lease | None = None,
    ) -> collections.abc.Iterator[typing.Self]:
        """Yield the metrics, which count requests and calls of drivers too."""
        made = cls(agent, clock, names=names, lease=lease)
        session = placement.session
        before = dict(session.adapters)
        for prefix, adapter in before.items():
            session.mount(prefix, watched.WatchedAdapter(adapter))
        try:
            with (
                watched.SENT.watching(made.metrics.sent),
                driver_calls.CALLS.watching(made.metrics.called),
            ):
                yield made
        finally:
            for prefix, adapter in before.items():
                session.mount(prefix, adapter)

    def cycle(self) -> None:
        """Run one cycle as the daemon does; an error is its result."""
        self.listeners.begin()
        try:
            results = self.agent.sync()
        except errors.AgentError as exc:
            self.listeners.fail(exc)
        else:
            self.listeners.end(results)

    def text(self) -> str:
        """Return the metrics as ``/metrics`` has them."""
        return prometheus_client.generate_latest(
            self.metrics.registry
        ).decode()

    def scrape(self) -> Samples:
        """Return the samples."""
        return samples(self.text())

    def health(self) -> health.Health:
        """Return the health as ``/healthz`` has it."""
        return health.judge(self.status, INTERVAL)


def samples(text: str) -> Samples:
    """Return the samples of a text in Prometheus' format."""
    return {
        name(one.name, one.labels): one.value
        for family in parser.text_string_to_metric_families(text)
        for one in family.samples
    }


def name(metric: str, labels: collections.abc.Mapping[str, str]) -> str:
    """Return a series as Prometheus writes it."""
    if not labels:
        return metric
    text = ','.join(f'{key}="{labels[key]}"' for key in sorted(labels))
    return f'{metric}{{{text}}}'
