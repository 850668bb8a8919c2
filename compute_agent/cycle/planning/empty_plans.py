# SPDX-License-Identifier: Apache-2.0
"""A memo of each node's last plan, if that plan was not sent.

Pure: no I/O, configuration, logging or clock. In most cycles, most nodes have
not changed since the cycle before. The plan is then the same too, so the agent
neither asks the driver to describe the node nor resolves ownership. An empty
plan is reused until one of its inputs changes, and so is a plan that waits as
a whole until a person allows its first write. ``node/node_planner.py`` keeps
the memo; its threads each work on a different node.
"""

import dataclasses
import hashlib
import marshal
from collections.abc import Callable, Collection, Mapping

from ...ownership.policy import Policy
from ...ownership.record import Record
from ...plan.observation import Observation
from ...tree import provider_tree
from ...tree.node import Node
from .node_plan import NodePlan


class KeptFacts:
    """The facts of a plan until the next cycle, in little memory.

    For plain data, such as decoded JSON, only a digest is kept, because the
    driver has its own objects and makes new ones in each cycle. Facts with
    equal digests are equal. (Equal facts may differ as text, and so in their
    digests; then the node is described.)
    """

    __slots__ = ('_digest', '_facts')

    def __init__(self, facts: Mapping[str, object]) -> None:
        self._digest = _digest(facts)
        self._facts = facts if self._digest is None else None

    def are(
        self,
        facts: Mapping[str, object],
        equal: Callable[[Mapping[str, object], Mapping[str, object]], bool],
    ) -> bool:
        """Return True if these facts are the same or equal.

        :param equal: compares facts that are not plain data
        """
        if self._facts is None:
            return _digest(facts) == self._digest
        return equal(self._facts, facts)


def _digest(facts: Mapping[str, object]) -> bytes | None:
    """Return the digest of plain data; None for other data.

    Version 2 of marshal's format writes each value in one way only.
    """
    try:
        text = marshal.dumps(facts, 2)  # type: ignore[arg-type]
    except ValueError:
        return None
    return hashlib.blake2b(text, digest_size=16).digest()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """Everything that a node's plan rests on, as values.

    :ivar facts: the facts of each driver, on which its description depends;
        None if a driver cannot tell
    :ivar edition: the number of the set of operators' files in force
    :ivar description: the described tree, as a value; None if the facts say
        enough
    """

    node: Node
    facts: KeptFacts | None
    edition: int
    seen: Observation
    uuids: frozenset[str]
    record: Record
    policy: Policy
    description: provider_tree.Description | None

    def rests_on(
        self, seen: Observation, record: Record, policy: Policy
    ) -> bool:
        """Return True if the inputs are this observation, record and policy.

        Observation and record are compared by identity: if nothing changed,
        the report client and the state database return the same object.
        """
        return (
            self.seen is seen
            and self.record is record
            and self.policy == policy
        )

    def equals(
        self, seen: Observation, record: Record, policy: Policy
    ) -> bool:
        """Return True if its observation, record and policy have these values.

        Generations are not compared: a new allocation raises them, and leaves
        the node's providers as they were.
        """
        return (
            self.seen == seen
            and self.record == record
            and self.policy == policy
        )

    def leads_to_the_plan_of(self, other: 'Basis') -> bool:
        """Return True if both give the same plan.

        Facts and files are not compared: the description contains their
        effects.
        """
        return (
            self.rests_on(other.seen, other.record, other.policy)
            and self.description is not None
            and self.description == other.description
        )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class EmptyPlan:
    """An empty or waiting plan, and the inputs that it was made from."""

    basis: Basis
    made: NodePlan

    def holds_for(
        self, seen: Observation, record: Record, policy: Policy
    ) -> bool:
        """Return True if the plan rests on these.

        A plan that waits is made anew for other generations, because it may be
        sent.
        """
        return self.basis.rests_on(seen, record, policy) or (
            self.made.is_empty() and self.basis.equals(seen, record, policy)
        )


class EmptyPlans:
    """The last plan of each node, if it was empty or waits as a whole."""

    def __init__(self) -> None:
        self._plans: dict[str, EmptyPlan] = {}

    def last(self, node_uuid: str) -> EmptyPlan | None:
        """Return a node's kept plan."""
        return self._plans.get(node_uuid)

    def take(self, node_uuid: str) -> EmptyPlan | None:
        """Return a node's kept plan and forget it.

        The caller stores the plan again if its inputs have not changed. So a
        cycle that fails leaves no memo.
        """
        return self._plans.pop(node_uuid, None)

    def keep(self, basis: Basis, made: NodePlan) -> None:
        """Remember that this basis gives this plan."""
        self._plans[basis.node.uuid] = EmptyPlan(basis=basis, made=made)

    def keep_only(self, node_uuids: Collection[str]) -> None:
        """Forget the plans of all other nodes."""
        for uuid in self._plans.keys() - set(node_uuids):
            del self._plans[uuid]


def is_repeatable(
    made: NodePlan, seen: Observation, *, is_in_step: bool
) -> bool:
    """Return True if the same inputs would give the same plan, not sent.

    Such a plan is empty, or waits until a person allows its first write. The
    result is False if part of the observation was read in this cycle. It is
    also False if a name was left out because placement does not know it yet:
    then the wanted providers differ from the observed ones although the plan
    is empty.

    :param is_in_step: True if the wanted providers are the observed ones
    """
    if seen.fresh or made.contended:
        return False
    return made.waits_as_a_whole() or (made.is_empty() and is_in_step)
