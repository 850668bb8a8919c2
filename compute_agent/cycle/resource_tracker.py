# SPDX-License-Identifier: Apache-2.0
"""One cycle over all nodes: observe, describe, plan and, if asked to, apply.

A node's failure is that node's result. An outage that keeps even the list from
being read is raised; one in the middle ends the nodes that are left. Trees go
side by side in a bounded pool of threads (``node_cycle.py``); what removes
something waits until the removals of all are judged (``limits/blast_radius.py``). It
does no HTTP and no SQL: both come to it as Protocols.
"""

import dataclasses
import functools
import time
from collections.abc import Callable, Sequence
from typing import Any

from .. import errors, parallel
from ..limits import blast_radius
from ..limits.backoff import BackOff
from ..limits.contention import Contention, Turn
from ..ownership import orphans
from ..tree.node import Node
from . import (
    departed_nodes,
    node_cycle,
    node_list,
    node_planner,
    node_result,
    report_client,
)
from .node_result import NodeResult, Status

__all__ = ['Control', 'NodeResult', 'Progress', 'ResourceTracker', 'Status']

# Called with the number of nodes there are, each time one of them is finished.
Progress = Callable[[int], object]


def _back_off() -> BackOff:
    return BackOff(time.monotonic)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """What keeps cycles from doing too much, or the same thing for ever.

    :ivar limits: asked in each cycle; None for no limit: a person agreed
    """

    limits: Callable[[], blast_radius.Limits | None] = blast_radius.Limits
    back_off: BackOff = dataclasses.field(default_factory=_back_off)
    contention: Contention = dataclasses.field(default_factory=Contention)


