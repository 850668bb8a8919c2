# SPDX-License-Identifier: Apache-2.0
"""One 500 is a provider's; three providers in a row are the service's."""

import contextlib

import pytest

from compute_agent import errors
from report_client import errors as placement_errors
from report_client.apply import executor

FAULT = placement_errors.ServerFault('HTTP 500')


@pytest.fixture
def watched():
    return executor.CircuitBreaker()


def ends(watched, *subjects):
    """Return how requests that all fail inside end, one for each subject."""
    found = []
    for subject in subjects:
        try:
            with watched.watching(subject):
                raise FAULT
        except errors.AgentError as exc:
            found.append(type(exc).__name__)
    return found


FAILS, OPENS, AWAY = 'ServerFault', 'FailsInside', 'Unreachable'


def test_the_third_provider_in_a_row_makes_it_an_outage(watched):
    assert ends(watched, 'a', 'b', 'c') == [FAILS, FAILS, OPENS]


def test_one_provider_fails_alone_however_often(watched):
    assert ends(watched, *'aaaaaaaab') == [FAILS] * 9


def test_while_it_is_open_no_request_is_begun(watched):
    ends(watched, 'a', 'b', 'c')
    begun = []
    for _ in range(2):
        with (
            pytest.raises(errors.Unavailable, match='HTTP 500'),
            watched.watching('d'),
        ):
            begun.append('d')
    assert begun == []
    assert ends(watched, 'e') == [AWAY]


def test_a_look_that_is_answered_closes_it_and_it_counts_anew(watched):
    for _ in range(2):
        assert ends(watched, *'abc') == [FAILS, FAILS, OPENS]
        with watched.observing():
            pass
    assert ends(watched, 'c') == [FAILS]


def test_a_look_that_fails_leaves_it_open(watched):
    ends(watched, 'a', 'b', 'c')
    away = placement_errors.Unreachable('no connection')
    with pytest.raises(errors.Unavailable), watched.observing():
        raise away
    assert ends(watched, 'd') == [AWAY]


def test_a_look_from_before_it_opened_leaves_it_open(watched):
    with watched.observing():
        ends(watched, 'a', 'b', 'c')
    assert ends(watched, 'd') == [AWAY]
    with watched.observing():
        pass
    assert ends(watched, 'd') == [FAILS]


def test_a_look_counts_for_nothing_while_it_is_closed(watched):
    ends(watched, 'a', 'b')
    with watched.observing():
        pass
    assert ends(watched, 'c') == [OPENS]


@pytest.mark.parametrize(
    'answer',
    [
        None,
        placement_errors.BadRequest('no'),
        placement_errors.Conflict('moved'),
        placement_errors.InUse('used'),
    ],
    ids=lambda answer: type(answer).__name__,
)
def test_any_other_answer_in_between_says_that_the_service_works(
    watched, answer
):
    ends(watched, 'a', 'b')
    with contextlib.suppress(errors.AgentError), watched.watching('x'):
        if answer is not None:
            raise answer
    assert ends(watched, 'c', 'd', 'e') == [FAILS, FAILS, OPENS]


def test_no_answer_at_all_says_nothing_of_it(watched):
    ends(watched, 'a', 'b')
    away = placement_errors.Unreachable('no connection')
    with pytest.raises(errors.Unavailable), watched.watching('x'):
        raise away
    assert ends(watched, 'c') == [OPENS]


def test_the_outage_tells_the_last_fault(watched):
    ends(watched, 'a', 'b')
    with (
        pytest.raises(errors.Unavailable, match='HTTP 500') as caught,
        watched.watching('c'),
    ):
        raise FAULT
    assert caught.value.fault is FAULT
