# SPDX-License-Identifier: Apache-2.0
"""Many nodes at a time: one node's trouble is that node's alone."""

import pytest

from compute_agent.cycle import resource_tracker

NODES = {
    f'22222222-2222-4222-8222-{number:012}': f'node-{number}'
    for number in range(8)
}
DONE = resource_tracker.Status.DONE


def describe(tree, node):
    if not tree.exists(f'{node}-numa0'):
        tree.new_child(f'{node}-numa0', node)
    tree.update_inventory(f'{node}-numa0', {'VCPU': {'total': 8}})
    tree.declare_traits(node, 'CUSTOM_COMMON', f'CUSTOM_{node[-1]}')


@pytest.mark.parametrize('workers', [1, 2, 16])
def test_all_nodes_are_done_whatever_the_number_of_workers(
    placement, agent_factory, operator, workers
):
    agent = agent_factory(describe, nodes=NODES, workers=workers)
    results = agent.done()
    assert [r.node.name for r in results] == list(NODES.values())
    holdings = operator.holdings()
    for node in NODES.values():
        assert f'CUSTOM_{node[-1]}' in holdings[node]['traits']
        assert holdings[f'{node}-numa0']['parent'] == node
    placement.clear()
    agent.done()
    assert [str(r) for r in placement.requests] == ['GET /resource_providers']


def test_a_drivers_fault_is_that_nodes(agent_factory, operator):
    def broken(tree, node):
        if node == 'node-3':
            raise RuntimeError('no answer from its controller')
        describe(tree, node)

    results = agent_factory(broken, nodes=NODES, workers=4).sync()
    failed = [r for r in results if r.status is not DONE]
    assert [r.node.name for r in failed] == ['node-3']
    assert 'no answer from its controller' in failed[0].reason
    assert 'node-3' not in operator.holdings()
    assert len(operator.holdings()) == 2 * 7


def test_a_servers_fault_is_that_nodes(placement, agent_factory, operator):
    bad = list(NODES)[5]
    placement.fault(f'PUT /resource_providers/{bad}/traits', 500)
    agent = agent_factory(describe, nodes=NODES, workers=4)
    results = agent.sync()
    failed = [r for r in results if r.status is not DONE]
    assert [r.node.uuid for r in failed] == [bad]
    agent.done()
    assert 'CUSTOM_5' in operator.traits(bad)


@pytest.mark.catches('an outage in mid-cycle is no error')
def test_an_outage_in_the_middle_is_said_of_all_that_are_left(
    placement, agent_factory
):
    placement.fault('PUT /resource_providers/*', 503, times=None, skip=4)
    agent = agent_factory(describe, nodes=NODES)
    results = agent.sync()
    away = [r for r in results if r.outage]
    assert 0 < len(away) < 8
    asked = {r.path for r in placement.writes if r.status == 503}
    assert len(asked) == 1
    placement.mend()
    agent.done()
