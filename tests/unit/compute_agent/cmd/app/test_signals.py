# SPDX-License-Identifier: Apache-2.0
"""The requests that signals make to the daemon, and the threads they wake."""

import os
import signal
import sys
import threading
import time
import traceback

import pytest

from compute_agent.cmd.app import signals

PATIENCE = 60  # seconds; only a hang takes as long


@pytest.fixture
def process_signals():
    """Restore this process's signal handlers after the test."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    # One that comes last: those before it are not left to the next test.
    last = threading.Event()
    signals.WAKEUPS.act_on(
        signal.SIGUSR1, lambda _number: last.set(), lambda *_: None
    )
    os.kill(os.getpid(), signal.SIGUSR1)
    assert last.wait(PATIENCE)
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def requests(process_signals):
    """DaemonSignals that listen until the test ends."""
    heard = signals.DaemonSignals()
    heard.listen()
    return heard


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_an_end_is_asked_for_by_signal(requests, number):
    os.kill(os.getpid(), number)
    requests.wait_for_stop()
    assert requests.is_set()
    assert not requests.take_reload()
    assert requests.reason == f'{number.name} requested it'
    requests.set('a later reason')
    assert requests.reason == f'{number.name} requested it'


def test_a_signal_between_the_look_and_the_wait_is_not_lost(
    requests, monkeypatch
):
    """The main thread has seen no request, and does not wait yet."""
    is_set, late = requests.is_set, []

    def looked():
        seen = is_set()
        if not seen:
            os.kill(os.getpid(), signal.SIGTERM)
        return seen

    def too_late():
        late.append('nothing woke the wait')
        with requests._changed:
            requests._changed.notify_all()

    monkeypatch.setattr(requests, 'is_set', looked)
    watchdog = threading.Timer(PATIENCE, too_late)
    watchdog.start()
    requests.wait_for_stop()
    watchdog.cancel()
    assert late == []


def _waits(method):
    """Tell if the main thread waits in this method of the requests."""
    frame = sys._current_frames()[threading.main_thread().ident]
    calls = [call.f_code.co_name for call, _ in traceback.walk_stack(frame)]
    return calls[0] == 'wait' and method in calls


def test_a_signal_that_does_not_interrupt_the_wait_ends_it(requests):
    """It arrives as the main thread goes to sleep, or in another thread."""
    late = threading.Event()

    def send():
        while not _waits('wait_for_stop'):
            time.sleep(0.01)
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

    def too_late():
        late.set()
        with requests._changed:
            requests._changed.notify_all()

    watchdog = threading.Timer(PATIENCE, too_late)
    watchdog.start()
    threading.Thread(target=send, daemon=True).start()
    requests.wait_for_stop()
    watchdog.cancel()
    assert not late.is_set()
    assert requests.reason == 'SIGTERM requested it'


def test_a_hang_up_asks_to_read_the_files_and_is_told_once(requests):
    os.kill(os.getpid(), signal.SIGHUP)
    assert requests.wait(PATIENCE) is False
    assert [requests.take_reload(), requests.take_reload()] == [True, False]


def test_a_hang_up_without_the_terminal_that_was_there_ends_it(
    requests, monkeypatch
):
    monkeypatch.setattr(signals, '_has_terminal', lambda: True)
    started = signals.DaemonSignals()
    started.listen()
    os.kill(os.getpid(), signal.SIGHUP)
    started.wait(PATIENCE)
    assert started.take_reload()
    monkeypatch.setattr(signals, '_has_terminal', lambda: False)
    os.kill(os.getpid(), signal.SIGHUP)
    assert started.wait_for_stop(PATIENCE)
    assert started.reason == 'its terminal was closed'


def test_a_hang_up_before_anybody_hears_is_kept_and_told_once(process_signals):
    signals.keep_early_hangup()
    os.kill(os.getpid(), signal.SIGHUP)
    heard = signals.DaemonSignals()
    assert not heard.take_reload()
    heard.listen()
    assert [heard.take_reload(), heard.take_reload()] == [True, False]
    assert not heard.is_set()


def test_nothing_is_asked_where_nothing_came_early(process_signals):
    signals.keep_early_hangup()
    heard = signals.DaemonSignals()
    heard.listen()
    assert (heard.take_reload(), heard.is_set()) == (False, False)


def test_a_terminal_that_closes_before_anybody_hears_ends_it(
    process_signals, monkeypatch
):
    monkeypatch.setattr(signals, '_has_terminal', lambda: True)
    signals.keep_early_hangup()
    os.kill(os.getpid(), signal.SIGHUP)
    monkeypatch.setattr(signals, '_has_terminal', lambda: False)
    heard = signals.DaemonSignals()
    heard.listen()
    assert heard.is_set()


@pytest.mark.parametrize('ask', ['set', 'request_reload'])
def test_who_waits_for_a_long_time_is_woken_by_either(requests, ask):
    woken = []
    waiting = threading.Thread(
        target=lambda: woken.append(requests.wait(3600)), daemon=True
    )
    waiting.start()
    getattr(requests, ask)()
    waiting.join(PATIENCE)
    assert woken == [ask == 'set']


def test_a_wait_ends_in_time_when_nothing_is_asked(requests):
    assert requests.wait(0.001) is False


def test_who_waits_for_the_end_is_not_woken_by_a_reload(requests):
    requests.request_reload()
    assert requests.wait_for_stop(0.001) is False
    assert requests.take_reload()


def test_who_waits_for_the_end_with_a_limit_is_woken_by_it(requests):
    woken = []
    waiting = threading.Thread(
        target=lambda: woken.append(requests.wait_for_stop(3600)), daemon=True
    )
    waiting.start()
    requests.set()
    waiting.join(PATIENCE)
    assert woken == [True]


def test_an_interrupt_wakes_threads_and_interrupts_the_main_one(
    process_signals,
):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signals.handle_interrupt()
    woken = []
    waiting = threading.Thread(
        target=lambda: woken.append(signals.interrupt_event().wait(3600)),
        daemon=True,
    )
    waiting.start()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    waiting.join(PATIENCE)
    assert woken == [True]


def test_an_interrupt_that_is_ignored_stays_so(process_signals):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signals.handle_interrupt()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    assert not signals.interrupt_event().is_set()


def test_what_was_asked_before_the_wait_is_not_missed(requests):
    requests.request_reload()
    assert requests.wait(3600) is False


# --- hints of the driver -----------------------------------------------------


class Now:
    """A clock that the waits move."""

    def __init__(self, requests, monkeypatch):
        self.seconds = 1000.0
        self.waits = []
        self._acts = {}
        monkeypatch.setattr(signals.time, 'monotonic', lambda: self.seconds)
        monkeypatch.setattr(requests._changed, 'wait', self._wait)

    def act(self, seconds, action):
        """Call this in so many seconds, and wake the wait."""
        self._acts[self.seconds + seconds] = action

    def _wait(self, timeout):
        self.waits.append(timeout)
        due = min([self.seconds + timeout, *self._acts])
        self.seconds = due
        self._acts.pop(due, lambda: None)()


@pytest.fixture
def now(process_signals, monkeypatch):
    requests = signals.DaemonSignals()
    moved = Now(requests, monkeypatch)
    moved.requests = requests
    return moved


def test_without_a_hint_the_wait_takes_its_time(now):
    assert now.requests.wait_for_hint(60) is False
    assert now.seconds == 1060


def test_a_hint_ends_the_wait_after_a_second_without_another(now):
    for moment in (10, 10.5, 11.25):
        now.act(moment, now.requests.hint)
    assert now.requests.wait_for_hint(60) is False
    assert now.seconds == 1012.25


def test_a_hint_before_the_wait_counts_until_a_cycle_begins(now):
    now.requests.hint()
    now.seconds += 0.25
    now.requests.wait_for_hint(60)
    assert now.seconds == 1001
    now.requests.take_hint()
    now.requests.wait_for_hint(60)
    assert now.seconds == 1061


def test_hints_that_never_end_delay_no_regular_cycle(now):
    for quarter in range(1, 400):
        now.act(quarter / 4, now.requests.hint)
    now.requests.wait_for_hint(60)
    assert now.seconds == 1060


def test_a_request_ends_the_wait_for_a_hint(now):
    now.act(5, now.requests.request_reload)
    assert now.requests.wait_for_hint(60) is False
    assert now.seconds == 1005
    now.requests.set('the end')
    assert now.requests.wait_for_hint(60) is True


def test_a_hint_wakes_a_thread_that_would_wait_for_ever(process_signals):
    requests = signals.DaemonSignals()
    waiting = threading.Thread(target=requests.wait_for_hint, daemon=True)
    waiting.start()
    requests.hint()
    waiting.join(PATIENCE)
    assert not waiting.is_alive()


@pytest.mark.parametrize('wait', ['wait', 'wait_for_hint'])
def test_a_person_who_asks_for_a_cycle_wakes_the_daemon(wait):
    """Also in the wait of an outage, and before the wait has begun."""
    requests = signals.DaemonSignals()
    requests.request_cycle()
    assert getattr(requests, wait)(3600) is False
    requests.take_requests()
    assert not requests.has_request()
    late = threading.Timer(0.01, requests.request_cycle)
    late.start()
    assert getattr(requests, wait)(3600) is False
    late.join()


def test_the_wait_before_the_first_cycle_ends_for_a_stop_or_a_person():
    for ask in ('set', 'request_cycle'):
        requests = signals.DaemonSignals()
        requests.request_reload()  # is done after the wait
        late = threading.Timer(0.01, getattr(requests, ask))
        late.start()
        requests.wait_before_first(3600)
        assert requests.is_set() is (ask == 'set')
        late.join()
