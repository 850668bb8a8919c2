# SPDX-License-Identifier: Apache-2.0
"""One node's cycle: observe, plan and apply, and repeat after a conflict.

It has two steps. ``begin`` plans, and applies at once a plan that removes
nothing. A plan that removes something waits until the removals of all nodes
are judged. ``hold_back`` names the removals that a person must approve; then
``apply_judged`` applies the plan without these. An error becomes that node's
result; only an outage also ends the cycles of the other nodes. The resource
tracker makes one ``NodeCycle`` for each node and runs them in several threads.
"""

import dataclasses
import logging
import typing
from collections.abc import Callable, Collection, Mapping, Sequence

from ... import errors
from ...identity import host_adoption
from ...limits import approval, backoff, blast_radius, contention, judgement
from ...ownership import takeover
from ...plan.observation import Observation
from ...plan.operations.operations import Operation
from ...plan.plan import Conflict, Outcome, Plan
from ...state.approvals import Approvals
from ...tree import provider
from ...tree.node import Node
from ..planning.node_plan import NodePlan
from ..values.report_client import ReportClient
from . import node_result
from .node_planner import NodePlanner
from .node_result import NodeResult, Status
from .setbacks import Conflicts, Refusals

LOG = logging.getLogger(__name__)
_NO_SUBJECTS = frozenset[approval.Subject]()

MORE = (
    'placement changed meanwhile, and the plan would now remove more than was '
    'judged in this cycle; it waits for the next cycle'
)


