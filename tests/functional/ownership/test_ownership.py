# SPDX-License-Identifier: Apache-2.0
"""Whose is what, seen from placement: others' things survive every cycle."""

import pytest
from agents import NODE

from compute_agent.cycle import resource_tracker

AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
THEIRS = 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb'
CHILD = '33333333-3333-4333-8333-333333333333'
OWN = {'COMPUTE_NODE', 'OWNER_NOVA'}
VCPU = {'VCPU': {'total': 8}}


def traits(*names):
    """Return a description: some VCPU, and these traits."""

    def describe(tree, node):
        tree.update_inventory(node, VCPU)
        tree.declare_traits(node, *names)

    return describe


def exclusive(*names):
    def describe(tree, node):
        tree.update_inventory(node, VCPU)
        tree.update_traits(node, names)

    return describe


@pytest.mark.catches("the driver's traits replace other writers' traits")
def test_an_operators_trait_survives(agent_factory, operator):
    agent = agent_factory(traits('HW_CPU_X86_AVX'))
    agent.done()
    operator.add_traits('CUSTOM_OPERATOR')
    agent.driver.describe = traits('HW_CPU_X86_AVX2')
    agent.done()
    assert operator.traits() == {*OWN, 'HW_CPU_X86_AVX2', 'CUSTOM_OPERATOR'}


def test_an_operators_aggregate_survives(agent_factory, operator):
    def describe(tree, node):
        tree.update_inventory(node, VCPU)
        tree.declare_aggregates(node, *wanted)

    wanted = [AGGREGATE]
    agent = agent_factory(describe)
    agent.done()
    operator.set_aggregates(AGGREGATE, THEIRS)
    agent.done()
    assert operator.aggregates() == {AGGREGATE, THEIRS}
    wanted = []
    agent.done()
    assert operator.aggregates() == {THEIRS}


def test_an_aggregate_that_the_driver_ends_by_name_goes(
    agent_factory, operator
):
    operator.create(NODE, 'node-1')
    operator.set_aggregates(AGGREGATE, THEIRS)
    agent_factory(
        lambda tree, node: tree.remove_aggregates(node, THEIRS)
    ).done()
    assert operator.aggregates() == {AGGREGATE}


def test_a_dropped_trait_of_the_driver_comes_back(agent_factory, operator):
    agent = agent_factory(traits('HW_CPU_X86_AVX'))
    agent.done()
    operator.remove_traits('HW_CPU_X86_AVX')
    agent.done()
    assert operator.traits() == {*OWN, 'HW_CPU_X86_AVX'}


def test_a_trait_that_came_back_is_still_ours_to_remove(
    agent_factory, operator
):
    agent = agent_factory(traits('CUSTOM_A', 'CUSTOM_B'))
    agent.done()
    operator.remove_traits('CUSTOM_A')
    agent.done()
    agent.driver.describe = traits('CUSTOM_B')
    agent.done()
    assert operator.traits() == {*OWN, 'CUSTOM_B'}


def test_a_trait_that_was_there_first_stays_when_the_driver_lets_go(
    agent_factory, operator
):
    operator.create(NODE, 'node-1')
    operator.add_traits('CUSTOM_A')
    agent = agent_factory(traits('CUSTOM_A', 'CUSTOM_B'))
    agent.done()
    agent.driver.describe = traits()
    agent.done()
    assert operator.traits() == {*OWN, 'CUSTOM_A'}


def test_what_is_ours_is_ours_after_a_restart(
    agent_factory, operator, tmp_path
):
    first = agent_factory(traits('CUSTOM_A'), state=tmp_path)
    first.done()
    first.state.close()
    agent_factory(traits(), state=tmp_path).done()
    assert operator.traits() == OWN


def test_a_lost_database_adds_and_removes_nothing(agent_factory, operator):
    agent_factory(traits('CUSTOM_A', 'HW_CPU_X86_AVX')).done()
    agent_factory(traits('CUSTOM_B')).done()
    assert operator.traits() == {
        *OWN,
        'CUSTOM_A',
        'CUSTOM_B',
        'HW_CPU_X86_AVX',
    }


