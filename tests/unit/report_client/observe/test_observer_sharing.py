# SPDX-License-Identifier: Apache-2.0
"""Sharing providers are observed with the nodes that they serve."""

import dataclasses

import pytest
from looking import CHILD, NODE, SHARES, content, reads, tagging

from compute_agent import errors
from compute_agent.tree import assertion
from report_client import errors as placement_errors

SECOND, POOL = 'second', 'pool'


def shared(aggregates='x'):
    return 'required=MISC_SHARES_VIA_AGGREGATE&member_of=in:' + ','.join(
        aggregates
    )


@pytest.fixture
def pooled(new_station):
    """Return two nodes in one aggregate, one in none, and a pool."""
    station = new_station()
    station.cloud.put(NODE, generation=5, aggregates='x')
    station.cloud.put(CHILD, NODE)
    station.cloud.put(SECOND, aggregates='xy')
    station.cloud.put('lonely')
    station.cloud.put(POOL, generation=9, traits=[SHARES], aggregates='x')
    return station


def test_a_pool_is_observed_by_the_nodes_of_its_aggregate(pooled):
    found, asked = pooled.asking(NODE, SECOND, 'lonely')
    assert asked[-4:] == [shared('xy'), *reads(POOL)]
    assert {uuid: set(seen.providers) for uuid, seen in found.items()} == {
        NODE: {NODE, CHILD, POOL},
        SECOND: {SECOND, POOL},
        'lonely': {'lonely'},
    }
    assert found[NODE].home == {NODE, CHILD}
    assert (POOL, assertion.Kind.TRAIT) in found[NODE].fresh
    again, asked = pooled.asking(NODE, SECOND, 'lonely')
    assert asked == ['', shared('xy')]
    assert content(again[SECOND]) == {SECOND: 1, POOL: 9}
    assert again[SECOND].fresh == set()


def test_a_pool_of_another_aggregate_is_not_observed(pooled):
    pooled.cloud.put('other', traits=[SHARES], aggregates='y')
    found = pooled.look(NODE, SECOND)
    assert set(found[NODE].providers) == {NODE, CHILD, POOL}
    assert set(found[SECOND].providers) == {SECOND, POOL, 'other'}


def test_a_pool_that_left_the_aggregate_is_another_observation(pooled):
    pooled.look(NODE)
    still = pooled.look(NODE)[NODE]
    pooled.cloud.hidden.add(POOL)
    seen = pooled.look(NODE)[NODE]
    assert seen is not still
    assert set(seen.providers) == {NODE, CHILD}


@pytest.mark.parametrize('count', [50, 51])
def test_of_too_many_aggregates_all_pools_are_asked_for(pooled, count):
    aggregates = ['x', *(f'a{number:02}' for number in range(count - 1))]
    pooled.cloud.put(NODE, generation=6, aggregates=aggregates)
    pooled.cloud.put('other', traits=[SHARES], aggregates='z')
    found, asked = pooled.asking(NODE)
    assert set(found[NODE].providers) == {NODE, CHILD, POOL}
    wanted = shared(sorted(aggregates))
    if count > 50:
        wanted, _ = wanted.split('&')
    assert [line for line in asked if 'required' in line] == [wanted]


def test_a_pool_that_cannot_be_read_fails_the_nodes_it_may_serve(pooled):
    fault = errors.UnknownState('?')
    pooled.cloud.put('other', traits=[SHARES], aggregates='y')
    pooled.cloud.faults['other/traits'] = fault
    found = pooled.look(NODE, SECOND, 'lonely')
    assert (found[NODE], found[SECOND]) == (fault, fault)
    assert content(found['lonely']) == {'lonely': 1}


def test_one_that_once_was_read_fails_those_of_its_aggregates(pooled):
    pooled.cloud.put('other', traits=[SHARES], aggregates='y')
    pooled.look(NODE, SECOND)
    pooled.cloud.put('other', traits=[SHARES], aggregates='y', generation=2)
    fault = placement_errors.Conflict('moved')
    pooled.cloud.faults['other/traits'] = fault
    found = pooled.look(NODE, SECOND, 'lonely')
    assert found[SECOND] is fault
    assert content(found[NODE]) == {NODE: 5, CHILD: 1, POOL: 9}
    assert content(found['lonely']) == {'lonely': 1}


def test_one_pool_that_fails_leaves_the_others(pooled):
    """The one that fails comes first in the list."""
    pooled.cloud.there = {
        'bad': pooled.cloud.there[POOL],
        **pooled.cloud.there,
    }
    pooled.cloud.put('bad', traits=[SHARES], aggregates='y')
    pooled.look(NODE, SECOND)
    pooled.cloud.put('bad', traits=[SHARES], aggregates='y', generation=2)
    pooled.cloud.put(POOL, traits=[SHARES], aggregates='x', generation=10)
    pooled.cloud.faults['bad/traits'] = errors.UnknownState('?')
    assert content(pooled.look(NODE)[NODE])[POOL] == 10


def test_without_the_list_of_pools_nothing_is_observed(pooled):
    pooled.cloud.faults[shared('x')] = errors.UnknownState('?')
    with pytest.raises(errors.UnknownState):
        pooled.look(NODE)


def test_what_two_nodes_wrote_to_a_pool_is_settled(pooled):
    pooled.look(NODE, SECOND)
    cut = [
        tagging(NODE, POOL, 'A', generation=10),
        tagging(SECOND, POOL, 'B', generation=11),
    ]
    pooled.intend(*cut)
    pooled.cloud.put(
        POOL, generation=12, traits=[SHARES, 'A', 'B'], aggregates='x'
    )
    found = pooled.look(NODE, SECOND)
    assert pooled.state.journal.intents([NODE, SECOND]) == {}
    for node in (NODE, SECOND):
        of_a, of_b = found[node].notes
        assert of_a.startswith(f'{POOL}: a write was interrupted')
        assert 'whether it added A; they' in of_a
        assert 'whether it added B; they' in of_b


def test_what_another_thread_wrote_to_a_pool_is_no_fall(pooled):
    pooled.look(NODE)
    known = pooled.known(POOL)
    later = dataclasses.replace(known.provider, generation=10)
    pooled.cloud.meanwhile[shared('x')] = lambda: (
        pooled.state.journal.record_outcome(
            [], readings=[dataclasses.replace(known, provider=later)]
        )
    )
    assert content(pooled.look(NODE)[NODE])[POOL] == 10
