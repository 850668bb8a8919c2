# SPDX-License-Identifier: Apache-2.0
"""A driver gives all children of a provider at once, and sets providers aside."""

import agents
import pytest

from compute_agent.tree import set_aside
from compute_agent.virt import drivers

NODE = agents.NODE
VCPU = {'VCPU': {'total': 8}}
VGPU = {'VGPU': {'total': 4}}


class Cards:
    """Describes a node with cards; a test changes them."""

    def __init__(self):
        self.cards = ['0', '1']
        self.sick = {}
        self.drained = None
        self.child = {'inventory': VGPU, 'traits': ['CUSTOM_CARD']}

    def __call__(self, tree, node):
        for card, why in self.sick.items():
            tree.unhealthy(card, why)  # before the inventory
        tree.declare_inventory(node, VCPU)
        tree.reconcile_children(
            node, {f'{node}_{card}': self.child for card in self.cards}
        )
        if self.drained is not None:
            tree.drained(node, self.drained)


@pytest.fixture
def cards():
    return Cards()


@pytest.fixture
def agent(agent_factory, cards):
    made = agent_factory(cards)
    made.done()
    return made


def held(placement, name):
    return placement.held().get(f'{agents.NAME}_{name}')


def test_the_children_are_made_and_then_left_alone(agent, placement):
    for card in ('0', '1'):
        found = held(placement, card)
        assert found['inventories'] == {'VGPU': 4}
        assert 'CUSTOM_CARD' in found['traits']
    placement.clear()
    agent.done()
    assert placement.writes == []


def test_a_child_that_is_not_wanted_goes(agent, cards, placement):
    cards.cards = ['1', '2']
    agent.done()
    assert held(placement, '0') is None
    assert held(placement, '2')['inventories'] == {'VGPU': 4}


@pytest.mark.catches("the children of others go with the driver's")
def test_the_children_of_other_writers_stay_without_a_word(
    agent, cards, placement
):
    placement.plant(
        {'nic': {'parent': agents.NAME, 'inventories': {'CUSTOM_NIC': 1}}}
    )
    cards.cards = ['1']
    (result,) = agent.done()
    assert set(placement.held()) == {agents.NAME, f'{agents.NAME}_1', 'nic'}
    assert not any('nic' in note for note in result.notes)


def test_the_children_of_another_driver_stay(agent_factory, placement, cards):
    def other(tree, node):
        if not tree.exists('fpga'):
            tree.new_child('fpga', node)
        tree.declare_traits('fpga', 'CUSTOM_FPGA')

    agent = agent_factory(
        drivers.Drivers(
            {'first': agents.Driver(other), 'second': agents.Driver(cards)}
        )
    )
    agent.done()
    agent.done()
    assert {'fpga', f'{agents.NAME}_0'} <= set(placement.held())


def test_a_kind_that_is_not_told_stays(agent, cards, placement):
    cards.child = {'inventory': None, 'traits': ['CUSTOM_NEW']}
    agent.done()
    found = held(placement, '0')
    assert found['inventories'] == {'VGPU': 4}
    assert 'CUSTOM_NEW' in found['traits']
    assert 'CUSTOM_CARD' not in found['traits']


def test_a_sick_provider_is_reserved_with_its_reason(agent, cards, placement):
    sick = f'{agents.NAME}_0'
    cards.sick = {sick: 'its fan stands still'}
    (result,) = agent.done()
    assert reserved(placement, '0') == 4
    assert reserved(placement, '1') == 0
    line = (
        f'{sick}: unhealthy (its fan stands still), so all of it is reserved'
    )
    assert line in result.notes
    (found,) = result.plan.set_aside.values()
    assert found.cause is set_aside.Cause.UNHEALTHY
    placement.clear()
    agent.done()
    assert placement.writes == []


def test_a_drained_node_is_reserved_with_all_below_it(agent, cards, placement):
    placement.plant(
        {'nic': {'parent': agents.NAME, 'inventories': {'CUSTOM_NIC': 1}}}
    )
    cards.drained = ''
    (result,) = agent.done()
    assert reserved(placement, '0') == reserved(placement, '1') == 4
    assert placement.held()[agents.NAME]['inventories'] == {
        'VCPU': {'total': 8, 'reserved': 8}
    }
    assert placement.held()['nic']['inventories'] == {'CUSTOM_NIC': 1}
    assert f'{agents.NAME}: drained, so all of it is reserved' in result.notes


def test_what_works_again_is_offered_again(agent, cards, placement):
    cards.sick = {f'{agents.NAME}_0': 'its fan stands still'}
    agent.done()
    cards.sick = {}
    agent.done()
    assert reserved(placement, '0') == 0


def test_what_the_driver_cannot_tell_is_reserved_too(agent, cards, placement):
    cards.child = {'inventory': None}
    cards.sick = {f'{agents.NAME}_0': 'it does not answer'}
    agent.done()
    assert reserved(placement, '0') == 4
    assert reserved(placement, '1') == 0


def reserved(placement, card):
    record = held(placement, card)['inventories']['VGPU']
    return record['reserved'] if isinstance(record, dict) else 0
