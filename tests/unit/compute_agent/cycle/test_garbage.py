# SPDX-License-Identifier: Apache-2.0
"""The garbage collector between the daemon's cycles."""

import gc
import weakref

import pytest

from compute_agent import errors
from compute_agent.cycle import garbage, service


class Stop:
    """Ends the loop after so many waits; ``look`` is called in each."""

    def __init__(self, waits, look):
        self._left = waits
        self._look = look

    def is_set(self):
        return not self._left

    def wait(self, _timeout=None):
        self._left -= 1
        self._look()
        return True


class Refusal(errors.NoServer):
    """An error that refers to itself, as one with a traceback may."""

    def __init__(self):
        super().__init__('placement cannot be reached')
        self.itself = self


@pytest.fixture(autouse=True)
def _never_by_itself():
    before = gc.get_threshold()
    gc.set_threshold(0)
    yield
    gc.set_threshold(*before)


def test_a_failed_cycle_leaves_nothing_while_the_daemon_waits(monkeypatch):
    monkeypatch.setattr(service.LOG, 'disabled', True)  # pytest keeps records
    made, left = [], []

    def cycle():
        error = Refusal()
        made.append(weakref.ref(error))
        raise error

    def look():
        left.append(sum(1 for one in made if one() is not None))

    service.Service(
        cycle,
        interval=60,
        stop=Stop(5, look),
        collect=garbage.Collector().collect,
    ).run()
    assert left == [0, 0, 0, 0, 0]


def test_a_finished_cycle_leaves_nothing_either():
    made, left = [], []

    def cycle():
        error = Refusal()
        made.append(weakref.ref(error))
        return ()

    service.Service(
        cycle,
        interval=60,
        stop=Stop(3, lambda: left.append(made[-1]())),
        collect=garbage.Collector().collect,
    ).run()
    assert left == [None, None, None]


def test_what_was_in_use_for_a_while_is_freed_in_the_end():
    collector = garbage.Collector()
    error = Refusal()
    seen = weakref.ref(error)
    collector.collect()
    del error
    for _ in range(garbage.FULL - 1):
        collector.collect()
    assert seen() is None


def test_after_a_reload_all_is_examined():
    collector = garbage.Collector()
    error = Refusal()
    seen = weakref.ref(error)
    collector.collect()
    del error
    collector.note_reload()
    collector.collect()
    assert seen() is None


def test_an_agent_s_thresholds_hold_for_the_process():
    garbage.set_thresholds()
    assert gc.get_threshold() == (50_000, 20, 50)
