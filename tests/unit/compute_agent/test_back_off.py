# SPDX-License-Identifier: Apache-2.0
"""What was refused is tried again later each time, another plan at once."""

import random

import pytest

from compute_agent import back_off

NODE, OTHER = 'node', 'other'
PLAN = ('one', 'two')


@pytest.fixture
def clock():
    return [1000.0]


@pytest.fixture
def waits(clock):
    """A back-off whose waits are as long as may be."""
    return back_off.BackOff(lambda: clock[0], spread=lambda _low, high: high)


def test_waits_double_up_to_ten_minutes(waits, clock):
    found = []
    for _ in range(40):
        found.append(waits.refused(NODE, PLAN, 'no'))
        clock[0] += found[-1]
    assert found[:5] == [60, 120, 240, 480, 600]
    assert set(found[5:]) == {600}


def test_waits_are_spread_over_all_of_it(clock):
    dice = random.Random(7)
    waits = back_off.BackOff(lambda: clock[0], spread=dice.uniform)
    found = [waits.refused(str(n), PLAN, 'no') for n in range(200)]
    assert min(found) < 6
    assert max(found) > 54
    assert all(0 <= wait <= 60 for wait in found)


def test_it_waits_until_it_is_due(waits, clock):
    assert waits.waiting(NODE, PLAN) is None
    waits.refused(NODE, PLAN, 'no')
    clock[0] += 59
    waiting = waits.waiting(NODE, PLAN)
    assert (waiting.reason, waiting.again_in) == ('no', 1)
    assert waiting.operations == PLAN
    clock[0] += 1
    assert waits.waiting(NODE, PLAN) is None


def test_another_plan_and_another_node_do_not_wait(waits):
    waits.refused(NODE, PLAN, 'no')
    assert waits.waiting(NODE, PLAN[:1]) is None
    assert waits.waiting(OTHER, PLAN) is None


def test_another_plan_that_is_refused_begins_anew(waits, clock):
    waits.refused(NODE, PLAN, 'no')
    waits.refused(NODE, PLAN, 'no')
    assert waits.refused(NODE, PLAN[:1], 'no') == 60


def test_success_begins_anew(waits):
    waits.refused(NODE, PLAN, 'no')
    waits.succeeded(NODE)
    waits.succeeded(NODE)
    assert waits.waiting(NODE, PLAN) is None
    assert waits.refused(NODE, PLAN, 'no') == 60


def test_nodes_that_left_are_forgotten(waits):
    waits.refused(NODE, PLAN, 'no')
    waits.refused(OTHER, PLAN, 'no')
    waits.keep_only([OTHER])
    assert waits.waiting(NODE, PLAN) is None
    assert waits.waiting(OTHER, PLAN) is not None
