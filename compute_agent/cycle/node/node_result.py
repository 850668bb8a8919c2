# SPDX-License-Identifier: Apache-2.0
"""The result of a node's cycle, as a value, and what is read from it.

Pure: no I/O, configuration, logging or clock. The node's cycle makes it; the
service and the command line report it. ``held_changes`` returns the changes
that wait for a person; ``held_removals`` finds them in a plan.
``planned_removals`` and ``removals_carried_out`` count what ``limits/`` judges.
"""

import dataclasses
import enum
from collections.abc import (
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)

from ... import error_text
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
from ...tree.node import Node
from ..planning.node_plan import NodePlan


class Status(enum.Enum):
    """The ways in which a node's cycle can end."""

    DONE = 'done'
    WAITING = 'waiting'
    FAILED = 'failed'
    #: The node left the driver's list, but it exists elsewhere or may exist.
    LEFT = 'left'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NodeResult:
    """The result of one node's cycle.

    :ivar plan: None if the cycle ended before a plan was made
    :ivar contended: the items that the plan leaves as they are
    :ivar takeovers: the first writes that wait until a person allows them
    :ivar applied: the operations that placement carried out
    :ivar reasons: why the node is not done, without advice about changes that
        wait; empty if it is, and if it left the driver's list and exists
        elsewhere
    :ivar notes: lines for the operator
    :ivar outage: True if the node is not done because the service is away
    :ivar untried: True if the cycle was of other nodes, or the agent gave its
        share up, or lost it, before it wrote anything of the node
    :ivar no_server: True if no server answered, so that a try costs nothing
    :ivar removals: the removals that wait for a person's approval, and are
        not in the plan; or a host's former uuid, for which there is no plan
    :ivar removals_wait: why these removals wait
    :ivar wanted: the operations of the plan with these removals
    :ivar waits: the operations of the plan that are not sent before a person,
        or nova-compute, allows it
    :ivar reserves: the operations that are sent now, in place of those that
        wait
    :ivar approved: lines about changes that a person approved and that were
        only planned
    :ivar again_in: seconds until a refused operation is tried again; None for
        the next cycle
    :ivar backed_off: the number of operations that wait because placement
        refused them
    :ivar conflicts: how often the node was planned again because another
        writer had changed a provider meanwhile
    """

    node: Node
    status: Status
    plan: Plan | None = None
    contended: tuple[contention.Item, ...] = ()
    takeovers: tuple[takeover.Takeover, ...] = ()
    applied: Sequence[Operation] = ()
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    outage: bool = False
    untried: bool = False
    no_server: bool = False
    removals: tuple['HeldChange', ...] = ()
    removals_wait: str = ''
    wanted: Sequence[Operation] = ()
    waits: Sequence[Operation] = ()
    reserves: Sequence[Operation] = ()
    approved: tuple[str, ...] = ()
    again_in: float | None = None
    backed_off: int = 0
    conflicts: int = 0

    def lines(self) -> tuple[str, ...]:
        """Return the reasons, and the advice about what waits, once."""
        advice = [approval.ADVICE] if self.takeovers or self.removals else []
        if any(not one.marks for one in self.takeovers):
            advice.append(takeover.ALL)
        return (*self.reasons, '; '.join(advice)) if advice else self.reasons

    @property
    def reason(self) -> str:
        """Why the node is not done, as one line."""
        return '; '.join(self.lines())

    @property
    def is_settled(self) -> bool:
        """True if nothing more is to be done for the node by this agent."""
        return self.status in {Status.DONE, Status.LEFT} and not self.reasons

    @property
    def held(self) -> frozenset[Subject]:
        """The changes of this node that wait for a person's approval."""
        return frozenset(change.subject for change in held_changes(self))


def line(result: NodeResult) -> str:
    """Return the node, its status and the reason as one line."""
    return f'{result.node}: {text(result)}'


def text(result: NodeResult) -> str:
    """Return the status of a node and the reason, without the node."""
    why = result.node.shortened(result.reason)
    if why and result.status is Status.LEFT:
        return why
    return f'{result.status.value}: {why}' if why else result.status.value


def counts(results: Iterable['NodeResult']) -> dict[str, int]:
    """Return the number of nodes by status."""
    found = dict.fromkeys((one.value for one in Status), 0)
    for result in results:
        found[result.status.value] += 1
    return found


def as_they_were(
    results: Iterable[NodeResult], before: Iterable[NodeResult]
) -> list[NodeResult]:
    """Return the results of a cycle, each untried node as it was before.

    A node without an earlier result is left out.
    """
    last = {result.node.uuid: result for result in before}
    found = []
    for result in results:
        if not result.untried:
            found.append(result)
        elif was := last.get(result.node.uuid):
            found.append(_untried(was))
    return found


def among_others(
    results: Iterable[NodeResult], before: Iterable[NodeResult]
) -> list[NodeResult]:
    """Return the results of all nodes after a cycle of some of them.

    :param results: the results of the nodes that had this cycle
    :param before: the results of all nodes before that cycle
    """
    had = {result.node.uuid: result for result in results}
    others = [
        had.pop(was.node.uuid) if was.node.uuid in had else _untried(was)
        for was in before
    ]
    return [*others, *had.values()]


def _untried(was: NodeResult) -> NodeResult:
    """Return an earlier result as that of a node without a cycle now."""
    if was.untried and was.plan is None:
        return was
    return dataclasses.replace(
        was, untried=True, plan=None, applied=(), conflicts=0
    )


def counted(numbers: Mapping[str, int]) -> str:
    """Return the numbers of ``counts`` as text; no node may have left."""
    return ', '.join(
        f'{number} {name}'
        for name, number in numbers.items()
        if number or name != Status.LEFT.value
    )