def test_authority_needs_no_record(agent_factory, operator):
    operator.create(NODE, 'node-1')
    operator.add_traits('HW_CPU_X86_AVX', 'HW_NIC_SRIOV', 'CUSTOM_A')
    agent_factory(traits('HW_CPU_X86_AVX2'), authority=('HW_CPU_*',)).done()
    assert operator.traits() == {
        *OWN,
        'HW_CPU_X86_AVX2',
        'HW_NIC_SRIOV',
        'CUSTOM_A',
    }


def test_authority_removes_nothing_where_the_driver_says_nothing(
    agent_factory, operator
):
    operator.create(NODE, 'node-1')
    operator.add_traits('HW_CPU_X86_AVX')
    agent_factory(
        lambda tree, node: tree.update_inventory(node, VCPU),
        authority=('HW_CPU_*',),
    ).done()
    assert operator.traits() == {*OWN, 'HW_CPU_X86_AVX'}


@pytest.mark.parametrize('how', ['keep', 'silent'])
def test_what_the_driver_cannot_tell_stays(agent_factory, operator, how):
    agent = agent_factory(traits('CUSTOM_A'), authority=('CUSTOM_A',))
    agent.done()

    def unknown(tree, node):
        if how == 'keep':
            tree.keep_traits(node)
            tree.keep_inventory(node)

    agent.driver.describe = unknown
    agent.done()
    assert operator.traits() == {*OWN, 'CUSTOM_A'}
    assert operator.inventories()['VCPU']['total'] == 8
    agent.driver.describe = traits()
    agent.done()
    assert operator.traits() == OWN


def test_an_exclusive_set_removes_what_nobody_holds_on_the_own_root(
    agent_factory, operator
):
    agent = agent_factory(exclusive('CUSTOM_A'))
    agent.done()
    operator.add_traits(
        'CUSTOM_OPERATOR', 'COMPUTE_STATUS_DISABLED', 'OWNER_CYBORG'
    )
    (result,) = agent.done()
    assert operator.traits() == {
        *OWN,
        'CUSTOM_A',
        'COMPUTE_STATUS_DISABLED',
        'OWNER_CYBORG',
    }
    (operation,) = result.applied
    assert operation.foreign == {'CUSTOM_OPERATOR'}


def test_an_exclusive_set_is_a_shared_one_on_others_providers(
    agent_factory, operator
):
    operator.create(NODE, 'node-1')
    operator.create(CHILD, 'nic', NODE)
    operator.add_traits('CUSTOM_PHYSNET', uuid=CHILD)

    def describe(tree, node):
        tree.update_traits(CHILD, ['HW_NIC_SRIOV'])

    agent_factory(describe).done()
    assert operator.traits(CHILD) == {'CUSTOM_PHYSNET', 'HW_NIC_SRIOV'}


def test_a_foreign_class_goes_beside_an_exclusive_inventory_and_is_marked(
    agent_factory, operator
):
    agent = agent_factory(traits())
    agent.done()
    operator.change_inventory('CUSTOM_FPGA', total=2)
    (planned,) = agent.plan()
    (operation,) = planned.plan.operations
    assert operation.foreign == {'CUSTOM_FPGA'}
    agent.done()
    assert set(operator.inventories()) == {'VCPU'}


def test_a_foreign_class_stays_beside_added_inventory(agent_factory, operator):
    agent = agent_factory(
        lambda tree, node: tree.declare_inventory(node, {'VCPU': {'total': 8}})
    )
    agent.done()
    operator.change_inventory('CUSTOM_FPGA', total=2)
    agent.done()
    assert set(operator.inventories()) == {'VCPU', 'CUSTOM_FPGA'}


@pytest.mark.catches('providers that others created are deleted')
def test_our_child_goes_and_anothers_stays(agent_factory, operator):
    def nested(tree, node):
        if not tree.exists('numa0'):
            tree.new_child('numa0', node, CHILD)
        tree.update_inventory('numa0', VCPU)

    agent = agent_factory(nested)
    agent.done()
    operator.create(THEIRS, 'nic', NODE)

    def bare(tree, node):
        for uuid in tree.get_provider_uuids(node)[1:]:
            tree.remove(uuid)

    agent.driver.describe = bare
    (result,) = agent.done()
    assert set(operator.holdings()) == {'node-1', 'nic'}
    assert any('nic' in note for note in result.notes)
    assert 'OWNER_NOVA' not in operator.traits(THEIRS)


