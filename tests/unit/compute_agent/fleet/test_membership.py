# SPDX-License-Identifier: Apache-2.0
"""An agent takes the lease of its share, keeps it, loses it and gives it up."""

import contextlib
import dataclasses
import itertools
import time

import hypothesis
import memory_leases
import pytest
from examples import examples
from hypothesis import strategies as st
from memory_leases import SECONDS, MemoryLeases, Uptime, member

from compute_agent import errors
from compute_agent.fleet import fence
from compute_agent.fleet.values import roles

OFTEN = SECONDS / roles.LOOKS


class Fleet:
    """Agents at one database, each with a clock of its own."""

    def __init__(self, count=2, **how):
        self.leases = MemoryLeases()
        self.clocks = [Uptime(1000.0 * n) for n in range(count)]
        self.members = [
            member(self.leases, f'{n}', clock, **how)
            for n, clock in enumerate(self.clocks)
        ]
        for one in self.members:
            one.note('')

    def wait(self, seconds):
        for clock in self.clocks:
            clock.now += seconds

    def look(self, *numbers):
        for number in numbers or range(len(self.members)):
            with contextlib.suppress(errors.Unavailable):
                self.members[number].look()

    def live(self, seconds, *numbers):
        """Let time pass; these agents look as often as their threads would."""
        for _ in range(round(seconds / OFTEN)):
            self.wait(OFTEN)
            self.look(*numbers)

    @property
    def epochs(self):
        return [one.epoch for one in self.members]


@pytest.fixture
def fleet():
    one = Fleet()
    one.look()
    assert one.epochs == [1, None]
    return one


def test_of_two_that_begin_together_one_holds_the_share(fleet):
    fleet.live(10 * SECONDS)
    assert fleet.epochs == [1, None]
    fleet.members[0].check()
    with pytest.raises(errors.Deposed, match=r'host-0 \(process 7\) holds'):
        fleet.members[1].check()


def test_a_holder_that_is_killed_is_followed_after_a_lease(fleet):
    fleet.live(SECONDS - OFTEN, 1)
    assert fleet.epochs == [1, None]
    fleet.live(OFTEN, 1)
    assert fleet.members[1].epoch == 2


@pytest.mark.catches('a deposed agent goes on writing until its next beat')
@pytest.mark.catches('a deposed agent keeps its role')
def test_a_holder_that_was_stopped_writes_nothing_more(fleet):
    fleet.live(2 * SECONDS, 1)
    old, _new = fleet.members
    assert old.epoch == 1  # it does not know yet
    with pytest.raises(errors.Deposed, match='host-1'):
        old.may_write()
    assert fleet.epochs == [None, 2]
    with pytest.raises(errors.Deposed, match='this agent is a standby'):
        old.check()


@pytest.mark.catches('a standby takes a share of a database that was migrated')
def test_a_standby_looks_at_the_version_again_before_it_takes_the_share():
    checked = []

    def check():
        checked.append(fleet.epochs)
        if len(checked) > 2:
            raise errors.ConfigError('a person migrated it')

    fleet = Fleet()
    fleet.members[1] = member(
        fleet.leases, '1', fleet.clocks[1], prepare=check
    )
    fleet.look()
    fleet.live(SECONDS)
    assert checked == [[1, None]]  # once, as long as another one reports
    fleet.live(2 * SECONDS, 1)
    assert fleet.members[1].epoch == 2
    assert len(checked) == 2
    fleet.live(2 * SECONDS, 0)
    assert fleet.members[0].epoch == 3
    with contextlib.suppress(errors.ConfigError):
        fleet.live(2 * SECONDS, 1)
    with pytest.raises(errors.ConfigError, match='migrated'):
        fleet.members[1].look()
    assert fleet.members[1].epoch is None


class Record:
    """A copy of the record, which a cycle writes."""

    seen = 0

    def __init__(self, epoch):
        self.epoch = epoch

    def saw(self, sequence, *, above):
        """Do nothing."""


