# SPDX-License-Identifier: Apache-2.0
"""Make a node's plan: describe, read the record, decide, plan.

``NodePlanner.plan`` reuses an empty plan while its inputs are the same.
Otherwise the steps follow from top to bottom: ``describing/`` has the sources
describe the node, ``planning/`` decides, and what the decision needs to know is
read in one place, ``_read``. This module writes nothing to placement. The
cycles of several nodes call it from several threads.
"""

import dataclasses
import functools
import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeAlias

from ... import errors
from ...fleet.values.mark import Mark
from ...identity import host_adoption, nova_compute
from ...limits import approval, contention
from ...ownership import leaving, policy, takeover
from ...ownership.beside_nova import given_up
from ...ownership.record import NOTHING as NO_RECORD
from ...ownership.record import Record
from ...plan.needs import NOTHING, Known, Needs, Outsiders
from ...plan.observation import Observation
from ...provider_config.files import ProviderConfigFiles
from ...state.nodes import AgreedNames
from ...state.records import Records
from ...state.snapshot import Snapshot
from ...tree import assertion, host_inventory, provider
from ...tree.inventory import Ratios
from ...tree.node import Node
from ...tree.provider_tree import ProviderTree
from ...virt import failures
from .. import node_list
from ..describing.descriptions import (
    Described,
    Descriptions,
    Facts,
    ReadsNothing,
)
from ..planning import decide
from ..planning.empty_plans import Basis, EmptyPlan, EmptyPlans, KeptFacts
from ..planning.node_plan import NodePlan
from ..values.report_client import ReportClient
from .known_consumers import KnownConsumers
from .node_checks import ReporterChecks, Rivals, RootChecks
from .node_policies import NodePolicies, OrdersOf

LOG = logging.getLogger(__name__)

# Returns who changed a name of a provider; empty for another writer.
Author: TypeAlias = Callable[[provider.Provider, assertion.Kind, str], str]
# Returns the nodes that left the list, but may exist.
Elsewhere: TypeAlias = Callable[[Collection[str]], Collection[str]]


