# SPDX-License-Identifier: Apache-2.0
"""A cycle that would remove very much stops there, and asks."""

import dataclasses

import os_traits
import pytest
from agents import NODE, Clock, Driver

from compute_agent import errors
from compute_agent.cycle import resource_tracker
from compute_agent.virt import driver as virt

Status = resource_tracker.Status
MANY = sorted(os_traits.get_traits(prefix='HW_'))[:70]
CLASSES = [f'CUSTOM_CLASS_{number}' for number in range(60)]
CHILDREN = [f'numa{number}' for number in range(12)]
RACK = {f'{n:08}-1111-4111-8111-111111111111': f'node-{n}' for n in range(52)}


@dataclasses.dataclass
class World:
    """What the driver says of its nodes."""

    traits: list = dataclasses.field(default_factory=list)
    classes: list = dataclasses.field(default_factory=lambda: ['VCPU'])
    reserved: int = 0
    children: list = dataclasses.field(default_factory=list)

    def describe(self, tree, node):
        tree.update_inventory(
            node,
            {
                rc: {'total': 4, 'reserved': self.reserved}
                for rc in self.classes
            },
        )
        tree.update_traits(node, self.traits)
        for name in tree.get_provider_uuids(node)[1:]:
            if tree.data(name).name not in self.children:
                tree.remove(name)
        for name in self.children:
            if not tree.exists(name):
                tree.new_child(name, node)


@pytest.fixture
def world():
    return World()


def is_held_back(result, option):
    assert result.status is Status.FAILED
    assert f'[compute_agent] {option}' in result.reason
    assert 'sync --yes' in result.reason
    assert result.applied == ()
    return True


def lose_traits(world):
    world.traits = MANY[:10]


def lose_classes(world):
    world.classes = ['VCPU']


def reserve_classes(world):
    world.reserved = 4


def lose_children(world):
    world.children = []


CASES = {
    'traits': (World(traits=MANY), lose_traits, 'max_removed_percent'),
    'classes': (World(classes=CLASSES), lose_classes, 'max_removed_percent'),
    'reserved': (
        World(classes=CLASSES),
        reserve_classes,
        'max_removed_percent',
    ),
    'children': (World(children=CHILDREN), lose_children, 'max_deletions'),
}


@pytest.mark.parametrize('case', CASES)
def test_what_is_lost_at_once_is_kept_until_somebody_agrees(
    placement, agent_factory, operator, case
):
    start, lose, option = CASES[case]
    world = dataclasses.replace(start)
    agent = agent_factory(world.describe)
    agent.done()
    before = operator.holdings()
    lose(world)
    (planned,) = agent.plan()
    assert is_held_back(planned, option)
    assert planned.plan.operations
    placement.clear()
    for _ in range(2):
        assert is_held_back(agent.cycle(), option)
    assert placement.writes == []
    assert operator.holdings() == before

    agreed = agent_factory(
        world.describe, state=agent.state, max_deletions=None
    )
    agreed.done()
    assert operator.holdings() != before
    placement.clear()
    agent.done()
    assert placement.writes == []


@pytest.mark.parametrize(
    ('start', 'lose', 'limits'),
    [
        (World(traits=MANY), lose_traits, {'max_removed_percent': 85}),
        (World(children=CHILDREN), lose_children, {'max_deletions': 12}),
    ],
)
def test_a_higher_limit_lets_it_go(
    agent_factory, operator, start, lose, limits
):
    world = dataclasses.replace(start)
    agent = agent_factory(world.describe, **limits)
    agent.done()
    before = operator.holdings()
    lose(world)
    agent.done()
    assert operator.holdings() != before


def test_what_is_back_in_time_needs_nobody(placement, agent_factory, world):
    world.traits = MANY
    agent = agent_factory(world.describe)
    agent.done()
    world.traits = []
    agent.cycle()
    world.traits = MANY
    placement.clear()
    agent.done()
    assert placement.writes == []


