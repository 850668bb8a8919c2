# SPDX-License-Identifier: Apache-2.0
"""One cycle over all nodes: observe, describe, plan and, if asked to, apply.

A node's failure is that node's result. An outage that keeps even the list from
being read is raised; one in the middle ends the nodes that are left. Trees go
side by side in a bounded pool of threads, each with its own tree; nothing is
shared but the driver and the client. It does no HTTP and no SQL: both come to
it as Protocols.
"""

import concurrent.futures
import dataclasses
import enum
import functools
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import tenacity

from . import (
    departures,
    describe,
    errors,
    host_inventory,
    ownership,
    provider_tree,
    reporting,
)
from .ratios import Ratios
from .virt import driver as virt

LOG = logging.getLogger(__name__)

LOOKS = 5  # times a node is looked at anew when placement moves under it

# Called with the number of nodes there are, each time one of them is finished.
Progress = Callable[[int], object]


class Status(enum.Enum):
    """How a node's cycle ended."""

    DONE = 'done'
    WAITING = 'waiting'
    FAILED = 'failed'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """One node's turn: how it is described, and what is done with the plan."""

    node: describe.Node
    describe: Callable[[provider_tree.ProviderTree, describe.Node], None]
    work: 'Callable[[_Task, Any], NodeResult]'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NodeResult:
    """How one node's cycle ended.

    :ivar plan: None when it ended before there was one
    :ivar applied: the operations that placement carried out
    :ivar reason: why it is not done; empty if it is
    :ivar notes: lines for the operator
    :ivar outage: it is not done because the service is away
    """

    node: describe.Node
    status: Status
    plan: reporting.Plan | None = None
    applied: Sequence[Any] = ()
    reason: str = ''
    notes: tuple[str, ...] = ()
    outage: bool = False


