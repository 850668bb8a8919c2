# SPDX-License-Identifier: Apache-2.0
"""The state of the daemon as data, for ``compute-agent status``.

``answers.py`` sends it; ``status_view.py`` prints it. Dates are texts in UTC,
and beside each is an age in seconds by the daemon's clock, so that a command
compares no clocks.
"""

import importlib.metadata
import os
import typing
from collections.abc import Callable, Sequence

from report_client.plan import render

from ... import error_text
from ...cycle.node import node_result
from ...cycle.node.node_result import NodeResult, Status
from ...limits import contended
from ...monitoring.values import health
from ...tree import node
from ..plan import waiting
from .node_states import Moment, NodeState, NodeStates

Data = dict[str, typing.Any]

# The code that runs, also after an upgrade of the package beside it.
_VERSION = importlib.metadata.version('compute-agent')


class Cycle(health.FinishedCycle, typing.Protocol):
    """A cycle that finished."""

    @property
    def results(self) -> Sequence[NodeResult]:
        """The result of each node; empty if the cycle could not begin."""


class Progress(typing.Protocol):
    """The progress of a cycle that runs."""

    @property
    def nodes(self) -> int:
        """The number of its nodes."""

    @property
    def done(self) -> int:
        """The number of nodes that it has finished."""

    @property
    def writes(self) -> int:
        """The number of writes to placement for these."""

    @property
    def seconds(self) -> float:
        """The seconds since it finished its first node."""


class Daemon(health.Cycles, typing.Protocol):
    """The daemon's cycles, as ``run`` notes them."""

    @property
    def progress(self) -> Progress | None:
        """The progress of the running cycle; None before its first node."""

    @property
    def last(self) -> Cycle | None:
        """The last cycle that finished."""


def of(
    daemon: Daemon,
    states: NodeStates,
    breaker: Callable[[], str],
    nodes: Sequence[str],
) -> Data:
    """Return the state of the daemon, and of each of these nodes.

    :param breaker: returns why the circuit breaker is open, or empty
    :param nodes: names, uuids or titles, whose details are added; empty for
        all nodes
    :raises errors.ConfigError: there is no such node
    """
    known = states.nodes
    chosen = _chosen(states, nodes)
    held = held_data(states, ())
    return {
        'version': _VERSION,
        'process': os.getpid(),
        'since': error_text.moment(daemon.started),
        'runs_for': daemon.age(),
        'cycle': _cycle(daemon, states),
        'running_since': date(daemon.running_since),
        'progress': progress(daemon),
        'last_good': date(daemon.last_good),
        'outage': _outage(states),
        'circuit_breaker': breaker(),
        'held': held if held['changes'] else None,
        'counts': node_result.counts(s.result for s in known.values()),
        'nodes': [_node(each, states, whole=bool(nodes)) for each in chosen],
    }


def waiting_changes(
    states: NodeStates, nodes: Sequence[str]
) -> list[waiting.Waiting]:
    """Return the changes that wait for a person.

    :param nodes: names, uuids or titles; empty for all nodes
    :raises errors.ConfigError: there is no such node
    """
    return waiting.of(
        state.planned
        for state in _chosen(states, nodes)
        if state.held and state.planned is not None
    )


def held_data(states: NodeStates, nodes: Sequence[str]) -> Data:
    """Return the changes that wait for a person, with their digests.

    :param nodes: as for ``waiting_changes``
    """
    ended = states.ended
    found: Data = {
        'since': None,
        'age': None,
        'cycle_age': None if ended is None else states.age(ended),
    }
    moments = [
        moment
        for state in _chosen(states, nodes)
        for moment in state.held.values()
    ]
    if moments:
        oldest = min(moments, key=lambda moment: moment.uptime)
        found |= {
            'since': error_text.moment(oldest.date),
            'age': states.age(oldest),
        }
    return found | waiting.data(waiting_changes(states, nodes))


def _chosen(states: NodeStates, nodes: Sequence[str]) -> list[NodeState]:
    by_node = {state.result.node: state for state in states.nodes.values()}
    return [by_node[each] for each in node.selected(by_node, nodes)]


def _cycle(daemon: Daemon, states: NodeStates) -> Data | None:
    last, ended = daemon.last, states.ended
    if last is None or ended is None:
        return None
    return {
        'began': error_text.moment(last.began),
        'seconds': last.seconds,
        'age': states.age(ended),
        'trouble': last.trouble,
        'counts': node_result.counts(last.results),
        'operations': sum(len(result.applied) for result in last.results),
    }


def progress(daemon: Daemon) -> Data | None:
    """Return how far the cycle that runs is; None before its first node.

    The rate is in nodes per second.
    """
    found = daemon.progress
    if found is None:
        return None
    after_first = found.done - 1
    is_known = after_first > 0 and found.seconds > 0
    rate = after_first / found.seconds if is_known else None
    return {
        'nodes': found.nodes,
        'done': found.done,
        'writes': found.writes,
        'rate': rate,
        'remaining': None
        if rate is None
        else (found.nodes - found.done) / rate,
    }


def _outage(states: NodeStates) -> Data | None:
    outage = states.outage
    if outage is None:
        return None
    return {
        'since': error_text.moment(outage.since.date),
        'age': states.age(outage.since),
        'reason': outage.reason,
    }


def _node(state: NodeState, states: NodeStates, *, whole: bool) -> Data:
    result = state.result
    found = {
        'node': result.node.called,
        'uuid': result.node.uuid,
        'status': result.status.value,
        'reason': result.node.shortened(_reason(result)),
        'done': _moment(state.done),
        'done_age': None if state.done is None else states.age(state.done),
        'again': _moment(state.again),
        'again_in': None
        if state.again is None
        else max(0.0, -states.age(state.again)),
        'held': len(state.held),
        'contended': len(state.planned.contended) if state.planned else 0,
    }
    return found | _details(state) if whole else found


def _reason(result: NodeResult) -> str:
    """Return why a node is not done, or not in the driver's list."""
    notes = result.notes if result.status is Status.LEFT else ()
    return '; '.join(filter(None, [result.reason, *notes]))


def _details(state: NodeState) -> Data:
    """Return the details of a node."""
    result, planned = state.result, state.planned
    made = planned.plan if planned else None
    before = made.before if made else {}
    items = planned.contended if planned else ()
    return {
        'notes': list(result.notes),
        'contended_items': [contended.line(each, before) for each in items],
        'held_changes': [
            each.text
            for each in (node_result.held_changes(planned) if planned else ())
        ],
        'operations': [render.line(op) for op in result.applied],
        'not_made': [
            render.line(op)
            for op in (made.operations if made else ())
            if op not in result.applied
        ],
    }


def _moment(moment: Moment | None) -> str | None:
    return None if moment is None else error_text.moment(moment.date)


def date(seconds: float | None) -> str | None:
    """Return a date as a text; None stays None."""
    return None if seconds is None else error_text.moment(seconds)
