# SPDX-License-Identifier: Apache-2.0
"""Decide an agent's next step with its share's lease: wait, take, beat, leave.

Pure: no I/O, configuration, logging or clock. The caller (``membership.py``) gives
what it saw of the lease's row, and when, by its own clock; no moment of another
machine is compared with it. All moments and durations are in seconds.
"""

import dataclasses
import enum
import math

#: An agent looks at the lease, or beats, so many times while a lease lasts.
LOOKS = 5
#: A holder gives up after so many leases without placement or its driver.
PATIENCE = 4
_MOST_DOUBLED = 4


class Step(enum.Enum):
    """The next step of an agent."""

    #: A standby looks again later.
    WAIT = 'wait'
    #: A standby takes the lease.
    TAKE = 'take'
    #: A holder beats.
    BEAT = 'beat'
    #: A holder empties the lease between two cycles.
    LEAVE = 'leave'
    #: Another agent holds the lease, and this one may not stand by.
    END = 'end'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The row of a lease, as an agent saw it.

    :ivar seconds: how long a beat counts, by the holder's configuration
    :ivar is_empty: True if its holder left
    """

    epoch: int
    beat: int
    seconds: float
    is_empty: bool = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """A row, and how long this agent has seen it stand still.

    :ivar row: None if the share has no row yet
    :ivar since: the moment after the first look at this row
    :ivar at: the moment before the last look
    :ivar has_moved: True if a beat was seen
    """

    row: Row | None
    since: float
    at: float
    has_moved: bool = False


def look(
    before: Sight | None, row: Row | None, asked: float, answered: float
) -> Sight:
    """Return what the agent has seen after another look at the row.

    A row stands still only while it is looked at: after a pause of this agent,
    or of its database, the time begins again, because the holder's beats may
    have failed for the same reason. A beat may have been sent while the agent
    waited for the row, so a new beat counts from the answer on.

    :param before: None at the first look
    :param asked: a moment before the row was asked for
    :param answered: a moment after it came
    """
    seen = None if before is None else before.row
    if before is None or seen is None or row is None:
        return Sight(row=row, since=answered, at=asked)
    moved = (seen.epoch, seen.beat) != (row.epoch, row.beat)
    has_moved = before.has_moved or moved
    has_paused = asked - before.at > row.seconds / 2
    since = answered if moved or has_paused else before.since
    return Sight(row=row, since=since, at=asked, has_moved=has_moved)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """The pause of an agent that gave the lease up.

    Until the pause is over, another agent that can report takes a free lease
    first.

    :ivar losses: how often the agent gave the lease up because it could not
        report
    """

    losses: int = 0
    until: float = -math.inf

    def is_able(self, now: float) -> bool:
        """Return False if no holder should give the lease up for this agent.

        This agent could not report when it last held the lease, and that
        counts until its pause is over.
        """
        return not self.losses or now >= self.until

    def after_release(self, now: float, seconds: float) -> 'Rest':
        """Return the pause after a person's order: others come first."""
        return Rest(losses=self.losses, until=now + 2 * seconds)

    def after_loss(
        self, now: float, seconds: float, *, held_for: float
    ) -> 'Rest':
        """Return the pause after this agent gave up; it doubles each time.

        :param held_for: how long the agent had reported without trouble
        """
        longest = pause(_MOST_DOUBLED, seconds)
        losses = 0 if held_for > longest else self.losses
        return Rest(losses=losses + 1, until=now + pause(losses, seconds))


def pause(losses: int, seconds: float) -> float:
    """Return how long an agent rests that gave up so many times before."""
    return PATIENCE * seconds * float(1 << min(losses, _MOST_DOUBLED))


def of_standby(
    sight: Sight,
    rest: Rest,
    seconds: float,
    *,
    able: bool = True,
    others_able: bool = False,
    stands_by: bool = True,
) -> Step:
    """Return the next step of an agent that does not hold the lease.

    :param seconds: how long a beat of this agent would count. A lease lasts
        for the longer time of this agent's and the holder's
    :param able: False if this agent could not report now; then other agents
        come first
    :param others_able: True if another standby may be able to report
    :param stands_by: False for an agent that ends instead of waiting for a
        lease
    """
    row, now = sight.row, sight.at
    if row is None:
        return Step.TAKE
    still, lasts = now - sight.since, max(seconds, row.seconds)
    if row.is_empty:
        others_first = others_able and now < rest.until
        is_due = (able and not others_first) or still >= lasts
        return Step.TAKE if is_due else Step.WAIT
    if still >= (lasts if able else 2 * lasts):
        return Step.TAKE
    return Step.END if sight.has_moved and not stands_by else Step.WAIT


def of_holder(
    *,
    now: float,
    seconds: float,
    troubled_since: float | None,
    others_able: bool,
) -> Step:
    """Return the next step of the agent that holds the lease.

    :param troubled_since: the moment from which on it could not reach
        placement, Ironic or its driver; None if it can
    :param others_able: True if a standby says that it can
    """
    if troubled_since is None or not others_able:
        return Step.BEAT
    is_long = now - troubled_since >= PATIENCE * seconds
    return Step.LEAVE if is_long else Step.BEAT
