# SPDX-License-Identifier: Apache-2.0
"""The daemon's metrics, in a registry of their own.

``Metrics`` is a listener of the daemon's cycles, and is told of each request
and of each call of a driver. All names begin with ``compute_agent_``, also
those of the process: node_exporter has its own process metrics, and refuses a
file with the same names. ``docs/monitoring.md`` lists the metrics.
"""

import itertools
import platform
import time
from collections.abc import Callable, Collection, Sequence

import prometheus_client

from .. import errors
from ..plan import removal
from ..transport.watched import Sent
from ..tree import assertion
from ..virt.driver_calls import Call
from . import current, routes, tally
from .state import Cycles, NodeResult

NAMESPACE = 'compute_agent'
CYCLE_BUCKETS = (0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900)
CALL_BUCKETS = (0.001, 0.01, 0.05, 0.1, 0.5, 1, 5, 30, 120)
OUTCOMES = ('good', 'outage', 'error')


class Metrics:
    """The metrics of one daemon; threads may share it.

    :param cycles: the daemon's status, which hears of each cycle first
    :param now: the values that are collected at each scrape
    :param clock: seconds since the epoch
    :ivar registry: for ``prometheus_client.generate_latest``
    """

    def __init__(
        self,
        cycles: Cycles,
        now: current.Current,
        clock: Callable[[], float] = time.time,
    ) -> None:
        # The time when a counter was made would double the number of series.
        prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]
        self._cycles = cycles
        self._current = now
        self._clock = clock
        self._drift = tally.Drift()
        self.registry = prometheus_client.CollectorRegistry()
        self.registry.register(now)
        prometheus_client.ProcessCollector(NAMESPACE, registry=self.registry)
        self._make_cycles()
        self._make_changes()
        self._make_calls()

    def identify(self, version: str, write_kinds: Collection[type]) -> None:
        """Give the version, and each kind of write its count from 0.

        :param write_kinds: the classes of operations
        """
        info = prometheus_client.Gauge(
            'build_info',
            'The version of the agent and of its Python; always 1.',
            ['version', 'python'],
            namespace=NAMESPACE,
            registry=self.registry,
        )
        info.labels(version, platform.python_version()).set(1)
        for kind in write_kinds:
            self._writes.labels(tally.write_kind(kind))

    # --- a listener of cycles -------------------------------------------------

    def begin(self) -> None:
        """Do nothing: the status says when a cycle began."""

    def end(self, results: Sequence[NodeResult]) -> None:
        """Count what a finished cycle did."""
        last = self._cycles.last
        self._finish('outage' if last and last.trouble else 'good')
        for kind, count in tally.writes(results).items():
            self._writes.labels(kind).inc(count)
        for labels, count in tally.removals(results).items():
            self._removals.labels(*labels).inc(count)
        self._conflicts.inc(sum(result.conflicts for result in results))
        found, restored = self._drift.end_cycle(results)
        for kind, count in found.items():
            self._drift_found.labels(kind).inc(count)
        for kind, count in restored.items():
            self._drift_restored.labels(kind).inc(count)
        self._current.end_cycle(results, self._clock())

    def fail(self, exc: BaseException) -> None:
        """Count a cycle that had no results."""
        away = isinstance(exc, errors.Unavailable)
        self._finish('outage' if away else 'error')

    def _finish(self, outcome: str) -> None:
        last = self._cycles.last
        self._durations.labels(outcome).observe(last.seconds if last else 0.0)

    # --- single calls -----------------------------------------------------------

    def sent(self, request: Sent) -> None:
        """Count a request."""
        route = routes.route(request.path)
        self._requests.labels(
            route.service,
            routes.method(request.method),
            route.template,
            routes.code(request.status),
        ).inc()
        self._request_seconds.labels(route.service).observe(request.seconds)

    def called(self, call: Call) -> None:
        """Note the time of a call of a driver."""
        self._driver_seconds.labels(call.driver, call.call).observe(
            call.seconds
        )

    # --- the metrics ------------------------------------------------------------

    def _make_cycles(self) -> None:
        self._durations = self._histogram(
            'cycle_duration_seconds',
            'Time that a cycle took. Its outcome is good, outage (placement '
            'or the drivers could not be asked) or error.',
            ['outcome'],
            CYCLE_BUCKETS,
        )
        for outcome in OUTCOMES:
            self._durations.labels(outcome)
        self._conflicts = self._counter(
            'conflicts',
            'Plans that were made again because another writer changed a '
            'provider meanwhile.',
        )

    def _make_changes(self) -> None:
        """Make the counters of what cycles change, each from 0."""
        self._writes = self._counter(
            'writes', 'Writes that placement carried out.', ['kind']
        )
        self._removals = self._counter(
            'removals',
            'Names and providers that were removed from placement.',
            ['kind', 'cause'],
        )
        self._drift_found = self._counter(
            'drift_found',
            'Changes by other writers that the agent found and undoes.',
            ['kind'],
        )
        self._drift_restored = self._counter(
            'drift_restored',
            'Changes by other writers that the agent undid.',
            ['kind'],
        )
        kinds = [kind.value for kind in assertion.Kind]
        causes = [reason.value for reason in removal.Reason]
        for kind, cause in itertools.product([*kinds, tally.PROVIDER], causes):
            self._removals.labels(kind, cause)
        for kind in kinds:
            self._drift_found.labels(kind)
            self._drift_restored.labels(kind)

    def _make_calls(self) -> None:
        self._requests = self._counter(
            'requests',
            'Requests that were sent, also those for tokens and those that '
            'were repeated; the code is none if there was no answer.',
            ['service', 'method', 'route', 'code'],
        )
        self._request_seconds = self._histogram(
            'request_duration_seconds',
            'Time until the answer to a request began.',
            ['service'],
            CALL_BUCKETS,
        )
        self._driver_seconds = self._histogram(
            'driver_call_duration_seconds',
            'Time that a driver took to list its nodes, to give the facts of '
            'a node, or to describe it.',
            ['driver', 'call'],
            CALL_BUCKETS,
        )

    def _counter(
        self, name: str, text: str, labels: Sequence[str] = ()
    ) -> prometheus_client.Counter:
        return prometheus_client.Counter(
            name, text, labels, namespace=NAMESPACE, registry=self.registry
        )

    def _histogram(
        self,
        name: str,
        text: str,
        labels: Sequence[str],
        buckets: Sequence[float],
    ) -> prometheus_client.Histogram:
        return prometheus_client.Histogram(
            name,
            text,
            labels,
            namespace=NAMESPACE,
            registry=self.registry,
            buckets=buckets,
        )
