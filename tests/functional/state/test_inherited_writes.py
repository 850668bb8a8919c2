# SPDX-License-Identifier: Apache-2.0
"""A holder settles the writes of its predecessor, whose requests may be late."""

import pytest
import requests
from agents import NAME, NODE, sent
from agents_of_share import AgentsOfShare

from compute_agent import errors

TRAITS = f'/resource_providers/{NODE}/traits'
AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'


@pytest.fixture
def fleet(agent_factory):
    made = AgentsOfShare(agent_factory, {NODE: NAME})
    yield made
    made.close()


@pytest.fixture
def late(placement, fleet, operator):
    """The request of a holder that died before placement saw it."""
    first = fleet.holder()
    first.done()
    operator.set_aggregates(AGGREGATE)
    first.done()
    fleet.wanted = ['CUSTOM_A', 'CUSTOM_B']
    placement.fault(f'PUT {TRAITS}', requests.ReadTimeout())
    (result,) = first.sync()
    assert result.outage
    (request,) = [r for r in placement.requests if str(r) == f'PUT {TRAITS}'][
        -1:
    ]
    return request


@pytest.mark.catches('the writes of a predecessor are not settled')
@pytest.mark.catches(
    'the generation of a provider with an inherited write stays'
)
def test_a_late_request_of_the_last_holder_is_refused(
    placement, fleet, operator, late
):
    fleet.wanted = ['CUSTOM_A']
    fleet.holder().done()
    placement.put(TRAITS, late.body, status=409)
    assert operator.traits() == {'COMPUTE_NODE', 'CUSTOM_A', 'OWNER_NOVA'}
    assert operator.aggregates() == {AGGREGATE}


def test_it_costs_a_read_and_a_write_for_each_provider(placement, fleet, late):
    del late
    second = fleet.holder()
    placement.requests.clear()
    second.done()
    aggregates = [r for r in sent(placement) if r.endswith('/aggregates')]
    assert aggregates == [
        f'GET {NAME}/aggregates',  # to settle it
        f'PUT {NAME}/aggregates',
        f'GET {NAME}/aggregates',  # to read the provider
    ]
    placement.requests.clear()
    second.done()
    assert not any('aggregates' in r for r in sent(placement))


def test_a_provider_that_cannot_be_settled_stops_its_node_alone(
    placement, fleet, late, operator
):
    del late
    second = fleet.holder()
    placement.fault(f'GET /resource_providers/{NODE}/aggregates', 500)
    (result,) = second.sync()
    assert not result.is_settled
    assert 'CUSTOM_B' not in operator.traits()
    second.done()
    assert 'CUSTOM_B' in operator.traits()


def test_an_outage_ends_the_cycle_and_the_next_one_settles(
    placement, fleet, late, operator
):
    del late
    second = fleet.holder()
    placement.fault(f'PUT /resource_providers/{NODE}/aggregates', 503)
    with pytest.raises(errors.Unavailable):
        second.sync()
    second.done()
    assert 'CUSTOM_B' in operator.traits()


@pytest.mark.catches('a take-over forgets who created a root')
def test_a_root_that_the_last_holder_created_is_the_share_s(placement, fleet):
    """Placement created it, and the holder died before it knew."""
    placement.fault(
        'POST /resource_providers', requests.ReadTimeout(), after_commit=True
    )
    (result,) = fleet.holder().sync()
    assert result.outage
    second = fleet.holder()
    second.done()
    record = second.state.records.record([NODE], NODE)
    assert record.created == {NODE}
