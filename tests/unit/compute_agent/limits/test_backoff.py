# SPDX-License-Identifier: Apache-2.0
"""What was refused is tried again later each time, another plan at once."""

import random

import pytest

from compute_agent.limits import backoff

NODE, OTHER = 'node', 'other'
PLAN = ('one', 'two')
REFUSED = {'no one': 'one', 'no two': 'two'}


@pytest.fixture
def clock():
    return [1000.0]


@pytest.fixture
def waits(clock):
    """A back-off whose waits are as long as possible."""
    return backoff.Backoff(lambda: clock[0], spread=lambda _low, high: high)


def test_waits_double_up_to_ten_minutes(waits, clock):
    found = []
    for _ in range(40):
        found.append(waits.record(NODE, REFUSED))
        clock[0] += found[-1]
    assert found[:5] == [60, 120, 240, 480, 600]
    assert set(found[5:]) == {600}


def test_waits_are_spread_over_all_of_it(clock):
    dice = random.Random(7)
    waits = backoff.Backoff(lambda: clock[0], spread=dice.uniform)
    found = [waits.record(str(n), REFUSED) for n in range(200)]
    assert min(found) < 6
    assert max(found) > 54
    assert all(0 <= wait <= 60 for wait in found)


def test_it_waits_until_it_is_due(waits, clock):
    assert waits.delayed(NODE, PLAN) is None
    waits.record(NODE, REFUSED)
    clock[0] += 59
    delayed = waits.delayed(NODE, PLAN)
    assert (delayed.refusals, delayed.retry_in) == (REFUSED, 1)
    clock[0] += 1
    assert waits.delayed(NODE, PLAN) is None


def test_another_plan_and_another_node_do_not_wait(waits):
    waits.record(NODE, REFUSED)
    assert waits.delayed(NODE, PLAN[:1]) is None
    assert waits.delayed(OTHER, PLAN) is None


def test_what_is_left_of_another_plan_is_tried_and_goes_on(waits, clock):
    waits.record(NODE, REFUSED)
    assert waits.delayed(NODE, PLAN[:1]) is None
    assert waits.record(NODE, {'no one': 'one'}) == 120
    assert waits.delayed(NODE, PLAN[:1]).retry_in == 120


def test_another_operation_begins_anew(waits, clock):
    for _ in range(3):
        clock[0] += waits.record(NODE, REFUSED)
    assert waits.record(NODE, {'no three': 'three'}) == 60


def test_what_waits_is_due_when_it_was_to_be_whatever_else_goes(waits, clock):
    waits.record(NODE, REFUSED)
    clock[0] += 20
    assert waits.delayed(NODE, (*PLAN, 'three')).refusals == REFUSED
    assert waits.record(NODE, REFUSED) == 40
    clock[0] += 40
    assert waits.record(NODE, REFUSED) == 120


def test_each_operation_waits_as_often_as_it_was_refused_itself(waits, clock):
    """One that was not tried, though it was due, is tried the next time."""
    waits.record(NODE, {'no one': 'one'})
    clock[0] += 60
    assert waits.record(NODE, {'no one': 'one'}) == 120
    assert waits.record(NODE, {'no two': 'two'}) == 60
    clock[0] += 60
    delayed = waits.delayed(NODE, PLAN)
    assert (delayed.refusals, delayed.retry_in) == ({'no one': 'one'}, 60)
    clock[0] += 60
    assert waits.delayed(NODE, PLAN) is None
    assert waits.record(NODE, {'no one': 'one'}) == 240
    assert waits.delayed(NODE, PLAN).refusals == {'no one': 'one'}
    assert waits.record(NODE, {'no two': 'two'}) == 120


def test_what_was_refused_together_is_tried_together(clock):
    waits = backoff.Backoff(lambda: clock[0], spread=random.Random(7).uniform)
    wait = waits.record(NODE, REFUSED)
    assert waits.delayed(NODE, PLAN).refusals == REFUSED
    clock[0] += wait
    assert waits.delayed(NODE, PLAN) is None


def test_what_was_done_meanwhile_makes_no_other_plan(waits, clock):
    waits.record(NODE, REFUSED)
    clock[0] += 60
    assert waits.record(NODE, {'no two': 'two'}, done=['one']) == 120
    assert waits.delayed(NODE, ('two',)).retry_in == 120


def test_it_knows_who_was_refused_until_that_succeeds(waits, clock):
    assert not waits.has_refusals(NODE)
    waits.record(NODE, REFUSED)
    clock[0] += 1000
    assert waits.has_refusals(NODE)
    waits.clear(NODE)
    assert not waits.has_refusals(NODE)


def test_success_begins_anew(waits):
    waits.record(NODE, REFUSED)
    waits.clear(NODE)
    waits.clear(NODE)
    assert waits.delayed(NODE, PLAN) is None
    assert waits.record(NODE, REFUSED) == 60


def test_nodes_that_left_are_forgotten(waits):
    waits.record(NODE, REFUSED)
    waits.record(OTHER, REFUSED)
    waits.keep_only([OTHER])
    assert waits.delayed(NODE, PLAN) is None
    assert waits.delayed(OTHER, PLAN) is not None
