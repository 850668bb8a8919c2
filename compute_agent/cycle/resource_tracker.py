# SPDX-License-Identifier: Apache-2.0
"""One cycle over all nodes: observe, describe, plan and, if asked to, apply.

A node's failure is that node's result. An outage is raised if not even
placement's list can be read; a later outage ends the cycles of the remaining
nodes. Nodes are processed in parallel, in a bounded pool of threads
(``node/``). A plan that removes something waits until the removals of all nodes
are judged (``judging.py``). This module does no HTTP and no SQL: it gets both
as Protocols.
"""

import contextlib
import dataclasses
import functools
import time
from collections.abc import Callable, Collection, Mapping, Sequence

from .. import errors, parallel
from ..limits import blast_radius, effects
from ..limits.backoff import Backoff
from ..limits.contention import Contention, NodeOutcome
from ..plan.observation import Observation
from ..state.undos import Undos
from ..tree import node as node_module
from ..tree.node import Node
from . import judging, node_list
from .departures import departed_cycles, departed_nodes, other_shares
from .node import node_cycle
from .node.node_cycle import CycleContext, NodeCycle
from .node.node_planner import NodePlanner
from .node.node_result import NodeResult, Status
from .values.report_client import ReportClient

__all__ = ['Control', 'NodeResult', 'Progress', 'ResourceTracker', 'Status']

# Called each time a node is finished, with the number of nodes in the cycle and
# that of the writes for this one; threads call it side by side.
Progress = Callable[[int, int], object]


def _back_off() -> Backoff:
    return Backoff(time.monotonic)


def _contention() -> Contention:
    return Contention(time.time)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """The limits of cycles: blast radius, backoff and contention.

    :ivar limits: called in each cycle; returns None, for no limit, if a person
        confirmed the removals
    :ivar may_begin: raises ``Deposed`` if no other node may begin, because
        another agent reports the share, or is to report it
    :ivar others: the other shares in this agent's database; None without a
        shared database
    """

    limits: Callable[[], blast_radius.Limits | None] = blast_radius.Limits
    back_off: Backoff = dataclasses.field(default_factory=_back_off)
    contention: Contention = dataclasses.field(default_factory=_contention)
    may_begin: Callable[[], object] = bool
    others: other_shares.OtherShares | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Nodes:
    """The nodes of one cycle.

    :ivar listed: all nodes of the drivers
    :ivar are_all: True if these are all nodes, so that departed nodes follow
    :ivar are_new: True if a node may be in the list for the first time
    :ivar is_part: True if the drivers named these nodes as changed
    """

    nodes: Sequence[Node]
    listed: Sequence[Node]
    are_all: bool
    are_new: bool = True
    is_part: bool = False


