# SPDX-License-Identifier: Apache-2.0
"""A standard name that this placement lacks is left out, and never blocks."""

import pytest
from agents import Clock

from compute_agent import errors

OWN = {'COMPUTE_NODE', 'OWNER_NOVA'}
NEW_TRAIT = 'HW_CPU_X86_NOT_YET'
NEW_CLASS = 'NOT_YET_A_CLASS'


def describe(tree, node):
    tree.update_inventory(
        node, {'VCPU': {'total': 8}, NEW_CLASS: {'total': 1}}
    )
    tree.declare_traits(node, 'HW_CPU_X86_AVX', NEW_TRAIT, 'CUSTOM_A')


@pytest.mark.catches('one unknown standard trait stops all other writes')
def test_the_rest_goes_through(agent_factory, operator):
    agent_factory(describe).done()
    assert operator.traits() == {*OWN, 'HW_CPU_X86_AVX', 'CUSTOM_A'}
    assert set(operator.inventories()) == {'VCPU'}


def test_each_is_noted_by_its_name_every_cycle(agent_factory):
    agent = agent_factory(describe)
    for _ in range(2):
        (result,) = agent.done()
        assert len(result.notes) == 2
        for name in (NEW_TRAIT, NEW_CLASS):
            assert any(note.startswith(name) for note in result.notes)


def test_later_cycles_write_nothing(placement, agent_factory):
    agent = agent_factory(describe)
    agent.done()
    placement.clear()
    agent.done()
    assert len(placement.requests) == 1


@pytest.mark.catches('known names are never read again')
def test_a_name_that_is_deleted_meanwhile_is_made_again(
    placement, agent_factory, operator
):
    """The names are kept; a 400 or 404 that names one has them re-read."""
    agent = agent_factory(describe)
    agent.done()
    operator.remove_traits('CUSTOM_A')
    placement.delete('/traits/CUSTOM_A')
    agent.done()
    assert 'CUSTOM_A' in operator.traits()


def test_a_class_that_is_deleted_meanwhile_is_made_again(
    placement, agent_factory, operator
):
    def fpga(tree, node):
        tree.update_inventory(node, {'CUSTOM_FPGA': {'total': 1}})

    agent = agent_factory(fpga)
    agent.done()
    operator.set_inventories({})
    placement.delete('/resource_classes/CUSTOM_FPGA')
    agent.done()
    assert set(operator.inventories()) == {'CUSTOM_FPGA'}


@pytest.mark.parametrize('when', ['after an outage', 'with the slow read'])
def test_names_that_a_newer_server_brings_are_learnt(
    placement, agent_factory, operator, when
):
    clock = Clock()
    listed = placement.get('/traits')['traits']
    listed.remove('HW_CPU_X86_AVX')
    placement.fault('GET /traits', (200, {'traits': listed}))
    agent = agent_factory(describe, clock=clock)
    agent.done()
    assert 'HW_CPU_X86_AVX' not in operator.traits()
    if when == 'after an outage':
        placement.fault('GET /resource_providers*', 503)
        with pytest.raises(errors.Unavailable):
            agent.sync()
    else:
        clock.now += 4000
    agent.done()
    assert 'HW_CPU_X86_AVX' in operator.traits()
