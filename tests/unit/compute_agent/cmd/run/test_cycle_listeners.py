# SPDX-License-Identifier: Apache-2.0
"""The observers of cycles: each hears of all, and none can stop a cycle."""

import dataclasses

import pytest

from compute_agent.cmd.control import node_states
from compute_agent.cmd.run import cycle_listeners, lifetime
from compute_agent.cycle.node import node_result
from compute_agent.cycle.node.node_result import Status
from compute_agent.tree import node

ONE, TWO, NEW = (
    node.Node(uuid=f'11111111-1111-4111-8111-11111111111{n}', name=f'n{n}')
    for n in range(3)
)
RELEASED = 'alice released it; no other node begins'


class Heard:
    """Notes what it hears; it fails as long as a test wants it to."""

    def __init__(self):
        self.calls = []
        self.fails = False

    def begin(self):
        self._note('begin')

    def end(self, results):
        self._note(('end', results))

    def part_ended(self, results):
        self._note(('part', results))

    def fail(self, exc):
        self._note(('fail', str(exc)))

    def _note(self, call):
        if self.fails:
            raise ZeroDivisionError('a defect')
        self.calls.append(call)


class Clock:
    """Returns a later moment at each call."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 1
        return node_states.Moment(date=self.now, uptime=self.now)


def ended(one, status=Status.DONE, reason=''):
    return node_result.ended(one, status, reason)


def untried(one):
    found = ended(one, Status.FAILED, RELEASED)
    return dataclasses.replace(found, outage=True, untried=True)


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
        finished([ended(ONE)])
    assert first.calls == ['begin', ('end', [ended(ONE)])]
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


@pytest.mark.catches('a node that was not tried has failed')
def test_the_nodes_that_were_not_tried_are_as_they_were(life):
    states = node_states.NodeStates(Clock())
    life.listeners.add(states)
    with life.cycle() as finished:
        finished([ended(ONE), ended(TWO)])
    before = states.nodes[TWO.uuid]
    with life.cycle() as finished:
        finished([ended(ONE), untried(TWO), untried(NEW)])
    assert states.nodes.keys() == {ONE.uuid, TWO.uuid}
    after = states.nodes[TWO.uuid]
    assert after.result.status is Status.DONE
    assert after.done == before.done
    assert states.nodes[ONE.uuid].done != before.done
    assert states.outage is None
    assert life.status.last.trouble == ''
    assert life.status.last.counts['failed'] == 0


@pytest.mark.catches(
    'a node without a cycle is as good as one that was just done'
)
def test_after_a_cycle_of_some_nodes_the_others_are_as_they_were(life):
    states = node_states.NodeStates(Clock())
    life.listeners.add(states)
    with life.cycle() as finished:
        finished([ended(ONE), ended(TWO, Status.FAILED, 'no')])
    before, last = dict(states.nodes), life.status.last
    with life.part() as finished:
        finished([ended(TWO), ended(NEW)])
    assert [*states.nodes] == [ONE.uuid, TWO.uuid, NEW.uuid]
    assert states.nodes[ONE.uuid].done == before[ONE.uuid].done
    assert states.nodes[ONE.uuid].planned == before[ONE.uuid].planned
    assert states.nodes[TWO.uuid].done is not None
    assert life.status.last.counts['done'] == 3
    assert life.status.last.began == last.began
    assert life.status.running_since is None


def test_a_cycle_of_some_nodes_is_told_apart(life):
    heard = Heard()
    life.listeners.add(heard)
    with life.part() as finished:
        finished([ended(ONE)])
    assert heard.calls == [('part', [ended(ONE)])]


def test_a_cycle_of_some_nodes_that_fails_is_told(life):
    heard = Heard()
    life.listeners.add(heard)
    with pytest.raises(ValueError, match='no answer'), life.part():
        raise ValueError('no answer')
    assert heard.calls == [('fail', 'no answer')]
    assert life.status.last.trouble == 'no answer'