def test_a_subtree_that_holds_anothers_provider_stays_whole(
    agent_factory, operator
):
    def nested(tree, node):
        if not tree.exists('numa0'):
            tree.new_child('numa0', node, CHILD)

    agent = agent_factory(nested)
    agent.done()
    operator.create(THEIRS, 'nic', CHILD)
    agent.driver.describe = lambda tree, node: tree.remove('numa0')
    result = agent.cycle()
    assert result.status is resource_tracker.Status.FAILED
    assert 'the driver removed it, but it is not deleted' in result.reason
    assert set(operator.holdings()) == {'node-1', 'numa0', 'nic'}
    assert any('not deleted' in note for note in result.notes)


def test_own_traits_go_to_our_children_and_no_others(agent_factory, operator):
    operator.create(NODE, 'node-1')
    operator.create(THEIRS, 'nic', NODE)

    def nested(tree, node):
        if not tree.exists('numa0'):
            tree.new_child('numa0', node, CHILD)

    agent = agent_factory(nested)
    agent.done()
    agent.done()
    assert operator.traits() == OWN
    assert operator.traits(CHILD) == {'OWNER_NOVA'}
    assert operator.traits(THEIRS) == set()


def test_anothers_sharing_provider_is_written_if_the_driver_describes_it(
    agent_factory, operator
):
    operator.create(THEIRS, 'nfs')
    operator.add_traits('MISC_SHARES_VIA_AGGREGATE', uuid=THEIRS)
    operator.set_aggregates(AGGREGATE, uuid=THEIRS)

    def describe(tree, node):
        tree.declare_aggregates(node, AGGREGATE)
        if tree.exists('nfs'):
            tree.update_inventory('nfs', {'DISK_GB': {'total': 100}})

    agent = agent_factory(describe)
    for _ in range(2):
        (result,) = agent.done()
    assert operator.inventories(THEIRS)['DISK_GB']['total'] == 100
    assert operator.traits(THEIRS) == {'MISC_SHARES_VIA_AGGREGATE'}
    assert result.notes == ()


def test_our_sharing_provider_is_kept_in_step(agent_factory, operator):
    def describe(tree, node):
        tree.declare_aggregates(node, AGGREGATE)
        if not tree.exists('shared'):
            tree.new_root('shared', THEIRS)
        tree.update_inventory('shared', {'DISK_GB': {'total': total}})
        tree.declare_traits('shared', 'MISC_SHARES_VIA_AGGREGATE')
        tree.declare_aggregates('shared', AGGREGATE)

    total = 100
    agent = agent_factory(describe)
    agent.done()
    total = 200
    agent.done()
    (third,) = agent.done()
    assert operator.inventories(THEIRS)['DISK_GB']['total'] == 200
    assert third.applied == ()


def test_two_agents_with_a_node_each_leave_each_other_alone(
    agent_factory, operator
):
    other = {THEIRS: 'node-2'}
    one = agent_factory(traits('CUSTOM_A'))
    two = agent_factory(traits('CUSTOM_B'), nodes=other)
    for agent in (one, two, one, two):
        agent.done()
    one.driver.describe = traits()
    one.done()
    assert operator.traits() == OWN
    assert operator.traits(THEIRS) == {*OWN, 'CUSTOM_B'}
    assert [r.applied for r in two.done()] == [()]


def test_a_record_dies_with_its_provider(agent_factory, operator):
    agent = agent_factory(traits('CUSTOM_A'))
    agent.done()
    operator.delete(NODE)
    agent.driver.describe = lambda _tree, _node: None
    agent.sync()  # waits, because another writer deleted the root
    agent.done()
    operator.add_traits('CUSTOM_A')
    agent.driver.describe = traits()
    agent.done()
    assert operator.traits() == {*OWN, 'CUSTOM_A'}


def test_what_the_operator_took_and_set_anew_is_the_operator_s(
    agent_factory, operator
):
    agent = agent_factory(
        lambda tree, node: tree.declare_traits(node, 'CUSTOM_T')
    )
    agent.done()
    operator.remove_traits('CUSTOM_T')
    agent.driver.describe = lambda tree, node: tree.declare_traits(node)
    agent.done()
    operator.add_traits('CUSTOM_T')
    agent.done()
    agent.done()
    assert 'CUSTOM_T' in operator.traits()
