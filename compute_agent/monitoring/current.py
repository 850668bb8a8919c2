# SPDX-License-Identifier: Apache-2.0
"""The metrics that have one value now: the nodes of the last cycle, the times.

``Nodes`` is a value that is replaced as a whole after each cycle, so a scrape
in the middle of a cycle sees the last one. Names of nodes are in it only if
the operator asks for them, and of no more nodes than the option says.
"""

import dataclasses
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from prometheus_client import metrics_core, registry

from ..cycle.node.node_result import Status
from ..limits import approval, contention
from .state import Cycles, NodeResult

_PREFIX = 'compute_agent_'

Gauge = metrics_core.GaugeMetricFamily


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """The items of a node that its last plan left for a person."""

    contended: Collection[contention.Item] = ()
    held: Collection[approval.Subject] = ()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Nodes:
    """The nodes as the last cycle that had any left them.

    :ivar states: the number of nodes in each state
    :ivar successes: when each node was last done, by uuid; for a node that was
        not done yet, when it was first seen, or the daemon's start
    :ivar planned: by uuid
    :ivar named: the name, the state and the last success of the nodes that are
        named
    :ivar unnamed: the number of nodes beyond the limit of names
    """

    states: Mapping[Status, int] = dataclasses.field(default_factory=dict)
    successes: Mapping[str, float] = dataclasses.field(default_factory=dict)
    named: Sequence[tuple[str, Status, float]] = ()
    unnamed: int = 0
    planned: Mapping[str, Planned] = dataclasses.field(default_factory=dict)
    contended: int = 0
    backed_off_nodes: int = 0
    backed_off: int = 0
    held: Mapping[approval.Kind, int] = dataclasses.field(default_factory=dict)


class Current(registry.Collector):
    """Collects the values of this moment.

    :param breaker_is_open: returns True while the circuit breaker is open
    :param interval: returns the seconds from one cycle to the next
    :param names: the largest number of nodes that are named
    """

    def __init__(
        self,
        cycles: Cycles,
        *,
        breaker_is_open: Callable[[], bool],
        interval: Callable[[], float],
        names: int,
    ) -> None:
        self._cycles = cycles
        self._breaker_is_open = breaker_is_open
        self._interval = interval
        self._names = names
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
                (one.node.name, one.status, successes[one.node.uuid])
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
            if result.status is Status.DONE
            else last.get(result.node.uuid, first)
            for result in results
        }

    def _planned(self, results: Sequence[NodeResult]) -> dict[str, Planned]:
        """Return what the last plan of each node left, by uuid.

        An outage plans nothing, so what waited before it still waits.
        """
        last = self._nodes.planned
        return {
            result.node.uuid: last.get(result.node.uuid, Planned())
            if result.plan is None
            else Planned(contended=result.contended, held=result.held)
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

    def _times(self) -> Iterator[Gauge]:
        cycles, last = self._cycles, self._cycles.last
        yield _one(
            'start_time_seconds',
            'Time when the daemon started, in seconds since the epoch.',
            cycles.started,
        )
        yield _one(
            'last_success_timestamp_seconds',
            'Time when a cycle last finished in which placement and the '
            'drivers could be asked, in seconds since the epoch; 0 before the '
            'first.',
            cycles.last_good or 0.0,
        )
        yield _one(
            'last_cycle_timestamp_seconds',
            'Time when the last cycle finished, whatever its result, in '
            'seconds since the epoch; 0 before the first.',
            last.ended if last else 0.0,
        )
        yield _one(
            'cycle_start_timestamp_seconds',
            'Time when the cycle that runs now began, in seconds since the '
            'epoch; 0 between two cycles.',
            cycles.running_since or 0.0,
        )

    def _states(self) -> Iterator[Gauge]:
        last = self._cycles.last
        yield _one(
            'cycle_interval_seconds',
            'Seconds from one cycle to the next (update_resources_interval).',
            self._interval(),
        )
        yield _one(
            'outage',
            '1 if the last cycle could not ask placement or the drivers.',
            float(bool(last and last.trouble)),
        )
        yield _one(
            'circuit_breaker_open',
            '1 while no write begins because placement answers 500 for '
            'several providers in a row.',
            float(self._breaker_is_open()),
        )


def _of_nodes(nodes: Nodes) -> Iterator[Gauge]:
    yield _by(
        'nodes',
        'Nodes by their state after the last cycle.',
        'state',
        {state.value: nodes.states.get(state, 0) for state in Status},
    )
    if nodes.successes:
        yield _one(
            'nodes_oldest_success_timestamp_seconds',
            'Time when the node that has not been done for longest was last '
            'done, in seconds since the epoch. For a node that was not done '
            "yet, the daemon's start; or its first cycle, if it came later.",
            min(nodes.successes.values()),
        )


def _waiting(nodes: Nodes) -> Iterator[Gauge]:
    yield _one(
        'contended_items',
        'Names that the agent leaves alone because another writer keeps '
        'undoing its changes.',
        nodes.contended,
    )
    yield _one(
        'backoff_nodes',
        'Nodes with operations that placement refused and that wait.',
        nodes.backed_off_nodes,
    )
    yield _one(
        'backoff_operations',
        'Operations that placement refused and that wait.',
        nodes.backed_off,
    )
    yield _by(
        'held_changes',
        'Changes that a limit holds back until a person approves them.',
        'kind',
        {kind.value: nodes.held.get(kind, 0) for kind in approval.Kind},
    )


def _named(nodes: Nodes) -> Iterator[Gauge]:
    success = Gauge(
        f'{_PREFIX}node_last_success_timestamp_seconds',
        'Time when the node was last done, in seconds since the epoch. If it '
        "was not done yet, the daemon's start; or its first cycle, if it came "
        'later. Only with metrics_nodes.',
        labels=['node'],
    )
    state = Gauge(
        f'{_PREFIX}node_state',
        '1 for the state of the node after the last cycle. Only with '
        'metrics_nodes.',
        labels=['node', 'state'],
    )
    for name, status, done in nodes.named:
        success.add_metric([name], done)
        state.add_metric([name, status.value], 1)
    yield success
    yield state
    yield _one(
        'unnamed_nodes',
        'Nodes without a name in the metrics because metrics_nodes is lower '
        'than their number. Only with metrics_nodes.',
        nodes.unnamed,
    )


def _one(name: str, text: str, value: float) -> Gauge:
    return Gauge(f'{_PREFIX}{name}', text, value=value)


def _by(
    name: str, text: str, label: str, values: Mapping[str, float]
) -> Gauge:
    made = Gauge(f'{_PREFIX}{name}', text, labels=[label])
    for key, value in values.items():
        made.add_metric([key], value)
    return made
