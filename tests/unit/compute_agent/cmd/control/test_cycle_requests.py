# SPDX-License-Identifier: Apache-2.0
"""The cycles that people asked for: which one prunes, and for whom."""

import pytest

from compute_agent.cmd.control import cycle_requests
from compute_agent.ownership.policy import NO_PRUNE, Prune

ONE, TWO = (Prune.parse([name]) for name in ('CUSTOM_A', 'CUSTOM_B'))


@pytest.fixture
def begun():
    return []


@pytest.fixture
def asked(begun):
    return cycle_requests.CycleRequests(lambda: begun.append(1))


def test_a_cycle_prunes_for_one_request(asked, begun):
    first, plain, other, same = map(asked.request, [ONE, NO_PRUNE, TWO, ONE])
    assert asked.prune() is NO_PRUNE  # none of them has begun
    begun.clear()
    asked.begin()
    assert asked.prune() == ONE
    asked.end([])
    assert [f.done() for f in (first, plain, other, same)] == [
        *(True, True),
        *(False, True),
    ]
    assert begun  # the other one has a cycle of its own
    asked.begin()
    assert asked.prune() == TWO
    begun.clear()
    asked.end([])
    assert other.done()
    assert not begun
    asked.begin()
    assert asked.prune() is NO_PRUNE


def test_nothing_is_pruned_for_a_person_who_left(asked):
    asked.request(ONE).cancel()
    asked.begin()
    assert asked.prune() is NO_PRUNE


@pytest.mark.catches(
    'a cycle of some nodes answers a person who waits for one of all'
)
def test_a_cycle_of_some_nodes_is_not_what_a_person_waits_for(asked):
    waiting = asked.request()
    asked.part_ended([])
    assert not waiting.done()
    asked.begin()
    asked.end([])
    assert waiting.done()
