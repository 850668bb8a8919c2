# SPDX-License-Identifier: Apache-2.0
"""A call of a driver that takes long is said once, and its end too."""

import logging
import re
import threading

import pytest

from compute_agent.virt import long_calls

PATIENCE = 60  # seconds; only a hang takes as long


class Lines(logging.Handler):
    """The lines of the log, for which a test can wait."""

    def __init__(self):
        super().__init__()
        self.changed = threading.Condition()
        self.found = []

    def emit(self, record):
        with self.changed:
            self.found.append(record.getMessage())
            self.changed.notify_all()

    def wait_for(self, count):
        with self.changed:
            assert self.changed.wait_for(
                lambda: len(self.found) >= count, PATIENCE
            ), self.found


@pytest.fixture
def lines(monkeypatch):
    monkeypatch.setattr(long_calls, 'LONG', 0.0)
    handler = Lines()
    long_calls.LOG.addHandler(handler)
    yield handler
    long_calls.LOG.removeHandler(handler)


@pytest.mark.catches('a call of a driver that hangs is not said')
def test_a_long_call_is_said_with_its_driver_method_and_node(
    lines, monkeypatch
):
    monkeypatch.setattr(long_calls.LongCalls, '_next', lambda _self: 0.01)
    calls = long_calls.LongCalls()
    with calls.told():
        with calls.watched('Rack', 'update_provider_tree', 'rack1'):
            lines.wait_for(1)
        lines.wait_for(2)
    call = 'Rack: update_provider_tree for node rack1'
    without_seconds = [re.sub(r'\d+ s', 'N s', text) for text in lines.found]
    assert without_seconds == [
        f'{call} has not returned for N s; this agent waits for it',
        f'{call} returned after N s',
    ]


def test_a_call_without_a_node_names_none(lines):
    calls = long_calls.LongCalls()
    with calls.told(), calls.watched('Rack', 'get_available_nodes'):
        lines.wait_for(1)
    assert lines.found[0].startswith('Rack: get_available_nodes has not')


def test_a_quick_call_is_not_said(lines, monkeypatch):
    monkeypatch.setattr(long_calls, 'LONG', 3600.0)
    calls = long_calls.LongCalls()
    with calls.told(), calls.watched('Rack', 'facts', 'rack1'):
        pass
    assert lines.found == []


def test_nothing_runs_outside_of_a_command(lines):
    calls = long_calls.LongCalls()
    with calls.watched('Rack', 'facts', 'rack1'):
        assert not threads()
    assert lines.found == []


def test_the_thread_ends_with_the_command():
    calls = long_calls.LongCalls()
    with calls.told(), calls.watched('Rack', 'facts'):
        assert len(threads()) == 1
    assert not threads()


def threads():
    return [one for one in threading.enumerate() if one.name == 'long-calls']


def test_a_call_that_fails_is_over(lines):
    calls = long_calls.LongCalls()

    def fail():
        with calls.watched('Rack', 'facts'):
            lines.wait_for(1)
            raise ValueError('no rack')

    with calls.told(), pytest.raises(ValueError, match='no rack'):
        fail()
    assert 'returned after' in lines.found[-1]
