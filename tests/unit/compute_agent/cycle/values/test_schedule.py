# SPDX-License-Identifier: Apache-2.0
"""When cycles begin: in phase, and apart from those of other agents."""

import collections
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compute_agent.cycle.values import schedule

MINUTE = 60.0


def longest(_low, high):
    return high


@pytest.fixture
def times():
    return schedule.Schedule(1000.0, longest)


# --- the first cycle ---------------------------------------------------------


@pytest.mark.parametrize(
    ('most', 'interval', 'seconds'),
    [
        (60, 60, 60),
        (60, 600, 60),
        (3600, 60, 60),
        (3600, -1, 3600),
        (0, 60, 0),
    ],
)
def test_the_first_cycle_waits_up_to_the_delay_and_the_interval(
    most, interval, seconds
):
    assert schedule.fuzzy_delay(most, interval, longest) == seconds


def test_the_first_cycle_waits_at_random():
    waits = [schedule.fuzzy_delay(60, 60) for _ in range(100)]
    assert len(set(waits)) == 100
    assert all(0 <= wait <= 60 for wait in waits)


# --- regular ones ------------------------------------------------------------


@pytest.mark.parametrize(
    ('began', 'now', 'wait'),
    [
        pytest.param(0, 1, 59, id='what a cycle takes is part of it'),
        pytest.param(60.3, 61, 59, id='a late one moves nothing'),
        pytest.param(59.999, 60, 60, id='nor does one that is a bit early'),
        pytest.param(20, 21, 39, id='one in between leaves the phase'),
        pytest.param(57, 58, 62, id='one just before takes its place'),
        pytest.param(0, 61, 0, id='one that takes longer: at once'),
        pytest.param(61, 122, 0, id='and again'),
        pytest.param(61, 62, 58, id='and is in phase when it is over'),
        pytest.param(7200, 7300, 0, id='or ever so much longer'),
    ],
)
def test_a_regular_cycle_begins_in_phase(times, began, now, wait):
    found = times.after_success(MINUTE, began=1000 + began, now=1000 + now)
    assert found == pytest.approx(wait)


def test_below_zero_there_is_no_other_cycle(times):
    assert times.after_success(-1, began=1000, now=1001) is None


def test_another_interval_keeps_the_phase(times):
    assert times.after_success(10, began=1007, now=1008) == pytest.approx(2)
    assert times.after_success(90, began=1007, now=1008) == pytest.approx(82)


@given(
    phase=st.floats(0, 1e7),
    interval=st.integers(1, 7 * 24 * 3600),
    past=st.floats(0, 1e7),
    spent=st.floats(0, 1e5),
)
def test_the_next_one_is_in_phase_or_overdue(phase, interval, past, spent):
    times = schedule.Schedule(phase)
    began = phase + past
    wait = times.after_success(interval, began=began, now=began + spent)
    assert 0 <= wait <= 1.1 * interval + 1e-3
    if wait:
        off = (past + spent + wait) / interval
        assert off == pytest.approx(round(off), abs=1e-3)
        assert spent + wait >= 0.9 * schedule.NEAR * interval


# --- outages -----------------------------------------------------------------


def test_waits_double_up_to_the_interval(times):
    waits = [times.after_failure(20) for _ in range(7)]
    assert waits == [1, 2, 4, 8, 16, 20, 20]


def test_waits_are_at_random_from_almost_nothing():
    times = schedule.Schedule(0, lambda low, _high: low)
    assert {times.after_failure(MINUTE) for _ in range(9)} == {0.1}
    found = schedule.Schedule(0)
    assert len({found.after_failure(MINUTE) for _ in range(20)}) == 20


def test_without_an_interval_they_grow_to_a_minute(times):
    assert [times.after_failure(-1) for _ in range(9)][-1] == MINUTE


def test_they_begin_anew_after_a_success(times):
    for _ in range(10):
        times.after_failure(MINUTE)
    times.after_success(MINUTE, began=1500, now=1501)
    assert times.after_failure(MINUTE) == 1


def test_an_interval_below_the_first_wait_is_none_to_go_by(times):
    assert [times.after_failure(0.1) for _ in range(3)] == [1, 1, 1]


def test_no_wait_is_longer_than_the_most(times):
    assert [times.after_failure(20, 5) for _ in range(5)] == [1, 2, 4, 5, 5]
    assert times.after_failure(20) == 20


def test_ever_so_many_failures_are_no_overflow(times):
    assert all(times.after_failure(MINUTE) <= 60 for _ in range(3000))


# --- many agents -------------------------------------------------------------


class Cloud:
    """Agents that share a placement, which is away for a time.

    :ivar asked: the moments at which they came, each second's number of them
    """

    AGENTS = 3000

    def __init__(
        self,
        away: range,
        *,
        reload_at: float | None = None,
        most: float = math.inf,
    ) -> None:
        self._away = away
        self._most = most
        self._dice = random.Random(f'{away} {reload_at}')
        self._reload_at = reload_at
        self.asked = collections.Counter()
        for _ in range(self.AGENTS):
            self._live(until=900)

    def _live(self, until: float) -> None:
        spread = self._dice.uniform
        now = schedule.fuzzy_delay(MINUTE, MINUTE, spread)
        times = schedule.Schedule(now, spread)
        while now < until:
            self.asked[int(now)] += 1
            if self._away.start <= now < self._away.stop:
                wait = times.after_failure(MINUTE, self._most)
            else:
                wait = times.after_success(MINUTE, began=now, now=now + 0.1)
            now = self._woken(now, now + wait)

    def _woken(self, now: float, then: float) -> float:
        """Return when the wait ends; a reload begins a cycle at once."""
        at = self._reload_at
        return at if at is not None and now < at < then else then

    def most(self, begin: int, end: int) -> float:
        """Return the busiest of these seconds, of an even spread."""
        return max(self.asked[second] for second in range(begin, end)) / (
            self.AGENTS / MINUTE
        )


QUIET = range(0)


def test_agents_started_together_come_evenly():
    assert Cloud(QUIET).most(0, 900) < 2


@pytest.mark.parametrize('seconds', [5, 20, 60, 300])
def test_agents_that_lost_placement_together_come_evenly_again(seconds):
    cloud = Cloud(range(200, 200 + seconds))
    back = 200 + seconds
    assert cloud.most(back, back + 60) < 8  # of 60, if all came at once
    assert cloud.most(back + 130, 900) < 2


def test_agents_are_back_within_the_most_and_spread_over_it():
    cloud = Cloud(range(200, 800), most=5.0)
    back = [cloud.asked[second] for second in range(800, 806)]
    assert sum(back) >= Cloud.AGENTS  # the first try of each was a success
    assert max(back) < Cloud.AGENTS / 2
    assert cloud.most(806, 860) < 2


def test_agents_told_to_reload_together_come_evenly_again():
    cloud = Cloud(QUIET, reload_at=200.0)
    assert cloud.most(200, 201) > 50
    assert cloud.most(201, 900) < 2
