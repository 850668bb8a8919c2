# SPDX-License-Identifier: Apache-2.0
"""Decide what a node should have, and plan the operations that lead there.

Pure: no I/O, configuration, logging or clock. ``ownership/resolve.py`` decides
by the claims; contended items are left as they are, and what a limit holds
back or what is in use is kept. ``plan/diff/diff.py`` finds the operations. If
a fact is missing, ``decide`` returns what it needs, and
``node/node_planner.py`` reads it and decides again.
"""

import dataclasses
from collections.abc import Sequence

from ...fleet.values import mark
from ...limits import contended as contended_items
from ...ownership import held_back, in_use, policy, resolve, takeover
from ...ownership.explanations import notes
from ...ownership.record import Record
from ...plan import allocations, removal
from ...plan.diff import diff
from ...plan.needs import Known, Needs
from ...plan.observation import Observation
from ...plan.plan import NOTHING_SET_ASIDE, Plan, Wanted
from ...tree import assertion, provider
from ...tree.provider_tree import ProviderTree
from . import empty_plans
from .node_plan import NodePlan

_NONE = frozenset[str]()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """The findings of a node's last plan that the next one repeats.

    An attempt to remove a name ends the recorded claims on it before it is
    sent. If it fails, only the earlier plan tells which source gave the name
    up. Only the first plan of this process finds that the record is older than
    placement: after it, the record has what placement has.

    :ivar causes: why the plan removes names
    :ivar age: the note about the record's age, or ''; None before a plan
    """

    causes: removal.Causes = removal.NO_CAUSES
    age: str | None = None


_NOTHING_FOUND = Memory(age='')  # one for most nodes


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The inputs of the decision about a node.

    :ivar tree: the tree as the sources described it; it is not changed
    :ivar moves: the allocations as the drivers moved them; None without a
        reshape
    :ivar asks: True if first writes to other writers' providers wait until a
        person allows them
    :ivar asks_at_home: False if only first writes outside of the node's own
        tree wait
    :ivar asks_beside_nova: True if first writes wait because nova-compute may
        report the node
    """

    tree: ProviderTree
    seen: Observation
    record: Record
    policy: policy.Policy
    moves: tuple[allocations.Move, ...] | None = None
    asks: bool = False
    asks_at_home: bool = True
    asks_beside_nova: bool = False
    memory: Memory = Memory()

    @property
    def uuids(self) -> frozenset[str]:
        """The providers that the node has, or should have."""
        described, seen = self.tree.get_provider_uuids(), self.seen.uuids
        return seen if seen.issuperset(described) else seen.union(described)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The plan for a node, and how it was found.

    :ivar at_stake: the providers that would lose something that may be in use
    :ivar undone: the restored names that another writer changed
    :ivar is_repeatable: True if the same inputs would give the same plan, and
        it is not sent
    """

    made: NodePlan
    at_stake: tuple[provider.Provider, ...]
    undone: frozenset[assertion.Named]
    is_repeatable: bool
    memory: Memory


def decide(inputs: Inputs, known: Known) -> Decision | Needs:
    """Return the decision about a node, or the facts that it lacks.

    :raises errors.AgentError: what the sources describe is not possible
    """
    seen, decides = inputs.seen, inputs.policy
    marks = _marks(inputs)
    resolved = resolve.resolve(
        inputs.tree,
        seen.node_uuid,
        inputs.record.with_ours(
            (seen.node_uuid, assertion.Kind.TRAIT), {m.trait for m in marks}
        ),
        decides,
        known.authors,
        known.outsiders,
    )
    unknown = resolved.restored - known.authors.keys()
    if unknown or resolved.needs:
        return Needs(
            node_uuid=seen.node_uuid, authors=unknown, pools=resolved.needs
        )

    # Leave contended items; keep what is held back or in use.
    moves = inputs.moves or ()
    after, contended = contended_items.without_contended(
        seen.providers, resolved.after, () if moves else decides.contended
    )
    after, stay = held_back.keep(seen.providers, after, decides.held)
    at_stake = tuple(in_use.at_stake(seen.providers, after))
    consumers = _consumers(inputs, at_stake, known)
    if isinstance(consumers, Needs):
        return consumers
    faults: list[str] = []
    if at_stake:
        after, faults = in_use.keep_used(
            seen.providers, after, consumers, seen.node_uuid
        )

    # Plan the operations that lead there.
    memory = _memory(inputs, resolved)
    plan = diff.plan(
        seen, _wanted(inputs, resolved, after, [*stay, *faults], memory), known
    )
    if isinstance(plan, Needs):
        return plan
    takeovers = _first_writes(inputs, plan, marks)
    made = NodePlan(
        plan=plan,
        contended=contended_items.with_suspects(
            contended,
            seen.providers,
            inputs.record.ours,
            home=seen.home,
            is_reporter=decides.mode is policy.Mode.REPORTER,
        ),
        takeovers=takeovers,
        reserving=_reserving(inputs, resolved.after, takeovers, known),
        takes_over=decides.orders.takes_over,
        taken=resolved.taken,
        given_up=resolved.given_up,
        changed=frozenset(inputs.record.was) or _NONE,
    )
    return Decision(
        made=made,
        at_stake=at_stake,
        undone=frozenset(n for n in resolved.restored if not known.authors[n]),
        is_repeatable=inputs.moves is None
        and not known.outsiders
        and empty_plans.is_repeatable(
            made, seen, is_in_step=after == seen.providers
        ),
        memory=memory,
    )


