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
    identity,
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
    """One node's turn: how it is described, and what is done with the plan.

    :ivar leaving: the node is gone, and what placement has of it goes too
    """

    node: describe.Node
    describe: Callable[[provider_tree.ProviderTree, describe.Node], None]
    work: '_Work'
    leaving: bool = False


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


_Work = Callable[[_Task, Any], NodeResult]


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
        self, work: _Work, progress: Progress | None
    ) -> list[NodeResult]:
        nodes = self.nodes()
        self._outage = None
        seen = self._client.observe([node.uuid for node in nodes])
        tasks = [
            _Task(node=node, describe=self._describe, work=work)
            for node in nodes
        ]
        done = functools.partial(progress, len(tasks)) if progress else None
        results = list(self._turns(tasks, seen, done))
        if self._outage is None:
            results += self._departed(nodes, work)
        return results

    def _departed(
        self, nodes: Sequence[describe.Node], work: _Work
    ) -> list[NodeResult]:
        """Deal with the nodes that are not in the list any more.

        What is to be done for those that are gone is planned first, and done
        only if it is not too much for one cycle.
        """
        departed = self._departures.since(nodes)
        results = [
            NodeResult(node=n, status=Status.DONE, notes=(departures.MOVED,))
            for n in departed.moved
        ]
        results += [
            _ended(node, Status.WAITING, why) for node, why in departed.unknown
        ]
        if not departed.gone:
            return results
        seen = self._client.observe([node.uuid for node in departed.gone])
        there = [n for n in departed.gone if not _is_absent(seen[n.uuid])]
        self._departures.forget(n for n in departed.gone if n not in there)
        planned = [
            self._one(self._leaving(node, self._planned), seen[node.uuid])
            for node in there
        ]
        count = sum(_touched(result) for result in planned)
        why = self._departures.refusal(count, departed)
        for result in planned:
            if not _touched(result):
                results.append(result)
            elif why is not None:
                results.append(_refused(result, why))
            else:
                uuid = result.node.uuid
                task = self._leaving(result.node, work)
                results.append(self._one(task, seen[uuid]))
        return results

    def _leaving(self, node: describe.Node, work: _Work) -> _Task:
        return _Task(
            node=node, describe=self._describe_gone, work=work, leaving=True
        )

    def _turns(
        self,
        tasks: Sequence[_Task],
        seen: Mapping[str, Any | errors.AgentError],
        done: Callable[[], object] | None,
    ) -> Iterator[NodeResult]:
        """Do the tasks, some at a time; yield their results in order."""

        def turn(task: _Task) -> NodeResult:
            result = self._one(task, seen[task.node.uuid])
            if done is not None:
                done()
            return result

        if len(tasks) <= 1 or self._workers == 1:
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
        if task.leaving and plan.operations:
            self._departures.confirm(task.node)
        outcome = self._client.apply(plan)
        result = _result(task.node, plan, outcome.refused)
        return dataclasses.replace(result, applied=outcome.applied)

    def _plan(
        self, task: _Task, seen: reporting.Observation
    ) -> reporting.Plan:
        if not task.leaving:
            identity.check(task.node, seen.providers)
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


def _refused(result: NodeResult, why: str) -> NodeResult:
    return dataclasses.replace(
        result,
        status=Status.FAILED,
        reason='; '.join(reason for reason in (why, result.reason) if reason),
    )


def _touched(result: NodeResult) -> int:
    """Return how many providers this node's plan deletes or changes."""
    operations = result.plan.operations if result.plan else ()
    return len({operation.uuid for operation in operations})


def _is_absent(seen: Any | errors.AgentError) -> bool:
    return not isinstance(seen, errors.AgentError) and not seen.providers


def _ended(node: describe.Node, status: Status, reason: str) -> NodeResult:
    return NodeResult(node=node, status=status, reason=reason)
