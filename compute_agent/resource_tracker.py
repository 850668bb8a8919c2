# SPDX-License-Identifier: Apache-2.0
"""One cycle over all nodes: observe, describe, plan and, if asked to, apply.

A node's failure is that node's result. An outage that keeps even the list from
being read is raised; one in the middle ends the nodes that are left. Trees go side by side in a bounded pool of threads,
each with its own tree; nothing is shared but the driver and the client. It
does no HTTP and no SQL: both come to it as Protocols.
"""

import concurrent.futures
import dataclasses
import enum
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import tenacity

from . import (
    describe,
    errors,
    host_inventory,
    ownership,
    provider,
    provider_tree,
)
from .ratios import Ratios
from .virt import driver as virt

LOG = logging.getLogger(__name__)

LOOKS = 5  # times a node is looked at anew when placement moves under it


class Status(enum.Enum):
    """How a node's cycle ended."""

    DONE = 'done'
    WAITING = 'waiting'
    FAILED = 'failed'


class Observation(Protocol):
    """What placement holds of a node; see ``report_client/observation.py``."""

    @property
    def providers(self) -> provider.Snapshot:
        """The providers, parents first."""

    def tree(self) -> provider_tree.ProviderTree:
        """Return a tree to edit."""


class Plan(Protocol):
    """What is to be done for a node; see ``report_client/plan.py``."""

    @property
    def operations(self) -> Sequence[Any]:
        """The operations, in order."""

    @property
    def notes(self) -> Sequence[str]:
        """Lines for the operator."""


class Outcome(Protocol):
    """What became of a plan; see ``report_client/apply.py``."""

    @property
    def applied(self) -> Sequence[Any]:
        """The operations carried out."""

    @property
    def refused(self) -> Sequence[str]:
        """A line for each operation that was refused."""


class ReportClient(Protocol):
    """What the tracker needs of ``report_client/client.py``."""

    def observe(
        self, node_uuids: Sequence[str]
    ) -> Mapping[str, Any | errors.AgentError]:
        """Return what placement holds of each node, or why it is unknown."""

    def plan(
        self,
        tree: provider_tree.ProviderTree,
        seen: Any,
        policy: ownership.Policy,
    ) -> Plan:
        """Return what would be sent."""

    def apply(self, plan: Any) -> Outcome:
        """Send it."""


class Records(Protocol):
    """What the tracker needs of ``state.py``."""

    def record(self, uuids: Iterable[str]) -> ownership.Record:
        """Return what earlier cycles left of these providers."""


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
    plan: Plan | None = None
    applied: Sequence[Any] = ()
    reason: str = ''
    notes: tuple[str, ...] = ()
    outage: bool = False


class ResourceTracker:
    """Keeps placement in step with one driver's nodes.

    :param identify: node names → nodes with their uuids
    :param workers: how many nodes are worked on at a time
    """

    def __init__(
        self,
        driver: virt.ComputeDriver,
        client: ReportClient,
        records: Records,
        *,
        identify: Callable[[Sequence[str]], Sequence[describe.Node]],
        ratios: Ratios,
        reserved: host_inventory.Reserved,
        workers: int = 1,
    ) -> None:
        self._driver = driver
        self._client = client
        self._records = records
        self._identify = identify
        self._ratios = ratios
        self._reserved = reserved
        self._workers = workers
        self._outage: errors.Unavailable | None = None

    def plan(self) -> list[NodeResult]:
        """Return what each node's cycle would do, doing nothing.

        :raises errors.AgentError: no node could be looked at
        """
        return self._cycle(self._planned)

    def sync(self) -> list[NodeResult]:
        """Do one cycle; return how it ended for each node.

        :raises errors.AgentError: no node could be looked at
        """
        return self._cycle(self._synced)

    def nodes(self) -> Sequence[describe.Node]:
        """Return the nodes the driver has now.

        :raises errors.DriverError: it cannot tell
        """
        try:
            return self._identify(list(self._driver.get_available_nodes()))
        except errors.AgentError:
            raise
        except Exception as exc:
            raise errors.DriverError(
                f'{type(self._driver).__name__} cannot list its nodes: '
                f'{type(exc).__name__}: {exc}'
            ) from exc

    def _cycle(
        self, work: Callable[[describe.Node, Any], NodeResult]
    ) -> list[NodeResult]:
        nodes = self.nodes()
        self._outage = None
        seen = self._client.observe([node.uuid for node in nodes])
        if len(nodes) == 1 or self._workers == 1:
            return [self._one(node, seen[node.uuid], work) for node in nodes]
        with concurrent.futures.ThreadPoolExecutor(self._workers) as pool:
            futures = [
                pool.submit(self._one, node, seen[node.uuid], work)
                for node in nodes
            ]
            return [future.result() for future in futures]

    def _one(
        self,
        node: describe.Node,
        seen: Any | errors.AgentError,
        work: Callable[[describe.Node, Any], NodeResult],
    ) -> NodeResult:
        """Work on one node, looking again when placement moved meanwhile."""
        applied: list[Any] = []
        try:
            result = self._look(node, seen, work, applied)
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
        node: describe.Node,
        seen: Any | errors.AgentError,
        work: Callable[[describe.Node, Any], NodeResult],
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
        for look in looks:
            with look:
                if self._outage is not None:
                    raise self._outage
                if look.retry_state.attempt_number > 1:
                    seen = self._client.observe([node.uuid])[node.uuid]
                if isinstance(seen, errors.AgentError):
                    raise seen
                try:
                    return work(node, seen)
                except errors.AgentError as exc:
                    applied += exc.applied
                    raise
        raise AssertionError  # tenacity returns or raises

    def _planned(self, node: describe.Node, seen: Observation) -> NodeResult:
        plan = self._plan(node, seen)
        return NodeResult(
            node=node,
            status=Status.DONE,
            plan=plan,
            notes=tuple(plan.notes),
        )

    def _synced(self, node: describe.Node, seen: Observation) -> NodeResult:
        plan = self._plan(node, seen)
        outcome = self._client.apply(plan)
        refused = tuple(outcome.refused)
        return NodeResult(
            node=node,
            status=Status.FAILED if refused else Status.DONE,
            plan=plan,
            applied=outcome.applied,
            reason='; '.join(refused),
            notes=tuple(plan.notes),
        )

    def _plan(self, node: describe.Node, seen: Observation) -> Plan:
        _check_identity(node, seen)
        tree = seen.tree()
        describe.describe(self._driver, tree, node, self._reserved)
        below = tree.get_provider_uuids(node.uuid)[1:]
        record = self._records.record(below)
        describe.assert_own_traits(tree, node, record)
        policy = ownership.Policy(
            node_uuid=node.uuid,
            authority=self._driver.authority,
            ratios=self._ratios,
        )
        return self._client.plan(tree, seen, policy)


def _check_identity(node: describe.Node, seen: Observation) -> None:
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
