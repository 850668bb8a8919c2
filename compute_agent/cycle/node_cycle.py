# SPDX-License-Identifier: Apache-2.0
"""One node's turn in a cycle: look, plan, apply; again if placement moved.

It has two steps. ``begin`` plans, and applies at once what removes nothing;
a plan that removes something is held until the whole cycle's removals are
judged, and then applied by ``go_on`` or refused. Whatever fails in a turn ends
as that node's result; only an outage is shared with the others. The resource
tracker makes the turns, from many threads.
"""

import dataclasses
import logging
from collections.abc import Collection, Mapping
from typing import Any

import tenacity

from .. import errors
from ..limits import backoff, blast_radius, contention
from ..tree import provider
from ..tree.node import Node
from . import (
    departed_nodes,
    node_planner,
    node_result,
    report_client,
)
from .node_result import Status

LOG = logging.getLogger(__name__)

LOOKS = 5  # times a node is looked at when placement moves under it


@dataclasses.dataclass(slots=True, kw_only=True)
class Cycle:
    """What the turns of one cycle share.

    :ivar writing: False for a cycle that only plans
    :ivar judged: whether removals wait for the whole cycle's to be judged
    :ivar contended: the items that this cycle leaves as they are
    :ivar outage: that the service is away, once a turn has found out
    :ivar judging: what is held to be judged, by node
    """

    client: report_client.ReportClient
    planner: node_planner.Planner
    departures: departed_nodes.Departures
    back_off: backoff.BackOff
    contended: Collection[contention.Item]
    writing: bool
    judged: bool
    outage: errors.Unavailable | None = None
    judging: dict[str, blast_radius.Removals] = dataclasses.field(
        default_factory=dict
    )


