# SPDX-License-Identifier: Apache-2.0
"""An agent's membership in its share: the thread of its beat, and its role.

The thread looks at the lease, takes it if it may, and beats while this agent
holds it; ``roles.py`` decides each step. The thread that runs the cycles asks
for the role between two cycles (``epoch``), where it also gives the lease up
(``leave``). Before each node it asks ``check``, before each write
``may_write``. ``cmd/`` makes the membership and starts it.
"""

import contextlib
import dataclasses
import logging
import math
import threading
from collections.abc import Callable, Collection, Iterator
from concurrent import futures
from typing import Any, Protocol

from .. import errors
from . import fence, lease
from .values import roles

LOG = logging.getLogger(__name__)

_ENDING = 5.0  # seconds that the end waits for a look that runs
_LOOK = 0.5  # seconds between two looks of a standby, at most


class Record(Protocol):
    """An agent's copy of the record; ``state/replica.py`` has it."""

    @property
    def epoch(self) -> int | None:
        """The epoch under which this agent writes to it; None for a standby."""

    @property
    def seen(self) -> int:
        """The highest number of a beat or commit that this agent saw."""

    def saw(self, sequence: int, *, above: int) -> None:
        """Note the number of a beat that was sent when ``seen`` was ``above``."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A lease that this agent took.

    :ivar since: the moment at which this agent took the lease
    """

    epoch: int
    fence: fence.Fence
    since: float


