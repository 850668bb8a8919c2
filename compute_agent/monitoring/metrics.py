# SPDX-License-Identifier: Apache-2.0
"""The daemon's metrics, in a registry of their own.

``Metrics`` is a listener of the daemon's cycles, and is told of each request
and of each call of a driver. All names begin with ``compute_agent_``, also
those of the process: node_exporter has its own process metrics, and refuses a
file with the same names. ``declared_metrics.py`` declares the metrics.
"""

import itertools
import platform
import time
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

import prometheus_client

from .. import errors
from ..cycle.node.node_result import NodeResult
from ..transport.watched import Sent
from ..virt.driver_calls import Call
from . import current
from .values import declared_metrics, routes, tally
from .values.declared_metrics import NAMESPACE, Family
from .values.health import Cycles

_M = TypeVar('_M', bound=prometheus_client.metrics.MetricWrapperBase)


class Metrics:
    """The metrics of one daemon; threads may share it.

    :param cycles: the daemon's status, which hears of each cycle first
    :param now: the values that are collected at each scrape
    :param clock: seconds since the epoch
    :ivar committed: notes the time of a commit to the shared record
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
        self.committed: Callable[[float], object] = bool
        self.registry = prometheus_client.CollectorRegistry()
        self.registry.register(now)
        prometheus_client.ProcessCollector(NAMESPACE, registry=self.registry)
        self._make_cycles()
        self._make_changes()
        self._make_calls()
        if now.lease is not None:
            made = self._histogram(declared_metrics.COMMIT_DURATION)
            self.committed = made.observe

    def identify(self, version: str, write_kinds: Collection[type]) -> None:
        """Give the version, and each kind of write its count from 0.

        :param write_kinds: the classes of operations
        """
        info = self._make(prometheus_client.Gauge, declared_metrics.BUILD_INFO)
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
        self._count(results)

    def part_ended(self, results: Sequence[NodeResult]) -> None:
        """Count the writes of a cycle of some nodes, but not the cycle."""
        self._count(results)

    def fail(self, exc: BaseException) -> None:
        """Count a cycle that had no results."""
        away = isinstance(exc, errors.Unavailable)
        self._finish('outage' if away else 'error')

    def _count(self, results: Sequence[NodeResult]) -> None:
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

    def _finish(self, outcome: str) -> None:
        last = self._cycles.last
        self._durations.labels(outcome).observe(last.seconds if last else 0.0)

    # --- single calls -----------------------------------------------------------

    def sent(self, request: Sent) -> None:
        """Count a request."""
        route = routes.route(request.path, request.service)
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
        self._durations = self._histogram(declared_metrics.CYCLE_DURATION)
        for outcome in declared_metrics.OUTCOMES:
            self._durations.labels(outcome)
        self._conflicts = self._counter(declared_metrics.CONFLICTS)

    def _make_changes(self) -> None:
        """Make the counters of what cycles change, each from 0."""
        self._writes = self._counter(declared_metrics.WRITES)
        self._removals = self._counter(declared_metrics.REMOVALS)
        self._drift_found = self._counter(declared_metrics.DRIFT_FOUND)
        self._drift_restored = self._counter(declared_metrics.DRIFT_RESTORED)
        for kind, cause in itertools.product(
            declared_metrics.REMOVED, declared_metrics.CAUSES
        ):
            self._removals.labels(kind, cause)
        for kind in declared_metrics.KINDS:
            self._drift_found.labels(kind)
            self._drift_restored.labels(kind)

    def _make_calls(self) -> None:
        self._requests = self._counter(declared_metrics.REQUESTS)
        self._request_seconds = self._histogram(
            declared_metrics.REQUEST_DURATION
        )
        self._driver_seconds = self._histogram(
            declared_metrics.DRIVER_DURATION
        )

    def _counter(self, one: Family) -> prometheus_client.Counter:
        return self._make(prometheus_client.Counter, one)

    def _histogram(self, one: Family) -> prometheus_client.Histogram:
        return self._make(
            prometheus_client.Histogram, one, buckets=one.buckets
        )

    def _make(self, kind: type[_M], one: Family, **options: Any) -> _M:
        return kind(
            one.name,
            one.text,
            list(one.labels),
            namespace=NAMESPACE,
            registry=self.registry,
            **options,
        )
