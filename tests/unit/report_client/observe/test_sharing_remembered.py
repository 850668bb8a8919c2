# SPDX-License-Identifier: Apache-2.0
"""The list of sharing providers is reused only while it is good."""

import pytest
from looking import CHILD, NODE, SHARES, tagging

from compute_agent import errors

SECOND, POOL = 'second', 'pool'
FOR = 300
ASKED = 'required=MISC_SHARES_VIA_AGGREGATE&member_of=in:'


@pytest.fixture
def pooled(new_station):
    """Return a node and a pool in one aggregate, looked at just now."""
    station = new_station(sharing_interval=FOR)
    station.cloud.put(NODE, generation=5, aggregates='x')
    station.cloud.put(CHILD, NODE)
    station.cloud.put(SECOND, aggregates='y')
    station.cloud.put(POOL, generation=9, traits=[SHARES], aggregates='x')
    station.look(NODE)
    return station


def asks(station, *nodes):
    """Whether a look asks for sharing providers."""
    _, asked = station.asking(*(nodes or (NODE,)))
    return any(line.startswith(ASKED) for line in asked)


@pytest.mark.parametrize(
    ('seconds', 'answer'), [(0, False), (299, False), (300, True), (-1, True)]
)
def test_it_is_good_for_a_while(pooled, seconds, answer):
    pooled.now += seconds
    assert asks(pooled) is answer
    assert not asks(pooled)


def test_what_it_showed_is_observed_and_not_read_just_now(pooled):
    pooled.now += 1
    seen = pooled.look(NODE)[NODE]
    assert set(seen.providers) == {NODE, CHILD, POOL}
    assert seen.fresh == set()
    assert seen.notes == ()
    assert pooled.look(NODE)[NODE] is seen


def test_it_is_asked_for_nodes_of_another_aggregate(pooled):
    assert asks(pooled, NODE, SECOND)
    assert not asks(pooled, NODE, SECOND)
    assert not asks(pooled, SECOND)


def test_a_node_that_comes_into_another_aggregate_asks(pooled):
    pooled.cloud.put(NODE, generation=6, aggregates='xy')
    assert asks(pooled)
    pooled.cloud.put(NODE, generation=7, aggregates='y')
    assert not asks(pooled)
    assert set(pooled.look(NODE)[NODE].providers) == {NODE, CHILD}


def test_a_node_of_no_aggregate_asks_for_nothing(pooled):
    pooled.cloud.put('lonely')
    pooled.now += FOR
    assert not asks(pooled, 'lonely')
    assert asks(pooled)


def test_what_is_spoken_of_is_asked_for_in_each_look(pooled):
    pooled.observer.watch_sharing([POOL])
    assert asks(pooled)
    assert asks(pooled)


def test_what_is_spoken_of_elsewhere_is_not(pooled):
    pooled.observer.watch_sharing([SECOND])
    assert not asks(pooled)


def test_a_pool_that_is_one_of_the_nodes_is_asked_for_in_each_look(pooled):
    assert asks(pooled, NODE, POOL)
    assert asks(pooled, NODE, POOL)


def test_a_pool_that_was_created_for_a_node_is_too(pooled):
    pooled.state.journal.adopt(NODE, {POOL: 9})
    assert asks(pooled)
    assert asks(pooled)


def test_a_pool_that_was_perhaps_written_to_is_looked_at(pooled):
    pooled.intend(tagging(NODE, POOL, 'A', generation=10))
    assert asks(pooled)
    assert pooled.state.journal.intents([NODE]) == {}
    assert not asks(pooled)


def test_one_that_could_not_be_read_is_tried_again(pooled):
    pooled.now += FOR
    pooled.cloud.put(POOL, generation=10, traits=[SHARES], aggregates='x')
    pooled.cloud.faults[f'{POOL}/traits'] = errors.UnknownState('?')
    assert isinstance(pooled.look(NODE)[NODE], errors.UnknownState)
    del pooled.cloud.faults[f'{POOL}/traits']
    assert asks(pooled)
    assert not asks(pooled)


def test_after_a_list_that_failed_it_is_asked_for(pooled):
    """The service was away, and may have come back another one."""
    (own,) = pooled.asking(NODE)[1]
    pooled.cloud.faults[own] = errors.UnknownState('?')
    with pytest.raises(errors.UnknownState):
        pooled.look(NODE)
    pooled.cloud.faults.clear()
    assert asks(pooled)


def test_if_it_fails_itself_it_is_asked_for_again(pooled):
    pooled.now += FOR
    pooled.cloud.faults[f'{ASKED}x'] = errors.UnknownState('?')
    with pytest.raises(errors.UnknownState):
        pooled.look(NODE)
    pooled.cloud.faults.clear()
    assert asks(pooled)
    assert not asks(pooled)