@pytest.mark.catches(
    'a cycle goes on under a lease that it did not begin with'
)
def test_what_began_before_the_lease_was_lost_ends(fleet):
    """Also if the same agent has the lease again."""
    holder = fleet.members[0]
    holder.record = Record(1)
    assert holder.may_write() == SECONDS
    fleet.live(2 * SECONDS, 1)
    fleet.look(0)
    fleet.live(2 * SECONDS, 0)
    assert fleet.epochs[0] == 3
    for ask in (holder.check, holder.may_write):
        with pytest.raises(errors.Deposed, match=r'took it again .epoch 3.'):
            ask()
    holder.record = Record(3)
    assert holder.may_write() == SECONDS


def test_a_commit_of_an_earlier_lease_costs_no_later_one(fleet):
    late = errors.Deposed('host-1 took it')
    fleet.members[0].lost(0, late)
    assert fleet.epochs == [1, None]
    fleet.members[0].lost(1, late)
    assert fleet.epochs == [None, None]


@pytest.mark.catches('a beat counts from its answer')
def test_a_beat_counts_from_the_moment_before_it_was_sent(fleet):
    holder, clock = fleet.members[0], fleet.clocks[0]
    beat = fleet.leases.beat

    def slow(*args, **named):
        clock.now += 2.0
        return beat(*args, **named)

    fleet.leases.beat = slow
    fleet.look(0)
    assert holder.may_write() == SECONDS - 2.0


def test_a_write_late_in_the_lease_beats_first(fleet):
    holder = fleet.members[0]
    fleet.wait(SECONDS * 0.4)
    assert holder.may_write() == SECONDS * 0.6
    fleet.wait(SECONDS * 0.2)
    assert holder.may_write() == SECONDS
    assert fleet.leases.commits == [('take', 1), ('beat', 1)]


def test_while_the_database_is_away_nothing_is_written(fleet):
    told = []
    fleet.members[0]._changed = lambda: told.append(str(fleet.members[0].away))
    fleet.leases.away = True
    fleet.live(2 * SECONDS)
    with pytest.raises(errors.Unavailable, match='does not answer'):
        fleet.members[0].may_write()
    assert told == ['the shared database does not answer']
    fleet.leases.away = False
    fleet.look()
    assert fleet.members[0].may_write() == SECONDS
    assert told[1:] == ['None']
    fleet.live(SECONDS / 2)
    assert fleet.epochs == [1, None]  # the standby did not look meanwhile


@pytest.mark.catches('a standby takes a lease that it did not look at')
def test_a_standby_that_was_stopped_does_not_take_the_lease(fleet):
    """All of them were, or their database: the holder has not beaten either."""
    fleet.wait(10 * SECONDS)
    fleet.look(1)
    assert fleet.epochs == [1, None]
    fleet.live(SECONDS)
    assert fleet.epochs == [1, None]


def test_a_holder_that_leaves_is_followed_at_the_next_look(fleet):
    holder, standby = fleet.members
    holder.close()
    holder.leave()
    fleet.look(1)
    assert fleet.epochs == [None, 2]
    assert standby.may_write() == SECONDS


def test_a_release_is_done_between_two_cycles(fleet):
    fleet.live(2 * OFTEN)
    holder = fleet.members[0]
    holder.release('alice released it')
    assert holder.epoch == 1
    assert holder.may_write()  # for the node in hand
    with pytest.raises(errors.Deposed, match='alice released it'):
        holder.check()
    holder.leave()
    fleet.look(0, 1)
    assert fleet.epochs == [None, 2]


def test_a_release_without_a_standby_is_refused(fleet):
    fleet.live(SECONDS, 0)
    with pytest.raises(errors.Refused, match='no other agent stands by'):
        fleet.members[0].release('alice released it')
    with pytest.raises(errors.Refused, match='this agent is a standby'):
        fleet.members[1].release('alice released it')