class NodeCycle:
    """A node's turn; ``result`` says how it ended, or stands so far.

    :ivar held: there is a plan that removes something, not applied yet
    :ivar leaving: the node is gone, and what placement has of it goes too
    :ivar removals: what the plan removes
    """

    def __init__(
        self, cycle: Cycle, node: Node, *, leaving: bool = False
    ) -> None:
        self.node = node
        self.leaving = leaving
        self.result = node_result.ended(node, Status.WAITING, 'not begun')
        self.awaits_judgement = False
        self.removals = blast_radius.NOTHING
        self._cycle = cycle
        self._is_judged = not cycle.judged
        self._looks = _Looks()
        self._applied: list[Any] = []
        # What was refused in this turn, by the line that says so.
        self._left: dict[str, Any] = {}
        self._before: provider.Snapshot = {}

    def seen_names(self) -> dict[str, int]:
        """Return how many names each provider of the node has."""
        return blast_radius.names_of(self._before)

    def begin(self, seen: Any | errors.AgentError) -> None:
        """Plan, and apply what removes nothing.

        :param seen: what placement holds of the node, or why it is unknown
        """
        self._take(seen, None)

    def go_on(self) -> None:
        """Apply the plan that was held: what it removes has been judged."""
        self.awaits_judgement, self._is_judged = False, True
        self._take(None, self.result.plan)

    def let_be(self) -> None:
        """End the turn of a cycle that only plans."""
        self.awaits_judgement = False

    def keep_back(self, why: str) -> None:
        """End the turn without what was held."""
        self.awaits_judgement = False
        self._cycle.judging.pop(self.node.uuid, None)
        self.result = node_result.kept_back(self.result, Status.FAILED, why)

    def _take(
        self,
        seen: Any | errors.AgentError | None,
        plan: report_client.Plan | None,
    ) -> None:
        """Take one step of the turn; whatever happens is its result."""
        try:
            self._repeat(seen, plan)
        except (errors.Replan, errors.UnknownState) as exc:
            self._end(Status.WAITING, str(exc))
        except errors.Unavailable as exc:
            self._cycle.outage = exc  # spares the other nodes the same wait
            self._end(Status.FAILED, str(exc), outage=True)
        except errors.AgentError as exc:
            self._end(Status.FAILED, str(exc))
        except Exception as exc:
            LOG.exception('%s: unexpected', self.node)
            reason = f'unexpected {type(exc).__name__}: {exc}'
            self._end(Status.FAILED, reason)
        if self._applied:
            applied = tuple(self._applied)
            self.result = dataclasses.replace(self.result, applied=applied)

    def _end(
        self, status: Status, reason: str, *, outage: bool = False
    ) -> None:
        """End the turn early; what was refused until then is not forgotten."""
        reason = '; '.join([reason, *self._left])
        ended = node_result.ended(self.node, status, reason)
        self.awaits_judgement = False
        self.result = dataclasses.replace(
            ended,
            outage=outage,
            again_in=self._back_off(self._left) if self._left else None,
        )

    def _repeat(
        self,
        seen: Any | errors.AgentError | None,
        plan: report_client.Plan | None,
    ) -> None:
        """Try; look again, a few times, if placement moved under it."""
        try:
            self._take_look(seen, plan)
        except errors.Replan as exc:
            self._look_again(exc)

    def _look_again(self, first: errors.Replan) -> None:
        """Look a few times more, each time a little later.

        :param first: what came of the first look, which most turns end with
        """
        attempts = tenacity.Retrying(
            stop=self._looks.are_enough,
            wait=tenacity.wait_random_exponential(multiplier=0.1, max=5),
            retry=tenacity.retry_if_exception_type(errors.Replan),
            reraise=True,
        )
        for attempt in attempts:
            with attempt:
                if attempt.retry_state.attempt_number == 1:
                    raise first
                self._take_look(None, None)

    def _take_look(
        self,
        seen: Any | errors.AgentError | None,
        plan: report_client.Plan | None,
    ) -> None:
        try:
            self._try(seen, plan)
        except errors.AgentError as exc:
            self._looks.ended_by(exc)
            self._note(exc)
            raise

    def _try(
        self,
        seen: Any | errors.AgentError | None,
        plan: report_client.Plan | None,
    ) -> None:
        if self._cycle.outage is not None:
            # Another turn's: what that one did or left is not this one's.
            away = self._cycle.outage
            raise errors.Unavailable(str(away)) from away
        if plan is None:
            plan = self._plan(self._look() if seen is None else seen)
            if not self._goes_now(plan):
                return
        self._apply(plan)

    def _look(self) -> Any | errors.AgentError:
        self._cycle.client.invalidate()  # or it might see the same for long
        return self._cycle.client.observe([self.node.uuid])[self.node.uuid]

    def _plan(self, seen: Any | errors.AgentError) -> report_client.Plan:
        if isinstance(seen, errors.AgentError):
            raise seen
        planner = self._cycle.planner
        plan = planner.plan_gone if self.leaving else planner.plan
        return plan(self.node, seen, self._cycle.contended)

    def _goes_now(self, plan: report_client.Plan) -> bool:
        """Note what a new plan comes to; return whether it is applied now."""
        self.result = node_result.planned(self.node, plan)
        self._before = plan.before
        if self._cycle.writing and self._is_backed_off(plan):
            return False
        removals = self._removals(plan)
        if not self._cycle.judged:
            return self._cycle.writing
        if not self._is_judged:
            self.removals, self.awaits_judgement = removals, bool(removals)
            self._cycle.judging[self.node.uuid] = removals
            return self._cycle.writing and not self.awaits_judgement
        if blast_radius.within(removals, self._cycle.judging.values()):
            return True
        self._wait(MORE)
        return False

    def _is_backed_off(self, plan: report_client.Plan) -> bool:
        wait = self._cycle.back_off.waiting(self.node.uuid, plan.operations)
        if wait is None:
            return False
        if all(op in wait.left.values() for op in plan.operations):
            self._wait('; '.join(wait.left), wait.again_in)
            return True
        self._left |= wait.left  # the rest goes without it
        return False

    def _wait(self, why: str, again_in: float | None = None) -> None:
        self.result = dataclasses.replace(
            node_result.kept_back(self.result, Status.WAITING, why),
            again_in=again_in,
        )

    def _removals(self, plan: report_client.Plan) -> blast_radius.Removals:
        """Return what a plan removes; of a node that is gone, all it touches.

        What cannot be deleted of such a node is reserved, which is as much.
        """
        if not self.leaving:
            return self._cycle.client.removals(plan)
        return blast_radius.Removals(
            deleted=frozenset(op.uuid for op in plan.operations)
        )

    def _apply(self, plan: report_client.Plan) -> None:
        if plan.is_quiet():  # as most are: nothing to send or to record
            self._cycle.back_off.succeeded(self.node.uuid)
            return
        if self.leaving and plan.operations:
            self._cycle.departures.confirm(self.node)
        left = list(self._left.values())
        self._note(self._cycle.client.apply(plan, left))
        # What was refused on an earlier look may not be wanted any more.
        still = {
            w: op for w, op in self._left.items() if op in plan.operations
        }
        self.result = node_result.planned(self.node, plan, list(still))
        if not still:
            self._cycle.back_off.succeeded(self.node.uuid)
            return
        self.result = dataclasses.replace(
            self.result, again_in=self._back_off(still)
        )

    def _note(self, came: report_client.Outcome | errors.AgentError) -> None:
        """Note what was done, and what is not sent again in this turn."""
        self._applied += came.applied
        self._left |= zip(came.refused, came.left, strict=True)

    def _back_off(self, left: Mapping[str, Any]) -> float:
        """Remember what was refused, or left because of that, and why."""
        return self._cycle.back_off.refused(
            self.node.uuid, left, self._applied
        )


class _Looks:
    """How often a node was looked at in a turn, and whether once more is due."""

    def __init__(self) -> None:
        self._times = 0
        self._once = 0

    def ended_by(self, exc: errors.AgentError) -> None:
        """Count a look that came to nothing."""
        self._times += 1
        self._once += isinstance(exc, errors.ReplanOnce)

    def are_enough(self, _state: tenacity.RetryCallState) -> bool:
        """Whether the turn ends; what is not there is looked for once more."""
        return self._times >= LOOKS or self._once > 1


MORE = (
    'placement changed meanwhile, and what this would remove now is more than '
    'was judged in this cycle: it waits for the next'
)
