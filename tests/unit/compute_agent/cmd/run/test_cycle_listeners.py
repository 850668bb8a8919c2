# SPDX-License-Identifier: Apache-2.0
"""The observers of cycles: each hears of all, and none can stop a cycle."""

import pytest

from compute_agent.cmd.run import cycle_listeners, lifetime


class Heard:
    """Notes what it hears; it fails as long as a test wants it to."""

    def __init__(self):
        self.calls = []
        self.fails = False

    def begin(self):
        self._note('begin')

    def end(self, results):
        self._note(('end', results))

    def fail(self, exc):
        self._note(('fail', str(exc)))

    def _note(self, call):
        if self.fails:
            raise ZeroDivisionError('a defect')
        self.calls.append(call)


class Requests:
    """The signals of a daemon that nobody signals."""

    reason = None

    def report_with(self, write):
        """No test of this file sends SIGUSR2."""


@pytest.fixture
def life():
    return lifetime.Lifetime(None, Requests(), lambda: 60.0)


def test_each_listener_hears_of_a_cycle_and_its_results(life):
    first, second = Heard(), Heard()
    life.listeners.add(first)
    life.listeners.add(second)
    with life.cycle() as finished:
        finished(['result'])
    assert first.calls == ['begin', ('end', ['result'])]
    assert second.calls == first.calls


def test_each_listener_hears_why_a_cycle_failed(life):
    heard = Heard()
    life.listeners.add(heard)
    with pytest.raises(ValueError, match='no answer'), life.cycle():
        raise ValueError('no answer')
    assert heard.calls == ['begin', ('fail', 'no answer')]
    assert life.status.last.trouble == 'no answer'


def test_a_listener_that_fails_stops_neither_the_cycle_nor_the_others(caplog):
    broken, sound = Heard(), Heard()
    broken.fails = True
    listeners = cycle_listeners.CycleListeners([broken, sound])
    listeners.begin()
    listeners.end([])
    assert sound.calls == ['begin', ('end', [])]
    with caplog.at_level('INFO'):
        listeners.begin()
    line, _end = caplog.records
    assert line.getMessage() == (
        'Heard failed to note a cycle; the cycles go on'
    )
    broken.fails = False
    listeners.begin()
    broken.fails = True
    listeners.begin()
    assert len(caplog.records) == 3
