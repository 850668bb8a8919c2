# SPDX-License-Identifier: Apache-2.0
"""Each question has the ``since`` of the last answer, which is checked."""

import types

import pytest

from compute_agent import testing
from compute_agent.testing.contract import asking
from compute_agent.testing.values.verdict import Broken
from compute_agent.virt.values.changes import Changes


class Telling:
    """Gives these answers, one after the other.

    :ivar asked: the ``since`` of each question
    """

    def __init__(self, *answers):
        self._answers = list(answers)
        self.asked = []

    def changes(self, since):
        self.asked.append(since)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def subscribe(self, wake):
        self.wake = wake


def questions(driver, *capabilities, event=None):
    trial = types.SimpleNamespace(
        capabilities=capabilities, world=testing.World(event=event)
    )
    return asking.Asking(trial, driver)


def told(*names, since):
    return Changes(names=names, since=since)


def test_since_goes_back_with_the_next_question():
    driver = Telling(
        told('a', since=[1]), OSError('away'), told(since=2), None, None
    )
    made = questions(driver)
    assert made.ask() == {'a'}
    with pytest.raises(OSError, match='away'):
        made.ask()
    assert made.ask() == frozenset()
    assert made.ask() is None
    assert made.ask() is None
    assert driver.asked == [None, [1], [1], 2, None]


@pytest.mark.parametrize(
    ('answer', 'saw'),
    [
        (['a'], r"it returned \['a'\]"),
        (Changes(names='ab', since=0), "the names are 'ab'"),
        (Changes(names=None, since=0), 'the names are None'),
        (Changes(names=[1], since=0), 'the name 1 is no text'),
    ],
)
def test_an_answer_of_another_type_is_broken(answer, saw):
    with pytest.raises(Broken, match=rf'^changes\(None\): {saw}; return '):
        questions(Telling(answer)).ask()


def test_the_world_is_altered_before_the_event_of_the_change():
    order = []

    def event():
        order.append('told')
        driver.wake()

    driver = Telling()
    made = questions(driver, testing.Capability.EVENTS, event=event)
    made.after(lambda: order.append('altered'))
    assert order == ['altered', 'told']


def test_a_driver_without_events_is_not_subscribed():
    driver = Telling()
    made = questions(driver, event=lambda: pytest.fail('nobody listens'))
    made.after(bool)
    assert not hasattr(driver, 'wake')