@pytest.mark.parametrize('workers', [1, 4])
def test_one_trait_lost_on_many_nodes_is_held_back_and_the_rest_is_done(
    placement, agent_factory, operator, workers
):
    """An exclusive driver whose source forgets a trait, as Ironic's may."""
    traits = {name: ['CUSTOM_RACK'] for name in RACK.values()}

    def describe(tree, node):
        tree.update_inventory(node, {'CUSTOM_METAL': {'total': 1}})
        tree.update_traits(node, traits[node])

    agent = agent_factory(Driver(describe, nodes=RACK), workers=workers)
    agent.done()
    traits = {name: [] for name in RACK.values()}
    traits['node-0'] = ['CUSTOM_RACK', 'CUSTOM_NEW']
    traits['node-1'] = ['CUSTOM_RACK']
    placement.clear()
    results = agent.sync()
    ends = [r.status for r in results]
    assert ends == [Status.DONE] * 2 + [Status.FAILED] * 50
    assert all(is_held_back(r, 'max_removed_percent') for r in results[2:])
    written = [r.path for r in placement.writes if 'resource_prov' in r.path]
    assert written == [f'/resource_providers/{next(iter(RACK))}/traits']


def test_up_to_forty_nine_names_may_go_of_however_few(
    agent_factory, operator, world
):
    world.traits = MANY[:49]
    agent = agent_factory(world.describe)
    agent.done()
    world.traits = []
    agent.done()
    assert operator.traits() == {'COMPUTE_NODE', 'OWNER_NOVA'}


@pytest.mark.catches('a cycle deletes any number of departed nodes')
def test_ten_children_may_go_and_a_gone_node_in_the_next_cycle(
    agent_factory, operator
):
    """One budget is for the nodes that are there and those that are gone."""
    nodes = dict(list(RACK.items())[:2])
    children = dict.fromkeys(nodes.values(), ())

    def describe(tree, node):
        World(children=list(children[node])).describe(tree, node)

    children['node-0'] = tuple(CHILDREN[:10])
    rack = Driver(describe, nodes=nodes, missing=virt.Existence.NO)
    clock = Clock()
    agent = agent_factory(rack, clock=clock)
    agent.done()
    rack.nodes.pop(list(RACK)[1])
    children['node-0'] = ()
    clock.now += 1
    here, gone = agent.sync()
    assert here.status is Status.DONE
    assert gone.status is Status.WAITING
    assert not gone.held
    assert 'in a later cycle' in gone.reason
    assert '[compute_agent] max_deletions' in gone.reason
    assert set(operator.holdings()) == {'node-0', 'node-1'}
    agent.done()
    assert set(operator.holdings()) == {'node-0'}


def test_what_an_operator_has_there_is_counted_among_what_is_seen(
    agent_factory, operator, world
):
    """60 of 66 names are too much; 60 of 366 are not."""
    world.traits = MANY[:60]
    agent = agent_factory(world.describe)
    agent.done()
    child = '33333333-3333-4333-8333-333333333333'
    operator.create(child, 'nic', NODE)
    operator.add_traits(*sorted(os_traits.get_traits())[:310], uuid=child)
    world.traits = []
    world.children = ['nic']
    agent.done()
    assert len(operator.traits()) == 2


def test_an_outage_between_the_two_steps_leaves_what_was_held(
    placement, agent_factory, operator, world
):
    world.traits = MANY[:40]
    agent = agent_factory(world.describe)
    agent.done()
    world.traits = MANY[:39]
    placement.fault('PUT *', 503)
    result = agent.cycle()
    assert result.outage
    agent.done()
    assert MANY[39] not in operator.traits()


def test_the_first_look_that_fails_is_no_reason_to_hold_back(
    placement, agent_factory, world
):
    agent = agent_factory(world.describe)
    placement.fault('GET /resource_providers*', 500)
    with pytest.raises(errors.UnknownState):
        agent.sync()
    agent.done()
