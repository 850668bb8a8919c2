# SPDX-License-Identifier: Apache-2.0
"""Which falls of totals are a loss of capacity, if many nodes have them."""

import dataclasses

import pytest
from agents import Driver

from compute_agent.cycle import resource_tracker
from compute_agent.virt import driver as virt

Status = resource_tracker.Status
RACK = {f'{n:08}-1111-4111-8111-111111111111': f'node-{n}' for n in range(4)}
UUIDS = list(RACK)
AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
POOL = '88888888-8888-4888-8888-888888888888'


@dataclasses.dataclass
class World:
    """What the driver says of its nodes."""

    total: int = 64
    classes: tuple = ('VCPU',)
    children: tuple = ()
    of_child: int = 32

    def describe(self, tree, node):
        tree.update_inventory(
            node, {rc: {'total': self.total} for rc in self.classes}
        )
        for child in self.children:
            name = f'{node}-{child}'
            if not tree.exists(name):
                tree.new_child(name, node)
            tree.update_inventory(name, {'VCPU': {'total': self.of_child}})


@pytest.fixture
def world():
    return World()


@pytest.fixture
def rack(world):
    return Driver(world.describe, nodes=RACK, missing=virt.Existence.NO)


@pytest.fixture
def agent(agent_factory, rack):
    return agent_factory(rack)


def is_held_back(result, what):
    assert result.status is Status.WAITING, result
    assert what in result.reason
    assert 'would lose much of a resource class' in result.reason
    return True


@pytest.mark.catches('totals may fall as far as they like', case='100-79-True')
@pytest.mark.parametrize(
    ('before', 'after', 'held'),
    [
        (100, 80, False),
        (100, 79, True),
        (251, 250, False),  # a small disk, rounded otherwise
        (24_105, 23_900, False),  # memory that moves a little
        (4, 1, False),  # three units
        (5, 1, True),
    ],
)
def test_a_fall_is_a_loss_beyond_a_share_and_a_floor(
    agent, operator, world, before, after, held
):
    world.total = before
    agent.done()
    world.total = after
    if held:
        assert is_held_back(agent.sync()[0], 'lower VCPU of node-0')
    else:
        agent.done()
    left = operator.inventories(UUIDS[0])['VCPU']['total']
    assert left == (before if held else after)


def test_a_class_that_goes_is_a_loss_however_small(agent, operator, world):
    world.total, world.classes = 1, ('VCPU', 'VGPU')
    agent.done()
    world.classes = ('VCPU',)
    assert is_held_back(agent.sync()[0], 'lower VGPU of node-0')
    assert operator.inventories(UUIDS[0]).keys() == {'VCPU', 'VGPU'}


def test_a_host_that_nova_reported_with_more_disk_is_written(
    agent_factory, operator, world
):
    """The first write said what it lowers, and one host is no mass."""
    operator.create(UUIDS[0], 'node-0')
    operator.set_inventories(
        {'DISK_GB': {'total': 81_920}, 'PCPU': {'total': 8}}, UUIDS[0]
    )
    world.classes, world.total = ('DISK_GB',), 251
    nodes = {UUIDS[0]: 'node-0'}
    agent_factory(Driver(world.describe, nodes=nodes)).done()
    assert operator.inventories(UUIDS[0])['DISK_GB']['total'] == 251
    assert operator.inventories(UUIDS[0]).keys() == {'DISK_GB'}


def test_a_total_that_moves_to_children_is_no_loss(agent, operator, world):
    agent.done()
    world.classes, world.children = (), ('numa0', 'numa1')
    agent.done()
    assert operator.inventories(UUIDS[0]) == {}
    there = operator.holdings()['node-0-numa1']
    assert there['inventories']['VCPU']['total'] == 32


def test_a_small_part_of_a_node_that_goes_is_no_loss(agent, operator, world):
    """Six of 102: the other children have the rest."""
    world.children, world.total = ('numa0', 'numa1'), 38
    agent.done()
    world.of_child, world.total = 32, 32
    agent.done()
    assert operator.inventories(UUIDS[0])['VCPU']['total'] == 32


def test_a_class_that_a_sharing_provider_has_now_is_no_loss(
    agent, operator, world
):
    world.classes = ('VCPU', 'DISK_GB')
    agent.done()
    operator.create(POOL, 'pool')
    operator.set_inventories({'DISK_GB': {'total': 50}}, POOL)
    operator.add_traits('MISC_SHARES_VIA_AGGREGATE', uuid=POOL)
    for uuid in (POOL, *UUIDS):
        operator.set_aggregates(AGGREGATE, uuid=uuid)
    agent.done()
    world.classes = ('VCPU',)
    agent.done()
    assert operator.inventories(UUIDS[0]).keys() == {'VCPU'}


def test_a_departed_node_is_no_loss_of_capacity(agent, operator, rack):
    agent.done()
    rack.nodes.popitem()
    agent.done()
    assert set(operator.holdings()) == {'node-0', 'node-1', 'node-2'}


@pytest.mark.catches('shares are of the chosen nodes only')
def test_shares_are_of_all_nodes_when_only_some_are_chosen(
    agent_factory, placement, operator, world
):
    rack = {f'{n:08}{UUIDS[0][8:]}': f'node-{n}' for n in range(20)}
    agent = agent_factory(Driver(world.describe, nodes=rack))
    agent.done()
    world.total = 4
    placement.clear()
    few = [f'node-{n}' for n in range(4)]
    results = agent.tracker.sync(None, few)
    assert {r.status for r in results} == {Status.DONE}
    more = [f'node-{n}' for n in range(4, 9)]
    for command in (agent.tracker.plan, agent.tracker.sync):
        results = command(None, more)
        assert all(is_held_back(r, 'lower VCPU of') for r in results)


def test_one_node_that_loses_little_costs_no_look_at_the_others(
    agent, placement, world
):
    agent.done()
    world.total = 4
    placement.clear()
    agent.tracker.sync(None, ['node-3'])
    assert [r.method for r in placement.requests] == ['GET', 'GET', 'PUT']