@dataclasses.dataclass(slots=True, kw_only=True)
class CycleContext:
    """The collaborators of one cycle, and what its nodes learn together.

    :ivar writing: False in a cycle that only plans
    :ivar judged: True if removals wait until those of all nodes are judged
    :ivar confirm_departure: asks the driver again about a node that left;
        raises ``UnknownState`` unless it is gone
    :ivar contended: the items that this cycle leaves as they are
    :ivar approvals: the changes that a person approved
    :ivar may_begin: raises ``Deposed`` if no other node may begin
    :ivar outage: the error of the first node that found the service away
    :ivar removals: what each node's plan removes, to be judged together
    """

    client: ReportClient
    planner: NodePlanner
    confirm_departure: Callable[[Node], None]
    back_off: backoff.Backoff
    contended: Collection[contention.Item]
    writing: bool
    judged: bool
    approvals: Approvals
    may_begin: Callable[[], object] = bool
    outage: errors.Unavailable | None = None
    removals: dict[str, blast_radius.Removals] = dataclasses.field(
        default_factory=dict
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """The removals of a node that a person must approve.

    :ivar changes: the same, as lines, by the reason for which they wait
    :ivar wanted: the operations of the plan that has them
    """

    subjects: frozenset[approval.Subject]
    changes: Mapping[str, Sequence[node_result.HeldChange]]
    wanted: Sequence[Operation]

    def in_result(self, result: NodeResult) -> NodeResult:
        """Return the result of the node, which says that they wait."""
        found = node_result.without_held(result, self.changes)
        return dataclasses.replace(found, wanted=self.wanted)


def unchanged(
    context: CycleContext,
    node: Node,
    seen: Observation | errors.AgentError,
    last: NodeResult | None,
) -> NodeResult | None:
    """Return the result of a node that needs no cycle, None if it needs one.

    A node whose last plan was empty needs no cycle while nothing changed
    since.

    :param last: the node's result in the last cycle, if it needed none then,
        either; it is returned again while node and plan are the same objects
    """
    if (
        context.outage is not None
        or isinstance(seen, errors.AgentError)
        or context.back_off.has_refusals(node.uuid)
    ):
        return None
    made = context.planner.unchanged(node, seen, context.contended)
    if made is None:
        return None
    try:
        context.may_begin()
    except errors.Deposed:
        return None  # the node's cycle tells it
    if last is not None and last.plan is made.plan and last.node is node:
        return last
    return node_result.planned(node, made.plan)


class NodeCycle:
    """One node's cycle.

    :ivar departed: the node is gone, and its providers are deleted
    :param leaves: True to take off all that this agent added to the node
    :ivar result: the result of the cycle, or its result so far
    :ivar awaits_judgement: there is a plan that removes something, and it is
        not applied yet
    :ivar has_new_uuid: True if this host took another uuid, so the cycle is to
        begin again
    :ivar removals: what that plan removes
    """

    def __init__(
        self,
        context: CycleContext,
        node: Node,
        *,
        departed: bool = False,
        leaves: bool = False,
    ) -> None:
        self._leaves = leaves
        self.node = node
        self.departed = departed
        self.result: NodeResult = node_result.ended(
            node, Status.WAITING, 'not begun'
        )
        self.awaits_judgement = False
        self.has_new_uuid = False
        self.removals = blast_radius.NOTHING
        self._context = context
        self._is_judged = not context.judged
        self._planned: NodePlan | None = None
        self._seen: Observation | None = None
        self._held: Held | None = None
        self._before: provider.Snapshot = {}
        self._conflicts = Conflicts(node)
        self._applied: list[Operation] = []
        self._approved: list[str] = []
        self._has_sent = False
        self._refusals = Refusals(node.uuid, context.back_off)

    def before(self) -> provider.Snapshot:
        """Return the node's providers as the cycle found them."""
        return self._before

    def removed(self) -> blast_radius.Removals:
        """Return the removals that placement carried out in this cycle."""
        if self._planned is None or not self._applied:
            return blast_radius.NOTHING
        return node_result.removals_carried_out(
            self._planned, self._applied, departed=self._is_deleted()
        )

    @property
    def has_sent(self) -> bool:
        """True if it sent something to placement, or was about to."""
        return self._has_sent

    def is_finished(self) -> bool:
        """Return True if the node has what it should, without any write."""
        return (
            self.result.status is Status.DONE
            and self._planned is not None
            and not self._planned.plan.operations
        )

    # --- the two steps --------------------------------------------------------

    def begin(self, seen: Observation | errors.AgentError) -> None:
        """Plan, and apply the plan unless it has to wait.

        :param seen: the node's providers, or why they are unknown
        """
        self._run(seen, None)

    def apply_judged(self) -> None:
        """Apply the plan whose removals were judged.

        A cycle that only plans ends here. If removals are held back, the plan
        is made again, without them.
        """
        if not self.awaits_judgement:
            return
        self.awaits_judgement, self._is_judged = False, True
        if self._held is not None:
            self._run(self._seen, None)
        elif self._context.writing:
            self._run(None, self._planned)

    def hold_back(self, verdicts: Collection[judgement.Held]) -> None:
        """Plan again without the removals that a person must approve.

        An empty list of nodes ends the node's cycle, and so does a plan that
        moves allocations, because its parts belong together.
        """
        made = typing.cast(NodePlan, self._planned)
        plan = made.plan
        of_node = dict[str, frozenset[approval.Subject]]()
        for one in verdicts:
            some = of_node.get(one.why, frozenset())
            of_node[one.why] = some | one.subjects[self.node.uuid]
        subjects = frozenset[approval.Subject]().union(*of_node.values())
        self._held = Held(
            subjects=subjects,
            changes={
                why: node_result.held_removals(made, some, subjects)
                for why, some in of_node.items()
            },
            wanted=plan.operations,
        )
        self._context.removals[self.node.uuid] = approval.without(
            self.removals, subjects, departed=self.departed
        )
        self._context.planner.wait(self.node)
        self.result = self._held.in_result(self.result)
        if any(one.is_whole for one in verdicts) or any(
            op.moved_classes for op in plan.operations
        ):
            self.awaits_judgement = False
            self.result = dataclasses.replace(
                self.result, waits=plan.operations
            )

    def note_approved(self, line: str) -> None:
        """Have the result say that a person approved the plan."""
        self._approved.append(line)
        self.result = dataclasses.replace(
            self.result, approved=self._approved_lines()
        )

    # --- observe, plan, apply; again after a conflict ------------------------

    def _run(
        self,
        seen: Observation | errors.AgentError | None,
        planned: NodePlan | None,
    ) -> None:
        """Run one step; turn every error into the node's result."""
        try:
            self._repeat(seen, planned)
        except (errors.Replan, errors.UnknownState) as exc:
            self._end(Status.WAITING, str(exc))
        except errors.Unavailable as exc:
            self._context.outage = exc  # spares the other nodes the same wait
            self._end(Status.FAILED, str(exc), outage=exc)
            is_over = isinstance(exc, errors.Deposed)
            self.result = dataclasses.replace(
                self.result, untried=is_over and not self._has_sent
            )
        except errors.NameElsewhere as exc:
            self._meet_holder(exc)
        except errors.AgentError as exc:
            self._end(Status.FAILED, str(exc))
        except (Exception, SystemExit) as exc:
            LOG.exception('%s: unexpected', self.node)
            reason = f'unexpected {type(exc).__name__}: {exc}'
            self._end(Status.FAILED, reason)
        backed_off = self._context.back_off.count(self.node.uuid)
        if self._has_sent or backed_off or self._conflicts.count:
            self.result = dataclasses.replace(
                self.result,
                applied=tuple(self._applied),
                backed_off=backed_off,
                conflicts=self._conflicts.count,
            )
        if self._has_sent:
            self._context.client.invalidate()

    def _repeat(
        self,
        seen: Observation | errors.AgentError | None,
        planned: NodePlan | None,
    ) -> None:
        """Observe, plan and apply; repeat after a conflict.

        :param seen: None to observe the node here
        :param planned: a plan that was judged; None to plan here
        """
        while met := self._attempt(seen, planned):
            if not self._conflicts.allow_replan(met):
                raise met[0].error
            if not all(conflict.is_at_home for conflict in met):
                self._context.client.invalidate()
            self._conflicts.pause()
            seen, planned = None, None

    def _attempt(
        self,
        seen: Observation | errors.AgentError | None,
        planned: NodePlan | None,
    ) -> Sequence[Conflict]:
        """Observe, plan and apply once; return the conflicts.

        :raises errors.AgentError: the node's cycle ends here
        """
        try:
            self._check_outage()
            if planned is None:
                planned = self._plan(seen)
                if met := self._reserve(planned):
                    return met
                if not self._goes_now(planned):
                    return ()
            if self._is_backed_off(planned.plan):
                return ()
            met = self._apply(planned)
        except errors.Replan as exc:
            subject = exc.subject or str(self.node)
            return (Conflict(error=exc, subject=subject),)
        if not met:
            self._conflicts.log_healed()
        return met

    def _check_outage(self) -> None:
        """Raise the outage that another node's cycle found.

        :raises errors.Deposed: this agent gives its share up, or lost it
        """
        self._context.may_begin()
        away = self._context.outage
        if away is not None:
            # Raise a new error: the other one has its own thread's traceback.
            is_down = isinstance(away, errors.NoServer)
            kind = errors.NoServer if is_down else errors.Unavailable
            raise kind(str(away)) from away

    def _plan(self, seen: Observation | errors.AgentError | None) -> NodePlan:
        """Return a new plan for the node, which is observed first if need be."""
        planner = self._context.planner
        if seen is None:
            seen = planner.observe([self.node.uuid])[self.node.uuid]
        if isinstance(seen, errors.AgentError):
            raise seen
        self._seen = seen
        plan = planner.plan_departed if self.departed else planner.plan
        if self._leaves:
            plan = planner.plan_leaving
        held = _NO_SUBJECTS
        if self._held is not None:
            held = self._held.subjects
        planned = plan(self.node, seen, self._context.contended, held)
        if not self._context.writing and not held:
            # A cycle that writes verifies each part before its write.
            self._context.client.verify(planned.plan)
        planned, who = _with_approved(self.node, planned, self._context)
        if who and not self._context.writing:
            self._approved.append(f'the first write is approved by {who}')
        return planned

    def _goes_now(self, planned: NodePlan) -> bool:
        """Note a new plan; return True if it is applied now."""
        plan, context = planned.plan, self._context
        self._planned, self._before = planned, plan.before
        waits = planned.waits_as_a_whole()
        self.result = self._result(
            planned, self._refusals.lines if waits else ()
        )
        if planned.waits_for_nova:
            self._wait(planned.waits_for_nova)
            self.result = dataclasses.replace(
                self.result, waits=plan.operations
            )
        if planned.waits_for_nova or waits:
            context.planner.wait(self.node)
            return False
        removed = node_result.planned_removals(
            planned, departed=self._is_deleted()
        )
        if not context.judged:
            return context.writing
        if not self._is_judged:
            self.removals, self.awaits_judgement = removed, bool(removed)
            context.removals[self.node.uuid] = removed
            return context.writing and not self.awaits_judgement
        if blast_radius.covered(removed, context.removals.values()):
            return context.writing
        self._wait(MORE)
        return False

    def _is_deleted(self) -> bool:
        """Return True if all writes to the node count as deletions.

        Held-back capacity is reserved; then it does not count as a removal.
        """
        return self.departed and self._held is None

    def _reserve(self, planned: NodePlan) -> Sequence[Conflict]:
        """Reserve what may be reserved before a person allows a first write.

        Return the conflicts.

        :raises errors.AgentError: the error that ended it before its end
        """
        reserving = planned.reserving
        if (
            reserving is None
            or not planned.waiting()
            or planned.waits_for_nova
            or not self._context.writing
        ):
            return ()
        self._has_sent = True
        outcome = self._context.client.apply(
            reserving, self._refusals.operations
        )
        return self._noted(outcome)

    def _apply(self, planned: NodePlan) -> Sequence[Conflict]:
        """Send the plan; return the conflicts that its operations met.

        :raises errors.AgentError: the error that ended it before its end
        """
        operations = planned.plan.operations
        if planned.is_empty():  # the usual case: nothing to send or to record
            self._refusals.clear()
            return ()
        if self.departed and operations:
            self._context.confirm_departure(self.node)
        self._context.planner.record(self.node, planned)
        self._has_sent = True
        outcome = self._context.client.apply(
            planned.sendable(), [*self._refusals.operations, *planned.held()]
        )
        conflicts = self._noted(outcome)
        if not conflicts:
            self._settle(planned)
        return conflicts

    def _noted(self, outcome: Outcome) -> Sequence[Conflict]:
        """Note what was applied and refused; return the conflicts.

        :raises errors.AgentError: the error that ended the plan before its end
        """
        self._applied += outcome.applied
        self._refusals.note(outcome.refused)
        if outcome.ended_by is not None:
            raise outcome.ended_by
        return outcome.conflicts

    def _settle(self, planned: NodePlan) -> None:
        """Note the result of a plan that was sent to its end."""
        # Operations refused under an earlier plan may not be wanted any more.
        self._refusals.keep_only(planned.plan.operations)
        self.result = self._result(planned, self._refusals.lines)
        again_in = self._refusals.back_off(self._applied)
        if again_in is None:
            self._refusals.clear()
            self._context.planner.applied(self.node)
            return
        self.result = dataclasses.replace(self.result, again_in=again_in)

    def _result(
        self, planned: NodePlan, refused: Sequence[str] = ()
    ) -> NodeResult:
        made = node_result.planned(
            self.node,
            planned.plan,
            planned.contended,
            refused,
            planned.waiting(),
        )
        if self._held is not None:
            made = self._held.in_result(made)
        if planned.is_empty() and not self._approved:
            return made
        first = planned.reserving if planned.waiting() else None
        return dataclasses.replace(
            made,
            approved=self._approved_lines(),
            waits=planned.held(),
            reserves=first.operations if first is not None else (),
        )

    def _approved_lines(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._approved))

    # --- a host whose name placement has under another uuid ------------------

    def _meet_holder(self, met: errors.NameElsewhere) -> None:
        """Take the uuid of the holder of the name, if a person approved it."""
        try:
            found = self._context.planner.adoption(self.node, met.holder)
            if found is None:
                self._end(Status.FAILED, str(met))
                return
            if self._is_approved(found) and self._context.writing:
                self._context.planner.adopt(found)
                self._context.approvals.drop([found.subject()])
                self.has_new_uuid = True
        except errors.AgentError as exc:
            self._end(Status.FAILED, str(exc))
            return
        self._end(Status.WAITING, str(found))
        held = node_result.HeldChange(
            subject=found.subject(), text=found.brief()
        )
        self.result = dataclasses.replace(self.result, removals=(held,))

    def _is_approved(self, found: host_adoption.HostAdoption) -> bool:
        persons = self._context.approvals.approved([found.subject()])
        if persons and self._context.writing:
            who = approval.persons(persons.values())
            LOG.info(
                '%s, as approved by %s',
                found.brief(),
                who,
                extra={'node': self.node.uuid},
            )
        return bool(persons) or self._context.planner.is_confirmed(self.node)

    # --- what keeps a plan from being applied --------------------------------

    def _is_backed_off(self, plan: Plan) -> bool:
        """Return True if all operations of a plan are in backoff.

        If only some writes wait, the others are sent.
        """
        delayed = self._refusals.delayed(plan.operations)
        if delayed is None:
            return False
        self._wait('; '.join(delayed.refusals), delayed.retry_in)
        self._context.planner.wait(self.node)
        return True

    def _wait(self, why: str, again_in: float | None = None) -> None:
        self.result = dataclasses.replace(
            node_result.not_applied(self.result, Status.WAITING, why),
            again_in=again_in,
        )

    # --- applied and refused operations --------------------------------------

    def _end(
        self,
        status: Status,
        reason: str,
        *,
        outage: errors.Unavailable | None = None,
    ) -> None:
        """End the cycle early; remember the operations refused until then."""
        reason = '; '.join([reason, *self._refusals.lines])
        self.awaits_judgement = False
        self._context.client.list_again(self.node.uuid)
        self.result = dataclasses.replace(
            node_result.ended(self.node, status, reason),
            outage=outage is not None,
            no_server=isinstance(outage, errors.NoServer),
            again_in=self._refusals.back_off(self._applied),
        )


def _with_approved(
    node: Node, planned: NodePlan, context: CycleContext
) -> tuple[NodePlan, str]:
    """Return the plan with the first writes that persons approved, and who.

    ``ownership/takeover.py`` tells which operations are the first write to
    another writer's provider; these wait for a person.
    A cycle that writes records them at once, so they hold even if something
    else keeps the plan from being applied in this cycle.
    """
    waiting = {takeover.subject(one): one for one in planned.waiting()}
    persons = context.approvals.approved(waiting)
    if not persons:
        return planned, ''
    who = approval.persons(persons.values())
    if context.writing:
        context.planner.take_over([waiting[s] for s in persons])
        context.approvals.drop(persons)
        LOG.info(
            '%s: the first write goes on, as approved by %s',
            node,
            who,
            extra={'node': node.uuid},
        )
    rest = tuple(
        one
        for one in planned.takeovers
        if takeover.subject(one) not in persons
    )
    return dataclasses.replace(planned, takeovers=rest), who
