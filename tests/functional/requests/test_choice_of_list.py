# SPDX-License-Identifier: Apache-2.0
"""Which list is asked: one for all, or one for each tree in a large cloud."""

import pytest
import requests
from agents import NAME, NODE, sent

from compute_agent import errors
from compute_agent.cycle.resource_tracker import Status
from report_client.observe import list_strategy

SECOND = '22222222-2222-4222-8222-222222222222'
THIRD = '33333333-3333-4333-8333-333333333333'
NODES = {NODE: NAME, SECOND: 'node-2'}
ALL = 'GET /resource_providers'
TREES = {f'{ALL}?in_tree={which}' for which in (NAME, SECOND)}
CHECKS = {f'GET {which}/allocations' for which in (NAME, SECOND)}


def describe(tree, node):
    tree.update_inventory(node, {'VCPU': {'total': 8}})


@pytest.fixture
def crowd(placement, operator, monkeypatch):
    """A cloud with more strangers than two nodes of ours make up for."""
    monkeypatch.setattr(list_strategy, 'PROVIDERS_PER_TREE', 4)
    for number in range(9):
        uuid = f'44444444-4444-4444-8444-{number:012}'
        operator.create(uuid, f'stranger-{number}')
    placement.clear()


@pytest.fixture
def agent(agent_factory, crowd, clock):
    made = agent_factory(describe, nodes=NODES, clock=clock, workers=2)
    made.done()
    return made


def lists_of(placement, agent):
    placement.clear()
    agent.done()
    return set(sent(placement))


def test_the_first_list_is_the_whole_one_then_each_tree_s(placement, agent):
    assert sent(placement)[0] == ALL
    assert lists_of(placement, agent) == TREES


def test_trees_of_one_provider_are_checked_between_two_lists(
    placement, agent, clock
):
    for _ in range(2):
        assert lists_of(placement, agent) == TREES
        assert lists_of(placement, agent) == CHECKS
        clock.now += 300


def test_in_a_small_cloud_it_is_one_for_all(
    placement, agent_factory, operator, monkeypatch
):
    monkeypatch.setattr(list_strategy, 'PROVIDERS_PER_TREE', 4)
    for number in range(6):  # eight with our own: no more than four each
        uuid = f'44444444-4444-4444-8444-{number:012}'
        operator.create(uuid, f'stranger-{number}')
    agent = agent_factory(describe, nodes=NODES)
    agent.done()
    for _ in range(2):
        assert lists_of(placement, agent) == {ALL}


def test_a_restart_remembers_how_large_the_cloud_is(
    placement, agent_factory, agent, clock
):
    again = agent_factory(
        describe, nodes=NODES, clock=clock, state=agent.state
    )
    assert lists_of(placement, again) == TREES


def test_after_a_day_it_is_counted_again(placement, agent, clock):
    clock.now += list_strategy.RECOUNT - 1
    assert ALL not in lists_of(placement, agent)
    clock.now += 1
    assert ALL in lists_of(placement, agent)
    assert ALL not in lists_of(placement, agent)


def test_with_more_nodes_of_ours_one_list_serves_all(placement, agent):
    agent.driver.nodes[THIRD] = 'node-3'
    assert lists_of(placement, agent) >= {ALL}
    assert lists_of(placement, agent) == {ALL}


def test_a_name_that_is_taken_is_found_where_no_list_shows_it(
    agent, operator, monkeypatch
):
    operator.create(THIRD, 'node-9')
    agent.driver.nodes = {
        **NODES,
        '55555555-5555-4555-8555-555555555555': 'node-9',
    }
    monkeypatch.setattr(list_strategy, 'PROVIDERS_PER_TREE', 3)
    results = {r.node.name: r for r in agent.sync()}
    assert results['node-9'].status is Status.FAILED
    assert THIRD in results['node-9'].reason


def test_what_cannot_be_read_of_one_tree_is_that_node_s(placement, agent):
    placement.fault(
        f'GET /resource_providers[?]in_tree={SECOND}', (200, b'{}')
    )
    results = {r.node.uuid: r for r in agent.sync()}
    assert results[NODE].status is Status.DONE
    assert results[SECOND].status is Status.WAITING
    agent.done()


def test_an_outage_is_everybody_s(placement, agent):
    placement.fault(
        f'GET /resource_providers[?]in_tree={SECOND}',
        requests.ConnectionError,
    )
    with pytest.raises(errors.Unavailable):
        agent.sync()
    agent.done()


def test_a_change_in_a_crowd_is_seen(placement, agent, operator):
    operator.remove_traits('COMPUTE_NODE', uuid=SECOND)
    placement.clear()
    agent.done()
    assert f'PUT {SECOND}/traits' in sent(placement)
