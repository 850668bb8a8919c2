# SPDX-License-Identifier: Apache-2.0
"""What another takes away comes back within one cycle, and that is said."""

import pytest
from agents import NAME, NODE

AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
THEIRS = 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb'
REMOVED = 'removed by another writer, and restored: '
CHANGED = 'changed by another writer, and restored: '


def describe(tree, node):
    tree.update_inventory(
        node, {'VCPU': {'total': 8}, 'MEMORY_MB': {'total': 64}}
    )
    tree.declare_traits(node, 'HW_CPU_X86_AVX', 'CUSTOM_A')
    tree.declare_aggregates(node, AGGREGATE)


@pytest.fixture
def agent(agent_factory):
    """An agent after its first cycle, in which nothing was restored."""
    made = agent_factory(describe)
    assert notes(made) == []
    return made


def notes(agent):
    """Do a cycle; return what it says of restoring."""
    (result,) = agent.done()
    return [note.split(': ', 1)[1] for note in result.notes if 'rest' in note]


def test_traits_of_the_driver_s_and_of_the_agent_s_own(agent, operator):
    operator.remove_traits('CUSTOM_A', 'COMPUTE_NODE')
    assert notes(agent) == [f'{REMOVED}COMPUTE_NODE, CUSTOM_A']
    assert operator.traits() >= {'CUSTOM_A', 'COMPUTE_NODE'}
    assert notes(agent) == []


def test_an_aggregate(agent, operator):
    operator.set_aggregates(THEIRS)
    assert notes(agent) == [f'{REMOVED}{AGGREGATE}']
    assert operator.aggregates() == {AGGREGATE, THEIRS}
    assert notes(agent) == []


def test_a_class_and_an_amount(agent, operator):
    operator.set_inventories({'VCPU': {'total': 4}})
    assert notes(agent) == [f'{REMOVED}MEMORY_MB', f'{CHANGED}VCPU']
    assert operator.inventories()['VCPU']['total'] == 8
    assert notes(agent) == []


def test_an_operator_s_ratio_is_not_undone(agent, operator):
    operator.change_inventory('VCPU', allocation_ratio=2.0)
    assert notes(agent) == []
    assert operator.inventories()['VCPU']['allocation_ratio'] == 2.0


def test_a_plan_says_it_and_the_sync_after_it_says_it_again(agent, operator):
    operator.remove_traits('CUSTOM_A')
    (planned,) = agent.plan()
    assert any(REMOVED in note for note in planned.notes)
    assert notes(agent) == [f'{REMOVED}CUSTOM_A']


def test_a_restart_in_between_is_no_hindrance(
    agent_factory, operator, tmp_path
):
    first = agent_factory(describe, state=tmp_path)
    first.done()
    first.state.close()
    operator.remove_traits('CUSTOM_A')
    assert notes(agent_factory(describe, state=tmp_path)) == [
        f'{REMOVED}CUSTOM_A'
    ]


def test_what_the_driver_drops_and_takes_up_again_is_a_first_addition(
    agent, operator
):
    agent.driver.describe = lambda tree, node: tree.declare_traits(node)
    agent.done()
    assert 'CUSTOM_A' not in operator.traits()
    agent.driver.describe = describe
    assert notes(agent) == []
    assert 'CUSTOM_A' in operator.traits()


def test_what_a_conflict_hides_from_the_first_look_is_said_all_the_same(
    placement, agent, operator
):
    operator.remove_traits('CUSTOM_A')

    def write(request):
        if request.method == 'PUT' and not interfered:
            interfered.append(request)
            operator.add_traits('CUSTOM_THEIRS')

    interfered = []
    placement.before_request(write)
    assert notes(agent) == [f'{REMOVED}CUSTOM_A']
    assert operator.traits() >= {'CUSTOM_A', 'CUSTOM_THEIRS'}


def test_a_provider_made_anew_by_another_is_described_not_restored(
    agent, operator
):
    operator.delete(NODE)
    operator.create(NODE, NAME)
    agent.sync()  # the generation fell: unknown in this cycle
    assert notes(agent) == []
    assert 'CUSTOM_A' in operator.traits()
