# SPDX-License-Identifier: Apache-2.0
"""The daemon's state after cycles of each kind, as one line."""

import pytest

from compute_agent import errors
from compute_agent.cmd.control.node_states import Moment
from compute_agent.cmd.run import status
from compute_agent.cycle.node.node_result import NodeResult, Status
from compute_agent.tree.node import Node

NODE = Node(uuid='11111111-1111-4111-8111-111111111111', name='cn1')
NOON = 1769860800.0


def result(one=Status.DONE, **kwargs):
    return NodeResult(node=NODE, status=one, **kwargs)


@pytest.fixture
def clock():
    """A date and an uptime that a test moves."""
    return [NOON, 0.0]


@pytest.fixture
def state(clock):
    return status.DaemonStatus(lambda: Moment(date=clock[0], uptime=clock[1]))


def cycle(state, clock, results=None, exc=None, seconds=2.5):
    """Run a cycle that takes so long."""
    state.begin()
    clock[0] += seconds
    clock[1] += seconds
    if exc is None:
        state.end(results)
    else:
        state.fail(exc)


def test_before_the_first_cycle_it_says_so(state):
    assert str(state) == 'no cycle has finished yet'
    assert (state.last, state.running_since, state.results) == (None, None, ())


def test_a_good_cycle_is_counted_by_status(state, clock):
    cycle(state, clock, [result(), result(), result(Status.FAILED)])
    assert str(state) == (
        'cycle at 2026-01-31 12:00:00Z: 2 done, 0 waiting, 1 failed; 2.5 s'
    )
    assert state.last_good == NOON + 2.5


def test_while_a_cycle_runs_the_last_one_is_still_told(state, clock):
    cycle(state, clock, [result()])
    before = str(state)
    clock[0] += 60
    state.begin()
    assert str(state) == before
    assert state.running_since == NOON + 62.5


@pytest.mark.parametrize(
    'end',
    [
        {'exc': errors.Unavailable('no answer')},
        {
            'results': [
                result(Status.WAITING, reasons=('no answer',), outage=True)
            ]
        },
    ],
)
def test_an_outage_says_when_all_was_well(state, clock, end):
    cycle(state, clock, [result()])
    clock[0] += 57.5
    cycle(state, clock, **end)
    assert str(state).startswith('cycle at 2026-01-31 12:01:00Z: 0 done, ')
    assert str(state).endswith(
        's; no answer; the last good cycle: 2026-01-31 12:00:02Z'
    )
    assert [r.node for r in state.results] == [NODE]


def test_an_outage_from_the_start_says_that_there_was_no_good_cycle(
    state, clock
):
    cycle(state, clock, exc=errors.Unavailable('no answer'))
    assert str(state).endswith('; the last good cycle: none')
    assert state.results == ()


@pytest.mark.parametrize('step', [3600, -7200])
def test_a_step_of_the_date_changes_no_duration_and_no_age(state, clock, step):
    state.begin()
    clock[0] += step
    clock[1] += 1
    assert state.runs_for() == 1
    cycle_took = 2.5
    clock[0] += cycle_took
    clock[1] += cycle_took - 1
    state.end([result()])
    assert (state.last.began, state.last.seconds) == (NOON, cycle_took)
    assert state.last.ended == state.last_good == NOON + step + cycle_took
    clock[0] -= step
    clock[1] += 60
    assert (state.age(), state.good_age()) == (62.5, 60)
    assert state.runs_for() is None


def test_the_progress_of_a_cycle_is_known_from_its_first_node_on(state, clock):
    state.begin()
    assert state.progress is None
    for _ in range(3):
        state.advance(10, 2)
        clock[1] += 5
    found = state.progress
    assert (found.nodes, found.done, found.writes) == (10, 3, 6)
    assert found.seconds == 15
    state.end([result()])
    assert state.progress is None
    state.begin()
    assert state.progress is None
