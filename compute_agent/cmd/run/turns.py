# SPDX-License-Identifier: Apache-2.0
"""The turns of the daemon: a cycle, or, while another agent reports, standby.

Before each cycle the thread of the cycles asks ``is_mine``. An agent that
shares its nodes with no other always has the turn. A standby follows the
record there, and tries from time to time if it could report: it lists the
driver's nodes, reads what changed of them and plans them, so that its first
cycle has little to do. It writes nothing. Between two cycles the holder also
gives the lease up, if a person, or a better standby, is to follow.
"""

import logging
import typing
from collections.abc import Sequence

from ... import errors
from ...cycle import node_list
from ...cycle.node.node_result import NodeResult
from ...fleet import fence
from ..app import signals
from ..control import cycle_requests
from ..wiring.agent import Agent
from . import changes, cycles, daemon_history, lifetime

if typing.TYPE_CHECKING:  # they need the extra "fleet"
    from ...fleet.membership import Membership

LOG = logging.getLogger(__name__)

GRACE = 1.0  # seconds that a running cycle gets when the daemon stops
_LONGEST = 30.0  # seconds for the node in hand
_OFTEN = 3.0  # seconds; a standby follows the record


class Turns:
    """Tells whose turn it is; a listener of the cycles.

    :param asked: the cycles that people asked for
    :ivar watch: waits for what the drivers tell of changes
    :ivar membership: None for an agent without a share
    :ivar past: where the history of this daemon is written
    :ivar failure: why this agent may not go on; None if it may
    """

    def __init__(
        self,
        agent: Agent,
        work: cycles.Cycles,
        life: lifetime.Lifetime,
        requests: signals.DaemonSignals,
        *,
        asked: cycle_requests.CycleRequests,
    ) -> None:
        self.watch = changes.ChangeWatch(
            agent.drivers, requests, work.changes_interval
        )
        self._agent = agent
        self._work = work
        self._life = life
        self._requests = requests
        self._asked = asked
        self._sharing = agent.sharing
        self._tried: float | None = None
        self._epoch: int | None = None
        self.membership: Membership | None = (
            None if agent.sharing is None else agent.sharing.membership
        )
        self.failure: errors.ConfigError | None = None
        self.past: daemon_history.DaemonHistory | None = None

    def may_write(self) -> bool:
        """Return True if this daemon may add to the history now."""
        member = self.membership
        return member is None or self._is_holder()

    # --- from the first to the last turn ----------------------------------------

    def wait_for_first(self) -> None:
        """Wait as ``Cycles`` does, or begin to look at the lease.

        :raises errors.ConfigError: a file, the database or the share is wrong
        """
        if self.membership is None:
            self._work.wait_before_first()
            return
        self.membership.call(self._requests.request_cycle)
        self.membership.start()

    def is_mine(self) -> bool:
        """Prepare the next cycle; return True if this agent reports.

        :raises errors.AgentError: a standby could not report now, or the
            shared database cannot be used
        """
        if self._sharing is None:
            return True
        member = self._sharing.membership
        if member.draining:
            self._leave(member.draining)
        try:
            is_ready = self._sharing.is_ready()
            if not is_ready:
                self._stand_by(member)
        except errors.AgentError as exc:
            self._fail(member, exc)
            raise
        if is_ready and not self._is_holder():
            self._begin(member)
        return is_ready

    def is_still_mine(self) -> bool:
        """Return True if the cycle that ended was this agent's to its end."""
        member = self.membership
        return member is None or (self._is_holder() and not member.draining)

    def pause(self, seconds: float | None) -> node_list.Changed:
        """Wait for the next turn; that of a standby comes soon.

        :return: the nodes that may have changed; empty if the turn is to come
        """
        if self._sharing is None or self._is_holder():
            return self.watch.wait(seconds)
        self._requests.wait_for_hint(
            _OFTEN if seconds is None else min(seconds, _OFTEN)
        )
        return changes.NO_NAMES

    def stop(self) -> float:
        """Let no other node begin; return the seconds for the node in hand."""
        member = self.membership
        if member is None or member.epoch is None:
            return GRACE
        return min(member.drain('the daemon stops'), _LONGEST)

    def finish(self) -> None:
        """Leave the lease, so that a standby follows at once."""
        if self._sharing is not None:
            self._sharing.pay()
            self._sharing.membership.close()
            self._sharing.membership.leave()

    # --- the role ---------------------------------------------------------------

    def _is_holder(self) -> bool:
        """Return True if this agent has begun to report, and still may."""
        member = self.membership
        return (
            member is not None
            and self._epoch is not None
            and self._epoch == member.epoch
        )

    def _begin(self, member: 'Membership') -> None:
        """Note that this agent reports from now on."""
        self._tried, self._epoch = None, member.epoch
        self._life.status.hold()
        if self.past is not None:
            self.past.started()

    def _leave(self, why: str) -> None:
        """Give the lease up between two cycles."""
        if self.past is not None:
            self.past.stopping(why)
        if self.membership is not None:
            self.membership.leave()

    def _fail(self, member: 'Membership', exc: errors.AgentError) -> None:
        """Tell that neither a cycle nor a turn of a standby could begin."""
        if member.epoch is None:
            if member.away is None:
                member.note(str(exc))  # others come first
                self._tried = None
            self._life.stand_by(member.holder(), str(exc))
        else:
            self._life.listeners.begin()
            self._life.listeners.fail(exc)

    def _stand_by(self, member: 'Membership') -> None:
        """Try from time to time if this agent could report.

        :raises errors.AgentError: this agent could not report
        """
        self._asked.refuse(member.refusal())
        if member.ended:
            self.failure = errors.ConfigError(
                f'{member.holder()}, and this agent may not stand by '
                '([compute_agent] standby is false)'
            )
            self._requests.set(str(self.failure))
            return
        now, interval = fence.uptime(), self._work.interval()
        if self._tried is None or 0 < interval <= now - self._tried:
            try:
                self._agent.stand_by(
                    lambda: (
                        member.epoch is None and not self._requests.is_set()
                    ),
                    lambda: member.note(''),
                )
            except errors.AgentError as exc:
                member.note(str(exc))
                raise
            self._tried = now
        self._life.stand_by(member.holder(), '')

    # --- a listener of cycles ---------------------------------------------------

    def begin(self) -> None:
        """Do nothing: only the end of a cycle tells of trouble."""

    def end(self, results: Sequence[NodeResult]) -> None:
        """Note if placement could be reached in the cycle."""
        if self._sharing is not None:
            self._sharing.pay()
        self._note(next((r.reason for r in results if r.outage), ''))
        if self.past is not None and self._may_tell():
            self.past.end(results)

    def part_ended(self, results: Sequence[NodeResult]) -> None:
        """Note if placement could be reached in a cycle of some nodes."""
        self.end(results)

    def fail(self, exc: BaseException) -> None:
        """Note that the cycle could not begin."""
        self._note(str(exc))
        if self.past is not None and self._may_tell():
            self.past.fail(exc)

    def _may_tell(self) -> bool:
        """Return True if the history can be told of the cycle."""
        member = self.membership
        return member is None or (self.is_still_mine() and member.away is None)

    def _note(self, trouble: str) -> None:
        """Note the trouble; learn at once if it is the lease."""
        if self.membership is None or self.membership.away is not None:
            return
        if self.membership.draining:
            return  # that ended the cycle
        if trouble:
            try:
                self.membership.look()
            except errors.AgentError as exc:
                LOG.debug('the lease cannot be looked at: %s', exc)
                return  # it is the shared database, or the lease is another's
        self.membership.note(trouble)
