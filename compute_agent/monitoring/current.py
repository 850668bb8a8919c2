# SPDX-License-Identifier: Apache-2.0
"""The metrics that have one value now: the nodes of the last cycle, the times.

``Nodes`` is a value that is replaced as a whole after each cycle, so a scrape
in the middle of a cycle sees the last one. Names of nodes are in it only if
the operator asks for them, and of no more nodes than the option says.
"""

import dataclasses
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Protocol

from prometheus_client import metrics_core, registry

from ..cycle.node.node_result import NodeResult, Status
from ..limits import approval, contention
from ..tree.set_aside import Cause
from .values import declared_metrics, health
from .values.declared_metrics import Family
from .values.health import Cycles

Gauge = metrics_core.GaugeMetricFamily


# The numbers that drivers give, by driver and name.
Values = Mapping[tuple[str, str], float]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """The items of a node that its last plan left for a person.

    :ivar set_aside: the reason for each provider that a driver set aside
    """

    contended: Collection[contention.Item] = ()
    held: Collection[approval.Subject] = ()
    set_aside: Collection[Cause] = ()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Nodes:
    """The nodes as the last cycle that had any left them.

    :ivar states: the number of nodes in each state
    :ivar successes: when each node was last done, by uuid; for a node that was
        not done yet, when it was first seen, or the daemon's start; without
        those that left the driver's list
    :ivar planned: the last planned result of each node, by uuid
    :ivar named: the name, the state and the last success of the nodes that are
        named
    :ivar unnamed: the number of nodes beyond the limit of names
    """

    states: Mapping[Status, int] = dataclasses.field(default_factory=dict)
    successes: Mapping[str, float] = dataclasses.field(default_factory=dict)
    named: Sequence[tuple[str, Status, float | None]] = ()
    unnamed: int = 0
    planned: Mapping[str, Planned] = dataclasses.field(default_factory=dict)
    contended: int = 0
    backed_off_nodes: int = 0
    backed_off: int = 0
    held: Mapping[approval.Kind, int] = dataclasses.field(default_factory=dict)
    set_aside: Mapping[Cause, int] = dataclasses.field(default_factory=dict)
    driver_values: Values = dataclasses.field(default_factory=dict)


class Lease(Protocol):
    """An agent's part in its share; ``fleet/membership.py`` has it."""

    share: str
    take_overs: int
    behind: int

    @property
    def away(self) -> Exception | None:
        """The reason why the shared database cannot be used; None if it can."""

    @property
    def epoch(self) -> int | None:
        """The epoch of the lease that this agent holds; None for a standby."""

    @property
    def beat_age(self) -> float:
        """The seconds since the last beat."""


class Current(registry.Collector):
    """Collects the values of this moment.

    :param breaker_is_open: returns True while the circuit breaker is open
    :param interval: returns the seconds from one cycle to the next
    :param names: the largest number of nodes that are named
    :param longest: the seconds after which a cycle counts as hanging
    :param driver_values: returns the numbers of the drivers, by driver and name
    :ivar lease: None for an agent that shares its nodes with no other
    """

    def __init__(
        self,
        cycles: Cycles,
        *,
        breaker_is_open: Callable[[], bool],
        interval: Callable[[], float],
        names: int,
        longest: float = health.LONGEST,
        lease: Lease | None = None,
        driver_values: Callable[[], Values] = dict,
    ) -> None:
        self.lease = lease
        self._driver_values = driver_values
        self._cycles = cycles
        self._breaker_is_open = breaker_is_open
        self._interval = interval
        self._names = names
        self._longest = longest
        self._nodes = Nodes()
        self._is_first = True

    def end_cycle(self, results: Sequence[NodeResult], now: float) -> None:
        """Note the nodes after a cycle."""
        successes = self._successes(results, now)
        self._is_first = False
        planned = self._planned(results)
        by_name = {result.node.name: result for result in results}
        chosen = sorted(by_name)[: self._names]
        self._nodes = Nodes(
            states=Counter(result.status for result in results),
            successes=successes,
            named=[
                (one.node.name, one.status, successes.get(one.node.uuid))
                for one in map(by_name.__getitem__, chosen)
            ],
            unnamed=len(by_name) - len(chosen),
            planned=planned,
            contended=sum(len(one.contended) for one in planned.values()),
            backed_off_nodes=sum(result.backed_off > 0 for result in results),
            backed_off=sum(result.backed_off for result in results),
            held=Counter(
                change.kind for one in planned.values() for change in one.held
            ),
            set_aside=Counter(
                cause for one in planned.values() for cause in one.set_aside
            ),
            driver_values=self._driver_values(),
        )

    def _successes(
        self, results: Sequence[NodeResult], now: float
    ) -> dict[str, float]:
        """Return when each node was last done, by uuid.

        A node that is new to a running daemon counts from its first cycle:
        before, there was nothing to do.
        """
        last = self._nodes.successes
        first = self._cycles.started if self._is_first else now
        return {
            result.node.uuid: now
            if result.status is Status.DONE and not result.untried
            else last.get(result.node.uuid, first)
            for result in results
            if result.status is not Status.LEFT
        }

    def _planned(self, results: Sequence[NodeResult]) -> dict[str, Planned]:
        """Return what the last plan of each node left, by uuid.

        A node without a plan in this cycle keeps what its last plan left waiting.
        """
        last = self._nodes.planned
        return {
            result.node.uuid: last.get(result.node.uuid, Planned())
            if result.plan is None and not result.held
            else Planned(
                contended=result.contended,
                held=result.held,
                set_aside=_causes(result),
            )
            for result in results
        }

    def collect(self) -> Iterator[metrics_core.Metric]:
        """Yield the metrics."""
        nodes = self._nodes
        yield from self._times()
        yield from self._states()
        yield from _of_nodes(nodes)
        yield from _waiting(nodes)
        if self._names:
            yield from _named(nodes)
        if self.lease is not None:
            yield from _of_lease(self.lease)

    def _times(self) -> Iterator[Gauge]:
        cycles, last = self._cycles, self._cycles.last
        yield _one(declared_metrics.START_TIME, cycles.started)
        yield _one(declared_metrics.LAST_SUCCESS, cycles.last_good or 0.0)
        yield _one(declared_metrics.LAST_CYCLE, last.ended if last else 0.0)
        yield _one(declared_metrics.CYCLE_START, cycles.running_since or 0.0)

    def _states(self) -> Iterator[Gauge]:
        last = self._cycles.last
        yield _one(declared_metrics.CYCLE_INTERVAL, self._interval())
        yield _one(declared_metrics.CYCLE_LIMIT, self._longest)
        yield _one(declared_metrics.OUTAGE, float(bool(last and last.trouble)))
        yield _one(declared_metrics.BREAKER, float(self._breaker_is_open()))