def _marks(inputs: Inputs) -> list[mark.Mark]:
    """Return the marks of other agents that the first write removes.

    It is the first write to a root that a driver describes, and needs a yes.
    """
    if not inputs.asks:
        return []
    seen = inputs.seen
    return takeover.marks_on(
        seen.node_uuid, seen.providers, inputs.record, inputs.policy.mark
    )


def _consumers(
    inputs: Inputs, at_stake: tuple[provider.Provider, ...], known: Known
) -> dict[str, allocations.Consumers] | Needs:
    """Return the consumers of the providers at stake.

    Allocations that move to another provider keep nothing.
    """
    seen, moves = inputs.seen, inputs.moves or ()
    moved = allocations.consumers_after(moves)
    home = {uuid: moved.get(uuid, {}) for uuid in seen.home if moves}
    others = [one for one in at_stake if one.uuid not in home]
    lacking = tuple(p for p in others if p.uuid not in known.consumers)
    if lacking:
        return Needs(node_uuid=seen.node_uuid, consumers=lacking)
    return {**home, **{p.uuid: known.consumers[p.uuid] for p in others}}


def _wanted(
    inputs: Inputs,
    resolved: resolve.Resolution,
    after: provider.Snapshot,
    faults: list[str],
    memory: Memory,
) -> Wanted:
    """Return the providers that the node should have, and their reasons."""
    causes, tree = memory.causes, inputs.tree
    if inputs.policy.leaves:
        causes = causes.all_because(removal.Reason.LEFT)
    return Wanted(
        after=after,
        claims=resolved.claims,
        foreign=resolved.foreign,
        causes=causes,
        moves=inputs.moves or (),
        counted_as=tree.counted_as,
        restored=resolved.restored,
        notes=(
            *inputs.seen.notes,
            *tree.notes,
            *map(str, tree.set_aside.values()),
            *resolved.notes,
            *filter(None, [memory.age]),
        ),
        faults=(*tree.faults, *resolved.faults, *faults),
        set_aside={**tree.set_aside} if tree.set_aside else NOTHING_SET_ASIDE,
    )


def _first_writes(
    inputs: Inputs,
    plan: Plan,
    marks: Sequence[mark.Mark],
) -> tuple[takeover.Takeover, ...]:
    """Return the plan's first writes to other writers' providers.

    A child that the driver removed, and that cannot be deleted, is reserved
    without a question.

    :param marks: the marks of other agents on the root
    """
    if not inputs.asks:
        return ()
    home, exists = inputs.seen.home, inputs.tree.exists
    found = takeover.takeovers(
        plan.node_uuid,
        plan.before,
        [
            uuid
            for uuid in plan.before
            if uuid not in home or (inputs.asks_at_home and exists(uuid))
        ],
        plan.operations,
        inputs.record,
        asks_beside_nova=inputs.asks_beside_nova,
        marks=marks,
        own=inputs.policy.mark,
    )
    if not inputs.policy.orders.is_confirmed:
        return found
    return tuple(dataclasses.replace(one, is_agreed=True) for one in found)


def _reserving(
    inputs: Inputs,
    described: provider.Snapshot,
    takeovers: tuple[takeover.Takeover, ...],
    known: Known,
) -> Plan | None:
    """Return the part of the first writes that only reserves, if any.

    It follows from what the sources describe: a removal that becomes a
    reservation, because it is held or in use, waits as a removal does.
    Everything on a provider outside of the node's own tree waits, too. Nothing
    is reserved of a node that another agent reports.
    """
    if any(one.marks for one in takeovers):
        return None
    if not takeovers or inputs.policy.orders.takes_over:
        return None
    before = inputs.seen.providers
    waiting = {one.provider.uuid for one in takeovers} & inputs.seen.home
    wanted, _ = contended_items.without_contended(
        before,
        held_back.out_of_service(before, described, waiting),
        inputs.policy.contended,
    )
    plan = diff.plan(inputs.seen, Wanted(after=wanted), known)
    return plan if isinstance(plan, Plan) and plan.operations else None


def _memory(inputs: Inputs, resolved: resolve.Resolution) -> Memory:
    """Return the findings that the node's next plan repeats."""
    before = inputs.memory
    age = before.age
    if age is None:
        age = notes.older_record(
            inputs.tree, inputs.record, inputs.seen.node_uuid
        )
    found = Memory(
        causes=resolved.causes.with_earlier(before.causes), age=age or ''
    )
    return _NOTHING_FOUND if found == _NOTHING_FOUND else found
