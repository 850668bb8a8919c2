# SPDX-License-Identifier: Apache-2.0
"""A call that hangs keeps neither its caller nor the process."""

import threading

import pytest

from drivers.libvirt_python import connection

PATIENCE = 60  # seconds; only a hang takes as long


@pytest.fixture
def calls():
    made = connection.BoundedCalls(PATIENCE)
    yield made
    made.close()


@pytest.fixture
def hanging(calls):
    """A call that came too late; set the event to let it end."""
    over = threading.Event()
    with pytest.raises(TimeoutError, match='no answer within 0 s'):
        calls.run(over.wait, 0)
    yield over
    over.set()


def test_results_and_errors_are_the_call_s(calls):
    assert calls.run(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        calls.run(lambda: 1 / 0)


def test_all_calls_are_made_by_one_thread(calls):
    one, other = (calls.run(threading.current_thread) for _ in range(2))
    assert one is other
    assert one.daemon


def test_while_a_call_hangs_others_fail_at_once(calls, hanging):
    made = []
    with pytest.raises(TimeoutError, match='an earlier question'):
        calls.run(lambda: made.append(1))
    assert made == []


def test_calls_are_made_again_when_it_ends(calls, hanging):
    hanging.set()
    assert calls._late.ended.wait(PATIENCE)
    assert calls.run(lambda: 7) == 7


def test_the_thread_ends_with_its_last_call(calls):
    thread = calls.run(threading.current_thread)
    calls.close()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert calls.run(lambda: 7) == 7
