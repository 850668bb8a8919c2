# SPDX-License-Identifier: Apache-2.0
"""One cycle over all nodes: observe, describe, plan and, if asked to, apply.

A node's failure is that node's result. An outage is raised if not even
placement's list can be read; a later outage ends the cycles of the remaining
nodes. Nodes are processed in parallel, in a bounded pool of threads
(``node_cycle.py``). A plan that removes something waits until the removals of
all nodes are judged (``limits/blast_radius.py``). This module does no HTTP and
no SQL: it gets both as Protocols.
"""

import dataclasses
import functools
import time
from collections.abc import Callable, Collection, Sequence
from typing import Generic

from .. import errors, parallel
from ..limits import blast_radius
from ..limits.backoff import Backoff
from ..limits.contention import Contention, NodeOutcome
from ..ownership import orphans
from ..plan.observation import Observation
from ..plan.plan import Op
from ..tree import node as node_module
from ..tree.node import Node
from . import departed_nodes, effects, node_list, node_result, report_client
from .node_cycle import CycleContext, NodeCycle
from .node_planner import NodePlanner
from .node_result import NodeResult, Status

__all__ = ['Control', 'NodeResult', 'Progress', 'ResourceTracker', 'Status']

# Called with the number of nodes, each time one of them is finished.
Progress = Callable[[int], object]


def _back_off() -> Backoff:
    return Backoff(time.monotonic)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """The limits of cycles: blast radius, backoff and contention.

    :ivar limits: called in each cycle; returns None, for no limit, if a person
        confirmed the removals
    """

    limits: Callable[[], blast_radius.Limits | None] = blast_radius.Limits
    back_off: Backoff = dataclasses.field(default_factory=_back_off)
    contention: Contention = dataclasses.field(default_factory=Contention)


