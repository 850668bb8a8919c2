# SPDX-License-Identifier: Apache-2.0
"""Another writer undoes what the agent does: said, and not fought over."""

import pytest
import vgpu_cloud
from agents import NAME, NODE

from compute_agent.cycle import resource_tracker
from compute_agent.cycle.resource_tracker import Control
from compute_agent.limits import contention
from compute_agent.tree import assertion, inventory

Status = resource_tracker.Status
CHILD = '33333333-3333-4333-8333-333333333333'
AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
CYCLES = 16
WRITES = (4, 5)  # first that we make it, three times again, and one trial


def describe(tree, node):
    tree.update_inventory(node, {'VCPU': {'total': 8}})
    tree.update_traits(node, {'HW_CPU_X86_AVX'})
    tree.declare_aggregates(node, AGGREGATE)
    if not tree.exists('numa0'):
        tree.new_child('numa0', node, CHILD)


def removes_the_trait(operator):
    operator.remove_traits('HW_CPU_X86_AVX')


def adds_a_trait(operator):
    operator.add_traits('HW_GPU_API_VULKAN')


def takes_the_aggregate(operator):
    operator.set_aggregates()


def changes_the_total(operator):
    operator.change_inventory('VCPU', total=4)


def removes_the_class(operator):
    operator.set_inventories({})


def adds_a_class(operator):
    operator.change_inventory('CUSTOM_FPGA', total=1)


def deletes_the_child(operator):
    if 'numa0' in operator.holdings():
        operator.delete(CHILD)


UNDOING = {
    removes_the_trait: 'trait HW_CPU_X86_AVX',
    adds_a_trait: 'trait HW_GPU_API_VULKAN',
    takes_the_aggregate: f'aggregate {AGGREGATE}',
    changes_the_total: 'inventory VCPU',
    removes_the_class: 'inventory VCPU',
    adds_a_class: 'inventory CUSTOM_FPGA',
    deletes_the_child: f'provider {CHILD}',
}


@pytest.fixture
def agent(agent_factory):
    agent = agent_factory(describe, control=Control())
    agent.done()
    return agent


@pytest.mark.parametrize('undo', UNDOING, ids=lambda undo: undo.__name__)
def test_what_is_undone_costs_a_few_writes_and_ends_with_the_undoing(
    placement, agent, operator, undo
):
    wanted = operator.holdings()
    placement.clear()
    writing, lines = 0, set()
    for _ in range(CYCLES):
        undo(operator)
        result = agent.cycle()
        writing += bool(result.applied)
        if result.status is not Status.DONE:
            assert result.status is Status.WAITING
            assert not any('restored' in note for note in result.notes)
            lines.add(result.reason)
    assert writing in WRITES
    assert len(lines) == 1, lines  # said once, and not anew in each cycle
    (line,) = lines
    assert UNDOING[undo] in line
    assert 'contended' in line

    ends = [agent.cycle().status for _ in range(11)]
    assert ends[-1] is Status.DONE
    assert operator.holdings() == wanted
    placement.clear()
    agent.done()
    assert placement.writes == []


def test_thirty_cycles_of_undoing_are_five_requests_that_write(
    placement, agent, operator
):
    placement.clear()
    for _ in range(30):
        removes_the_trait(operator)
        agent.cycle()
    assert len(placement.writes) == 5


def test_what_stands_beside_it_is_kept_in_step(agent, operator):
    for _ in range(10):
        removes_the_trait(operator)
        result = agent.cycle()
    assert result.status is Status.WAITING
    operator.change_inventory('VCPU', total=2)
    result = agent.cycle()
    assert [type(op).__name__ for op in result.applied] == ['SetInventories']
    assert operator.inventories()['VCPU']['total'] == 8
    assert 'HW_CPU_X86_AVX' not in operator.traits(NODE)


def test_a_change_of_mind_of_the_driver_goes_at_once(agent, operator):
    for _ in range(10):
        changes_the_total(operator)
        result = agent.cycle()
    assert result.status is Status.WAITING

    def more(tree, node):
        describe(tree, node)
        tree.update_inventory(node, {'VCPU': {'total': 9}})

    agent.driver.describe = more
    agent.done()
    assert operator.inventories()['VCPU']['total'] == 9


OTHER = '22222222-2222-4222-8222-222222222222'
POOL = '44444444-4444-4444-8444-444444444444'


@pytest.mark.parametrize('workers', [1, 2])
def test_two_nodes_that_say_different_things_of_one_provider(
    agent_factory, operator, placement, workers
):
    def differing(tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 8}})
        tree.declare_aggregates(node, AGGREGATE)
        if not tree.exists('pool'):
            tree.new_root('pool', POOL)
        total = {NAME: 100, 'node-2': 200}[node]
        tree.update_inventory('pool', {'DISK_GB': {'total': total}})
        tree.declare_traits('pool', 'MISC_SHARES_VIA_AGGREGATE')
        tree.declare_aggregates('pool', AGGREGATE)

    agent = agent_factory(
        differing,
        nodes={NODE: NAME, OTHER: 'node-2'},
        control=Control(),
        workers=workers,
    )
    for _ in range(8):
        agent.sync()
    placement.clear()
    for _ in range(5):
        results = agent.sync()
        reasons = [r.reason for r in results if r.reason]
        assert reasons
        for reason in reasons:
            assert 'inventory DISK_GB of pool' in reason
            assert f'nodes {NAME} ({NODE}), node-2 ({OTHER}) of this' in reason
    assert placement.writes == []


def fails(_tree, _node):
    raise RuntimeError('no answer')


def test_a_cycle_in_which_the_driver_fails_does_not_end_a_trial(
    placement, agent, operator
):
    for _ in range(14):  # to the trial
        removes_the_trait(operator)
        result = agent.cycle()
    assert result.applied
    removes_the_trait(operator)
    agent.driver.describe = fails
    assert agent.cycle().status is Status.FAILED
    agent.driver.describe = describe
    placement.clear()
    for _ in range(10):
        assert agent.cycle().status is Status.WAITING
    assert placement.writes == []


@pytest.fixture
def memory():
    """A memory to which the VGPUs of a child that exists are contended."""
    item = contention.Item(
        uuid=vgpu_cloud.GPU0,
        kind=assertion.Kind.INVENTORY,
        name='VGPU',
        record=inventory.Inventory(total=3),
    )
    memory = contention.Contention()
    for _ in range(4):
        memory.end_cycle(
            [contention.NodeOutcome(node='node', done=frozenset({item}))]
        )
    assert memory.contended() == {item}
    return memory


def test_what_allocations_move_to_is_written_contended_or_not(
    agent_factory, operator, placement, vgpus_in_use, memory
):
    operator.create(vgpu_cloud.GPU0, 'gpu0', NODE)
    agent = agent_factory(
        vgpu_cloud.Mover(),
        state=vgpus_in_use,
        control=Control(contention=memory),
    )
    agent.done()
    vgpu_cloud.check(placement, operator)


def test_a_restart_begins_anew(agent_factory, agent, operator):
    for _ in range(10):
        removes_the_trait(operator)
        agent.cycle()
    agent_factory(describe, state=agent.state).done()
    assert 'HW_CPU_X86_AVX' in operator.traits()
