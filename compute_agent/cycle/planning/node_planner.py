# SPDX-License-Identifier: Apache-2.0
"""Make a node's plan: describe, read the record, resolve, limit, plan.

``NodePlanner.plan`` shows the steps from top to bottom. They decide which
providers the node should have; the report client turns these into operations.
This module writes nothing to placement. The cycles of several nodes call it
from several threads.
"""

import dataclasses
from collections.abc import Collection, Mapping, Sequence

from ... import errors
from ...limits import contention
from ...ownership import leaving, policy, takeover
from ...ownership.beside_nova import given_up
from ...plan.observation import Observation
from ...plan.removal import Reason
from ...tree.node import Node
from .. import node_list, report_client
from . import consumers, empty_plans, planner_settings
from .descriptions import Descriptions, Facts
from .empty_plans import EmptyPlans, Inputs
from .node_plan import NodePlan
from .reporter_checks import ReporterChecks
from .root_checks import RootChecks
from .wanted_providers import WantedProviders


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
        settings: planner_settings.Settings,
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
            else ReporterChecks(
                settings.marker, settings.clock, settings.author
            )
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
        self._consumers = consumers.ConsumersInUse(client)
        self._wanted = WantedProviders(self._consumers, settings.author)

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
        self._wanted.keep_only(node_uuids)
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

        :param contended: the items that this cycle leaves as they are
        """
        why = self._reason_to_wait(node)
        self._roots.check_missing_root(node, seen, self._orders(node))

        # If nothing changed since an empty or waiting plan, use it again.
        last = self._empty_plans.take(node.uuid)
        facts = self._descriptions.facts(node, seen)
        if (
            last is not None
            and not why
            and self._still_holds(last.inputs, node, facts, seen, contended)
        ):
            return self._keep(last.inputs, last.made)

        # Describe: drivers, operators' files and agent edit the tree.
        self._roots.check_identity(node, seen)
        described = self._descriptions.describe(node, seen)
        tree, allocations = described.tree, described.allocations
        self._roots.note_nova(tree, node)
        self._client.watch_sharing(seen.asserted_elsewhere(tree))

        # Record and policy also decide which names may be removed.
        uuids = frozenset([*seen.providers, *tree.get_provider_uuids()])
        record = self._records.record(uuids, node.uuid)
        decides = self._policy(node, contended, described.authority)
        inputs = Inputs(
            node=node,
            facts=facts if described.is_complete else None,
            edition=self._descriptions.edition,
            seen=seen,
            uuids=uuids,
            record=record,
            policy=decides,
            description=tree.description(),
        )
        reshapes = allocations is not None
        if (
            last is not None
            and not why
            and not reshapes
            and last.inputs.lead_to_the_plan_of(inputs)
        ):
            return self._keep(inputs, last.made)

        # Resolve ownership; leave contended items, keep names and providers in
        # use.
        wanted, left = self._wanted.decide(
            tree, seen, record, decides, allocations
        )
        if self._reporter is not None and not why:
            why = self._reporter.learn(node, seen.providers, wanted.restored)

        # Plan: the report client finds the operations that lead there.
        plan = self._client.plan(seen, wanted)
        made = NodePlan(
            plan=plan,
            contended=left,
            takeovers=()
            if self._is_companion  # it writes to nothing of nova's that counts
            else takeover.takeovers(
                node.uuid,
                seen.providers,
                tree.get_provider_uuids(),
                plan.operations,
                record,
                asks_beside_nova=self._settings.nova is not None,
            ),
            takes_over=decides.orders.takes_over,
            waits_for_nova=why,
        )
        if (
            not why
            and not reshapes
            and empty_plans.is_repeatable(made, seen, wanted)
        ):
            self._keep(inputs, made)
        return made

    def plan_departed(
        self,
        node: Node,
        seen: Observation,
        contended: Collection[contention.Item],
    ) -> NodePlan:
        """Return the plan for a node that is gone: remove its providers."""
        if self._is_companion:
            return self.plan_leaving(node, seen, contended)
        tree = seen.tree()
        record = self._records.record(seen.providers, node.uuid)
        given = given_up.of_mode(self._mode, record, node.uuid, seen.providers)
        record = given_up.left(record, given)
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
        self._client.watch_sharing(seen.asserted_elsewhere(tree))
        authority = self._descriptions.authority(node)
        decides = self._policy(node, contended, authority)
        wanted, left = self._wanted.decide(tree, seen, record, decides, None)
        return NodePlan(
            plan=self._client.plan(seen, wanted),
            contended=left,
            waits_for_nova=self._reason_to_wait(node),
        )

    def plan_leaving(
        self,
        node: Node,
        seen: Observation,
        contended: Collection[contention.Item],
    ) -> NodePlan:
        """Return the plan that takes off all that this agent added."""
        tree = seen.tree()
        record = self._records.record(seen.providers, node.uuid)
        given = given_up.of_mode(self._mode, record, node.uuid, seen.providers)
        record = given_up.left(record, given)
        leaving.describe(tree, node.uuid, record, mode=self._mode)
        decides = policy.Policy(
            node_uuid=node.uuid, contended=contended, leaves=True
        )
        wanted, left = self._wanted.decide(tree, seen, record, decides, None)
        causes = wanted.causes.all_because(Reason.LEFT)
        wanted = dataclasses.replace(wanted, causes=causes)
        return NodePlan(
            plan=self._client.plan(seen, wanted),
            contended=left,
            waits_for_nova=self._reason_to_wait(node),
        )

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

    def _still_holds(
        self,
        last: Inputs,
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
            and last.rest_on(
                seen,
                self._records.record(last.uuids, node.uuid),
                self._policy(
                    node, contended, self._descriptions.authority(node)
                ),
            )
        )

    def _keep(self, inputs: Inputs, made: NodePlan) -> NodePlan:
        self._empty_plans.keep(inputs, made)
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