def test_an_agent_that_nobody_followed_takes_the_lease_again(fleet):
    fleet.live(2 * OFTEN)
    fleet.members[0].release('alice released it')
    fleet.members[0].leave()
    fleet.live(SECONDS, 0)
    assert fleet.epochs == [None, None]
    fleet.live(2 * SECONDS, 0)
    assert fleet.epochs == [2, None]


@pytest.mark.catches('an agent rests although nobody else is able')
def test_an_agent_that_rests_goes_on_at_once_where_no_other_is_able(fleet):
    fleet.live(2 * OFTEN)
    other = fleet.members[1]
    other.note('placement does not answer')
    fleet.live(OFTEN)
    fleet.members[0].release('alice released it')
    fleet.members[0].leave()
    fleet.look(0)
    assert fleet.epochs == [2, None]


def test_a_standby_that_stops_is_no_standby_at_once(fleet):
    fleet.live(2 * OFTEN)
    fleet.members[1].close()
    fleet.members[1].leave()
    fleet.look(0)
    assert fleet.members[0].data()['standbys'] == []
    assert fleet.leases.attending == {}


@pytest.mark.catches('the rows of dead standbys stay')
def test_the_holder_drops_a_standby_that_died(fleet):
    fleet.live(2 * OFTEN)
    fleet.live(roles.PATIENCE * SECONDS, 0)
    assert [*fleet.leases.attending] == ['1']
    fleet.live(2 * OFTEN, 0)
    assert fleet.leases.attending == {}
    fleet.live(4 * OFTEN)  # it was only stopped
    assert fleet.members[0].data()['standbys'] == ['host-1 (process 7)']


@pytest.mark.catches('another driver is not told')
@pytest.mark.parametrize('is_free', [False, True])
def test_an_agent_with_another_driver_is_told_at_its_start(fleet, is_free):
    if is_free:
        fleet.members[0].leave()
    row = fleet.leases.rows[memory_leases.SHARE]
    other = dataclasses.replace(row, driver='ironic')
    fleet.leases.rows[memory_leases.SHARE] = other
    late = member(fleet.leases, 'late', Uptime())
    with pytest.raises(errors.ConfigError, match='with the driver ironic'):
        late.start()


def test_a_holder_without_placement_gives_way_to_one_that_has_it(fleet):
    holder = fleet.members[0]
    holder.note('placement does not answer')
    fleet.live(roles.PATIENCE * SECONDS - OFTEN)
    assert not holder.draining
    fleet.live(2 * OFTEN)
    assert 'a standby can' in holder.draining
    holder.leave()
    fleet.look(1)
    assert fleet.epochs == [None, 2]


def test_a_holder_that_nobody_could_follow_better_stays(fleet):
    for one in fleet.members:
        one.note('placement does not answer')
    fleet.live(10 * SECONDS)
    assert not fleet.members[0].draining
    assert fleet.epochs == [1, None]


def test_agents_that_fail_in_turn_rest_longer_each_time(fleet):
    """Each says that it is able while it stands by, and then it is not."""
    changes, looks = [], 0
    while len(changes) < 13:
        fleet.live(OFTEN)
        looks += 1
        for one in fleet.members:
            one.note('no answer' if one.epoch else '')
            if one.draining:
                one.leave()
        taken = fleet.leases.rows[memory_leases.SHARE].epoch
        if not changes or taken != changes[-1][0]:
            changes.append((taken, looks))
    pauses = [b[1] - a[1] for a, b in itertools.pairwise(changes)]
    assert sum(pauses[-4:]) > 4 * sum(pauses[:4]), pauses


def test_an_agent_that_may_not_stand_by_ends_where_another_beats():
    fleet = Fleet(stands_by=False)
    fleet.look()
    fleet.live(OFTEN)
    assert [one.ended for one in fleet.members] == [False, True]


def test_an_agent_that_may_not_stand_by_follows_a_dead_one():
    fleet = Fleet(stands_by=False)
    fleet.look()
    fleet.live(SECONDS + 2 * OFTEN, 1)
    assert fleet.members[1].epoch == 2
    assert not fleet.members[1].ended