def ended(node: Node, status: Status, reason: str) -> NodeResult:
    """Return the result of a node whose cycle ended without a plan."""
    reasons = (reason,) if reason else ()
    return NodeResult(node=node, status=status, reasons=reasons)


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
        *contended_items.lines(contended, plan.before),
    ]
    if left and not reasons:
        status = Status.WAITING
    return NodeResult(
        node=node,
        status=status,
        plan=plan,
        contended=contended,
        takeovers=takeovers,
        reasons=(*reasons, *left),
        notes=plan.notes,
    )


def not_applied(result: NodeResult, status: Status, why: str) -> NodeResult:
    """Return the result of a node whose plan is not applied in this cycle."""
    return dataclasses.replace(
        result, status=status, reasons=(why, *result.reasons)
    )


def without_held(
    result: NodeResult, removals: Mapping[str, Sequence['HeldChange']]
) -> NodeResult:
    """Return the result of a node of which some removals wait for a person.

    :param removals: the removals by the reason for which they wait
    """
    lines = [
        f'{error_text.listed(change.text for change in some)}: {why}'
        for why, some in removals.items()
    ]
    is_failed = result.status is Status.FAILED
    return dataclasses.replace(
        result,
        status=Status.FAILED if is_failed else Status.WAITING,
        reasons=(*lines, *result.reasons),
        removals=tuple(each for some in removals.values() for each in some),
        removals_wait='; '.join(removals),
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HeldChange:
    """One change that waits for a person.

    :ivar text: the change, as a line
    :ivar includes: the removals that are a part of it, so that a person who
        allows it allows them
    :ivar group: a text; all changes with the same text are one line of the
        list. Empty for a change with a line of its own
    """

    subject: Subject
    text: str
    includes: frozenset[Subject] = frozenset()
    group: str = ''


def held_changes(result: NodeResult) -> tuple[HeldChange, ...]:
    """Return the changes of a node that wait for a person, in order."""
    return (*_first_writes(result), *result.removals)


def _first_writes(result: NodeResult) -> Iterator[HeldChange]:
    plan = result.plan
    if plan is None or not result.takeovers:
        return
    losses = effects.losses(plan, plan.operations)
    for waiting in result.takeovers:
        uuid = waiting.provider.uuid
        yield HeldChange(
            subject=takeover.subject(waiting),
            text=waiting.brief(),
            includes=frozenset(approval.of_provider(losses, uuid)),
            group=waiting.others and f'take over from {waiting.others}',
        )


def held_removals(
    made: NodePlan, some: Collection[Subject], held: Collection[Subject]
) -> tuple[HeldChange, ...]:
    """Return some of the removals of a plan that are held, in order.

    A provider whose capacity is held keeps its names. These are a part of the
    loss, unless they are held by themselves.

    :param held: all removals that are held
    """
    plan = made.plan
    losses = effects.losses(plan, plan.operations)
    names = {
        uuid: frozenset(
            approval.name_removal(name)
            for name in losses.names
            if name[0] == uuid
        )
        - frozenset(held)
        for uuid, _ in losses.totals
    }
    of_total = {
        approval.capacity_fall(total, after): names[total[0]]
        for total, (_, after) in losses.totals.items()
    }
    return tuple(
        dataclasses.replace(
            each, includes=of_total.get(each.subject, frozenset())
        )
        for each in _removals(plan, made.changed)
        if each.subject in some
    )


def _removals(plan: Plan, changed: Collection[str]) -> Iterator[HeldChange]:
    """Yield each removal of a plan; each deletion as either of its kinds."""
    losses = effects.losses(plan, plan.operations)
    for uuid in sorted(losses.deleted | effects.written(plan.operations)):
        since = (
            ', which others have changed since this agent last wrote to it'
            if uuid in changed
            else ''
        )
        text = f'delete {_provider(plan, uuid)}{since}'
        for departed in (True, False):
            subject = approval.deletion(uuid, departed=departed)
            yield HeldChange(subject=subject, text=text)
    yield from _names(plan, losses)
    for (uuid, rc), (before, after) in sorted(losses.totals.items()):
        if after < before:
            yield HeldChange(
                subject=approval.capacity_fall((uuid, rc), after),
                text=f'lower {rc} of {_provider(plan, uuid)} from {before} to '
                f'{after}',
            )


def _names(plan: Plan, losses: blast_radius.Removals) -> Iterator[HeldChange]:
    for removed in sorted(losses.names):
        uuid, kind, name = removed
        yield HeldChange(
            subject=approval.name_removal(removed),
            text=f'remove {kind.value} {name} from {_provider(plan, uuid)}',
        )


def _provider(plan: Plan, uuid: str) -> str:
    return str(plan.before.get(uuid, uuid))


def planned_removals(
    made: NodePlan, *, departed: bool
) -> blast_radius.Removals:
    """Return what a plan removes, without the operations that wait.

    A provider of a departed node that cannot be deleted becomes reserved,
    which removes its capacity just as a deletion would. So each provider to
    which such a node's plan writes counts as deleted. If an option allows the
    first writes to others' providers, it allows them to remove names, too.
    """
    if not made.plan.operations:  # the usual case
        return blast_radius.NOTHING
    held = made.held()
    sent = [op for op in made.plan.operations if op not in held]
    if departed:
        return blast_radius.Removals(deleted=effects.written(sent))
    losses = effects.losses(made.plan, sent)
    if not made.takes_over:
        return losses
    first = {waiting.provider.uuid for waiting in made.takeovers}
    return dataclasses.replace(
        losses, names=frozenset(n for n in losses.names if n[0] not in first)
    )


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
