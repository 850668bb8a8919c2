# SPDX-License-Identifier: Apache-2.0
"""A cycle that would take away much capacity stops there, and asks."""

import dataclasses

import pytest
from agents import NODE, Driver

from compute_agent.cycle import resource_tracker
from compute_agent.virt import driver as virt

Status = resource_tracker.Status
RACK = {f'{n:08}-1111-4111-8111-111111111111': f'node-{n}' for n in range(20)}
AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
POOL = '88888888-8888-4888-8888-888888888888'


@dataclasses.dataclass
class World:
    """What the driver says of its nodes."""

    total: int = 64
    others: int = 64
    classes: tuple = ('VCPU',)
    children: tuple = ()
    trait: tuple = ()

    def describe(self, tree, node):
        total = self.others if node in {'node-1', 'node-2'} else self.total
        tree.update_inventory(
            node, {rc: {'total': total} for rc in self.classes}
        )
        tree.update_traits(node, self.trait)
        for name in self.children:
            if not tree.exists(name):
                tree.new_child(name, node)
            tree.update_inventory(name, {'VCPU': {'total': self.others}})


@pytest.fixture
def world():
    return World()


@pytest.fixture
def limited(agent_factory):
    def limited(driver, **how):
        return agent_factory(driver, max_capacity_loss_percent=20, **how)

    return limited


def is_held_back(result, what):
    assert result.status is Status.FAILED, result
    assert f'would take away {what} ' in result.reason
    assert '[compute_agent] max_capacity_loss_percent' in result.reason
    assert 'sync --yes' in result.reason
    assert result.applied == ()
    return True


@pytest.mark.catches('totals may fall as far as they like')
def test_twenty_nodes_that_fall_at_once_are_left_and_the_rest_is_done(
    placement, limited, operator, world
):
    agent = limited(Driver(world.describe, nodes=RACK), workers=2)
    agent.done()
    world.total, world.trait = 1, ('CUSTOM_NEW',)
    placement.clear()
    for _ in range(2):
        results = agent.sync()
        held = [r for r in results if r.status is Status.FAILED]
        assert len(held) == 18
        assert all(is_held_back(r, 'more than 20 % of all VCPU') for r in held)
    paths = [r.path for r in placement.writes if 'resource_prov' in r.path]
    written = {path.split('/')[2] for path in paths}
    assert written == set(list(RACK)[1:3])
    assert operator.inventories(next(iter(RACK)))['VCPU']['total'] == 64

    agreed = limited(agent.driver, state=agent.state, max_deletions=None)
    agreed.done()
    assert operator.inventories(next(iter(RACK)))['VCPU']['total'] == 1


def test_a_few_nodes_of_many_may_fall(limited, operator, world):
    agent = limited(Driver(world.describe, nodes=RACK))
    agent.done()
    world.others = 1
    agent.done()
    assert operator.inventories(list(RACK)[1])['VCPU']['total'] == 1


def test_a_host_that_nova_reported_with_more_disk_is_left(
    limited, operator, world
):
    operator.create(NODE, 'node-1')
    operator.set_inventories(
        {'DISK_GB': {'total': 81_920}, 'PCPU': {'total': 8}}
    )
    world.classes, world.others = ('DISK_GB',), 251
    (result,) = limited(world.describe).sync()
    assert result.status is Status.FAILED
    assert 'would take away all PCPU and ' in result.reason
    assert 'take away more than 20 % of all DISK_GB' in result.reason
    assert operator.inventories()['DISK_GB']['total'] == 81_920


def test_a_class_that_goes_from_all_nodes_is_held_back(
    limited, operator, world
):
    world.classes = ('VCPU', 'VGPU')
    agent = limited(world.describe)
    agent.done()
    world.classes = ('VCPU',)
    assert is_held_back(agent.cycle(), 'all VGPU')
    world.classes = ('VCPU', 'VGPU')
    agent.done()


def test_a_total_that_moves_to_children_is_no_loss(limited, operator, world):
    agent = limited(world.describe)
    agent.done()
    world.classes, world.children, world.others = (), ('numa0', 'numa1'), 32
    agent.done()
    assert operator.inventories() == {}
    assert operator.holdings()['numa1']['inventories']['VCPU']['total'] == 32


def test_a_class_that_a_sharing_provider_has_now_is_no_loss(
    limited, operator, world
):
    world.classes = ('VCPU', 'DISK_GB')
    agent = limited(world.describe)
    agent.done()
    operator.create(POOL, 'pool')
    operator.set_inventories({'DISK_GB': {'total': 50}}, POOL)
    operator.add_traits('MISC_SHARES_VIA_AGGREGATE', uuid=POOL)
    operator.set_aggregates(AGGREGATE, uuid=POOL)
    operator.set_aggregates(AGGREGATE)
    agent.done()
    world.classes = ('VCPU',)
    agent.done()
    assert operator.inventories().keys() == {'VCPU'}


def test_a_departed_node_is_no_loss_of_capacity(limited, operator, world):
    nodes = dict(list(RACK.items())[:2])
    rack = Driver(world.describe, nodes=nodes, missing=virt.Existence.NO)
    agent = limited(rack)
    agent.done()
    rack.nodes.popitem()
    agent.done()
    assert set(operator.holdings()) == {'node-0'}


def test_the_deletion_of_children_with_capacity_is_a_loss(
    limited, operator, world
):
    world.children = ('numa0', 'numa1')
    agent = limited(world.describe)
    agent.done()
    world.children = ()
    world.describe = lambda tree, node: [
        tree.remove(uuid) for uuid in tree.get_provider_uuids(node)[1:]
    ]
    agent.driver.describe = world.describe
    assert is_held_back(agent.cycle(), 'more than 20 % of all VCPU')
    assert set(operator.holdings()) == {'node-1', 'numa0', 'numa1'}