def _of_lease(lease: Lease) -> Iterator[metrics_core.Metric]:
    epoch, share = lease.epoch, lease.share
    yield _by(declared_metrics.LEASE_HELD, {share: float(epoch is not None)})
    yield _by(declared_metrics.LEASE_EPOCH, {share: epoch or 0})
    yield _by(declared_metrics.BEAT_AGE, {share: lease.beat_age})
    yield _by(declared_metrics.DATABASE_UP, {share: float(not lease.away)})
    yield _by(declared_metrics.RECORD_BEHIND, {share: lease.behind})
    one = declared_metrics.LEASE_TAKE_OVERS
    taken = metrics_core.CounterMetricFamily(
        f'{declared_metrics.NAMESPACE}_{one.name}', one.text, labels=['share']
    )
    taken.add_metric([share], lease.take_overs)
    yield taken


def _of_nodes(nodes: Nodes) -> Iterator[Gauge]:
    states = {state.value: nodes.states.get(state, 0) for state in Status}
    yield _by(declared_metrics.BY_STATE, states)
    if nodes.successes:
        yield _one(
            declared_metrics.OLDEST_SUCCESS, min(nodes.successes.values())
        )


def _causes(result: NodeResult) -> tuple[Cause, ...]:
    """Return why a driver set providers of a node aside, one for each."""
    found = result.plan.set_aside.values() if result.plan else ()
    return tuple(one.cause for one in found)


def _waiting(nodes: Nodes) -> Iterator[Gauge]:
    yield _one(declared_metrics.CONTENDED, nodes.contended)
    yield _one(declared_metrics.BACKOFF_NODES, nodes.backed_off_nodes)
    yield _one(declared_metrics.BACKOFF_OPERATIONS, nodes.backed_off)
    held = {kind.value: nodes.held.get(kind, 0) for kind in approval.Kind}
    yield _by(declared_metrics.HELD_CHANGES, held)
    aside = {c.value: nodes.set_aside.get(c, 0) for c in Cause}
    yield _by(declared_metrics.SET_ASIDE, aside)
    given = _gauge(declared_metrics.DRIVER_VALUE)
    for labels, value in nodes.driver_values.items():
        given.add_metric(labels, value)
    yield given


def _named(nodes: Nodes) -> Iterator[Gauge]:
    success = _gauge(declared_metrics.NODE_SUCCESS)
    state = _gauge(declared_metrics.NODE_STATE)
    for name, status, done in nodes.named:
        if done is not None:
            success.add_metric([name], done)
        state.add_metric([name, status.value], 1)
    yield success
    yield state
    yield _one(declared_metrics.UNNAMED, nodes.unnamed)


def _gauge(one: Family) -> Gauge:
    return Gauge(one.full_name, one.text, labels=list(one.labels))


def _one(one: Family, value: float) -> Gauge:
    return Gauge(one.full_name, one.text, value=value)


def _by(one: Family, values: Mapping[str, float]) -> Gauge:
    made = _gauge(one)
    for key, value in values.items():
        made.add_metric([key], value)
    return made
