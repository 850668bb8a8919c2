# SPDX-License-Identifier: Apache-2.0
"""The daemon's start, stop and outages, once each."""

import contextlib
import threading
import types

import pytest

from compute_agent import errors
from compute_agent.cmd.run import daemon_history
from compute_agent.plan.history_entry import What
from compute_agent.state import state as state_module

AWAY = types.SimpleNamespace(outage=True, reason='no answer')
PATIENCE = 60  # seconds; only a hang takes as long
HERE = types.SimpleNamespace(outage=False, reason='')


@pytest.fixture
def state():
    opened = state_module.State.in_memory('here')
    opened.history.by = 'daemon'
    yield opened
    opened.close()


@pytest.fixture
def times():
    return [100.0]


@pytest.fixture
def daemon(state, times):
    return daemon_history.DaemonHistory(state.history, lambda: times[-1])


def told(state):
    return [(p.entry.what, p.entry.text) for p in state.history.entries()]


def test_an_outage_has_its_beginning_its_reason_and_its_end(
    state, daemon, times
):
    daemon.begin()
    daemon.end([HERE])
    assert told(state) == []
    daemon.fail(RuntimeError('the list cannot be read'))
    daemon.end([AWAY, HERE])
    times.append(700.0)
    daemon.end([HERE])
    daemon.end([HERE])
    assert told(state) == [
        (What.OUTAGE, 'the list cannot be read'),
        (What.BACK, 'after 10 min'),
    ]
    daemon.end([HERE, AWAY])
    assert told(state)[2:] == [(What.OUTAGE, 'no answer')]


def test_a_daemon_that_was_killed_is_told_at_the_next_start(state, daemon):
    daemon.started()
    daemon.started()
    daemon.stopping('SIGTERM')
    daemon.started()
    first, second, stop, third = told(state)
    assert stop == (What.STOPPED, 'SIGTERM')
    assert [text.endswith('ended without a stop') for _, text in
            (first, second, third)] == [False, True, False]  # fmt: skip


@contextlib.contextmanager
def a_cycle_hangs_in_a_transaction(state):
    """A thread keeps the database, as if its disk did not answer."""
    began, end = threading.Event(), threading.Event()

    def keep():
        with state._database.writing():
            began.set()
            end.wait(PATIENCE)

    thread = threading.Thread(target=keep, daemon=True)
    thread.start()
    assert began.wait(PATIENCE)
    try:
        yield
    finally:
        end.set()
        thread.join()


def test_a_database_that_hangs_delays_neither_the_start_nor_the_stop(
    state, monkeypatch, caplog
):
    monkeypatch.setattr(daemon_history, 'PATIENCE', 0.01)
    returned = []

    def live():
        past = daemon_history.begin(state.history, lambda: True)
        returned.append(past.stopping('SIGTERM'))

    daemon = threading.Thread(target=live, daemon=True)
    with a_cycle_hangs_in_a_transaction(state):
        daemon.start()
        daemon.join(PATIENCE / 2)
        assert returned == [False]
    assert 'the daemon starts without it' in caplog.text
    for thread in threading.enumerate():
        if thread.name == 'history':
            thread.join(PATIENCE)
    assert {what for what, _ in told(state)} == {What.STARTED, What.STOPPED}


def test_a_standby_adds_nothing_until_it_reports(state):
    holds = []
    past = daemon_history.begin(state.history, lambda: bool(holds))
    past.fail(errors.Unavailable('placement does not answer'))
    assert told(state) == []
    holds.append(True)
    past.started()
    assert [what for what, _ in told(state)] == [What.STARTED]


def test_a_stop_that_is_written_says_so(state, daemon):
    assert daemon.stopping('SIGTERM') is True
