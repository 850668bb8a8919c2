# SPDX-License-Identifier: Apache-2.0
"""Make the policies of the nodes; nodes with the same rules share one.

Thousands of nodes then need one object, and two plans' policies are quick to
compare. This module reads nothing but the drivers' authority.
``node_planner.py`` calls it, from several threads.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeAlias

from ...fleet.values.mark import Mark
from ...limits import approval, contention
from ...ownership import policy
from ...tree.inventory import Ratios
from ...tree.node import Node
from .. import node_list

# Returns the operator's orders for the names of a node.
OrdersOf: TypeAlias = Callable[[Node], policy.Orders]
# Driver → the traits that it decides alone.
Authority: TypeAlias = Mapping[str, Sequence[str]]

# The number of recent policies that a new one is compared with, to share an
# equal one.
_RECENT = 8


class NodePolicies:
    """The policies of the nodes in a cycle.

    :param nodes: tells which drivers describe a node
    :param authority: returns what the drivers of a node decide alone, now
    :param mode: the agent's part for its nodes
    :ivar orders: returns the operator's orders for a node, in this cycle
    :ivar mark: the mark of this agent; None if it ignores other agents' marks
    """

    def __init__(
        self,
        nodes: node_list.NodeList,
        authority: Callable[[Node], Authority],
        *,
        mode: policy.Mode,
        ratios: Ratios,
        orders: OrdersOf,
        mark: Mark | None,
    ) -> None:
        self.orders = orders
        self.mark = mark
        self._nodes = nodes
        self._authority = authority
        self._mode = mode
        self._ratios = ratios
        # The policies that those of the nodes' last plans are compared with. The
        # key has the ids of drivers, orders and contended items; the value keeps
        # these objects alive, so that no id is used twice in a cycle.
        self._current: dict[tuple[int, ...], tuple[object, policy.Policy]]
        self._current = {}
        self._recent: list[policy.Policy] = []

    def begin(self, orders: OrdersOf) -> None:
        """Begin a cycle: the drivers' authority and the orders may be new."""
        self.orders = orders
        self._current.clear()

    def current(
        self, node: Node, contended: Collection[contention.Item]
    ) -> policy.Policy:
        """Return the policy to compare with that of a node's last plan.

        The drivers' authority is read once in a cycle, not once for each node,
        unless one of several drivers fails.
        """
        by = self._nodes.described_by(node)
        rests_on = by, self.orders(node), contended
        key = tuple(map(id, rests_on))
        known = self._current.get(key)
        if known is not None:
            return known[1]
        authority = self._authority(node)
        made = self.of(node, contended, authority)
        if len(authority) == len(by.listing):
            self._current[key] = rests_on, made
        return made

    def of(
        self,
        node: Node,
        contended: Collection[contention.Item],
        authority: Authority,
        held: frozenset[approval.Subject] = frozenset(),
    ) -> policy.Policy:
        """Return the policy for a node.

        :param contended: the items that this cycle leaves as they are
        :param authority: what its drivers decide alone. A driver of a single
            node may derive it from its findings, so a plan uses the authority
            as it is after the description
        :param held: the removals that wait until a person approves them
        """
        is_companion = self._mode is policy.Mode.COMPANION
        made = policy.Policy(
            authority={} if is_companion else authority,
            mode=self._mode,
            ratios=self._ratios,
            orders=self.orders(node),
            contended=contended,
            held=held,
            mark=self.mark,
        )
        for known in self._recent:
            # Equal items may name other nodes, for people.
            if known == made and (
                known.contended is contended or not contended
            ):
                return known
        self._recent = [made, *self._recent[: _RECENT - 1]]
        return made
