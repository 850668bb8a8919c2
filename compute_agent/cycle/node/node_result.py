# SPDX-License-Identifier: Apache-2.0
"""The result of a node's cycle, as a value, and what is read from it.

Pure: no I/O, configuration, logging or clock. The node's cycle makes it; the
service and the command line report it. ``held_changes`` finds in its plan the
changes that wait for a person. ``planned_removals`` and
``removals_carried_out`` count what ``limits/`` judges.
"""

import dataclasses
import enum
from collections.abc import Iterator, Sequence

from ...limits import (
    approval,
    blast_radius,
    contention,
    effects,
)
from ...limits import contended as contended_items
from ...limits.approval import Subject
from ...ownership import takeover
from ...plan.operations.operations import Operation
from ...plan.plan import Plan
from ...tree import assertion
from ...tree.node import Node
from ..planning.node_plan import NodePlan


class Status(enum.Enum):
    """The ways in which a node's cycle can end."""

    DONE = 'done'
    WAITING = 'waiting'
    FAILED = 'failed'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NodeResult:
    """The result of one node's cycle.

    :ivar plan: None if the cycle ended before there was one
    :ivar contended: the items that the plan leaves as they are
    :ivar takeovers: the first writes that wait until a person allows them
    :ivar applied: the operations that placement carried out
    :ivar reason: why the node is not done; empty if it is
    :ivar notes: lines for the operator
    :ivar outage: True if the node is not done because the service is away
    :ivar no_server: True if no server answered, so that a try costs nothing
    :ivar held: the changes of this node that wait for a person's approval
    :ivar approved: lines about changes that a person approved and that were
        only planned
    :ivar again_in: seconds until a refused operation is tried again; None for
        the next cycle
    :ivar backed_off: the number of operations that wait because placement
        refused them
    :ivar conflicts: how often the node was planned in vain because another
        writer changed a provider meanwhile
    """

    node: Node
    status: Status
    plan: Plan | None = None
    contended: tuple[contention.Item, ...] = ()
    takeovers: tuple[takeover.Takeover, ...] = ()
    applied: Sequence[Operation] = ()
    reason: str = ''
    notes: tuple[str, ...] = ()
    outage: bool = False
    no_server: bool = False
    held: frozenset[approval.Subject] = frozenset()
    approved: tuple[str, ...] = ()
    again_in: float | None = None
    backed_off: int = 0
    conflicts: int = 0


def line(result: NodeResult) -> str:
    """Return the node, its status and the reason as one line."""
    return f'{result.node}: {text(result)}'


def text(result: NodeResult) -> str:
    """Return the status of a node and the reason, without the node."""
    why = result.node.shortened(result.reason)
    return f'{result.status.value}: {why}' if why else result.status.value


def ended(node: Node, status: Status, reason: str) -> NodeResult:
    """Return the result of a node whose cycle ended without a plan."""
    return NodeResult(node=node, status=status, reason=reason)


def planned(
    node: Node,
    plan: Plan,
    contended: tuple[contention.Item, ...] = (),
    refused: Sequence[str] = (),
    takeovers: tuple[takeover.Takeover, ...] = (),
) -> NodeResult:
    """Return the result of a node with a plan.

    :param contended: the items that the plan leaves as they are
    :param refused: a line for each operation that placement refused
    :param takeovers: the first writes that wait until a person allows them
    """
    reasons = [*plan.faults, *refused]
    status = Status.FAILED if reasons else Status.DONE
    left = [
        *map(str, takeovers),
        *(contended_items.line(item, plan.before) for item in contended),
    ]
    if left and not reasons:
        status = Status.WAITING
    return NodeResult(
        node=node,
        status=status,
        plan=plan,
        contended=contended,
        takeovers=takeovers,
        held=frozenset(map(takeover.subject, takeovers)),
        reason='; '.join([*reasons, *left]),
        notes=plan.notes,
    )


def not_applied(result: NodeResult, status: Status, why: str) -> NodeResult:
    """Return the result of a node whose plan is not applied in this cycle."""
    reasons = [reason for reason in (why, result.reason) if reason]
    return dataclasses.replace(
        result, status=status, reason='; '.join(reasons)
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HeldChange:
    """One change that waits for a person.

    :ivar text: the change, as a line
    """

    subject: Subject
    text: str


def held_changes(result: NodeResult) -> tuple[HeldChange, ...]:
    """Return the changes of a node that wait for a person, in order."""
    if not result.held or result.plan is None:
        return ()
    found = {
        change.subject: change
        for change in (
            *_first_writes(result),
            *_held_removals(result.plan),
        )
        if change.subject in result.held
    }
    return tuple(found.values())


def _first_writes(result: NodeResult) -> Iterator[HeldChange]:
    for waiting in result.takeovers:
        yield HeldChange(
            subject=takeover.subject(waiting), text=waiting.brief()
        )


def _held_removals(plan: Plan) -> Iterator[HeldChange]:
    """Yield each removal of a plan; a deletion as either kind of it."""
    losses = effects.losses(plan, plan.operations)
    for uuid in sorted(losses.deleted | effects.written(plan.operations)):
        for departed in (True, False):
            subject = approval.deletion(uuid, departed=departed)
            yield HeldChange(
                subject=subject, text=f'delete {_provider(plan, uuid)}'
            )
    yield from _names(plan, losses)
    for (uuid, rc), (before, after) in sorted(losses.totals.items()):
        yield HeldChange(
            subject=approval.capacity_fall((uuid, rc), after),
            text=f'lower {rc} of {_provider(plan, uuid)} from {before} to '
            f'{after}',
        )


def _names(plan: Plan, losses: blast_radius.Removals) -> Iterator[HeldChange]:
    for removed in sorted(losses.names):
        uuid, kind, name = removed
        what = (
            f'the capacity of {name}'
            if kind is assertion.Kind.INVENTORY
            else f'{kind.value} {name}'
        )
        yield HeldChange(
            subject=approval.name_removal(removed),
            text=f'remove {what} from {_provider(plan, uuid)}',
        )


def _provider(plan: Plan, uuid: str) -> str:
    return str(plan.before.get(uuid, uuid))


def planned_removals(
    made: NodePlan, *, departed: bool
) -> blast_radius.Removals:
    """Return what a plan removes, without the operations that wait.

    A provider of a departed node that cannot be deleted becomes reserved,
    which removes its capacity just as a deletion would. So each provider to
    which such a node's plan writes counts as deleted.
    """
    held = made.held()
    sent = [op for op in made.plan.operations if op not in held]
    if departed:
        return blast_radius.Removals(deleted=effects.written(sent))
    return effects.losses(made.plan, sent)


def removals_carried_out(
    made: NodePlan, done: Sequence[Operation], *, departed: bool
) -> blast_radius.Removals:
    """Return what placement removed.

    :param done: the operations that were applied
    """
    if not departed:
        return effects.losses(made.plan, done)
    left = [op for op in made.plan.operations if op not in done]
    return blast_radius.Removals(
        deleted=effects.written(done) - effects.written(left)
    )