@pytest.mark.catches('a standby waits only as long as its own lease')
def test_the_longer_one_of_two_leases_counts():
    fleet = Fleet(1, seconds=4 * SECONDS)
    clock = Uptime()
    fleet.look()
    quick = member(fleet.leases, 'quick', clock)
    fleet.members.append(quick)
    fleet.clocks.append(clock)
    fleet.live(4 * SECONDS - OFTEN, 1)
    assert quick.epoch is None
    fleet.live(2 * OFTEN, 1)
    assert quick.epoch == 2


@pytest.mark.catches('a beat counts by the wall clock')
def test_no_clock_that_somebody_sets_counts(monkeypatch):
    monkeypatch.setattr(time, 'time', lambda: 0.0)
    before = fence.uptime()
    assert before > 0
    assert fence.uptime() >= before


STEPS = st.one_of(
    st.tuples(st.just('wait'), st.floats(0, 2 * SECONDS)),
    st.tuples(st.just('look'), st.integers(0, 2)),
    st.tuples(st.just('live'), st.sets(st.integers(0, 2), min_size=1)),
    st.tuples(st.just('write'), st.integers(0, 2)),
    st.tuples(st.just('leave'), st.integers(0, 2)),
    st.tuples(st.just('away'), st.booleans()),
)


@pytest.mark.catches('a standby waits only as long as its own lease')
@hypothesis.settings(max_examples=examples(2000), deadline=None)
@hypothesis.given(st.lists(STEPS, max_size=40))
def test_never_may_two_agents_write(steps):
    fleet = Fleet(2)
    clock = Uptime(7.0)
    fleet.clocks.append(clock)
    fleet.members.append(
        member(fleet.leases, 'slow', clock, seconds=3 * SECONDS)
    )
    fleet.leases.answered = lambda: fleet.wait(0.5)
    for step, what in steps:
        if step == 'wait':
            fleet.wait(what)
        elif step == 'look':
            fleet.look(what)
        elif step == 'live':
            fleet.live(OFTEN * 3, *what)
        elif step == 'away':
            fleet.leases.away = what
        elif step == 'leave':
            fleet.members[what].leave()
        else:
            with contextlib.suppress(errors.Unavailable):
                fleet.members[what].may_write()
        sure = [one for one in fleet.members if _may_write_unasked(one)]
        assert len(sure) <= 1, (step, what)


def _may_write_unasked(one):
    return one._held is not None and one._held.fence.remaining() > 0


@pytest.mark.catches('a beat counts from before the look that showed it')
def test_a_beat_sent_during_a_slow_look_counts_from_its_answer():
    row = roles.Row(epoch=1, beat=1, seconds=15.0)
    slow = roles.look(None, row, 0.0, 6.0)
    for moment in (6.5, 12.0, 15.5, 20.9):
        slow = roles.look(slow, row, moment, moment)
        step = roles.of_standby(slow, roles.Rest(), 15.0)
        assert step is roles.Step.WAIT, moment
    due = roles.look(slow, row, 21.0, 21.0)
    assert roles.of_standby(due, roles.Rest(), 15.0) is roles.Step.TAKE


def test_take_overs_and_ages_of_beats_are_told(fleet):
    holder, standby = fleet.members
    standby.record = Record(None)
    fleet.wait(2.0)
    assert (holder.beat_age, standby.beat_age) == (2.0, 2.0)
    fleet.look()
    assert (holder.beat_age, standby.beat_age) == (0.0, 0.0)
    assert (holder.take_overs, standby.take_overs) == (1, 0)
    row = fleet.leases.rows['fake']
    fleet.leases.rows['fake'] = dataclasses.replace(row, sequence=9)
    fleet.look(1)
    assert (holder.behind, standby.behind) == (0, 9)
    fleet.live(2 * SECONDS, 1)
    assert (standby.take_overs, standby.behind) == (1, 0)