class Membership:
    """One agent's membership in its share; threads may use it together.

    :param stands_by: False if the agent ends when another agent holds the
        share
    :param prepare: called before the first look and before each take-over;
        checks the database
    :param clock: see ``fence.uptime``
    :ivar record: this agent's copy of the record, for the numbers of the beats;
        a write is of the epoch that it has
    :ivar away: why the shared database cannot be used; None if it can
    :ivar draining: why the lease is given up after the node in hand, or empty
    :ivar take_overs: how often this agent took the lease
    :ivar behind: how many beats lie between the last commit and this standby's
        copy of the record; 0 if it has that commit
    :ivar trouble: why this agent could not report now; empty if it could, None
        if it has not tried yet
    :ivar ended: True if another agent holds the share, and this one may not
        stand by
    """

    def __init__(
        self,
        leases: lease.Leases,
        me: lease.Member,
        *,
        share: str,
        driver: str,
        stands_by: bool = True,
        prepare: Callable[[], object] = lambda: None,
        clock: fence.Clock = fence.uptime,
    ) -> None:
        self._leases = leases
        self._me = me
        self.share = share
        self._driver = driver
        self._seconds = me.lease_seconds
        self._stands_by = stands_by
        self._changed: Callable[[], object] = lambda: None
        self._prepare = prepare
        self._is_prepared = False
        self._clock = clock
        self._lock = threading.RLock()
        self._held: Held | None = None
        self._about = about(share, None)
        self._sight: roles.Sight | None = None
        self._rest = roles.Rest()
        self._others: dict[str, _Other] = {}
        self._attended = -math.inf
        self._troubled_since: float | None = None
        self._released: futures.Future[str] | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=self._run, name='lease', daemon=True
        )
        self.record: Record | None = None
        self.away: errors.AgentError | None = None
        self.draining = ''
        self.take_overs = self.behind = 0
        self._beaten = -math.inf
        self.trouble: str | None = None
        self.ended = False

    def call(self, changed: Callable[[], object]) -> None:
        """Call this after each change.

        :param changed: told of a change of the role, and when the database is
            away or back; it must not wait
        """
        self._changed = changed

    def start(self) -> None:
        """Look at the lease, and go on in a thread.

        :raises errors.ConfigError: the database or the share cannot be used
        """
        with contextlib.suppress(errors.Unavailable):
            self.look()
        self._thread.start()

    def close(self) -> None:
        """End the thread; a lease that is held stays until it runs out."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(_ENDING)

    # --- the role, for the thread of the cycles -------------------------------

    @property
    def epoch(self) -> int | None:
        """The epoch of the lease that this agent holds; None for a standby."""
        held = self._held
        return None if held is None else held.epoch

    @property
    def beat_age(self) -> float:
        """The seconds since this agent beat, or saw the holder's beat move."""
        sight = self._sight
        since = -math.inf if sight is None else sight.since
        if self._held is not None:
            since = self._beaten
        return 0.0 if since == -math.inf else self._clock() - since

    def check(self) -> None:
        """Return normally if the next node may begin.

        :raises errors.Deposed: this agent does not hold the lease, or gives
            it up
        """
        if self.draining:
            raise errors.Deposed(f'{self.draining}; no other node begins')
        self._holding()

    def may_write(self) -> float:
        """Return the seconds for which only this agent can write.

        :raises errors.Deposed: another agent holds the lease
        :raises errors.Unavailable: the lease may be another agent's by now
        """
        held = self._holding()
        if held.fence.remaining() < self._seconds / 2:
            self._beat(held)
        left = held.fence.remaining()
        if not left:
            raise errors.Unavailable(
                f'the shared database took longer than lease_seconds '
                f'({self._seconds:g} s) for a beat: nothing is written'
            )
        return left

    def lost(self, epoch: int | None, exc: errors.Deposed) -> None:
        """Note that a commit of this epoch was refused."""
        with self._lock:
            if self._held is not None and self._held.epoch == epoch:
                self._lose(self._held, exc)

    def leave(self) -> None:
        """Empty the lease, so that a standby takes it at once; or stand by no more."""
        held = self._held
        if held is None:
            self._dismiss([self._me.who])
            return
        with self._lock:
            self._held, self._sight = None, None
            self._about = about(self.share, None)
            if not self._stop.is_set():
                self._rest = self._rested(held)
            why, self.draining = self.draining, ''
        try:
            self._leases.leave(self.share, held.epoch)
        except errors.Unavailable as exc:  # it runs out, or is another's
            LOG.debug('the lease cannot be emptied: %s', exc)
        LOG.info(
            'this agent leaves the share %s (epoch %d): %s',
            self.share,
            held.epoch,
            why or 'it stops',
        )
        self._tell(f'this agent left the share {self.share}')
        self._changed()

    def note(self, trouble: str) -> None:
        """Note if this agent can reach placement, and its driver its nodes.

        :param trouble: why this agent cannot report; empty if it can
        """
        self.trouble = trouble
        if not trouble:
            self._troubled_since = None
        elif self._troubled_since is None:
            self._troubled_since = self._clock()

    def drain(self, why: str) -> float:
        """Let no other node begin; return how long the lease will last."""
        with self._lock:
            if self._held is not None:
                self.draining = why
        return self._seconds

    def release(self, why: str) -> 'futures.Future[str]':
        """Give the lease up after the node in hand, so that another takes it.

        :return: a line, once the lease is given up
        :raises errors.Refused: this agent does not hold it, or no standby is
            there
        """
        with self._lock:
            if self._held is None:
                raise errors.Refused(
                    f'this agent is a standby: {self.holder()}'
                )
            if not any(self._others_now()):
                raise errors.Refused(
                    f'no other agent stands by for the share {self.share}, so '
                    'nobody would report it: start one, or stop this daemon'
                )
            self.draining = why
            self._released = self._released or futures.Future()
            released = self._released
        self._changed()
        return released

    def holder(self) -> str:
        """Return a line about the agent that holds the share."""
        return self._about

    def refusal(self) -> str:
        """Return why a standby refuses what only the holder can do."""
        return f'this daemon stands by: {self.holder()}; run the command there'

    def data(self) -> dict[str, Any]:
        """Return this agent's part in its share, for ``status``."""
        away, held = self.away, self._held
        return {
            'share': self.share,
            'role': 'standby' if held is None else 'holder',
            'epoch': None if held is None else held.epoch,
            'holder': self.holder(),
            'standbys': [str(row.member) for row in self._others_now()],
            'able': self._is_able(),
            'giving_up': self.draining,
            'database': '' if away is None else str(away),
        }

    # --- the thread of the beat -----------------------------------------------

    def _run(self) -> None:
        """Look at the lease, or beat, until the end."""
        while not self._stop.is_set():
            try:
                self.look()
            except errors.AgentError as exc:
                LOG.debug('the lease cannot be looked at: %s', exc)
            except Exception:
                LOG.exception('the lease cannot be looked at: unexpected')
            often = self._seconds / roles.LOOKS
            self._stop.wait(often if self._held else min(often, _LOOK))

    def look(self) -> None:
        """Look at the lease once: beat, or take it if it is time.

        :raises errors.AgentError: the shared database cannot be used
        """
        held = self._held
        with contextlib.suppress(errors.Deposed):
            if held is None:
                self._stand_by()
            else:
                self._hold(held)

    def _hold(self, held: Held) -> None:
        """Beat, and give the lease up if a standby can do what this cannot."""
        self._beat(held)
        self._look_at_others()
        step = roles.of_holder(
            now=self._clock(),
            seconds=self._seconds,
            troubled_since=self._troubled_since,
            others_able=any(row.able for row in self._others_now()),
        )
        if step is roles.Step.LEAVE and not self.draining:
            self.draining = (
                'it could not reach placement or its driver, and a standby can'
            )
            self._changed()

    def _beat(self, held: Held) -> None:
        """Beat.

        :raises errors.Deposed: another agent holds the lease
        :raises errors.Unavailable: the shared database is away
        """
        sent, above = self._clock(), self._followed()
        try:
            number = self._leases.beat(
                self.share, held.epoch, able=self._is_able()
            )
        except errors.Deposed as exc:
            with self._lock:
                self._lose(held, exc)
            raise
        except errors.AgentError as exc:
            self._note_away(exc)
            raise
        held.fence.renew(sent)
        self._beaten = sent
        self._note_away(None)
        if self.record is not None:
            self.record.saw(number, above=above)

    def _stand_by(self) -> None:
        """Look at the lease, tell that this agent is there, and take it if due."""
        try:
            was_prepared = self._is_prepared
            if not was_prepared:
                self._prepare()
                self._is_prepared = True
            asked = self._clock()
            row = self._leases.row(self.share)
            step = self._judge(row, asked)
            newest = 0 if row is None else row.sequence
            self.behind = max(0, newest - self._followed())
            self._attend(asked)
            if step is roles.Step.TAKE:
                if was_prepared:
                    self._prepare()  # a person may have migrated the tables
                self._take(row, asked)
        except errors.AgentError as exc:
            self._note_away(exc)
            raise
        self._note_away(None)
        if step is roles.Step.END:
            self.ended = True
            self._changed()

    def _judge(self, row: lease.LeaseRow | None, asked: float) -> roles.Step:
        """Return what a standby does about this row, which just came."""
        if row is not None:
            lease.check_driver(row, self._driver)
        before, self._about = self._about, about(self.share, row)
        if row and row.holder and before != self._about:
            LOG.info('%s: this agent stands by', self._about)
        self._sight = roles.look(
            self._sight,
            None if row is None else row.watched,
            asked,
            self._clock(),
        )
        return roles.of_standby(
            self._sight,
            self._rest,
            self._seconds,
            able=not self.trouble,
            others_able=self._others_may_take(row),
            stands_by=self._stands_by,
        )

    def _others_may_take(self, row: lease.LeaseRow | None) -> bool:
        """Return True if the lease is free, and another standby may take it.

        Only an agent between two cycles needs this.
        """
        is_free = row is not None and row.holder is None
        if not is_free or self._clock() >= self._rest.until:
            return False
        return any(
            one.able and one.member.who != self._me.who
            for one in self._leases.standbys(self.share)
        )

    def _take(self, seen: lease.LeaseRow | None, sent: float) -> None:
        """Take the lease, unless another agent was quicker."""
        epoch = self._leases.take(self.share, self._driver, seen, self._me)
        if epoch is None:
            return
        now = self._clock()
        held = Held(
            epoch=epoch,
            fence=fence.Fence(self._seconds, self._clock),
            since=now,
        )
        held.fence.renew(sent)
        self._beaten, self.behind = sent, 0
        self.take_overs += 1
        with self._lock:
            self._held, self.draining = held, ''
            self._about = (
                f'{self._me} holds the share {self.share} (epoch {epoch})'
            )
            self._troubled_since = now if self.trouble else None
        LOG.info(
            'this agent holds the share %s from now on (epoch %d)%s',
            self.share,
            epoch,
            _before(seen),
        )
        self._changed()

    # --- changes of the role ---------------------------------------------------

    def _holding(self) -> Held:
        """Return the lease, under which the running cycle began.

        :raises errors.Deposed: this agent lost that lease, even if it has a
            new one
        """
        held = self._held
        if held is None:
            raise errors.Deposed(f'this agent is a standby: {self.holder()}')
        if self.record is not None and self.record.epoch != held.epoch:
            raise errors.Deposed(
                f'this agent lost the share {self.share} and took it again '
                f'(epoch {held.epoch}): what began before that ends'
            )
        return held

    def _lose(self, held: Held, exc: errors.Deposed) -> None:
        """Become a standby, because another agent took the lease."""
        if self._held is not held:
            return
        self._held, self._sight, self.draining = None, None, ''
        self._about = str(exc)
        LOG.warning('%s: this agent stands by and writes nothing', exc)
        self._tell(str(exc))
        self._changed()

    def _tell(self, line: str) -> None:
        """Tell a person who asked for a release that it is done."""
        released, self._released = self._released, None
        if released is not None and not released.done():
            released.set_result(line)

    def _rested(self, held: Held) -> roles.Rest:
        """Return the pause after the lease was given up."""
        now, since = self._clock(), self._troubled_since
        if since is None:
            return self._rest.after_release(now, self._seconds)
        held_for = since - held.since
        return self._rest.after_loss(now, self._seconds, held_for=held_for)

    def _note_away(self, exc: errors.AgentError | None) -> None:
        """Note that the database is away, or back; only a change is told."""
        before, self.away = self.away, exc
        if (before is None) is not (exc is None):
            self._changed()

    def _is_able(self) -> bool:
        return self.trouble == ''

    # --- the standbys -----------------------------------------------------------

    def _attend(self, now: float) -> None:
        """Tell that this agent stands by, a few times while a lease lasts."""
        if now - self._attended < self._seconds / roles.LOOKS:
            return
        self._leases.attend(
            self.share,
            self._me,
            able=self._is_able() and self._rest.is_able(now),
            sequence=self._followed(),
        )
        self._attended = now

    def _followed(self) -> int:
        """Return the number of the last commit that this agent's copy has."""
        return 0 if self.record is None else self.record.seen

    def _look_at_others(self) -> None:
        """Note which standbys beat since the last look; drop those that ended."""
        now, before = self._clock(), self._others
        found, ended = {}, []
        for row in self._leases.standbys(self.share):
            who = row.member.who
            last = before.get(who)
            moved = last is not None and row.beat != last.row.beat
            if last is None or moved:
                found[who] = _Other(row=row, since=now, has_moved=moved)
            else:
                found[who] = last
            lasts = max(self._seconds, row.member.lease_seconds)
            if now - found[who].since > roles.PATIENCE * lasts:
                ended.append(who)
        found.pop(self._me.who, None)
        self._others = found
        self._dismiss(ended)

    def _dismiss(self, ended: Collection[str]) -> None:
        """Drop the rows of standbys that ended, if the database can be used."""
        if ended and self.away is None:
            with contextlib.suppress(errors.Unavailable):
                self._leases.dismiss(self.share, ended)

    def _others_now(self) -> Iterator[lease.StandbyRow]:
        """Yield the standbys whose beat this agent saw a short time ago."""
        oldest = self._clock() - self._seconds
        for other in self._others.values():
            if other.has_moved and other.since >= oldest:
                yield other.row


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Other:
    """A standby.

    :ivar since: the moment at which this agent first saw this beat
    :ivar has_moved: False if this agent never saw an earlier beat
    """

    row: lease.StandbyRow
    since: float
    has_moved: bool


def about(share: str, row: lease.LeaseRow | None) -> str:
    """Return a line about the agent that holds the share."""
    if row is None or row.holder is None:
        return f'no agent holds the share {share} now'
    return f'{row.holder} holds the share {share} (epoch {row.epoch})'


def _before(row: lease.LeaseRow | None) -> str:
    """Return the words about the previous holder."""
    if row is None or row.holder is None:
        return ''
    return f'; {row.holder}, which held it before, does not beat any more'
