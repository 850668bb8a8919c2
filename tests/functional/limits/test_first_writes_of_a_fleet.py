# SPDX-License-Identifier: Apache-2.0
"""A fleet that is taken over from nova-compute: one list and one answer."""

import time

import pytest
from agents import Driver

from compute_agent.limits.approval import Kind

NODES = {f'{n:08}-1111-4111-8111-111111111111': f'node-{n}' for n in range(12)}


def describe(tree, node):
    tree.update_inventory(node, {'CUSTOM_GOLD': {'total': 1}})
    tree.update_traits(node, {'HW_CPU_X86_AVX'})


@pytest.fixture(autouse=True)
def left(operator):
    """The providers after nova-compute left."""
    for uuid, name in NODES.items():
        operator.create(uuid, name)
        operator.set_inventories(
            {'CUSTOM_GOLD': {'total': 1}, 'DISK_GB': {'total': 9}}, uuid
        )
        operator.add_traits(
            'COMPUTE_NODE', 'OWNER_NOVA', 'COMPUTE_VOLUME_EXTEND', uuid=uuid
        )


@pytest.fixture
def fleet(agent_factory, tmp_path):
    def make(**settings):
        return agent_factory(
            Driver(describe, nodes=NODES),
            clock=time.time,
            state=tmp_path / 'state',
            **settings,
        )

    return make


def is_taken_over(operator):
    return all(
        operator.inventories(uuid).keys() == {'CUSTOM_GOLD'}
        and 'COMPUTE_VOLUME_EXTEND' not in operator.traits(uuid)
        for uuid in NODES
    )


@pytest.mark.long
def test_one_answer_takes_all_over(fleet, running, commands, operator):
    running(fleet(takes_over=False))
    listed = commands('approve').out
    assert '(the same for 11 other nodes)' in listed
    assert len(listed.splitlines()) == 1
    approved = commands('approve', listed.split()[-1])
    assert approved.code == 0, approved.out
    assert approved.out.startswith('approved: 12 changes')
    assert is_taken_over(operator)
    assert commands('approve').out.startswith('nothing waits for approval')


def test_the_option_is_the_answer_of_automation(fleet, operator):
    """It covers the names that go; a mass of capacity still needs a yes."""
    agent = fleet(takes_over=True)
    for result in agent.sync():
        assert [each.kind for each in result.held] == [Kind.CAPACITY]
    for uuid in NODES:
        # Capacity that is held keeps its names.
        assert 'COMPUTE_VOLUME_EXTEND' in operator.traits(uuid)
        operator.set_inventories({'CUSTOM_GOLD': {'total': 1}}, uuid)
    for result in agent.sync():  # those names are no first write any more
        assert {each.kind for each in result.held} == {Kind.NAMES}
