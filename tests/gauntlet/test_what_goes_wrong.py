# SPDX-License-Identifier: Apache-2.0
"""Refusals, outages and unknown names: said, and no more lost than must be."""

import contextlib

import agents
import pytest
import requests
from gauntlet import NAME, NODE, OWN, host, more, verdict

from compute_agent import errors
from compute_agent.cycle import resource_tracker

OTHER = '44444444-4444-4444-8444-444444444444'
SECOND = '22222222-2222-4222-8222-222222222222'
CHILDREN = [f'33333333-3333-4333-8333-33333333333{n}' for n in range(3)]
Status = resource_tracker.Status


def nested(tree, node):
    host(tree, node)
    for number, uuid in enumerate(CHILDREN):
        if not tree.exists(uuid):
            tree.new_child(f'numa{number}', node, uuid)
        tree.update_inventory(uuid, {'MEMORY_MB': {'total': 1024}})


# --- refusals -----------------------------------------------------------------


@pytest.mark.catches('the first refusal ends it, and its reason is lost')
def test_one_refused_provider_stops_none_beside_it(bench):
    """A child whose name is taken must not keep the rest from being done."""
    bench.operator.create(OTHER, 'numa0')
    result = bench.agent(nested).cycle()
    with verdict():
        found = bench.operator.holdings()
        assert set(found) == {NAME, 'numa0', 'numa1', 'numa2'}
        assert set(found['numa2']['inventories']) == {'MEMORY_MB'}
        assert set(found[NAME]['inventories']) == {'VCPU'}
        assert 'HW_CPU_X86_AVX' in found[NAME]['traits']
    assert result.status is Status.FAILED


@pytest.mark.catches('the first refusal ends it, and its reason is lost')
def test_the_reason_of_a_refusal_reaches_the_operator(bench):
    """Who has the name, and who wanted it, must both be in the result."""
    bench.operator.create(OTHER, 'numa0')
    result = bench.agent(nested).cycle()
    with verdict():
        assert OTHER in result.reason
        assert 'numa0' in result.reason


# --- outages ------------------------------------------------------------------


@pytest.mark.catches('an outage in mid-cycle is no error')
def test_an_outage_just_at_the_traits_is_no_success(bench):
    """A cycle whose write was lost must not be reported as done."""
    agent = bench.agent(host)
    agent.done()
    agent.driver.describe = more
    bench.placement.fault('PUT */traits', requests.ConnectionError)
    result = agent.cycle()
    with verdict():
        assert result.status is not Status.DONE
        assert result.reason
    agent.done()
    assert 'HW_CPU_X86_AVX2' in bench.operator.traits()


@pytest.mark.catches('an outage wipes what is known')
def test_an_outage_wipes_no_memory(bench):
    """After it the whole cloud must not be read again."""
    nodes = {NODE: NAME, SECOND: 'node-2'}
    agent = bench.agent(host, nodes=nodes)
    agent.done()
    bench.placement.fault('*', requests.ConnectionError, times=None)
    with contextlib.suppress(errors.Unavailable):
        agent.sync()
    bench.placement.mend()
    bench.placement.clear()
    agent.done()
    with verdict():
        assert agents.sent(bench.placement) == ['GET /resource_providers']


@pytest.mark.catches('an outage is a failure like any other')
def test_an_outage_that_one_node_finds_is_not_found_by_each(bench):
    """The others must not wait for the same service to time out again."""
    nodes = {NODE: NAME, SECOND: 'node-2', OTHER: 'node-3'}
    agent = bench.agent(host, nodes=nodes)
    agent.done()
    agent.driver.describe = more
    bench.placement.clear()
    bench.placement.fault('PUT *', requests.ConnectTimeout, times=None)
    results = agent.sync()
    with verdict():
        assert len(bench.placement.writes) == 1
        assert [r.status for r in results] == [Status.FAILED] * 3
        assert all(r.outage for r in results)


# --- unknown names ------------------------------------------------------------


@pytest.mark.catches('an unknown standard trait is to be created')
def test_a_trait_of_a_newer_release_blocks_no_other(bench):
    """What this placement cannot know is left out; the rest is reported."""

    def newer(tree, node):
        host(tree, node)
        tree.add_traits(node, 'HW_CPU_X86_OF_NEXT_YEAR', 'CUSTOM_GOLD')

    (result,) = bench.agent(newer).sync()
    with verdict():
        assert bench.operator.traits() == {
            *OWN,
            'HW_CPU_X86_AVX',
            'CUSTOM_GOLD',
        }
        assert any('HW_CPU_X86_OF_NEXT_YEAR' in note for note in result.notes)