class ResourceTracker:
    """Keeps placement in step with one driver's nodes.

    :param identify: node names → nodes with their uuids
    :param gone: tells which nodes left the driver's list
    :param workers: how many nodes are worked on at a time
    """

    def __init__(
        self,
        driver: virt.ComputeDriver,
        client: reporting.ReportClient,
        records: reporting.Records,
        *,
        gone: departures.Departures,
        identify: Callable[[Sequence[str]], Sequence[describe.Node]],
        ratios: Ratios,
        reserved: host_inventory.Reserved,
        workers: int = 1,
    ) -> None:
        self._driver = driver
        self._client = client
        self._records = records
        self._departures = gone
        self._identify = identify
        self._ratios = ratios
        self._reserved = reserved
        self._workers = workers
        self._outage: errors.Unavailable | None = None

    def plan(self, progress: Progress | None = None) -> list[NodeResult]:
        """Return what each node's cycle would do, doing nothing.

        :raises errors.AgentError: no node could be looked at
        """
        return self._cycle(self._planned, progress)

    def sync(self, progress: Progress | None = None) -> list[NodeResult]:
        """Do one cycle; return how it ended for each node.

        :raises errors.AgentError: no node could be looked at
        """
        return self._cycle(self._synced, progress)

    def nodes(self) -> Sequence[describe.Node]:
        """Return the nodes the driver has now.

        :raises errors.DriverError: it cannot tell
        """
        try:
            found = self._identify(list(self._driver.get_available_nodes()))
            titles = self._driver.get_titles()
            return [
                dataclasses.replace(node, title=titles.get(node.name, ''))
                for node in found
            ]
        except errors.AgentError:
            raise
        except Exception as exc:
            raise errors.DriverError(
                f'{type(self._driver).__name__} cannot list its nodes: '
                f'{type(exc).__name__}: {exc}'
            ) from exc

    def _cycle(
        self,
        work: Callable[[_Task, Any], NodeResult],
        progress: Progress | None,
    ) -> list[NodeResult]:
        nodes = self.nodes()
        departed = self._departures.since(nodes)
        self._outage = None
        wanted = [node.uuid for node in (*nodes, *departed.gone)]
        seen = self._client.observe(wanted)
        leaving, refused = self._leaving(departed.gone, seen)
        tasks = [
            _Task(node=node, describe=describing, work=work)
            for some, describing in (
                (nodes, self._describe),
                (leaving, self._describe_gone),
            )
            for node in some
        ]
        done = functools.partial(progress, len(tasks)) if progress else None
        return [
            *self._turns(tasks, seen, done),
            *refused,
            *(
                NodeResult(node=node, status=Status.DONE, notes=(line,))
                for node, line in departed.staying
            ),
        ]

    def _leaving(
        self,
        gone: Sequence[describe.Node],
        seen: Mapping[str, Any | errors.AgentError],
    ) -> tuple[Sequence[describe.Node], Sequence[NodeResult]]:
        """Return the nodes to be deleted now, or the refusal of them all."""
        count, there = 0, []
        for node in gone:
            one = seen[node.uuid]
            if isinstance(one, errors.AgentError) or one.providers:
                there.append(node)
            if not isinstance(one, errors.AgentError):
                count += len(one.providers)
        self._departures.forget(node for node in gone if node not in there)
        why = self._departures.refusal(count)
        if why is None:
            return there, ()
        return (), [_ended(node, Status.FAILED, why) for node in there]

    def _turns(
        self,
        tasks: Sequence[_Task],
        seen: Mapping[str, Any | errors.AgentError],
        done: Callable[[], object] | None,
    ) -> Iterator[NodeResult]:
        """Do the tasks, some at a time; yield their results in order."""

        def turn(task: _Task) -> NodeResult:
            try:
                return self._one(task, seen[task.node.uuid])
            finally:
                if done is not None:
                    done()

        if len(tasks) == 1 or self._workers == 1:
            yield from map(turn, tasks)
            return
        pool = concurrent.futures.ThreadPoolExecutor(self._workers)
        try:
            yield from pool.map(turn, tasks)
        finally:  # an interrupt ends it after the nodes at work
            pool.shutdown(cancel_futures=True)

    def _one(self, task: _Task, seen: Any | errors.AgentError) -> NodeResult:
        """Work on one node, looking again when placement moved meanwhile."""
        applied: list[Any] = []
        node = task.node
        try:
            result = self._look(task, seen, applied)
        except (errors.LookAgain, errors.UnknownState) as exc:
            result = _ended(node, Status.WAITING, str(exc))
        except errors.Unavailable as exc:
            self._outage = exc  # spares the other nodes the same wait
            ended = _ended(node, Status.FAILED, str(exc))
            result = dataclasses.replace(ended, outage=True)
        except errors.AgentError as exc:
            result = _ended(node, Status.FAILED, str(exc))
        except Exception as exc:
            LOG.exception('%s: unexpected', node)
            reason = f'unexpected {type(exc).__name__}: {exc}'
            result = _ended(node, Status.FAILED, reason)
        return dataclasses.replace(result, applied=(*applied, *result.applied))

    def _look(
        self,
        task: _Task,
        seen: Any | errors.AgentError,
        applied: list[Any],
    ) -> NodeResult:
        """Do the work; look again, a few times, if placement moved under it.

        :param applied: takes what was carried out by a look that ended early
        """
        looks = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(LOOKS),
            wait=tenacity.wait_random_exponential(multiplier=0.1, max=5),
            retry=tenacity.retry_if_exception_type(errors.LookAgain),
            reraise=True,
        )
        uuid = task.node.uuid
        for look in looks:
            with look:
                if self._outage is not None:
                    raise self._outage
                if look.retry_state.attempt_number > 1:
                    seen = self._client.observe([uuid])[uuid]
                if isinstance(seen, errors.AgentError):
                    raise seen
                try:
                    return task.work(task, seen)
                except errors.AgentError as exc:
                    applied += exc.applied
                    raise
        raise AssertionError  # tenacity returns or raises

    def _planned(self, task: _Task, seen: reporting.Observation) -> NodeResult:
        return _result(task.node, self._plan(task, seen))

    def _synced(self, task: _Task, seen: reporting.Observation) -> NodeResult:
        plan = self._plan(task, seen)
        outcome = self._client.apply(plan)
        result = _result(task.node, plan, outcome.refused)
        return dataclasses.replace(result, applied=outcome.applied)

    def _plan(
        self, task: _Task, seen: reporting.Observation
    ) -> reporting.Plan:
        _check_identity(task.node, seen)
        tree = seen.tree()
        task.describe(tree, task.node)
        policy = ownership.Policy(
            node_uuid=task.node.uuid,
            authority=self._driver.authority,
            ratios=self._ratios,
        )
        return self._client.plan(tree, seen, policy)

    def _describe(
        self, tree: provider_tree.ProviderTree, node: describe.Node
    ) -> None:
        """Let the driver describe a node, and add the agent's own traits."""
        describe.describe(self._driver, tree, node, self._reserved)
        if tree.exists(node.uuid):
            below = tree.get_provider_uuids(node.uuid)[1:]
            record = self._records.record(below)
            describe.assert_own_traits(tree, node, record)

    def _describe_gone(
        self, tree: provider_tree.ProviderTree, node: describe.Node
    ) -> None:
        if tree.exists(node.uuid):
            record = self._records.record(tree.get_provider_uuids(node.uuid))
            departures.describe_gone(tree, node, record.created)


def _result(
    node: describe.Node, plan: reporting.Plan, refused: Sequence[str] = ()
) -> NodeResult:
    reasons = (*plan.faults, *refused)
    return NodeResult(
        node=node,
        status=Status.FAILED if reasons else Status.DONE,
        plan=plan,
        reason='; '.join(reasons),
        notes=tuple(plan.notes),
    )


def _check_identity(node: describe.Node, seen: reporting.Observation) -> None:
    """Refuse to write under a uuid that placement knows by another name."""
    root = seen.providers.get(node.uuid)
    if root is not None and root.name != node.name:
        raise errors.Refused(
            f'placement knows provider {node.uuid} as {root.name}, this agent '
            f'calls it {node.name}: nothing of it is written; rename the '
            'provider in placement, or give the node its old name again (for '
            'a host: [DEFAULT] host)'
        )
    if root is not None and root.parent_uuid is not None:
        raise errors.Refused(
            f'{root} is a child of {root.parent_uuid} in placement, and a '
            'compute node is a root: nothing of it is written; move it out '
            'from under its parent'
        )


def _ended(node: describe.Node, status: Status, reason: str) -> NodeResult:
    return NodeResult(node=node, status=status, reason=reason)
