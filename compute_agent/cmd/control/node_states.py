# SPDX-License-Identifier: Apache-2.0
"""The state of each node over the daemon's cycles, and of an outage.

The thread of the cycles writes it after each cycle; other threads read it at
any time, also while a cycle hangs, because each value is replaced as a whole.
An outage leaves what is known of the nodes as it is. Ages come from the
kernel's clock since boot, so a change of the date does not change them.
"""

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence

from ... import error_text
from ...cycle.node.node_result import NodeResult, Status
from ...limits.approval import Subject


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A moment, on two clocks.

    :ivar date: seconds since the epoch
    :ivar uptime: seconds since the host was started, sleep included
    """

    date: float
    uptime: float

    def after(self, seconds: float) -> 'Moment':
        """Return the moment so many seconds later."""
        return Moment(date=self.date + seconds, uptime=self.uptime + seconds)


def now() -> Moment:
    """Return the present moment."""
    return Moment(
        date=time.time(), uptime=time.clock_gettime(time.CLOCK_BOOTTIME)
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NodeState:
    """One node, as the cycles left it.

    :ivar result: the result in the last cycle that had the node
    :ivar planned: the result in the last cycle that planned the node
    :ivar done: when the last cycle ended that left the node done
    :ivar again: the moment from which a refused operation is tried again
    :ivar held: the changes that wait for a person, and since when
    """

    result: NodeResult
    planned: NodeResult | None
    done: Moment | None
    again: Moment | None
    held: Mapping[Subject, Moment]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """A time in which placement, or the drivers, cannot be asked."""

    since: Moment
    reason: str


class NodeStates:
    """Remembers each node of the last cycle that came to its end.

    :ivar nodes: the nodes by uuid, in the order of the cycle
    :ivar outage: the present one; None if the last cycle had none
    :ivar ended: the end of the last cycle; None before
    """

    def __init__(self, clock: Callable[[], Moment] = now) -> None:
        self._clock = clock
        self.nodes: Mapping[str, NodeState] = {}
        self.outage: Outage | None = None
        self.ended: Moment | None = None

    def age(self, moment: Moment) -> float:
        """Return the seconds since a moment."""
        return self._clock().uptime - moment.uptime

    def begin(self) -> None:
        """Do nothing: a cycle that runs changes no state yet."""

    def end(self, results: Sequence[NodeResult]) -> None:
        """Take over the results of a cycle."""
        at = self._clock()
        self.nodes = {
            result.node.uuid: self._next(result, at) for result in results
        }
        away = next((r.reason for r in results if r.outage), '')
        self._note_outage(away, at)
        self.ended = at

    def part_ended(self, results: Sequence[NodeResult]) -> None:
        """Take over the results of a cycle of some nodes."""
        self.end(results)

    def fail(self, exc: BaseException) -> None:
        """Note that a cycle ended before it had a result."""
        at = self._clock()
        self._note_outage(error_text.one_line(exc), at)
        self.ended = at

    def _note_outage(self, reason: str, at: Moment) -> None:
        if not reason:
            self.outage = None
            return
        since = at if self.outage is None else self.outage.since
        self.outage = Outage(since=since, reason=reason)

    def _next(self, result: NodeResult, at: Moment) -> NodeState:
        """Return the state of a node after a cycle with this result."""
        last = self.nodes.get(result.node.uuid)
        planned = last.planned if last is not None else None
        held = last.held if last is not None else {}
        if result.plan is not None or result.held:
            planned = result
            held = {each: held.get(each, at) for each in result.held}
        is_done = result.status is Status.DONE and not result.untried
        return NodeState(
            result=result,
            planned=planned,
            done=at if is_done else last.done if last is not None else None,
            again=None
            if result.again_in is None
            else at.after(result.again_in),
            held=held,
        )