class ResourceTracker:
    """Keeps placement in step with one driver's nodes.

    :param nodes: which they are
    :param gone: tells which nodes left the driver's list
    :param workers: how many nodes are worked on at a time
    """

    def __init__(
        self,
        client: report_client.ReportClient,
        planner: node_planner.Planner,
        nodes: node_list.NodeList,
        *,
        gone: departed_nodes.Departures,
        workers: int = 1,
        control: Control | None = None,
    ) -> None:
        self._client = client
        self._planner = planner
        self._nodes = nodes
        self._departures = gone
        self._workers = workers
        self._control = control or Control()

    def plan(self, progress: Progress | None = None) -> list[NodeResult]:
        """Return what each node's cycle would do, doing nothing.

        :raises errors.AgentError: no node could be looked at
        """
        return self._cycle(progress, writing=False)

    def sync(self, progress: Progress | None = None) -> list[NodeResult]:
        """Do one cycle; return how it ended for each node.

        :raises errors.AgentError: no node could be looked at
        """
        return self._cycle(progress, writing=True)

    def nodes(self) -> Sequence[Node]:
        """Return the nodes the driver has now.

        :raises errors.DriverError: it cannot tell
        """
        return self._nodes.nodes()

    def _cycle(
        self, progress: Progress | None, *, writing: bool
    ) -> list[NodeResult]:
        self._planner.begin()
        nodes = self.nodes()
        limits = self._control.limits()
        cycle = self._begun(writing=writing, judged=limits is not None)
        seen = self._client.observe([node.uuid for node in nodes])
        turns = [node_cycle.NodeCycle(cycle, node) for node in nodes]
        told = functools.partial(progress, len(turns)) if progress else None
        # Who was refused goes last: it may end the cycle for all after it.
        knows = self._control.back_off.knows
        ordered = sorted(turns, key=lambda turn: knows(turn.node.uuid))
        self._side_by_side(ordered, lambda t: t.begin(seen[t.node.uuid]), told)
        self._planner.settle([node.uuid for node in nodes])
        others: list[NodeResult] = []
        if cycle.outage is None:
            others, leaving = self._departed(cycle, nodes, limits)
            turns += leaving
        self._finish(turns, limits, told, writing=writing)
        results = [turn.result for turn in turns]
        if writing and cycle.outage is None:
            self._learn(results)
        return results + others

    def _begun(self, *, writing: bool, judged: bool) -> node_cycle.Cycle:
        return node_cycle.Cycle(
            client=self._client,
            planner=self._planner,
            departures=self._departures,
            back_off=self._control.back_off,
            contended=self._control.contention.contended(),
            writing=writing,
            judged=judged,
        )

    def _departed(
        self,
        cycle: node_cycle.Cycle,
        nodes: Sequence[Node],
        limits: blast_radius.Limits | None,
    ) -> tuple[list[NodeResult], list[node_cycle.NodeCycle]]:
        """Deal with the nodes that are not in the list any more.

        Return the results of those that stay, and the turns of those that are
        gone, begun.
        """
        departed = self._departures.since(nodes)
        results = [
            NodeResult(
                node=n, status=Status.DONE, notes=(departed_nodes.MOVED,)
            )
            for n in departed.moved
        ]
        results += [
            node_result.ended(node, Status.WAITING, why)
            for node, why in departed.unknown
        ]
        seen = self._observed(departed.gone)
        self._pass_on(seen, departed.gone, nodes)
        turns = [
            node_cycle.NodeCycle(cycle, node, leaving=True)
            for node in departed.gone
            if node.uuid in seen
        ]
        for turn in turns:
            turn.begin(seen[turn.node.uuid])
        why = departed.refusal() if limits else None
        if why is not None:
            for turn in turns:
                if turn.awaits_judgement:
                    turn.keep_back(why)
        return results, turns

    def _pass_on(
        self,
        seen: dict[str, Any | errors.AgentError],
        gone: Sequence[Node],
        nodes: Sequence[Node],
    ) -> None:
        """Pass on what others use, and forget nodes that leave nothing.

        :param seen: of the nodes that are gone; those that are forgotten, and
            why something cannot be told, is noted there
        :param nodes: those of the list
        """
        uuids = [node.uuid for node in gone]

        @functools.cache
        def present() -> orphans.Others:
            """Look once more: what nobody uses goes."""
            self._client.invalidate()
            return self._observed(nodes)

        for node in gone:
            found = seen[node.uuid]
            if isinstance(found, errors.AgentError):
                continue
            try:
                stays = self._departures.pass_on(
                    node, found.providers, present, uuids
                )
            except errors.UnknownState as exc:
                seen[node.uuid] = exc
                continue
            if not stays:
                self._departures.forget([node])
                del seen[node.uuid]

    def _observed(
        self, nodes: Sequence[Node]
    ) -> dict[str, Any | errors.AgentError]:
        """Return what placement holds of nodes.

        What fails here fails no turn that was taken.
        """
        uuids = [node.uuid for node in nodes]
        if not uuids:
            return {}
        try:
            return dict(self._client.observe(uuids))
        except errors.AgentError as exc:
            return dict.fromkeys(uuids, exc)

    def _finish(
        self,
        turns: Sequence[node_cycle.NodeCycle],
        limits: blast_radius.Limits | None,
        told: Callable[[], object] | None,
        *,
        writing: bool,
    ) -> None:
        """Judge what is held; apply it, or none of it."""
        awaits_judgement = [turn for turn in turns if turn.awaits_judgement]
        why = _judged(turns, limits) if limits and awaits_judgement else None
        step = node_cycle.NodeCycle.go_on
        if why is not None:
            step = functools.partial(node_cycle.NodeCycle.keep_back, why=why)
        elif not writing:
            step = node_cycle.NodeCycle.let_be
        self._side_by_side(awaits_judgement, step, told)

    def _side_by_side(
        self,
        turns: Sequence[node_cycle.NodeCycle],
        step: Callable[[node_cycle.NodeCycle], None],
        told: Callable[[], object] | None,
    ) -> None:
        """Take a step of each turn, some at a time."""

        def take(turn: node_cycle.NodeCycle) -> None:
            step(turn)
            if (
                told is not None
                and not turn.awaits_judgement
                and not turn.leaving
            ):
                told()

        parallel.each(turns, take, workers=self._workers)

    def _learn(self, results: Sequence[NodeResult]) -> None:
        """Remember what was changed, to see what another writer undoes."""
        self._control.back_off.keep_only({r.node.uuid for r in results})
        self._control.contention.end_cycle(map(self._turn, results))

    def _turn(self, result: NodeResult) -> Turn:
        """Return what a node's turn came to, for the memory."""
        node, plan = str(result.node), result.plan
        done = self._client.changes(result.applied)
        if plan is None:
            return Turn(node=node, done=done, open=None)
        return Turn(
            node=node,
            done=done,
            left=frozenset(plan.contended),
            open=self._client.changes(plan.operations) - done,
        )


def _judged(
    turns: Sequence[node_cycle.NodeCycle], limits: blast_radius.Limits
) -> str | None:
    seen: dict[str, int] = {}
    for turn in turns:
        seen.update(turn.seen_names())
    awaits_judgement = [
        turn.removals for turn in turns if turn.awaits_judgement
    ]
    return blast_radius.refusal(awaits_judgement, seen, limits)
