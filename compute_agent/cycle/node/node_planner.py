# SPDX-License-Identifier: Apache-2.0
"""Make a node's plan: describe, read the record, decide, plan.

``NodePlanner.plan`` reuses an empty plan while its inputs are the same.
Otherwise the steps follow from top to bottom: ``describing/`` has the sources
describe the node, ``planning/`` decides, and what the decision needs to know is
read in one place, ``_read``. This module writes nothing to placement. The
cycles of several nodes call it from several threads.
"""

import dataclasses
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeAlias

from ... import errors
from ...limits import contention
from ...ownership import leaving, policy, takeover
from ...ownership.beside_nova import given_up
from ...ownership.record import Record
from ...plan import allocations
from ...plan.needs import NOTHING, Known, Needs
from ...plan.observation import Observation
from ...tree import assertion, host_inventory, provider
from ...tree.inventory import Ratios
from ...tree.node import Node
from ...tree.provider_tree import ProviderTree
from .. import node_list, report_client
from ..describing.descriptions import Described, Descriptions, Facts
from ..planning import decide
from ..planning.empty_plans import Basis, EmptyPlans
from ..planning.node_plan import NodePlan
from .node_checks import ReporterChecks, RootChecks

# Returns the operator's orders for the names of a node.
OrdersOf: TypeAlias = Callable[[Node], policy.Orders]
# Returns who changed a name of a provider; empty for another writer.
Author: TypeAlias = Callable[[provider.Provider, assertion.Kind, str], str]
# The uuid and the generation of a provider.
_Key: TypeAlias = tuple[str, int | None]


def _no_orders() -> OrdersOf:
    return lambda _node: policy.NO_ORDERS


def _unknown_author(
    _one: provider.Provider, _kind: assertion.Kind, _name: str
) -> str:
    return ''


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of the operator that the plans of all nodes depend on.

    :ivar reserved: the part of a host that is not for its guests
    :ivar uuid_files: called in each cycle; returns the host's uuid and the
        file that gives it
    :ivar mode: the agent's part for its nodes
    :ivar marker: tells if the nova-compute of this host reports it; for a
        reporter
    :ivar clock: seconds since the epoch
    :ivar nova: looks for a nova-compute on this host; None if the operator
        said who reports the nodes
    :ivar orders: called in each cycle; returns the orders for the nodes' names
    :ivar author: says who changed a name that is restored
    """

    ratios: Ratios = dataclasses.field(default_factory=Ratios)
    reserved: host_inventory.Reserved = dataclasses.field(
        default_factory=host_inventory.Reserved
    )
    orders: Callable[[], OrdersOf] = _no_orders
    uuid_files: Callable[[], Mapping[str, str]] = dict
    mode: policy.Mode = policy.Mode.OWNER
    marker: report_client.NovaMarker | None = None
    clock: Callable[[], float] = time.time
    nova: report_client.NovaCompute | None = None
    author: Author = _unknown_author


class _KnownConsumers:
    """The consumers of providers, as far as a cycle has asked for them.

    Placement is asked only about providers that would lose something, and
    about each of them once in a cycle while its generation stays. The answers
    for a node whose plan waits hold until its plan does not wait any more.
    """

    def __init__(self) -> None:
        self._known: dict[_Key, allocations.Consumers] = {}
        # The providers that each node's plan takes something from.
        self._losing: dict[str, frozenset[_Key]] = {}
        self._waiting: set[str] = set()

    def begin(self) -> None:
        """Forget the consumers, at the beginning of a cycle.

        If a node's plan waited in the last cycle, its consumers decide nothing
        until the plan is sent. Their end does not raise a generation, so the
        first cycle after the wait asks again.
        """
        kept = frozenset[_Key]().union(
            *(self._losing.get(uuid, ()) for uuid in self._waiting)
        )
        self._known = {k: v for k, v in self._known.items() if k in kept}
        self._losing.clear()
        self._waiting.clear()

    def wait(self, node_uuid: str) -> None:
        """Keep the answers for a node whose plan waits for the next cycle."""
        self._waiting.add(node_uuid)

    def note_losing(
        self, node_uuid: str, losing: Iterable[provider.Provider]
    ) -> None:
        """Note the providers that a node's plan takes something from."""
        keys = frozenset(map(_key, losing))
        if keys:
            self._losing[node_uuid] = keys

    def known(
        self, providers: Iterable[provider.Provider]
    ) -> dict[str, allocations.Consumers]:
        """Return the consumers of those providers that were asked about.

        New allocations raise the generation. So while it stays the same,
        there are no more consumers.
        """
        return {
            one.uuid: self._known[_key(one)]
            for one in providers
            if _key(one) in self._known
        }

    def note(
        self,
        providers: Iterable[provider.Provider],
        consumers: Mapping[str, allocations.Consumers],
    ) -> None:
        """Note the consumers of these providers."""
        for one in providers:
            self._known[_key(one)] = consumers[one.uuid]


