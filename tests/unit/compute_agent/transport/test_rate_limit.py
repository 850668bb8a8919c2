# SPDX-License-Identifier: Apache-2.0
"""A second's worth of requests at once, the others at the rate, in order."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compute_agent.transport import rate_limit


class Station:
    """A budget whose clock and rate the test moves."""

    def __init__(self, rate: float) -> None:
        self.now = 1000.0
        self.rate = rate
        self._budget = rate_limit.RateLimit(
            lambda: self.rate, lambda: self.now
        )

    def ask(self, times: int = 1) -> list[float]:
        return [self._budget.reserve() for _ in range(times)]


def test_without_a_limit_nothing_waits():
    assert Station(0).ask(1000) == [0] * 1000


def test_a_second_s_worth_goes_at_once_and_the_others_at_the_rate():
    waits = Station(5).ask(9)
    assert waits == pytest.approx([0, 0, 0, 0, 0, 0.2, 0.4, 0.6, 0.8])


@pytest.mark.parametrize(
    ('rate', 'waits'),
    [
        (1, [0, 1, 2, 3]),
        (0.5, [0, 2, 4, 6]),
        (0.01, [0, 100, 200, 300]),
        (2.5, [0, 0, 0.2, 0.6]),
    ],
)
def test_any_rate_will_do(rate, waits):
    assert Station(rate).ask(4) == pytest.approx(waits)


def test_who_asks_at_the_rate_never_waits():
    station = Station(4)
    for _ in range(100):
        assert station.ask() == [0]
        station.now += 0.25


def test_however_long_nothing_was_asked_one_second_s_worth_goes_at_once():
    station = Station(3)
    station.ask(3)
    station.now += 3600
    assert [wait > 0 for wait in station.ask(5)] == [False] * 3 + [True] * 2


def test_another_limit_begins_anew():
    station = Station(0.01)
    station.ask(10)
    station.rate = 100
    assert station.ask(101) == pytest.approx([0] * 100 + [0.01])


def test_what_was_taken_counts_again_after_a_time_without_a_limit():
    station = Station(2)
    station.ask(2)
    station.rate = 0
    station.ask(50)
    station.rate = 2
    assert station.ask() == pytest.approx([0.5])


def test_threads_get_turns_of_their_own():
    station, waits = Station(10), []
    ready = threading.Barrier(8)

    def ask():
        ready.wait(60)
        for _ in range(50):
            waits.extend(station.ask())

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    expected = [0] * 10 + [(n + 1) / 10 for n in range(390)]
    assert sorted(waits) == pytest.approx(expected)


@given(
    rate=st.floats(0.01, 1000),
    pauses=st.lists(st.floats(0, 20), min_size=1, max_size=60),
    window=st.floats(0, 30),
)
def test_no_time_has_more_than_the_rate_and_one_second_s_worth(
    rate, pauses, window
):
    station, turns = Station(rate), []
    for pause in pauses:
        station.now += pause
        turns.append(station.now + station.ask()[0])
    assert turns == sorted(turns)
    most = rate * (window + max(1, 1 / rate)) + 1e-3
    for turn in turns:
        assert sum(turn <= other <= turn + window for other in turns) <= most


@given(
    rate=st.floats(0.01, 1000),
    pauses=st.lists(st.floats(0, 20), min_size=1, max_size=60),
)
def test_nobody_waits_while_there_is_a_turn_to_be_had(rate, pauses):
    """Who waits comes exactly one distance after the one before, if it waited;
    and never later than if all had come at once."""
    station, began = Station(rate), Station(rate).now
    for number, pause in enumerate(pauses, 1):
        station.now += pause
        (wait,) = station.ask()
        assert station.now + wait <= max(
            station.now, began + sum(pauses[:number]) + number / rate
        )