class ResourceTracker(Generic[Op]):
    """Keeps placement in step with one driver's nodes.

    :param nodes: lists the driver's nodes
    :param gone: tells which nodes left the driver's list
    :param workers: the number of nodes that are processed at a time
    """

    def __init__(
        self,
        client: report_client.ReportClient[Op],
        planner: NodePlanner[Op],
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

    def plan(
        self, progress: Progress | None = None, only: Collection[str] = ()
    ) -> list[NodeResult[Op]]:
        """Return what each node's cycle would do; write nothing.

        :param only: as for ``sync``
        :raises errors.AgentError: no node could be observed
        """
        return self._cycle(progress, only, writing=False)

    def sync(
        self, progress: Progress | None = None, only: Collection[str] = ()
    ) -> list[NodeResult[Op]]:
        """Do one cycle; return the result of each node.

        :param only: the names, uuids or titles of the nodes to process; empty
            for all nodes, and for those that left the driver's list
        :raises errors.ConfigError: the driver has no such node
        :raises errors.AgentError: no node could be observed
        """
        return self._cycle(progress, only, writing=True)

    def nodes(self) -> Sequence[Node]:
        """Return the nodes that the driver has now.

        :raises errors.DriverError: it cannot tell
        """
        return self._nodes.nodes()

    def _cycle(
        self,
        progress: Progress | None,
        only: Collection[str],
        *,
        writing: bool,
    ) -> list[NodeResult[Op]]:
        self._planner.begin()
        listed = self.nodes()
        nodes = node_module.selected(listed, only)
        limits = self._control.limits()
        context = self._context(writing=writing, judged=limits is not None)
        seen = self._planner.observe([node.uuid for node in nodes])
        self._departures.record(listed)
        cycles = [NodeCycle(context, node) for node in nodes]
        tell = functools.partial(progress, len(cycles)) if progress else None
        # Nodes with refused writes go last: they may end the cycle for all
        # nodes after them.
        was_refused = self._control.back_off.has_refusals
        ordered = sorted(cycles, key=lambda c: was_refused(c.node.uuid))
        self._in_parallel(ordered, lambda c: c.begin(seen[c.node.uuid]), tell)
        self._planner.end([node.uuid for node in listed])
        others: list[NodeResult[Op]] = []
        if not only:
            # An outage that one node's cycle found ends those of the listed
            # nodes only: if placement can be read again, departures go on.
            others, departed = self._departed(
                dataclasses.replace(context, outage=None), nodes, limits
            )
            cycles += departed
        self._finish(cycles, limits, tell, writing=writing)
        results = [cycle.result for cycle in cycles]
        if writing and context.outage is None and not only:
            self._learn(results)
        return results + others

    def _context(self, *, writing: bool, judged: bool) -> CycleContext[Op]:
        return CycleContext(
            client=self._client,
            planner=self._planner,
            departures=self._departures,
            back_off=self._control.back_off,
            contended=self._control.contention.contended(),
            writing=writing,
            judged=judged,
        )

    # --- nodes that left the driver's list ------------------------------------

    def _departed(
        self,
        context: CycleContext[Op],
        nodes: Sequence[Node],
        limits: blast_radius.Limits | None,
    ) -> tuple[list[NodeResult[Op]], list[NodeCycle[Op]]]:
        """Process the nodes that left the driver's list.

        Return the results of the nodes that still exist or may exist, and the
        begun cycles of those that are gone.
        """
        departed = self._departures.since(nodes)
        results: list[NodeResult[Op]] = [
            NodeResult(
                node=node, status=Status.DONE, notes=(departed_nodes.MOVED,)
            )
            for node in departed.moved
        ]
        results += [
            node_result.ended(node, Status.WAITING, why)
            for node, why in departed.unknown
        ]
        seen = self._observed(departed.gone)
        self._pass_on(seen, departed.gone, nodes)
        cycles = [
            NodeCycle(context, node, departed=True)
            for node in departed.gone
            if node.uuid in seen
        ]
        for cycle in cycles:
            cycle.begin(seen[cycle.node.uuid])
        why = departed.refusal() if limits else None
        if why is not None:
            for cycle in cycles:
                if cycle.awaits_judgement:
                    cycle.hold_back(why)
        return results, cycles

    def _pass_on(
        self,
        seen: dict[str, Observation | errors.AgentError],
        gone: Sequence[Node],
        nodes: Sequence[Node],
    ) -> None:
        """Pass on providers that others use; forget nodes without providers.

        :param seen: the observations of the nodes that are gone; nodes that
            are forgotten are dropped from it, and errors are noted in it
        :param nodes: the nodes of the list
        """
        uuids = [node.uuid for node in gone]

        @functools.cache
        def present() -> orphans.Others:
            """Observe the listed nodes again, to find the providers in use."""
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
    ) -> dict[str, Observation | errors.AgentError]:
        """Return the nodes' providers, or why they are unknown.

        A failure here does not fail the nodes that are done already.
        """
        uuids = [node.uuid for node in nodes]
        if not uuids:
            return {}
        try:
            return dict(self._planner.observe(uuids))
        except errors.AgentError as exc:
            return dict.fromkeys(uuids, exc)

    # --- the second step ------------------------------------------------------

    def _finish(
        self,
        cycles: Sequence[NodeCycle[Op]],
        limits: blast_radius.Limits | None,
        tell: Callable[[], object] | None,
        *,
        writing: bool,
    ) -> None:
        """Judge the plans that remove something; apply all of them or none."""
        waiting = [cycle for cycle in cycles if cycle.awaits_judgement]
        why = _refusal(cycles, waiting, limits) if limits and waiting else None

        def finish(cycle: NodeCycle[Op]) -> None:
            if why is not None:
                cycle.hold_back(why)
            elif writing:
                cycle.apply_judged()
            else:
                cycle.end_unapplied()

        self._in_parallel(waiting, finish, tell)

    def _in_parallel(
        self,
        cycles: Sequence[NodeCycle[Op]],
        step: Callable[[NodeCycle[Op]], None],
        tell: Callable[[], object] | None,
    ) -> None:
        """Run a step of each node's cycle, a few nodes at a time."""

        def run(cycle: NodeCycle[Op]) -> None:
            step(cycle)
            is_finished = not cycle.awaits_judgement and not cycle.departed
            if tell is not None and is_finished:
                tell()

        parallel.each(cycles, run, workers=self._workers)

    # --- the memory of contention ---------------------------------------------

    def _learn(self, results: Sequence[NodeResult[Op]]) -> None:
        """Remember the changes, to notice when another writer undoes them."""
        self._control.back_off.keep_only({r.node.uuid for r in results})
        self._control.contention.end_cycle(map(self._outcome, results))

    def _outcome(self, result: NodeResult[Op]) -> NodeOutcome:
        """Return the items that the cycle changed, skipped and left open."""
        node, plan = str(result.node), result.plan
        done = effects.items(result.applied)
        if plan is None:
            return NodeOutcome(node=node, done=done, pending=None)
        return NodeOutcome(
            node=node,
            done=done,
            skipped=frozenset(result.contended),
            pending=effects.items(plan.operations) - done,
        )


def _refusal(
    cycles: Sequence[NodeCycle[Op]],
    waiting: Sequence[NodeCycle[Op]],
    limits: blast_radius.Limits,
) -> str | None:
    """Return a message if the waiting plans remove too much, else None."""
    seen: dict[str, int] = {}
    for cycle in cycles:
        seen.update(cycle.seen_names())
    return blast_radius.exceeded_limit(
        [cycle.removals for cycle in waiting], seen, limits
    )
