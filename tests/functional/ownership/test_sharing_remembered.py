# SPDX-License-Identifier: Apache-2.0
"""What is remembered of sharing providers misleads nothing that is done.

White-box: one test replaces the planner's private settings, as a reload would.
"""

import math

import pytest
from agents import Clock, Driver

from compute_agent.cycle.node import node_planner
from compute_agent.cycle.resource_tracker import Status
from compute_agent.ownership import policy
from compute_agent.virt import driver as virt

AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
ANOTHER = 'aaaaaaaa-aaaa-4aaa-8aaa-bbbbbbbbbbbb'
POOL = '99999999-1111-4111-8111-111111111111'
CONSUMER = 'cccccccc-cccc-4ccc-8ccc-cccccccccccc'
ONE, TWO = (f'0000000{n}-1111-4111-8111-111111111111' for n in (1, 2))
NODES = {ONE: 'node-1', TWO: 'node-2'}
INTERVALS = pytest.mark.parametrize('interval', [300, math.inf])


def rack(describe, nodes=NODES):
    return Driver(describe, nodes=nodes)


def host(tree, node):
    tree.update_inventory(node, {'VCPU': {'total': 4}})
    tree.declare_aggregates(node, AGGREGATE)


def pool(tree):
    if not tree.exists('pool'):
        tree.new_root('pool', POOL)
    tree.update_inventory('pool', {'DISK_GB': {'total': 100}})
    tree.declare_traits('pool', 'MISC_SHARES_VIA_AGGREGATE')
    tree.declare_aggregates('pool', AGGREGATE)


def with_pool(tree, node):
    host(tree, node)
    pool(tree)


@pytest.fixture
def started(agent_factory):
    """Start an agent on what another left, and let it become quiet."""
    clock = Clock()

    def started(driver, before, interval):
        first = agent_factory(before, clock=clock)
        for _ in range(3):
            first.done()
        agent = agent_factory(
            driver, state=first.state, clock=clock, sharing_interval=interval
        )
        agent.clock = clock
        agent.sync()
        return agent

    return started


@INTERVALS
def test_a_pool_that_another_node_uses_by_now_is_not_deleted(
    started, operator, interval
):
    def apart(tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 4}})
        tree.declare_aggregates(
            node, AGGREGATE if node == 'node-2' else ANOTHER
        )
        if node == 'node-2':
            pool(tree)

    left = rack(apart, {ONE: 'node-1'})
    agent = started(left, rack(apart), interval)
    operator.set_aggregates(AGGREGATE, ANOTHER, uuid=POOL)
    agent.clock.now += 60
    left.existing['node-2'] = virt.Existence.NO
    agent.sync()
    assert 'node-2' not in operator.holdings()
    assert 'pool' in operator.holdings()
    assert agent.state.records.created_for([ONE]) == {ONE: [ONE, POOL]}


@INTERVALS
def test_what_moved_meanwhile_is_seen_by_the_next_look(
    started, operator, interval
):
    """A name goes from a pool that the driver does not speak of."""

    def tagged(tree, node):
        with_pool(tree, node)
        if node == 'node-1':
            tree.declare_traits('pool', 'CUSTOM_X')

    left = rack(host, {ONE: 'node-1'})
    left.existing['node-2'] = virt.Existence.YES
    agent = started(
        left, rack(tagged, {TWO: 'node-2', ONE: 'node-1'}), interval
    )
    agent.sync()
    operator.allocate(CONSUMER, 'DISK_GB', uuid=POOL)
    operator.set_aggregates(uuid=TWO)  # another agent's, and leaves the pool
    agent.clock.now += 60
    orders = policy.Orders(masked=['CUSTOM_X'])
    agent.tracker._planner._settings = node_planner.Settings(
        orders=lambda: lambda _node: orders
    )
    result, *_ = agent.sync()
    assert result.status is Status.DONE
    assert 'CUSTOM_X' not in operator.traits(POOL)


@INTERVALS
def test_a_pool_that_this_agent_makes_is_found_by_one_list(
    started, placement, interval
):
    agent = started(driver := rack(host), rack(host), interval)
    agent.sync()
    driver.describe = with_pool
    agent.done()
    agent.done()
    placement.clear()
    agent.done()
    assert len(placement.requests) == 2


@INTERVALS
def test_a_pool_that_this_agent_deleted_is_not_spoken_of(
    started, operator, interval
):
    def without(tree, node):
        host(tree, node)
        if tree.exists('pool'):
            tree.remove('pool')

    one = {ONE: 'node-1'}
    agent = started(rack(without, one), rack(with_pool, one), interval)
    assert 'pool' not in operator.holdings()
    (result,) = agent.done()
    assert result.notes == ()
