# SPDX-License-Identifier: Apache-2.0
"""Another writer undoes what the agent does: said, and not fought over."""

import agents
import pytest
import vgpu_cloud
from agents import NAME, NODE, Clock

from compute_agent.cycle import resource_tracker
from compute_agent.cycle.resource_tracker import Control
from compute_agent.limits import contention
from compute_agent.tree import assertion, inventory
from compute_agent.virt import driver as virt

Status = resource_tracker.Status
CHILD = '33333333-3333-4333-8333-333333333333'
OTHER = '22222222-2222-4222-8222-222222222222'
AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
# The agent makes a change first, three times again, and tries once more.
WRITES = (4, 5)
PERIOD = 300  # seconds from one cycle to the next
REST = 3600 // PERIOD  # cycles for which a contended item is left alone
CYCLES = REST + 6


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
QUICK = (removes_the_trait, takes_the_aggregate)  # the others are long


@pytest.fixture
def clock():
    """A clock on which each cycle of ``agent`` takes five minutes."""
    return Clock()


@pytest.fixture
def control(clock):
    """A control that asks nobody before a class is removed."""
    return Control(
        limits=lambda: None, contention=contention.Contention(clock)
    )


@pytest.fixture
def agent(agent_factory, clock, control):
    agent = agent_factory(describe, control=control)
    sync = agent.sync

    def timed():
        clock.now += PERIOD
        return sync()

    agent.sync = timed
    agent.done()
    return agent


@pytest.mark.parametrize(
    'undo',
    [
        pytest.param(
            undo,
            id=undo.__name__,
            marks=() if undo in QUICK else pytest.mark.long,
        )
        for undo in UNDOING
    ],
)
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

    ends = [agent.cycle().status for _ in range(REST + 2)]
    assert ends[-1] is Status.DONE
    assert operator.holdings() == wanted
    placement.clear()
    agent.done()
    assert placement.writes == []


@pytest.mark.long
def test_undoing_in_each_cycle_is_a_write_an_hour(placement, agent, operator):
    placement.clear()
    for _ in range(REST * 3):
        removes_the_trait(operator)
        agent.cycle()
    assert len(placement.writes) <= 3 + 3


def test_a_writer_that_undoes_every_sixth_cycle_is_noticed(
    placement, agent, operator
):
    """As nova-compute does, which looks at placement every five minutes."""
    writes = statuses = 0
    for cycle in range(1, 31):
        if cycle % 6 == 0:
            removes_the_trait(operator)
        result = agent.cycle()
        writes += bool(result.applied)
        statuses += result.status is Status.WAITING
    assert 3 <= writes <= 4
    assert statuses > 0


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
    agent_factory, operator, placement, workers, control
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
        control=control,
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
    for _ in range(REST + 3):  # to the trial
        removes_the_trait(operator)
        result = agent.cycle()
    assert result.applied
    removes_the_trait(operator)
    agent.driver.describe = fails
    assert agent.cycle().status is Status.FAILED
    agent.driver.describe = describe
    placement.clear()
    for _ in range(REST - 1):
        assert agent.cycle().status is Status.WAITING
    assert placement.writes == []


@pytest.fixture
def memory(clock):
    """A memory to which the VGPUs of a child that exists are contended."""
    item = contention.Item(
        uuid=vgpu_cloud.GPU0,
        kind=assertion.Kind.INVENTORY,
        name='VGPU',
        record=inventory.Inventory(total=3),
    )
    memory = contention.Contention(clock)
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


@pytest.mark.catches('a restart forgets what other writers undid')
def test_a_restart_goes_on_where_it_was(
    agent_factory, agent, operator, clock, placement
):
    for _ in range(2):
        removes_the_trait(operator)
        agent.cycle()

    def restarted():
        memory = contention.Contention(clock)
        control = Control(contention=memory)
        return agent_factory(describe, state=agent.state, control=control)

    removes_the_trait(operator)
    restarted().done()
    removes_the_trait(operator)
    placement.clear()
    assert restarted().plan()[0].status is Status.WAITING
    assert restarted().cycle().status is Status.WAITING
    assert placement.writes == []


def test_a_node_deleted_in_an_outage_of_another_comes_back_with_all_it_had(
    agent_factory, operator, placement, memory
):
    """Nobody undid what the agent itself took away with the provider."""
    traits = {'HW_CPU_X86_AVX'}

    def of_both(tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 8}})
        tree.declare_traits(node, *traits)

    driver = agents.Driver(
        of_both,
        nodes={NODE: NAME, OTHER: 'other'},
        missing=virt.Existence.NO,
    )
    agent = agent_factory(driver, control=Control(contention=memory))
    for _ in range(4):
        agent.sync()
        removes_the_trait(operator)
    assert agent.sync()[0].status is Status.WAITING
    del driver.nodes[NODE]
    traits.add('HW_CPU_X86_AVX2')
    placement.fault(f'PUT */{OTHER}/traits', 503)
    assert agent.sync()[0].outage
    assert NAME not in operator.holdings()
    driver.nodes[NODE] = NAME
    placement.fault(f'PUT */{NODE}/*', 503)  # its provider is made, no more
    assert agent.sync()[1].outage
    placement.mend()
    agent.done()
    assert operator.traits() >= traits


@pytest.mark.catches('a leave remembers what others undid of what it deletes')
def test_a_node_that_the_agent_left_comes_back_with_all_it_had(
    agent_factory, agent, operator, placement, clock
):
    wanted = operator.holdings()
    for _ in range(5):
        removes_the_trait(operator)
        result = agent.cycle()
    assert result.status is Status.WAITING
    agent.tracker.leave([result.node], writing=True)
    assert operator.holdings() == {}
    control = Control(contention=contention.Contention(clock))
    back = agent_factory(describe, state=agent.state, control=control)
    placement.fault(f'PUT */{NODE}/*', 503)  # its provider is made, no more
    assert back.cycle().outage
    placement.mend()
    back.done()
    assert operator.holdings() == wanted


@pytest.mark.parametrize('creator', ['nova-compute', 'this agent'])
def test_the_line_says_who_it_may_be(
    agent_factory, operator, control, creator
):
    if creator == 'nova-compute':
        operator.create(NODE, NAME)
        operator.add_traits('COMPUTE_NODE', 'OWNER_NOVA')
    agent = agent_factory(describe, control=control)
    for _ in range(5):
        result = agent.cycle()
        removes_the_trait(operator)
    assert result.status is Status.WAITING
    said = {
        'nova-compute': 'nova-compute or another compute-agent reports this',
        'this agent': 'perhaps a nova-compute that also reports this host',
    }
    assert said[creator] in result.reason
