# SPDX-License-Identifier: Apache-2.0
"""Allocated inventory that moves takes along its allocations, and no more."""

import agents
import pytest
from gauntlet import AGGREGATE, CONSUMER, NAME, NODE, SHARED, verdict

from compute_agent import errors

GPU = '33333333-3333-4333-8333-333333333333'
SECOND = '22222222-2222-4222-8222-222222222222'


def on_the_root(tree, node):
    tree.update_inventory(node, {'VCPU': {'total': 8}, 'VGPU': {'total': 2}})
    tree.update_aggregates(node, [AGGREGATE])


class Mover(agents.Driver):
    """Reports the graphics cards of the first node on a child from now on."""

    def __init__(self, nodes):
        super().__init__(on_the_root, nodes=nodes)

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        if nodename != NAME:
            on_the_root(provider_tree, nodename)
            return
        moves = 'VGPU' in provider_tree.data(nodename).inventory
        if moves and allocations is None:
            raise errors.ReshapeNeeded
        if not provider_tree.exists(GPU):
            provider_tree.new_child('gpu0', nodename, GPU)
        provider_tree.update_inventory(nodename, {'VCPU': {'total': 8}})
        provider_tree.update_inventory(GPU, {'VGPU': {'total': 2}})
        for one in (allocations or {}).values():
            part = one['allocations'].pop(NODE)
            one['allocations'][GPU] = part


def cloud(bench, nodes):
    """Make a share, and nodes that have cards on their roots."""
    bench.share()
    agent = bench.agent(on_the_root, nodes=nodes)
    agent.done()
    bench.operator.allocate(CONSUMER, 'VGPU')
    return bench.agent(Mover(nodes), state=agent.state)


@pytest.mark.catches('what is not of the tree is emptied with it')
def test_a_move_in_one_tree_touches_no_other_provider(bench):
    """Neither storage shared with the node, nor another node."""
    agent = cloud(bench, {NODE: NAME, SECOND: 'node-2'})
    before = bench.operator.holdings()
    generations = [bench.operator.generation(u) for u in (SHARED, SECOND)]
    agent.sync()
    sent = [str(request) for request in bench.placement.writes]
    assert 'POST /reshaper' in sent
    with verdict():
        after = bench.operator.holdings()
        assert after['nfs'] == before['nfs']
        assert after['node-2'] == before['node-2']
        assert [
            bench.operator.generation(u) for u in (SHARED, SECOND)
        ] == generations
    used = bench.placement.get(f'/allocations/{CONSUMER}')['allocations']
    assert {uuid: one['resources'] for uuid, one in used.items()} == {
        GPU: {'VGPU': 1}
    }


@pytest.mark.catches('allocations are asked for in case they were needed')
def test_allocations_are_read_when_a_driver_asks_for_them(bench):
    """Once for each provider and consumer of its tree, in that cycle alone."""
    agent = cloud(bench, {NODE: NAME})
    bench.placement.clear()
    agent.done()
    moving = bench.placement.requests[:]
    bench.placement.clear()
    agent.done()
    with verdict():
        assert [str(r) for r in moving if 'allocations' in r.path] == [
            f'GET /resource_providers/{NODE}/allocations',
            f'GET /allocations/{CONSUMER}',
        ]
        assert [
            str(r) for r in bench.placement.requests if 'alloc' in r.path
        ] == []
