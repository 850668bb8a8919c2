# SPDX-License-Identifier: Apache-2.0
"""What is not worked out again where nothing moved, and what is, at once.

A plan is made by ``decide``; how often that is asked is counted.

White-box: calls of ``decide`` and SQL statements are counted, because work that
is not done shows nowhere else.
"""

import pytest
from agents import NAME, NODE

from compute_agent.cycle import resource_tracker
from compute_agent.cycle.resource_tracker import Status
from compute_agent.limits import backoff
from compute_agent.state.database import schema
from compute_agent.tree import inventory

OTHER = '22222222-2222-4222-8222-222222222222'
SHARED = '33333333-3333-4333-8333-333333333333'
CONSUMER = 'cccccccc-cccc-4ccc-8ccc-cccccccccccc'
AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
NODES = {NODE: NAME, OTHER: 'node-2'}


def describe(tree, node):
    tree.update_inventory(node, {'VCPU': {'total': 8}})
    tree.declare_traits(node, 'HW_CPU_X86_AVX')


def waiting():
    """What tries nothing again that was refused."""
    return resource_tracker.Control(
        limits=lambda: None,
        back_off=backoff.Backoff(lambda: 0.0, spread=lambda _low, high: high),
    )


@pytest.fixture
def statements(monkeypatch):
    """What the state databases that are opened from now on are told."""
    told, real = [], schema.connect

    def connect(target):
        db = real(target)
        db.set_trace_callback(told.append)
        return db

    monkeypatch.setattr(schema, 'connect', connect)
    return told


@pytest.fixture
def agent(agent_factory, planned):
    """An agent of two nodes, after as many cycles as it needs to be quiet."""
    made = agent_factory(describe, nodes=NODES)
    for _ in range(3):
        made.done()
    planned.clear()
    return made


def test_where_nothing_moves_no_plan_is_made(agent, planned):
    for _ in range(3):
        results = agent.done()
        assert [r.plan.operations for r in results] == [(), ()]
    assert planned == []


def test_a_new_process_makes_each_plan_once(agent_factory, agent, planned):
    again = agent_factory(describe, nodes=NODES, state=agent.state)
    again.done()
    assert sorted(planned) == sorted(NODES)
    again.done()
    assert len(planned) == 2


def test_of_many_nodes_the_database_is_asked_as_often_as_of_few(
    agent_factory, statements, tmp_path
):
    told = {}
    for count in (2, 20):
        nodes = {f'{n:08}{NODE[8:]}': f'node-{n}' for n in range(count)}
        before = agent_factory(
            describe, nodes=nodes, state=tmp_path / f'{count}'
        )
        for _ in range(3):
            before.done()
        after = agent_factory(
            describe, nodes=nodes, state=tmp_path / f'{count}'
        )
        statements.clear()
        after.done()
        told[count, 'first cycle'] = len(statements)
        statements.clear()
        after.done()
        told[count, 'next cycle'] = len(statements)
    assert told[20, 'first cycle'] == told[2, 'first cycle'] > 0
    assert told[20, 'next cycle'] == told[2, 'next cycle']


def test_a_child_that_cannot_be_there_is_planned_for_once(
    agent_factory, planned, statements, operator
):
    """The plan is about it, though what is seen of the node lacks it."""

    def another(tree, node):
        describe(tree, node)
        if tree.exists(SHARED):
            tree.remove(SHARED)
        tree.new_child('gpu', node, uuid=OTHER)

    operator.create(NODE, NAME)
    operator.create(SHARED, 'gpu', NODE)
    agent = agent_factory(another)
    for _ in range(3):
        agent.done()
    planned.clear()
    told = []
    for _ in range(2):
        statements.clear()
        agent.done()
        told.append(len(statements))
    assert planned == []
    quiet = agent_factory(describe, nodes={OTHER: 'node-2'})
    for _ in range(3):
        quiet.done()
    statements.clear()
    quiet.done()
    assert told == [len(statements)] * 2