_GONE = (
    'the node is gone from the list of the driver, and {} took it over: its '
    'providers are left to that one'
)
_LEFT_TO = '{} took the node over: all is left to that one'


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
    :ivar mark: the mark of this agent; None if it ignores other agents' marks
    :ivar marks_nodes: True if the roots of its nodes get the mark
    :ivar author: says who changed a name that is restored
    :ivar host: gives this host the uuid under which placement has its name;
        None beside nova-compute, which decides the uuid
    :ivar check_others: raises ``UnknownState`` if another share reports a node
        to which this agent may not write yet; None without other shares
    """

    ratios: Ratios = dataclasses.field(default_factory=Ratios)
    reserved: host_inventory.Reserved = dataclasses.field(
        default_factory=host_inventory.Reserved
    )
    orders: Callable[[], OrdersOf] = _no_orders
    uuid_files: Callable[[], Mapping[str, str]] = dict
    mode: policy.Mode = policy.Mode.OWNER
    marker: nova_compute.NovaMarker | None = None
    clock: Callable[[], float] = time.time
    nova: nova_compute.NovaCompute | None = None
    mark: Mark | None = None
    marks_nodes: bool = False
    author: Author = _unknown_author
    host: host_adoption.HostUuid | None = None
    check_others: Callable[[Node, Observation], object] | None = None


class NodePlanner:
    """Makes the plans for the nodes of an agent's drivers.

    :param nodes: tells which drivers describe a node
    :param files: the operators' additions to the driver's descriptions
    :param names: tells renamed hosts from cloned ones, if it is given
    :param lost: the roots that other writers deleted, if it is given
    :param elsewhere: returns the nodes that left the list, but may exist, given
        the nodes of the list
    """

    def __init__(
        self,
        nodes: node_list.NodeList,
        client: ReportClient,
        records: Records,
        *,
        settings: Settings,
        files: ProviderConfigFiles | None = None,
        names: AgreedNames | None = None,
        lost: Snapshot | None = None,
        elsewhere: Elsewhere = lambda _listed: frozenset(),
    ) -> None:
        self._elsewhere = elsewhere
        self._nodes = nodes
        self._client = client
        self._records = records
        self._settings = settings
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
        self._descriptions.mark = self._trait()
        self._policies = NodePolicies(
            nodes,
            self._descriptions.authority,
            mode=self._mode,
            ratios=settings.ratios,
            orders=settings.orders(),
            mark=settings.mark,
        )
        self._rivals = self._rivals_of(settings.mark)
        self._empty_plans = EmptyPlans()
        self._consumers = KnownConsumers()
        self._memories: dict[str, decide.Memory] = {}
        # The facts that drivers told in this cycle for nodes that did not
        # change.
        self._told: dict[str, Facts | None] = {}
        self._left = frozenset[str]()
        self._is_ahead = False

    def sign(self, agent_id: str) -> None:
        """Have this id from now on, in the mark on the nodes' roots."""
        own = self._settings.mark
        if own is None or own.agent == agent_id:
            return
        own = dataclasses.replace(own, agent=agent_id)
        self._settings = dataclasses.replace(self._settings, mark=own)
        self._rivals = self._rivals_of(own)
        self._descriptions.mark = self._trait()
        self._policies.mark = own
        self._empty_plans.keep_only(())

    @property
    def mark(self) -> Mark | None:
        """The mark of this agent; None if it ignores other agents' marks."""
        return self._settings.mark

    def _rivals_of(self, own: Mark | None) -> Rivals:
        """Return the finder of other agents that report this agent's nodes."""
        return Rivals(own, lambda: self._nodes.uuids, self._was_ours)

    def _trait(self) -> str:
        """Return the mark that the roots get, as a trait; empty for none."""
        own = self._settings.mark
        return own.trait if own and self._settings.marks_nodes else ''

    def _was_ours(self, uuid: str, trait: str) -> bool:
        """Return True if this agent claims the trait of a node's root."""
        claims = self._records.record({uuid}, uuid).claims
        own = claims.get((uuid, assertion.Kind.TRAIT), {})
        return trait in own.get(assertion.AGENT, ())

    def begin(self, left: Collection[str] = ()) -> None:
        """Have the operator's files and orders read, for a cycle.

        :param left: the nodes that this cycle leaves
        :raises errors.Unavailable: a file of the state database was removed
        """
        self._records.check_files()
        self._left = frozenset(left)
        self._told.clear()
        self._policies.begin(self._settings.orders())
        self._consumers.begin()
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
        self._rivals.keep_only(node_uuids)
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
        self._observed(found)
        return found

    def plan_ahead(
        self,
        nodes: Sequence[Node],
        seen: Mapping[str, Observation],
        contended: Collection[contention.Item],
        may_go_on: Callable[[], bool],
    ) -> None:
        """Plan nodes that another agent reports, to have their empty plans.

        Nothing is read for it. What a node's plan lacks, or why it cannot be
        made, is found in the first cycle of this agent.

        :param seen: the observations of some of these nodes
        :raises errors.AgentError: an operator's file is wrong
        """
        self.begin()
        self._observed(seen)
        self._is_ahead = True
        try:
            for node in nodes:
                if node.uuid not in seen:
                    continue
                if not may_go_on():
                    break
                try:
                    self.plan(node, seen[node.uuid], contended)
                except (ReadsNothing, errors.AgentError):
                    continue  # the first cycle reads it, or tells the error
                except failures.caught():
                    LOG.debug('%s is not planned ahead', node, exc_info=True)
        finally:
            self._is_ahead = False
            self.end([node.uuid for node in nodes])

    def _observed(
        self, found: Mapping[str, Observation | errors.AgentError]
    ) -> None:
        """Read the records of these observations."""
        self._rivals.observed(found)
        self._roots.observed()
        self._records.preload(
            {
                uuid: seen.uuids
                for uuid, seen in found.items()
                if isinstance(seen, Observation)
            }
        )

    def unchanged(
        self,
        node: Node,
        seen: Observation,
        contended: Collection[contention.Item],
    ) -> NodePlan | None:
        """Return a node's last plan if it is empty and nothing changed since.

        None if the node has to be planned; ``plan`` then asks the drivers for
        no facts that they told here.
        """
        last = self._empty_plans.last(node.uuid)
        if (
            last is None
            or self._reporter is not None
            or node.uuid not in seen.providers
            or not last.made.is_empty()
        ):
            return None
        try:
            facts = self._descriptions.facts(node, seen)
            if self._still_holds(last, node, facts, seen, contended):
                if last.basis.seen is not seen:
                    self._keep(self._renewed(last.basis, seen), last.made)
                return last.made
        except errors.AgentError:
            return None  # "plan" raises it
        self._told[node.uuid] = facts
        return None

    def plan(
        self,
        node: Node,
        seen: Observation,
        contended: Collection[contention.Item],
        held: frozenset[approval.Subject] = frozenset(),
    ) -> NodePlan:
        """Return the plan for a node that the driver has.

        If nothing changed since an empty or waiting plan, that is the plan.

        :param contended: the items that this cycle leaves as they are
        :param held: the removals that wait until a person approves them
        """
        why = self._reason_to_wait(node)
        orders = self._policies.orders(node)
        self._roots.check_missing_root(node, seen, orders)
        if node.uuid not in seen.providers and not orders.is_confirmed:
            self._rivals.check()
        last = self._empty_plans.take(node.uuid)
        facts = self._facts(node, seen)
        if last is None or why:
            last = None
        elif self._still_holds(last, node, facts, seen, contended):
            return self._keep(self._renewed(last.basis, seen), last.made)

        # Drivers, operators' files and agent describe the node.
        self._roots.check_identity(node, seen)
        described = self._descriptions.describe(
            node, seen, asks=not self._is_ahead
        )
        self._roots.note_nova(described.tree, node)
        self._watch_sharing(seen, described.tree)
        inputs = self._inputs(node, seen, described, contended, held)
        if (
            self._settings.check_others is not None
            and not orders.is_confirmed
            and not takeover.is_written(inputs.record, node.uuid)
        ):
            if self._is_ahead:
                raise ReadsNothing
            self._settings.check_others(node, seen)
        kept = None
        if facts is not None and described.is_complete:
            kept = KeptFacts(facts)
        basis = Basis(
            node=node,
            facts=kept,
            edition=self._descriptions.edition,
            seen=seen,
            uuids=inputs.uuids,
            record=inputs.record,
            policy=inputs.policy,
            description=inputs.tree.description() if kept is None else None,
        )
        if (
            last is not None
            and inputs.moves is None
            and last.basis.leads_to_the_plan_of(basis)
        ):
            return self._keep(basis, last.made)

        decision = self._decide(inputs)
        if self._reporter is not None and not why and not held:
            why = self._reporter.learn(node, decision.undone)
        if decision.is_repeatable and not why:
            return self._keep(basis, decision.made)
        return dataclasses.replace(decision.made, waits_for_nova=why)

    def plan_departed(
        self,
        node: Node,
        seen: Observation,
        contended: Collection[contention.Item],
        held: frozenset[approval.Subject] = frozenset(),
    ) -> NodePlan:
        """Return the plan for a node that is gone: remove its providers."""
        if self._is_companion:
            return self._plan_leaving(node, seen, contended, held)
        tree, record = seen.tree(), self._left_record(node, seen)
        if who := self._others(node, seen, record):
            raise errors.UnknownState(_GONE.format(who))
        created = self._records.created_for([node.uuid]).get(node.uuid, ())
        written = [
            uuid
            for uuid in leaving.pools(record, seen.home)
            if takeover.is_written(record, uuid)
            and not record.nodes_that_claim(uuid)
        ]
        outside = leaving.outside(
            node.uuid, seen.providers, dict.fromkeys([*created, *written])
        )
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
        decides = self._policies.of(node, contended, authority, held)
        return self._removing(node, seen, tree, record, decides)

    def plan_leaving(
        self,
        node: Node,
        seen: Observation,
        contended: Collection[contention.Item],
        held: frozenset[approval.Subject] = frozenset(),
    ) -> NodePlan:
        """Return the plan that takes off all that this agent added.

        If another agent took a node over, this agent only forgets the node.

        :raises errors.Refused: placement has the root with another name or
            parent, so another host may report it
        """
        self._roots.check_own_root(node, seen)
        return self._plan_leaving(node, seen, contended, held)

    def _plan_leaving(
        self,
        node: Node,
        seen: Observation,
        contended: Collection[contention.Item],
        held: frozenset[approval.Subject],
    ) -> NodePlan:
        tree, record = seen.tree(), self._left_record(node, seen)
        forgotten = NO_RECORD
        if who := self._others(node, seen, record):
            tree.note(_LEFT_TO.format(who))
            forgotten, record = record.of(seen.home), NO_RECORD
        leaving.describe(
            tree, node.uuid, record, mode=self._mode, left=self._left
        )
        decides = policy.Policy(contended=contended, held=held, leaves=True)
        made = self._removing(node, seen, tree, record, decides)
        return dataclasses.replace(made, given_up=forgotten) if who else made

    def applied(self, node: Node) -> None:
        """Note that placement did all of a node's plan."""
        if self._reporter is not None:
            self._reporter.applied(node)

    def wait(self, node: Node) -> None:
        """Note that a node's plan waits, so the next cycle asks for no more."""
        self._consumers.wait(node.uuid)

    def adoption(
        self, node: Node, holder: str
    ) -> host_adoption.HostAdoption | None:
        """Return how this host takes the uuid of the holder of its name.

        :raises errors.AgentError: the host cannot take it
        """
        host = self._settings.host
        return None if host is None else host.adoption(node, holder)

    def is_confirmed(self, node: Node) -> bool:
        """Return True if a person allowed whatever waits."""
        return self._policies.orders(node).is_confirmed

    def adopt(self, adopted: host_adoption.HostAdoption) -> None:
        """Give this host the uuid; the first write to its root is allowed.

        :raises errors.ConfigError: a file cannot be written
        """
        if self._settings.host is not None:
            self._settings.host.take(adopted)
            self._records.take_over([adopted.provider.uuid])

    def record(self, node: Node, planned: NodePlan) -> None:
        """Record what a plan's writes mean for ownership, before they begin."""
        if begun := planned.begun():
            self.take_over(begun)
        if taken := planned.taken_now():
            self._records.count_as_ours(node.uuid, taken)
        if (given_up := planned.given_up_now()) != NO_RECORD:
            self._records.give_up(node.uuid, given_up)

    def take_over(self, allowed: Collection[takeover.Takeover]) -> None:
        """Record that a person allowed these first writes.

        Providers that another agent created and marked count as this agent's.
        """
        self._records.take_over(one.provider.uuid for one in allowed)
        for one in allowed:
            if one.marks:
                uuid = one.provider.uuid
                marks = frozenset(each.trait for each in one.marks)
                taken = {(uuid, assertion.Kind.TRAIT): marks}
                self._records.count_as_ours(uuid, taken, one.adopted)
                self._rivals.settled(uuid)

    # --- the steps ------------------------------------------------------------

    def _facts(self, node: Node, seen: Observation) -> Facts | None:
        """Return the facts that the drivers told in this cycle, or tell now."""
        if node.uuid in self._told:
            return self._told.pop(node.uuid)
        return self._descriptions.facts(node, seen)

    def _reason_to_wait(self, node: Node) -> str:
        """Return why a reporter writes nothing of a node now, or ''."""
        if self._reporter is None:
            return ''
        return self._reporter.reason_to_wait(node)

    def _others(self, node: Node, seen: Observation, record: Record) -> str:
        """Return the other agents that took over a node, or ''."""
        if not takeover.is_reported(record, node.uuid):
            return ''
        return takeover.others(
            takeover.marks_on(
                node.uuid, seen.providers, record, self._settings.mark
            )
        )

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
        held: frozenset[approval.Subject],
    ) -> decide.Inputs:
        """Return the inputs of the decision about a described node."""
        tree = described.tree
        uuids = frozenset([*seen.providers, *tree.get_provider_uuids()])
        return decide.Inputs(
            tree=tree,
            seen=seen,
            record=self._records.record(uuids, node.uuid),
            policy=self._policies.of(
                node, contended, described.authority, held
            ),
            moves=described.moves,
            asks=True,
            # A companion writes to nothing of nova's that counts.
            asks_at_home=not self._is_companion,
            asks_beside_nova=self._settings.nova is not None,
            memory=self._memories.get(node.uuid, decide.Memory()),
        )

    def _decide(self, inputs: decide.Inputs) -> decide.Decision:
        """Decide; read what the decision lacks, and decide again."""
        seen, known = inputs.seen, NOTHING
        while isinstance(decision := decide.decide(inputs, known), Needs):
            known = known.plus(self._read(seen, decision))
        if not self._is_ahead:  # the memory has what drivers told
            self._memories[seen.node_uuid] = decision.memory
            self._consumers.note_losing(seen.node_uuid, decision.at_stake)
        return decision

    def _read(self, seen: Observation, needs: Needs) -> Known:
        """Return the facts that a decision lacks.

        The history tells who changed a name, and placement everything else.

        :raises ReadsNothing: this agent plans ahead
        """
        if self._is_ahead:
            raise ReadsNothing
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
        return read.plus(
            Known(
                authors=authors,
                consumers=consumers,
                outsiders=self._outsiders(seen, read.outsiders),
            )
        )

    def _outsiders(self, seen: Observation, members: Outsiders) -> Outsiders:
        """Return the members of pools that are outside this agent's trees.

        A node that left the list, but may exist, counts as another agent's. If
        nodes are left, the agent's other nodes count as outside.
        """
        if not members:
            return members
        own = {seen.node_uuid, *self._nodes.uuids}
        own.update(self._records.known_providers())
        if self._left:
            own &= {*self._left, *(seen.providers.keys() - seen.home)}
        else:
            own.difference_update(self._elsewhere(self._nodes.uuids))
        return {
            pool: [one for one in found if one.root_uuid not in own]
            for pool, found in members.items()
        }

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
        """Return a node's record, without the names that the mode gives up."""
        record = self._records.record(seen.providers, node.uuid)
        given = given_up.of_mode(self._mode, record, node.uuid, seen.providers)
        return given_up.left(record, given)

    def _still_holds(
        self,
        last: EmptyPlan,
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
            and (basis := last.basis).facts is not None
            and (basis.node, basis.edition)
            == (node, self._descriptions.edition)
            and basis.facts.are(
                facts, functools.partial(self._descriptions.equal, node)
            )
            and last.holds_for(
                seen,
                self._records.record(basis.uuids, node.uuid),
                self._policies.current(node, contended),
            )
        )

    def _renewed(self, basis: Basis, seen: Observation) -> Basis:
        """Return the basis with the newest of equal values."""
        if basis.seen is seen:
            return basis
        return dataclasses.replace(
            basis,
            seen=seen,
            record=self._records.record(basis.uuids, seen.node_uuid),
        )

    def _keep(self, basis: Basis, made: NodePlan) -> NodePlan:
        self._empty_plans.keep(basis, made)
        return made
