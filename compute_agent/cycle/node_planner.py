# SPDX-License-Identifier: Apache-2.0
"""From what placement holds of a node to the plan for it: describe, resolve.

A node that is there is described by its driver, the operator's files and the
agent; one that is gone as nothing. It reads and writes nothing itself: the
report client makes the plan. A node's turn calls it, from many threads.
"""

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from .. import errors
from ..limits import contention
from ..ownership import moved_away, orphans, policy
from ..tree import host_inventory, provider_tree
from ..tree.allocation_ratios import Ratios
from ..tree.node import Node
from ..virt import driver as virt
from . import describe, identity, report_client

# The driver's facts, the operator's files, and what the node is called.
_Grounds = tuple[object, int, Node]

# What is said of a node's names.
OrdersOf = Callable[[Node], policy.Orders]


def _no_orders() -> OrdersOf:
    return lambda _node: policy.NO_ORDERS


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the operator chose.

    :ivar reserved: what of a host is not for its guests
    :ivar orders: asked in each cycle for what is said of the nodes' names
    """

    ratios: Ratios = dataclasses.field(default_factory=Ratios)
    reserved: host_inventory.Reserved = dataclasses.field(
        default_factory=host_inventory.Reserved
    )
    orders: Callable[[], OrdersOf] = _no_orders


class Planner:
    """Makes the plans for one driver's nodes.

    :param files: what operators add to what the driver describes
    """

    def __init__(
        self,
        driver: virt.ComputeDriver,
        client: report_client.ReportClient,
        records: report_client.Records,
        *,
        settings: Settings,
        files: report_client.Files | None = None,
    ) -> None:
        self._driver = driver
        self._client = client
        self._records = records
        self._settings = settings
        self._files = files
        self._orders = settings.orders()
        # What each node was described by the last time.
        self._described_by: dict[str, _Grounds] = {}

    def begin(self) -> None:
        """Have the operator's files and orders read, for a cycle."""
        self._orders = self._settings.orders()
        if self._files is not None:
            self._files.begin()

    def settle(self, node_uuids: Sequence[str]) -> None:
        """End a cycle of these nodes, as far as the files go."""
        if self._files is not None:
            self._files.log_unmatched(node_uuids)
        for gone in self._described_by.keys() - set(node_uuids):
            del self._described_by[gone]

    def plan(
        self,
        node: Node,
        seen: report_client.Observation,
        contended: Collection[contention.Item],
    ) -> report_client.Plan:
        """Return what is to be done for a node that is there.

        :param contended: what is left as it is, if it would be changed
        """
        last = self._described_by.pop(node.uuid, None)
        grounds = self._grounds(node)
        if (
            last is not None
            and grounds is not None
            and describe.equal(self._driver, node, last, grounds)
        ):
            decides = self._policy(node, contended)
            known = self._client.unchanged(seen, decides)
            if known is not None:
                self._described_by[node.uuid] = grounds
                return known
        identity.check(node, seen.providers)
        tree, allocations = self._described(node, seen)
        decides = self._policy(node, contended)
        plan = self._client.plan(tree, seen, decides, allocations)
        if grounds is not None and allocations is None:
            self._described_by[node.uuid] = grounds
        return plan

    def plan_gone(
        self,
        node: Node,
        seen: report_client.Observation,
        contended: Collection[contention.Item],
    ) -> report_client.Plan:
        """Return what is to be done for a node that is gone."""
        tree = seen.tree()
        record = self._records.record(seen.providers, node.uuid)
        created = self._records.created_for([node.uuid]).get(node.uuid, ())
        left = orphans.outside(node.uuid, seen.providers, created)
        called = (node.uuid, node.name)
        orphans.describe_gone(tree, called, record.created, left)
        return self._client.plan(tree, seen, self._policy(node, contended))

    def _grounds(self, node: Node) -> _Grounds | None:
        """Return all that a node's description goes by, None if unknown."""
        facts = describe.facts(self._driver, node)
        if facts is None:
            return None
        edition = 0 if self._files is None else self._files.edition
        return facts, edition, node

    def _policy(
        self, node: Node, contended: Collection[contention.Item]
    ) -> policy.Policy:
        return policy.Policy(
            node_uuid=node.uuid,
            authority=self._driver.authority,
            ratios=self._settings.ratios,
            orders=self._orders(node),
            contended=contended,
        )

    def _described(
        self, node: Node, seen: report_client.Observation
    ) -> tuple[provider_tree.ProviderTree, report_client.Allocations | None]:
        """Return the described tree, with the allocations if it took those."""
        tree = seen.tree()
        try:
            self._describe(tree, seen, node)
        except errors.ReshapeNeeded:
            tree = seen.tree()
            allocations = self._client.allocations(seen)
            self._describe(tree, seen, node, allocations.described)
            return tree, allocations
        return tree, None

    def _describe(
        self,
        tree: provider_tree.ProviderTree,
        seen: report_client.Observation,
        node: Node,
        allocations: Mapping[str, Any] | None = None,
    ) -> None:
        """Let the driver describe a node, and add the files' and our own."""
        describe.describe(
            self._driver, tree, node, self._settings.reserved, allocations
        )
        if tree.exists(node.uuid):
            record = self._records.record(
                {*seen.providers, *tree.get_provider_uuids()}, node.uuid
            )
            if self._files is not None:
                self._files.merge(tree, node.uuid, record)
            describe.assert_own_traits(tree, node, record)
            moved_away.leave(tree, node.uuid, record)
