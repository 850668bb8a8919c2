# SPDX-License-Identifier: Apache-2.0
"""A node's plan as a cycle sees it: what is sent now, and what waits.

Pure: no I/O, configuration, logging or clock. ``node_planner.py`` makes it;
``node/node_cycle.py`` sends it.
"""

import dataclasses

from ...limits import contention
from ...ownership import takeover
from ...plan.operations.operations import Operation
from ...plan.plan import Plan


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NodePlan:
    """A node's plan.

    :ivar contended: the contended items that it leaves as they are
    :ivar takeovers: its first writes to other writers' providers
    :ivar takes_over: True if a person allowed these writes
    :ivar waits_for_nova: why nothing of it is sent now, because nova-compute
        reports the node or may do so; otherwise empty
    """

    plan: Plan
    contended: tuple[contention.Item, ...] = ()
    takeovers: tuple[takeover.Takeover, ...] = ()
    takes_over: bool = False
    waits_for_nova: str = ''

    def is_empty(self) -> bool:
        """Return True if there is nothing to send, to record or to wait for."""
        return self.plan.is_empty() and not self.contended

    def waiting(self) -> tuple[takeover.Takeover, ...]:
        """Return the first writes that nobody allowed yet."""
        return () if self.takes_over else self.takeovers

    def held(self) -> tuple[Operation, ...]:
        """Return the operations that wait until a person allows them.

        If the node's own root waits, the whole plan waits. An operation that
        only creates a name waits if no other operation is left.
        """
        uuids = {waiting.provider.uuid for waiting in self.waiting()}
        every = self.plan.operations
        held = tuple(op for op in every if not uuids.isdisjoint(op.providers))
        if held and (
            self.plan.node_uuid in uuids
            or sum(bool(op.providers) for op in every) == len(held)
        ):
            return every
        return held

    def waits_as_a_whole(self) -> bool:
        """Return True if all its operations wait until a person allows them."""
        held = self.held()
        return bool(held) and len(held) == len(self.plan.operations)

    def sendable(self) -> Plan:
        """Return the plan without the claims on providers that wait."""
        uuids = {waiting.provider.uuid for waiting in self.waiting()}
        if not uuids:
            return self.plan
        claims = {
            key: by_source
            for key, by_source in self.plan.claims.items()
            if key[0] not in uuids
        }
        return dataclasses.replace(self.plan, claims=claims)