def test_nodes_that_wait_are_not_read_about_each_time(
    agent_factory, placement, statements
):
    told = []
    for count in (2, 20):
        nodes = {f'{n:08}{NODE[8:]}': f'node-{n}' for n in range(count)}
        agent = agent_factory(describe, nodes=nodes, control=waiting())
        placement.fault('POST /resource_providers', 400, times=None)
        agent.sync()
        agent.sync()
        statements.clear()
        assert {r.status for r in agent.sync()} == {Status.WAITING}
        told.append(len(statements))
    assert told[0] == told[1]


def test_what_the_driver_says_otherwise_is_planned(agent, planned, operator):
    def more(tree, node):
        describe(tree, node)
        if node == NAME:
            tree.add_traits(node, 'HW_CPU_X86_AVX2')

    agent.driver.describe = more
    agent.done()
    assert planned == [NODE]
    assert 'HW_CPU_X86_AVX2' in operator.traits()


@pytest.mark.parametrize(
    'record',
    [{'total': 16}, {'total': 8, 'reserved': 1}, {'total': 8, 'max_unit': 2}],
)
def test_an_amount_that_is_another_is_planned(
    agent, planned, operator, record
):
    def other(tree, node):
        tree.update_inventory(node, {'VCPU': record})
        tree.declare_traits(node, 'HW_CPU_X86_AVX')

    agent.driver.describe = other
    agent.done()
    assert sorted(planned) == sorted(NODES)
    assert operator.inventories()['VCPU'].items() >= record.items()


def test_a_record_that_the_driver_edits_in_place_is_seen(
    agent_factory, planned, operator
):
    record = {'total': 8}
    agent = agent_factory(
        lambda tree, node: tree.update_inventory(node, {'VCPU': record})
    )
    for _ in range(3):
        agent.done()
    record['total'] = 9
    agent.done()
    assert operator.inventories()['VCPU']['total'] == 9


def test_what_an_operator_changes_is_planned_in_the_next_cycle(
    agent, planned, operator
):
    operator.remove_traits('HW_CPU_X86_AVX')
    agent.done()
    assert planned == [NODE]
    assert 'HW_CPU_X86_AVX' in operator.traits()


def test_allocations_move_a_generation_and_cost_two_plans(
    agent, planned, operator
):
    """One with what was read just now, one with what is remembered of it."""
    operator.allocate(CONSUMER, 'VCPU')
    for _ in range(4):
        agent.done()
    assert planned == [NODE, NODE]


def test_an_option_that_is_another_is_planned(
    agent_factory, agent, planned, operator
):
    forced = agent_factory(
        describe,
        nodes=NODES,
        state=agent.state,
        ratios=inventory.Ratios(forced={'VCPU': 2.0}, initial={}),
    )
    forced.done()
    assert sorted(planned) == sorted(NODES)
    assert operator.inventories()['VCPU']['allocation_ratio'] == 2.0


def test_what_stays_refused_is_planned_each_time(agent, planned, placement):
    def bad(tree, node):
        describe(tree, node)
        tree.add_traits(node, 'CUSTOM_BAD')

    agent.driver.describe = bad
    placement.fault('PUT /resource_providers/*/traits', 400, times=None)
    for _ in range(2):
        assert {r.status for r in agent.sync()} == {Status.FAILED}
    assert len(planned) == 4


def test_what_another_node_says_of_a_shared_provider_is_planned(
    agent_factory, planned, operator
):
    """It holds what this one would take away."""

    def sharing(tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 8}})
        tree.declare_aggregates(node, AGGREGATE)
        if node == NAME and not tree.exists(SHARED):
            tree.new_root('shared', SHARED)
        if tree.exists(SHARED):
            tree.update_inventory(SHARED, {'DISK_GB': {'total': 100}})
            tree.declare_traits(SHARED, 'MISC_SHARES_VIA_AGGREGATE')
            tree.declare_aggregates(SHARED, AGGREGATE)
            tree.add_traits(SHARED, *said.get(node, ()))

    said = {}
    agent = agent_factory(sharing, nodes=NODES)
    for _ in range(4):
        agent.done()
    planned.clear()
    agent.done()
    assert planned == []
    said['node-2'] = ['CUSTOM_FAST']
    agent.done()
    assert 'CUSTOM_FAST' in operator.traits(SHARED)
    said['node-2'] = []
    for _ in range(2):
        agent.done()
    assert 'CUSTOM_FAST' not in operator.traits(SHARED)
