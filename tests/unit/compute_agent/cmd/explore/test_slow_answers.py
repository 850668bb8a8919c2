# SPDX-License-Identifier: Apache-2.0
"""Answers are kept for a time, and made once however many ask."""

import threading

import pytest

from compute_agent import errors
from compute_agent.cmd.explore import kept, slow

PATIENCE = 60.0


class Clock:
    """Seconds that a test moves."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def made():
    """What was made, in order."""
    return []


def maker(made, name='x'):
    def make():
        made.append(name)
        return len(made)

    return make


def test_an_answer_is_kept_for_its_time(clock, made):
    answers = kept.Kept(20.0, clock=clock)
    assert answers.get('a', maker(made)) == 1
    clock.now = 19.0
    assert answers.get('a', maker(made)) == 1
    clock.now = 20.0
    assert answers.get('a', maker(made)) == 2


def test_the_answer_that_was_asked_for_least_lately_is_dropped(clock, made):
    answers = kept.Kept(20.0, 2, clock)
    for key in 'abac':
        answers.get(key, maker(made, key))
    assert made == ['a', 'b', 'c']
    answers.get('a', maker(made, 'a'))
    answers.get('b', maker(made, 'b'))
    assert made == ['a', 'b', 'c', 'b']


def test_an_error_is_not_kept(clock, made):
    answers = kept.Kept(20.0, clock=clock)

    def fail():
        raise errors.Unavailable('away')

    with pytest.raises(errors.Unavailable):
        answers.get('a', fail)
    assert answers.get('a', maker(made)) == 1


def test_two_who_ask_at_once_have_one_answer(clock, made):
    answers = kept.Kept(20.0, clock=clock)
    begun, go_on, found = threading.Event(), threading.Event(), []

    def make():
        made.append('x')
        begun.set()
        go_on.wait(PATIENCE)
        return len(made)

    def ask():
        found.append(answers.get('a', make))

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for one in threads:
        one.start()
    begun.wait(PATIENCE)
    go_on.set()
    for one in threads:
        one.join(PATIENCE)
    assert found == [1, 1]


def test_an_answer_that_takes_long_is_pending_and_then_there(clock):
    go_on = threading.Event()
    works = slow.Slow(60.0, wait=0.0, clock=clock)

    def make():
        go_on.wait(PATIENCE)
        return 'done'

    with pytest.raises(slow.Pending):
        works.get('a', make)
    clock.now = 5.0
    with pytest.raises(slow.Pending) as told:
        works.get('a', make)
    assert told.value.seconds == 5.0
    go_on.set()
    patient = works
    patient._wait = PATIENCE
    assert works.get('a', make) == 'done'


def test_other_long_questions_are_refused_while_all_are_under_way(clock):
    go_on = threading.Event()
    works = slow.Slow(60.0, 1, wait=0.0, clock=clock)
    with pytest.raises(slow.Pending):
        works.get('a', lambda: go_on.wait(PATIENCE))
    with pytest.raises(errors.Unavailable, match='under way'):
        works.get('b', lambda: 1)
    go_on.set()
    works._wait = PATIENCE
    assert works.get('a', bool)
    assert works.get('b', lambda: 1) == 1


def test_an_error_is_raised_to_who_asks_and_the_next_tries_again(clock, made):
    works = slow.Slow(60.0, wait=PATIENCE, clock=clock)

    def fail():
        raise errors.ConfigError('wrong')

    with pytest.raises(errors.ConfigError):
        works.get('a', fail)
    assert works.get('a', maker(made)) == 1
    assert works.get('a', maker(made)) == 1
    clock.now = 60.0
    assert works.get('a', maker(made)) == 2
