# SPDX-License-Identifier: Apache-2.0
"""The wait between two cycles, in which the drivers tell what changed."""

import logging
import math

import agents
import pytest

from compute_agent import errors
from compute_agent.cmd.run import changes
from compute_agent.virt import drivers
from compute_agent.virt.values.changes import Changes

AWAY = errors.Unavailable('Ironic does not answer')


class Requests:
    """The requests to a daemon, on a clock that only the waits move.

    :ivar events: (seconds, what happens then)
    """

    def __init__(self):
        self.now = 0.0
        self.events = []
        self.waits = []
        self._hinted = self._requested = False

    def hint(self):
        self._hinted = True

    def request(self):
        self._requested = True

    def take_hint(self):
        hinted, self._hinted = self._hinted, False
        return hinted

    def has_request(self):
        return self._requested

    def wait_for_hint(self, seconds):
        assert seconds is None or seconds >= 0
        self.waits.append(seconds)
        end = math.inf if seconds is None else self.now + seconds
        if self.events and self.events[0][0] <= end:
            self.now, act = self.events.pop(0)
            act()
        else:
            self.now = end


class Telling(agents.Driver):
    """A driver that tells what a test gives it, and notes the questions.

    :ivar answers: names, None, or an error; no names when they are used up
    """

    def __init__(self, *answers):
        super().__init__(bool)
        self.answers = [*answers]
        self.asked = []

    def changes(self, since):
        self.asked.append(since)
        answer = self.answers.pop(0) if self.answers else ()
        if isinstance(answer, Exception):
            raise answer
        if answer is None:
            return None
        return Changes(names=answer, since=len(self.asked))


@pytest.fixture
def requests():
    return Requests()


@pytest.fixture
def watch(requests):
    def make(*several, interval=5.0):
        return changes.ChangeWatch(
            drivers.Drivers({f'd{n}': one for n, one in enumerate(several)}),
            requests,
            lambda: interval,
            clock=lambda: requests.now,
        )

    return make


def test_a_driver_is_asked_every_interval_until_the_cycle_is_due(
    watch, requests
):
    one = Telling()
    assert watch(one).wait(60) == {}
    assert requests.now == 60
    assert len(one.asked) == 11
    assert requests.waits == [5.0] * 12


def test_names_end_the_wait_and_the_next_question_goes_on(watch, requests):
    one = Telling((), ('a', 'b'))
    made = watch(one)
    made.begin()
    assert made.wait(60) == {'driver': {'a', 'b'}}
    assert requests.now == 5
    assert made.wait(60 - requests.now) == {}
    assert one.asked == [None, *range(1, 12)]


@pytest.mark.catches('the wait for changes begins after each cycle')
def test_a_question_is_not_late_because_a_cycle_was_long(watch, requests):
    one = Telling((), ('a',))
    made = watch(one)
    assert made.wait(60) == {'driver': {'a'}}
    requests.now += 3.0  # the cycle of that node
    requests.waits.clear()
    assert made.wait(47) == {}
    assert requests.waits == [2.0, *[5.0] * 9]
    requests.now += 30.0  # the cycle of all nodes
    requests.waits.clear()
    assert made.wait(8) == {}
    assert requests.waits == [0.0, 5.0, 3.0]


@pytest.mark.parametrize(
    ('driver', 'interval'), [(Telling(), 0.0), (agents.Driver(bool), 5.0)]
)
def test_without_questions_it_waits_once(watch, requests, driver, interval):
    """The option is 0, or no driver can tell."""
    made = watch(driver, interval=interval)
    made.begin()
    assert made.wait(60) == {}
    assert requests.waits == [60]
    assert not getattr(driver, 'asked', ())


@pytest.mark.parametrize(
    ('driver', 'interval'), [(Telling('a'), 0.0), (agents.Driver(bool), 5.0)]
)
def test_then_an_event_has_all_nodes_get_a_cycle(
    watch, requests, driver, interval
):
    made = watch(driver, interval=interval)
    requests.events = [(7.5, lambda: made.wake(*made._drivers))]
    assert made.wait(60) == {}
    assert requests.now == 7.5


def test_an_event_asks_its_driver_at_once(watch, requests):
    """A driver without events of its own is not asked for it."""
    one, two = Telling(('a',)), Telling()
    made = watch(one, two)
    first, _ = made._drivers
    requests.events = [(2.0, lambda: made.wake(first))]
    assert made.wait(60) == {'driver:d0': {'a'}}
    assert requests.now == 2
    assert two.asked == []


def test_an_event_of_another_driver_that_cannot_tell_is_for_all(
    watch, requests
):
    one = Telling(('a',))
    made = watch(one, agents.Driver(bool))
    _, silent = made._drivers
    requests.events = [(2.0, lambda: made.wake(silent))]
    assert made.wait(60) == {}
    assert requests.now == 2
    assert one.asked == []


def test_any_node_may_have_changed(watch, requests):
    """The next question begins anew, before the list of all nodes."""
    one = Telling((), None)
    made = watch(one)
    made.begin()
    assert made.wait(60) == {}
    assert requests.now == 5
    made.begin()
    made.begin()
    assert one.asked == [None, 1, None]


def test_very_many_names_have_all_nodes_get_a_cycle(watch, requests):
    many = [str(n) for n in range(changes.FEW)]
    assert watch(Telling(many)).wait(60) == {'driver': {*many}}
    assert watch(Telling([*many, 'another'])).wait(60) == {}
    assert requests.now == 10


@pytest.mark.catches('what a driver could not tell counts as told')
def test_a_driver_that_cannot_tell_now_is_asked_the_same_again(
    watch, requests, caplog
):
    caplog.set_level(logging.INFO)
    one = Telling((), AWAY, AWAY, ('a',))
    made = watch(one)
    made.begin()
    assert made.wait(60) == {'driver': {'a'}}
    assert one.asked == [None, 1, 1, 1]
    assert requests.now == 15
    began, ended = caplog.messages
    assert began == (
        f'Telling cannot tell what changed: {AWAY}; the next list of its '
        'nodes has it'
    )
    assert ended == 'Telling tells again what changed'


@pytest.mark.parametrize('hinted', [False, True])
def test_a_request_of_a_person_comes_before_changes(watch, requests, hinted):
    one = Telling(('a',))
    made = watch(one)

    def ask():
        requests.request()
        if hinted:
            made.wake(*made._drivers)

    requests.events = [(3.0, ask)]
    assert made.wait(60) == {}
    assert one.asked == []


def test_after_a_single_cycle_nobody_asks(watch, requests):
    """``update_resources_interval`` below 0."""
    one = Telling(('a',))
    requests.events = [(1e9, requests.request)]
    assert watch(one).wait(None) == {}
    assert one.asked == []