def _key(one: provider.Provider) -> _Key:
    return one.uuid, one.generation


class NodePlanner:
    """Makes the plans for the nodes of an agent's drivers.

    :param nodes: tells which drivers describe a node
    :param files: the operators' additions to the driver's descriptions
    :param names: tells renamed hosts from cloned ones, if it is given
    :param lost: the roots that other writers deleted, if it is given
    """

    def __init__(
        self,
        nodes: node_list.NodeList,
        client: report_client.ReportClient,
        records: report_client.Records,
        *,
        settings: Settings,
        files: report_client.Files | None = None,
        names: report_client.AgreedNames | None = None,
        lost: report_client.LostRoots | None = None,
    ) -> None:
        self._client = client
        self._records = records
        self._settings = settings
        self._orders = settings.orders()
        self._mode = settings.mode
        self._is_companion = self._mode is policy.Mode.COMPANION
        self._roots = RootChecks(
            settings.uuid_files,
            names,
            lost,
            nova=settings.nova,
            mode=self._mode,
        )
        self._reporter = (
            None
            if settings.marker is None
            else ReporterChecks(settings.marker, settings.clock)
        )
        self._descriptions = Descriptions(
            nodes,
            client,
            records,
            files=files,
            reserved=settings.reserved,
            mode=self._mode,
        )
        self._empty_plans = EmptyPlans()
        self._consumers = _KnownConsumers()
        self._memories: dict[str, decide.Memory] = {}

    def begin(self) -> None:
        """Have the operator's files and orders read, for a cycle."""
        self._consumers.begin()
        self._orders = self._settings.orders()
        self._roots.begin()
        if self._reporter is not None:
            self._reporter.begin()
        self._descriptions.begin()

    def end(
        self, node_uuids: Sequence[str], departed: Sequence[str] = ()
    ) -> None:
        """End a cycle of these nodes; forget the last plans of other nodes.

        :param departed: nodes that left the driver's list and are observed
        """
        self._descriptions.end(node_uuids)
        self._empty_plans.keep_only(node_uuids)
        self._client.forget_except([*node_uuids, *departed])
        for uuid in self._memories.keys() - set(node_uuids):
            del self._memories[uuid]
        if self._reporter is not None:
            self._reporter.keep_only(node_uuids)

    def observe(
        self, node_uuids: Sequence[str]
    ) -> Mapping[str, Observation | errors.AgentError]:
        """Return each node's providers, or why they are unknown.

        The records of all nodes are read here too, all at once.

        :raises errors.AgentError: not even placement's list could be read
        """
        found = self._client.observe(node_uuids)
        self._roots.observed()
        self._records.preload(
            {
                uuid: frozenset(seen.providers)
                for uuid, seen in found.items()
                if isinstance(seen, Observation)
            }
        )
        return found

    def plan(
        self,
        node: Node,
        seen: Observation,
        contended: Collection[contention.Item],
    ) -> NodePlan:
        """Return the plan for a node that the driver has.

        If nothing changed since an empty or waiting plan, that is the plan.

        :param contended: the items that this cycle leaves as they are
        """
        why = self._reason_to_wait(node)
        self._roots.check_missing_root(node, seen, self._orders(node))
        last = self._empty_plans.take(node.uuid)
        facts = self._descriptions.facts(node, seen)
        if last is None or why:
            last = None
        elif self._still_holds(last.basis, node, facts, seen, contended):
            return self._keep(last.basis, last.made)

        # Drivers, operators' files and agent describe the node.
        self._roots.check_identity(node, seen)
        described = self._descriptions.describe(node, seen)
        self._roots.note_nova(described.tree, node)
        self._watch_sharing(seen, described.tree)
        inputs = self._inputs(node, seen, described, contended)
        basis = Basis(
            node=node,
            facts=facts if described.is_complete else None,
            edition=self._descriptions.edition,
            seen=seen,
            uuids=inputs.uuids,
            record=inputs.record,
            policy=inputs.policy,
            description=inputs.tree.description(),
        )
        if (
            last is not None
            and inputs.moves is None
            and last.basis.leads_to_the_plan_of(basis)
        ):
            return self._keep(basis, last.made)

        decision = self._decide(inputs)
        if self._reporter is not None and not why:
            why = self._reporter.learn(node, decision.undone)
        if decision.is_repeatable and not why:
            return self._keep(basis, decision.made)
        return dataclasses.replace(decision.made, waits_for_nova=why)

    def plan_departed(
        self,
        node: Node,
        seen: Observation,
        contended: Collection[contention.Item],
    ) -> NodePlan:
        """Return the plan for a node that is gone: remove its providers."""
        if self._is_companion:
            return self.plan_leaving(node, seen, contended)
        tree, record = seen.tree(), self._left_record(node, seen)
        created = self._records.created_for([node.uuid]).get(node.uuid, ())
        outside = leaving.outside(node.uuid, seen.providers, created)
        leaving.describe_gone(
            tree,
            node,
            record.created,
            outside,
            is_reported=takeover.is_reported(record, node.uuid),
            is_novas=self._mode is policy.Mode.REPORTER,
        )
        self._watch_sharing(seen, tree)
        authority = self._descriptions.authority(node)
        decides = self._policy(node, contended, authority)
        return self._removing(node, seen, tree, record, decides)

    def plan_leaving(
        self,
        node: Node,
        seen: Observation,
        contended: Collection[contention.Item],
    ) -> NodePlan:
        """Return the plan that takes off all that this agent added."""
        tree, record = seen.tree(), self._left_record(node, seen)
        leaving.describe(tree, node.uuid, record, mode=self._mode)
        decides = policy.Policy(
            node_uuid=node.uuid, contended=contended, leaves=True
        )
        return self._removing(node, seen, tree, record, decides)

    def applied(self, node: Node) -> None:
        """Note that placement did all of a node's plan."""
        if self._reporter is not None:
            self._reporter.applied(node)

    def wait(self, node: Node) -> None:
        """Note that a node's plan waits, so the next cycle asks for no more."""
        self._consumers.wait(node.uuid)

    def take_over(self, allowed: Collection[takeover.Takeover]) -> None:
        """Record that a person allowed these first writes."""
        self._records.take_over(one.provider.uuid for one in allowed)

    # --- the steps ------------------------------------------------------------

    def _reason_to_wait(self, node: Node) -> str:
        """Return why a reporter writes nothing of a node now, or ''."""
        if self._reporter is None:
            return ''
        return self._reporter.reason_to_wait(node)

    def _watch_sharing(self, seen: Observation, tree: ProviderTree) -> None:
        """Have the sharing providers observed that a source named."""
        elsewhere = seen.asserted_elsewhere(tree)
        if elsewhere:
            self._client.watch_sharing(elsewhere)

    def _inputs(
        self,
        node: Node,
        seen: Observation,
        described: Described,
        contended: Collection[contention.Item],
    ) -> decide.Inputs:
        """Return all that the decision about a described node follows from."""
        tree = described.tree
        uuids = frozenset([*seen.providers, *tree.get_provider_uuids()])
        return decide.Inputs(
            tree=tree,
            seen=seen,
            record=self._records.record(uuids, node.uuid),
            policy=self._policy(node, contended, described.authority),
            moves=described.moves,
            # A companion writes to nothing of nova's that counts.
            asks=not self._is_companion,
            asks_beside_nova=self._settings.nova is not None,
            memory=self._memories.get(node.uuid, decide.Memory()),
        )

    def _decide(self, inputs: decide.Inputs) -> decide.Decision:
        """Decide; read what the decision lacks, and decide again."""
        seen, known = inputs.seen, NOTHING
        while isinstance(decision := decide.decide(inputs, known), Needs):
            known = known.plus(self._read(seen, decision))
        self._memories[seen.node_uuid] = decision.memory
        self._consumers.note_losing(seen.node_uuid, decision.at_stake)
        return decision

    def _read(self, seen: Observation, needs: Needs) -> Known:
        """Return the facts that a decision lacks.

        The history tells who changed a name, and placement everything else.
        """
        authors = {
            (uuid, kind, name): self._settings.author(
                seen.providers.get(
                    uuid, provider.Provider(uuid=uuid, name='')
                ),
                kind,
                name,
            )
            for uuid, kind, name in needs.authors
        }
        consumers = self._consumers.known(needs.consumers)
        asked = tuple(p for p in needs.consumers if p.uuid not in consumers)
        read = self._client.read(dataclasses.replace(needs, consumers=asked))
        self._consumers.note(asked, read.consumers)
        return read.plus(Known(authors=authors, consumers=consumers))

    def _removing(
        self,
        node: Node,
        seen: Observation,
        tree: ProviderTree,
        record: Record,
        decides: policy.Policy,
    ) -> NodePlan:
        """Return the plan for a tree from which the agent removed something."""
        decision = self._decide(
            decide.Inputs(
                tree=tree,
                seen=seen,
                record=record,
                policy=decides,
                memory=self._memories.get(node.uuid, decide.Memory()),
            )
        )
        why = self._reason_to_wait(node)
        return dataclasses.replace(decision.made, waits_for_nova=why)

    def _left_record(self, node: Node, seen: Observation) -> Record:
        """Return a node's record, without what the agent's part gives up."""
        record = self._records.record(seen.providers, node.uuid)
        given = given_up.of_mode(self._mode, record, node.uuid, seen.providers)
        return given_up.left(record, given)

    def _still_holds(
        self,
        last: Basis,
        node: Node,
        facts: Facts | None,
        seen: Observation,
        contended: Collection[contention.Item],
    ) -> bool:
        """Return True if the last plan holds without describing the node.

        It does if its drivers return facts, and neither these nor any other
        input changed.
        """
        return (
            facts is not None
            and last.facts is not None
            and (last.node, last.edition) == (node, self._descriptions.edition)
            and self._descriptions.equal(node, last.facts, facts)
            and last.rests_on(
                seen,
                self._records.record(last.uuids, node.uuid),
                self._policy(
                    node, contended, self._descriptions.authority(node)
                ),
            )
        )

    def _keep(self, basis: Basis, made: NodePlan) -> NodePlan:
        self._empty_plans.keep(basis, made)
        return made

    def _policy(
        self,
        node: Node,
        contended: Collection[contention.Item],
        authority: Mapping[str, Sequence[str]],
    ) -> policy.Policy:
        """Return the policy for a node, with its drivers' current authority.

        A driver of a single node may derive it from its findings, so a plan
        uses the authority as it is after the description.
        """
        return policy.Policy(
            node_uuid=node.uuid,
            authority={} if self._is_companion else authority,
            mode=self._mode,
            ratios=self._settings.ratios,
            orders=self._orders(node),
            contended=contended,
        )
