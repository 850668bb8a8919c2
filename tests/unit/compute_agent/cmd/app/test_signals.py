# SPDX-License-Identifier: Apache-2.0
"""What signals ask of a daemon, and who is woken by it."""

import os
import signal
import threading

import pytest

from compute_agent.cmd.app import signals as stopping

PATIENCE = 60  # seconds; only a hang takes as long


@pytest.fixture
def signals():
    """This process's signals are after the test as they were before it."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def wishes(signals):
    """Wishes that hear this process's signals until the test ends."""
    heard = stopping.Wishes()
    heard.hear()
    return heard


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_an_end_is_asked_for_by_signal(wishes, number):
    os.kill(os.getpid(), number)
    wishes.wait_for_end()
    assert wishes.is_set()
    assert not wishes.take_reload()


def test_a_hang_up_asks_to_read_the_files_and_is_told_once(wishes):
    os.kill(os.getpid(), signal.SIGHUP)
    assert wishes.wait(PATIENCE) is False
    assert [wishes.take_reload(), wishes.take_reload()] == [True, False]


def test_a_hang_up_without_the_terminal_that_was_there_ends_it(
    wishes, monkeypatch
):
    monkeypatch.setattr(stopping, '_has_terminal', lambda: True)
    started = stopping.Wishes()
    started.hear()
    os.kill(os.getpid(), signal.SIGHUP)
    assert started.take_reload()
    monkeypatch.setattr(stopping, '_has_terminal', lambda: False)
    os.kill(os.getpid(), signal.SIGHUP)
    assert started.is_set()


def test_a_hang_up_before_anybody_hears_is_kept_and_told_once(signals):
    stopping.hear_early()
    os.kill(os.getpid(), signal.SIGHUP)
    heard = stopping.Wishes()
    assert not heard.take_reload()
    heard.hear()
    assert [heard.take_reload(), heard.take_reload()] == [True, False]
    assert not heard.is_set()


def test_nothing_is_asked_where_nothing_came_early(signals):
    stopping.hear_early()
    heard = stopping.Wishes()
    heard.hear()
    assert (heard.take_reload(), heard.is_set()) == (False, False)


def test_a_terminal_that_closes_before_anybody_hears_ends_it(
    signals, monkeypatch
):
    monkeypatch.setattr(stopping, '_has_terminal', lambda: True)
    stopping.hear_early()
    os.kill(os.getpid(), signal.SIGHUP)
    monkeypatch.setattr(stopping, '_has_terminal', lambda: False)
    heard = stopping.Wishes()
    heard.hear()
    assert heard.is_set()


@pytest.mark.parametrize('ask', ['set', 'reload'])
def test_who_waits_for_a_long_time_is_woken_by_either(wishes, ask):
    woken = []
    waiting = threading.Thread(
        target=lambda: woken.append(wishes.wait(3600)), daemon=True
    )
    waiting.start()
    getattr(wishes, ask)()
    waiting.join(PATIENCE)
    assert woken == [ask == 'set']


def test_a_wait_ends_in_time_when_nothing_is_asked(wishes):
    assert wishes.wait(0.001) is False


def test_who_waits_for_the_end_is_not_woken_by_a_reload(wishes):
    wishes.reload()
    assert wishes.wait_for_end(0.001) is False
    assert wishes.take_reload()


def test_who_waits_for_the_end_with_a_limit_is_woken_by_it(wishes):
    woken = []
    waiting = threading.Thread(
        target=lambda: woken.append(wishes.wait_for_end(3600)), daemon=True
    )
    waiting.start()
    wishes.set()
    waiting.join(PATIENCE)
    assert woken == [True]


def test_an_interrupt_wakes_threads_and_interrupts_the_main_one(signals):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    stopping.hear_interrupt()
    woken = []
    waiting = threading.Thread(
        target=lambda: woken.append(stopping.interrupted().wait(3600)),
        daemon=True,
    )
    waiting.start()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    waiting.join(PATIENCE)
    assert woken == [True]


def test_an_interrupt_that_is_ignored_stays_so(signals):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stopping.hear_interrupt()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    assert not stopping.interrupted().is_set()


def test_what_was_asked_before_the_wait_is_not_missed(wishes):
    wishes.reload()
    assert wishes.wait(3600) is False