class ResourceTracker:
    """Keeps placement in step with one driver's nodes.

    :param nodes: lists the driver's nodes
    :param gone: tells which nodes left the driver's list
    :param workers: the number of nodes that are processed at a time
    :param judge: judges what the plans remove
    :param undos: keeps the changes that other writers undid, over restarts
    """

    def __init__(
        self,
        client: ReportClient,
        planner: NodePlanner,
        nodes: node_list.NodeList,
        *,
        gone: departed_nodes.Departures,
        judge: judging.Judge,
        workers: int = 1,
        control: Control | None = None,
        undos: Undos | None = None,
    ) -> None:
        self._client = client
        self._planner = planner
        self._nodes = nodes
        self._departures = gone
        self._workers = workers
        self._control = control or Control()
        self._judge = judge
        self._departed = departed_cycles.DepartedCycles(
            gone, planner, client.invalidate, self._control.others
        )
        self._undos = undos
        # The results of the nodes that needed no cycle the last time they were
        # looked at.
        self._unchanged: Mapping[str, NodeResult] = {}
        self._remember()

    def take_over(self, agent_id: str) -> None:
        """Report as the agent with this id, which wrote the record.

        The cycles then read what the database has about other writers.
        """
        self._planner.sign(agent_id)
        if self._control.others is not None:
            self._control.others.take_over()
        self._remember()

    def plan_ahead(
        self,
        agent_id: str,
        nodes: Sequence[Node],
        seen: Mapping[str, Observation],
        may_go_on: Callable[[], bool],
    ) -> None:
        """Plan these nodes, which another agent with this id reports.

        The first cycle after a take-over then plans only what has changed.

        :param seen: the observations of those of them that are known
        :param may_go_on: called before each node
        :raises errors.AgentError: an operator's file is wrong
        """
        self._planner.sign(agent_id)
        self._remember()
        contended = self._control.contention.contended()
        self._planner.plan_ahead(nodes, seen, contended, may_go_on)

    def _remember(self) -> None:
        """Read what the database has about other writers."""
        if self._undos is not None:
            self._control.contention.load(self._undos.load())

    def plan(
        self, progress: Progress | None = None, only: Collection[str] = ()
    ) -> list[NodeResult]:
        """Return the result that each node's cycle would have; write nothing.

        :param only: as for ``sync``
        :raises errors.AgentError: no node could be observed
        """
        return self._cycle(lambda: self._chosen(only), progress)

    def sync(
        self, progress: Progress | None = None, only: Collection[str] = ()
    ) -> list[NodeResult]:
        """Do one cycle; return the result of each node.

        :param only: the names, uuids or titles of the nodes to process; empty
            for all nodes, and for those that left the driver's list
        :raises errors.ConfigError: the driver has no such node
        :raises errors.AgentError: no node could be observed
        """
        return self._cycle(lambda: self._chosen(only), progress, writing=True)

    def sync_changed(self, names: node_list.Changed) -> list[NodeResult]:
        """Do a cycle of the nodes that may have changed; return its results.

        The drivers are not asked for a list of all nodes, and nothing is done
        about departed ones. If this host takes another uuid, all nodes get a
        cycle instead.

        :param names: as the drivers told them
        :raises errors.AgentError: no node could be observed
        """
        return self._cycle(lambda: self._changed(names), None, writing=True)

    def leave(
        self, nodes: Sequence[Node], *, writing: bool
    ) -> list[NodeResult]:
        """Take all that this agent added off the nodes; return the results.

        :param nodes: recorded nodes; the driver may not have them any more
        :param writing: False to plan it only
        :raises errors.AgentError: no node could be observed
        """
        uuids = [node.uuid for node in nodes]
        self._planner.begin(left=uuids)
        seen = self._planner.observe(uuids)
        context = self._context(writing=writing, judged=False)
        cycles = [NodeCycle(context, node, leaves=True) for node in nodes]
        for cycle in cycles:
            cycle.begin(seen[cycle.node.uuid])
        results = [cycle.result for cycle in cycles]
        if writing:
            self._learn(results, (), full=False)
        return results

    def nodes(self) -> Sequence[Node]:
        """Return the nodes that the driver has now.

        :raises errors.DriverError: a driver cannot list its nodes
        """
        return self._nodes.nodes()

    def _chosen(self, only: Collection[str]) -> '_Nodes':
        """Ask the drivers for their nodes; return those of these words.

        :raises errors.AgentError: the drivers cannot list their nodes, or lack
            a given one
        """
        listed = self.nodes()
        nodes = node_module.selected(listed, only)
        return _Nodes(nodes=nodes, listed=listed, are_all=not only)

    def _changed(self, names: node_list.Changed) -> '_Nodes':
        """Return the nodes of these names, by the last list."""
        before = len(self._nodes.listed)
        nodes = self._nodes.changed(names)
        listed = self._nodes.listed
        return _Nodes(
            nodes=nodes,
            listed=listed,
            are_new=len(listed) > before,
            are_all=False,
            is_part=True,
        )

    def _cycle(
        self,
        choose: Callable[[], '_Nodes'],
        progress: Progress | None,
        *,
        writing: bool = False,
    ) -> list[NodeResult]:
        self._begin()
        chosen = choose()
        nodes, listed = chosen.nodes, chosen.listed
        limits = self._control.limits()
        context = self._context(writing=writing, judged=limits is not None)
        # Departed nodes that wait are observed with the others.
        gone = self._departures.gone(listed) if chosen.are_all else []
        seen = self._planner.observe([*(n.uuid for n in nodes), *gone])
        if chosen.are_new:
            self._departures.record(listed)
        if writing:
            seen = {**seen, **self._taken(seen)}
        tell = functools.partial(progress, len(nodes)) if progress else None
        unchanged, cycles = self._begun(context, nodes, seen, tell)
        others = {} if chosen.are_all else self._unchanged
        self._unchanged = {**others, **unchanged}
        if any(cycle.has_new_uuid for cycle in cycles):
            if chosen.is_part:
                return self.sync()
            return self._cycle(choose, progress, writing=writing)
        self._planner.end([node.uuid for node in listed], gone)
        departed: departed_cycles.Begun = departed_cycles.Begun()
        if chosen.are_all:
            # An outage that one node's cycle found ends those of the listed
            # nodes only: if placement can be read again, departures go on.
            changed = context.outage or any(c.has_sent for c in cycles)
            departed = self._departed.begin(
                dataclasses.replace(context, outage=None),
                nodes,
                {} if changed else _observations(seen, gone),
            )
        cycles += departed.cycles
        allowed: Collection[str] = [c.node.uuid for c in departed.cycles]
        if limits is not None:
            judged = judging.Nodes(
                cycles=cycles,
                unchanged=unchanged.keys(),
                batches=departed.batches,
                listed=len(listed),
                is_part=chosen.is_part,
            )
            allowed = self._judge.judge(judged, limits, writing=writing)
        if writing:
            self._departures.approve(allowed)
        begun = [cycle for cycle in cycles if cycle.removals]
        self._in_parallel(begun, NodeCycle.apply_judged, tell)
        if writing:
            # If the database cannot be written now, the approvals stay.
            with contextlib.suppress(errors.Unavailable):
                self._judge.end(cycles, limits, is_part=chosen.is_part)
        if writing:
            is_full = context.outage is None and chosen.are_all
            done = [cycle.result for cycle in cycles]
            self._learn(done, unchanged.values(), full=is_full)
        found = unchanged | {c.node.uuid: c.result for c in cycles}
        return [
            *(found[node.uuid] for node in nodes),
            *(cycle.result for cycle in departed.cycles),
            *departed.others,
        ]

    def _begun(
        self,
        context: CycleContext,
        nodes: Sequence[Node],
        seen: Mapping[str, Observation | errors.AgentError],
        tell: Callable[[int], object] | None,
    ) -> tuple[dict[str, NodeResult], list[NodeCycle]]:
        """Begin the cycles of nodes, a few at a time.

        :return: the results of the nodes that need no cycle, and the cycles of
            the others
        """
        unchanged, cycles = dict[str, NodeResult](), list[NodeCycle]()
        last = self._unchanged

        def begin(node: Node) -> None:
            observed = seen[node.uuid]
            result = node_cycle.unchanged(
                context, node, observed, last.get(node.uuid)
            )
            if result is not None:
                unchanged[node.uuid] = result
                if tell is not None:
                    tell(0)
                return
            cycle = NodeCycle(context, node)
            cycles.append(cycle)
            cycle.begin(observed)
            _tell_finished(cycle, tell)

        # Nodes with refused writes go last: they may end the cycle of others.
        was_refused = self._control.back_off.has_refusals
        ordered = sorted(nodes, key=lambda node: was_refused(node.uuid))
        parallel.each(ordered, begin, workers=self._workers)
        if cycles:
            place = {node.uuid: place for place, node in enumerate(ordered)}
            cycles.sort(key=lambda cycle: place[cycle.node.uuid])
        return unchanged, cycles

    def _begin(self) -> None:
        """Have the providers of these nodes read again.

        :raises errors.Unavailable: a file of the state database was removed
        """
        self._planner.begin()
        if self._control.others is not None:
            self._control.others.begin()

    def _taken(
        self, seen: Mapping[str, Observation | errors.AgentError]
    ) -> Mapping[str, Observation | errors.AgentError]:
        """Take the records of nodes that came from other shares.

        :return: the observations of these nodes

        :raises errors.AgentError: a database, or placement, does not answer
        """
        others = self._control.others
        taken = [] if others is None else others.take(seen)
        return self._planner.observe(taken) if taken else {}

    def _context(self, *, writing: bool, judged: bool) -> CycleContext:
        return CycleContext(
            client=self._client,
            planner=self._planner,
            confirm_departure=self._departures.confirm,
            back_off=self._control.back_off,
            contended=self._control.contention.contended(),
            writing=writing,
            judged=judged,
            approvals=self._judge.approvals,
            may_begin=self._control.may_begin,
        )

    def _in_parallel(
        self,
        cycles: Sequence[NodeCycle],
        step: Callable[[NodeCycle], None],
        tell: Callable[[int], object] | None,
    ) -> None:
        """Run a step of each node's cycle, a few nodes at a time."""

        def run(cycle: NodeCycle) -> None:
            step(cycle)
            _tell_finished(cycle, tell)

        parallel.each(cycles, run, workers=self._workers)

    # --- the memory of contention ---------------------------------------------

    def _learn(
        self,
        results: Sequence[NodeResult],
        unchanged: Collection[NodeResult],
        *,
        full: bool,
    ) -> None:
        """Remember the changes, to notice when another writer undoes them.

        :param unchanged: the outcomes of nodes that needed no cycle. They made
            no change and left no item out, but they may show that an earlier
            change holds
        """
        memory = self._control.contention
        learn = memory.end_cycle if full else memory.forget_deleted
        every = [*results, *(unchanged if memory.has_undone else ())]
        learn(map(self._outcome, every))
        if full:
            uuids = {r.node.uuid for r in (*results, *unchanged)}
            self._control.back_off.keep_only(uuids)
        # If the database cannot be written now, the next cycle tries again.
        with contextlib.suppress(errors.Unavailable):
            if self._undos is not None:
                self._undos.save(memory.changed())
            memory.saved()

    def _outcome(self, result: NodeResult) -> NodeOutcome:
        """Return the items that the cycle changed, skipped and left open."""
        node, plan = str(result.node), result.plan
        done = effects.items(result.applied)
        if plan is None:
            return NodeOutcome(node=node, done=done, pending=None)
        return NodeOutcome(
            node=node,
            done=done,
            skipped=frozenset(result.contended),
            pending=effects.items(result.wanted or plan.operations) - done,
        )


def _tell_finished(
    cycle: NodeCycle, tell: Callable[[int], object] | None
) -> None:
    """Count a node as finished, unless more of its cycle follows."""
    is_finished = not cycle.awaits_judgement and not cycle.departed
    if tell is not None and is_finished:
        tell(len(cycle.result.applied))


def _observations(
    seen: Mapping[str, Observation | errors.AgentError],
    node_uuids: Collection[str],
) -> dict[str, Observation]:
    """Return the observations of those of these nodes that could be read."""
    return {
        uuid: one
        for uuid in node_uuids
        if isinstance(one := seen[uuid], Observation)
    }
