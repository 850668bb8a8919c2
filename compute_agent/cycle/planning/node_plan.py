# SPDX-License-Identifier: Apache-2.0
"""A node's plan as a cycle sees it: what is sent now, and what waits.

Pure: no I/O, configuration, logging or clock. ``node/node_planner.py`` makes
it; ``node/node_cycle.py`` sends it.
"""

import dataclasses
from collections.abc import Mapping
from typing import TypeVar

from ...limits import contention
from ...ownership import takeover
from ...ownership.record import NOTHING, Record
from ...plan.operations.operations import Operation
from ...plan.plan import Plan
from ...tree.assertion import Key

_T = TypeVar('_T')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NodePlan:
    """A node's plan.

    :ivar contended: the contended items that it leaves as they are
    :ivar takeovers: its first writes to other writers' providers
    :ivar takes_over: True if a person allowed these writes
    :ivar taken: the names that count as this agent's until they are removed
    :ivar given_up: the items that stay, but no longer count as this agent's
    :ivar reserving: the part of them that needs nobody's yes: whole
        inventories that become reserved
    :ivar changed: the providers that others changed since this agent wrote
    :ivar waits_for_nova: the reason if nothing of it is sent now, because
        nova-compute reports the node or may report it; otherwise empty
    """

    plan: Plan
    contended: tuple[contention.Item, ...] = ()
    takeovers: tuple[takeover.Takeover, ...] = ()
    takes_over: bool = False
    taken: Mapping[Key, frozenset[str]] = dataclasses.field(
        default_factory=dict
    )
    given_up: Record = NOTHING
    reserving: Plan | None = None
    changed: frozenset[str] = frozenset()
    waits_for_nova: str = ''

    def is_empty(self) -> bool:
        """Return True if there is nothing to send, to record or to wait for."""
        return (
            self.plan.is_empty()
            and not self.contended
            and self.given_up == NOTHING
        )

    def waiting(self) -> tuple[takeover.Takeover, ...]:
        """Return the first writes that nobody allowed yet."""
        return tuple(one for one in self.takeovers if not self._begins(one))

    def begun(self) -> tuple[takeover.Takeover, ...]:
        """Return the first writes that are sent now."""
        return tuple(filter(self._begins, self.takeovers))

    def _begins(self, one: takeover.Takeover) -> bool:
        """Return True if a first write is sent now.

        The option that allows first writes covers a node of this agent's own
        share, whose state may be lost, but only once: agents that have it do
        not take turns. It does not cover the nodes of another share, which an
        agent lists if its driver's filter was forgotten.
        """
        return one.is_agreed or (
            self.takes_over and (one.is_of_share or not one.marks)
        )

    def held(self) -> tuple[Operation, ...]:
        """Return the operations that wait until a person allows them.

        If the node's own root waits, the whole plan waits. An operation that
        only creates a name waits if no other operation is left.
        """
        every = self.plan.operations
        if not every:
            return ()
        uuids = self._waiting_uuids()
        held = tuple(op for op in every if not uuids.isdisjoint(op.providers))
        if held and (
            self.plan.node_uuid in uuids
            or sum(bool(op.providers) for op in every) == len(held)
        ):
            return every
        return held

    def waits_as_a_whole(self) -> bool:
        """Return True if all its operations wait until a person allows them."""
        if not self.takeovers:
            return False
        if any(one.marks for one in self.waiting()):
            return True
        held = self.held()
        return bool(held) and len(held) == len(self.plan.operations)

    def sendable(self) -> Plan:
        """Return the plan without the claims on providers that wait."""
        return dataclasses.replace(
            self.plan, claims=self._not_waiting(self.plan.claims)
        )

    def taken_now(self) -> dict[Key, frozenset[str]]:
        """Return ``taken`` without the names on providers that wait.

        A name that counts as this agent's makes later writes to its provider
        need no yes.
        """
        return self._not_waiting(self.taken)

    def given_up_now(self) -> Record:
        """Return ``given_up`` without the providers that wait."""
        given, uuids = self.given_up, self._waiting_uuids()
        return dataclasses.replace(
            given,
            created=given.created - uuids,
            taken_over=given.taken_over - uuids,
            ours=self._not_waiting(given.ours),
            claims=self._not_waiting(given.claims),
        )

    def _waiting_uuids(self) -> frozenset[str]:
        return frozenset(one.provider.uuid for one in self.waiting())

    def _not_waiting(self, by_key: Mapping[Key, _T]) -> dict[Key, _T]:
        uuids = self._waiting_uuids()
        return {key: one for key, one in by_key.items() if key[0] not in uuids}
