# SPDX-License-Identifier: Apache-2.0
"""Another writer comes between a read and a write: look again, keep both."""

import itertools

import pytest
from agents import NAME, NODE, meddle, sent

from compute_agent.cycle import resource_tracker

OWN = {'COMPUTE_NODE', 'OWNER_NOVA'}
AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
CONSUMER = 'cccccccc-cccc-4ccc-8ccc-cccccccccccc'
CHILD = '33333333-3333-4333-8333-333333333333'
OTHER = '44444444-4444-4444-8444-444444444444'
Status = resource_tracker.Status
RACE = {
    'errors': [
        {
            'status': 500,
            'title': 'Internal Server Error',
            'detail': 'Another thread concurrently updated the resource '
            'provider data. Please retry your update',
        }
    ]
}


def describe(tree, node):
    tree.update_inventory(node, {'VCPU': {'total': 8}})
    tree.declare_traits(node, 'HW_CPU_X86_AVX')
    tree.declare_aggregates(node, AGGREGATE)


def more(tree, node):
    describe(tree, node)
    tree.update_inventory(node, {'VCPU': {'total': 9}})
    tree.add_traits(node, 'HW_CPU_X86_AVX2')


def nested(tree, node):
    describe(tree, node)
    if not tree.exists('numa0'):
        tree.new_child('numa0', node, CHILD)
    tree.update_inventory('numa0', {'VCPU': {'total': cores}})


cores = 4


def adding(operator):
    """Return what adds another trait each time."""
    numbers = itertools.count()
    return lambda: operator.add_traits(f'CUSTOM_N_{next(numbers)}')


@pytest.mark.parametrize('times', [1, 3])
def test_both_changes_are_there_in_the_end(
    placement, agent_factory, operator, times
):
    agent = agent_factory(describe)
    agent.done()
    placement.clear()
    agent.driver.describe = more
    meddle(placement, adding(operator), times=times)
    agent.done()
    assert operator.traits() == {
        *OWN,
        'HW_CPU_X86_AVX',
        'HW_CPU_X86_AVX2',
        *(f'CUSTOM_N_{n}' for n in range(times)),
    }
    assert operator.inventories()['VCPU']['total'] == 9
    refused = [r for r in placement.writes if r.status == 409]
    assert len(refused) == times


def test_a_removal_that_met_a_conflict_still_tells_its_cause(
    placement, agent_factory, operator, caplog
):
    agent = agent_factory(more)
    agent.done()
    agent.driver.describe = describe
    caplog.set_level('INFO')
    meddle(placement, lambda: operator.add_traits('CUSTOM_OTHERS'))
    agent.done()
    assert operator.traits() == {*OWN, 'HW_CPU_X86_AVX', 'CUSTOM_OTHERS'}
    lines = [record.getMessage() for record in caplog.records]
    (removal,) = [line for line in lines if '-HW_CPU_X86_AVX2' in line]
    assert '-HW_CPU_X86_AVX2 (the driver no longer reports it)' in removal
    (healed,) = [line for line in lines if 'another writer' in line]
    assert f'done, planned 2 times because another writer changed {NAME}' in (
        healed
    )


def test_a_conflict_costs_at_most_six_requests(
    placement, agent_factory, operator
):
    """List, three reads, the sharing providers' list, and the write again."""
    agent = agent_factory(describe)
    agent.done()
    agent.driver.describe = lambda tree, node: (
        describe(tree, node),
        tree.add_traits(node, 'HW_CPU_X86_AVX2'),
    )
    placement.clear()
    meddle(placement, lambda: operator.add_traits('CUSTOM_OTHERS'))
    agent.done()
    statuses = [r.status for r in placement.requests]
    after = placement.requests[statuses.index(409) + 1 :]
    assert len(after) <= 6, [str(r) for r in after]
    assert {'CUSTOM_OTHERS', 'HW_CPU_X86_AVX2'} <= operator.traits()


@pytest.mark.catches('replanning after conflicts has no limit')
def test_five_looks_are_enough(placement, agent_factory, operator):
    agent = agent_factory(describe)
    agent.done()
    placement.clear()
    agent.driver.describe = more
    meddle(placement, adding(operator), times=100)
    result = agent.cycle()
    assert result.status is Status.WAITING
    assert not result.outage
    assert len([r for r in placement.writes if r.status == 409]) == 5
    placement.mend()
    agent.done()
    assert 'HW_CPU_X86_AVX2' in operator.traits()
    assert {f'CUSTOM_N_{n}' for n in range(5)} <= operator.traits()


def test_a_writer_between_two_writes_is_met_with_a_new_look(
    placement, agent_factory, operator
):
    """The traits are through, the inventories meet another generation."""
    agent = agent_factory(describe)
    agent.done()
    agent.driver.describe = more
    meddle(
        placement,
        lambda: operator.change_inventory('VCPU', allocation_ratio=16.0),
        'PUT */inventories',
    )
    agent.done()
    record = operator.inventories()['VCPU']
    assert (record['total'], record['allocation_ratio']) == (9, 16.0)


@pytest.mark.catches('a snapshot mixes generations')
def test_a_writer_between_two_reads_costs_a_read_and_no_mixture(
    placement, agent_factory, operator
):
    agent = agent_factory(describe)
    agent.done()
    operator.allocate(CONSUMER, 'VCPU')
    meddle(
        placement,
        lambda: operator.add_traits('CUSTOM_OTHERS'),
        '*/inventories',
    )
    placement.clear()
    agent.done()
    parts = ['traits', 'aggregates', 'inventories', 'traits', 'aggregates']
    assert sent(placement)[1:6] == [f'GET {NAME}/{part}' for part in parts]
    assert placement.writes == []


def test_a_provider_that_never_holds_still_waits_for_the_next_cycle(
    placement, agent_factory, operator
):
    agent = agent_factory(describe)
    agent.done()
    operator.add_traits('CUSTOM_START')
    agent.driver.describe = more
    meddle(
        placement,
        adding(operator),
        f'* /resource_providers/{NODE}/*',
        times=100,
    )
    placement.clear()
    result = agent.cycle()
    assert result.status is Status.WAITING
    assert placement.writes == []
    placement.mend()
    agent.done()


def test_the_500_of_a_traits_race_is_a_conflict(
    placement, agent_factory, operator
):
    agent = agent_factory(describe)
    agent.done()
    agent.driver.describe = more
    placement.fault('PUT */traits', (500, RACE), times=2)
    agent.done()
    assert operator.traits() == {*OWN, 'HW_CPU_X86_AVX', 'HW_CPU_X86_AVX2'}
    agent.driver.describe = describe
    agent.done()
    assert operator.traits() == {*OWN, 'HW_CPU_X86_AVX'}


@pytest.mark.catches('a refused write is repeated under the new generation')
def test_every_write_carries_the_generation_of_the_read_it_merged(
    placement, agent_factory, operator
):
    """And so a refused one is never sent again with a newer number alone."""
    agent = agent_factory(describe)
    agent.done()
    placement.clear()
    agent.driver.describe = more
    seen = []

    add = adding(operator)

    def act():
        add()
        seen.append(operator.generation(NODE))

    meddle(placement, act, '*/traits', times=3)
    agent.done()
    puts = [r for r in placement.writes if r.path.endswith('/traits')]
    for request in puts:
        assert request.status in {200, 409}
    last = puts[-1]
    assert last.body['resource_provider_generation'] == seen[-1]
    assert {f'CUSTOM_N_{n}' for n in range(3)} <= set(last.body['traits'])


@pytest.mark.catches('inventory in use is removed')
def test_a_class_in_use_stays_reserved_until_it_is_free(
    placement, agent_factory, operator
):
    agent = agent_factory(nested)
    agent.done()
    operator.allocate(CONSUMER, 'VCPU')

    def without(tree, node):
        nested(tree, node)
        tree.update_inventory(node, {'MEMORY_MB': {'total': 64}})
        tree.declare_traits('numa0', 'HW_NUMA_ROOT')

    agent.driver.describe = without
    placement.clear()
    result = agent.cycle()
    assert result.status is Status.FAILED
    assert (
        f'VCPU is not removed but to be reserved, because it is '
        f'allocated to {CONSUMER}' in result.reason
    )
    assert (
        'MEMORY_MB is added when these allocations are gone' in result.reason
    )
    assert {r.status for r in placement.writes} <= {200, 201}
    found = operator.inventories()
    assert set(found) == {'VCPU'}
    assert found['VCPU']['reserved'] == found['VCPU']['total']
    assert 'HW_NUMA_ROOT' in operator.traits(CHILD)

    placement.clear()
    assert agent.cycle().reason == result.reason
    assert placement.writes == []
    placement.delete(f'/allocations/{CONSUMER}')
    agent.done()
    assert set(operator.inventories()) == {'MEMORY_MB'}


def test_a_plan_tells_what_is_in_use(placement, agent_factory, operator):
    agent = agent_factory(nested)
    agent.done()
    operator.allocate(CONSUMER, 'VCPU')

    def without(tree, node):
        nested(tree, node)
        tree.update_inventory(node, {'MEMORY_MB': {'total': 64}})

    agent.driver.describe = without
    (planned,) = agent.plan()
    assert planned.status is Status.FAILED
    assert 'not removed but to be reserved' in planned.plan.faults[0]
    result = agent.cycle()
    assert result.applied == planned.plan.operations
    assert result.reason == planned.reason


def test_an_allocation_that_comes_while_planning_makes_us_look_again(
    placement, agent_factory, operator
):
    agent = agent_factory(nested)
    agent.done()
    agent.driver.describe = lambda tree, node: tree.update_inventory(node, {})
    meddle(
        placement,
        lambda: operator.allocate(CONSUMER, 'VCPU'),
        'PUT */inventories',
    )
    result = agent.cycle()
    assert 'not removed but to be reserved' in result.reason
    assert set(operator.inventories()) == {'VCPU'}


def test_a_provider_in_use_is_not_deleted_and_the_rest_is_done(
    placement, agent_factory, operator
):
    agent = agent_factory(nested)
    agent.done()
    operator.allocate(CONSUMER, 'VCPU', CHILD)

    def bare(tree, node):
        more(tree, node)
        if tree.exists('numa0'):
            tree.remove('numa0')

    agent.driver.describe = bare
    placement.clear()
    result = agent.cycle()
    assert result.status is Status.FAILED
    assert 'numa0' in result.reason
    assert 'not removed but to be reserved' in result.reason
    assert [r for r in placement.writes if r.method == 'DELETE'] == []
    left = operator.inventories(CHILD)['VCPU']
    assert left['reserved'] == left['total']
    assert 'HW_CPU_X86_AVX2' in operator.traits()
    placement.delete(f'/allocations/{CONSUMER}')
    agent.done()
    assert set(operator.holdings()) == {NAME}


def test_a_name_under_another_uuid_is_refused_with_both_uuids(
    placement, agent_factory, operator
):
    operator.create(OTHER, NAME)
    result = agent_factory(nested).cycle()
    assert result.status is Status.FAILED
    assert OTHER in result.reason
    assert NODE in result.reason
    assert set(operator.holdings()) == {NAME}
    assert operator.traits(OTHER) == set()
    assert operator.generation(OTHER) == 0


def test_a_childs_name_under_another_uuid_fails_that_child_alone(
    placement, agent_factory, operator
):
    operator.create(OTHER, 'numa0')
    result = agent_factory(nested).cycle()
    assert result.status is Status.FAILED
    assert OTHER in result.reason
    assert operator.inventories()['VCPU']['total'] == 8
    assert operator.inventories(OTHER) == {}


def test_a_uuid_under_another_name_is_not_written(
    placement, agent_factory, operator
):
    operator.create(NODE, 'old-name')
    result = agent_factory(nested).cycle()
    assert result.status is Status.FAILED
    assert 'old-name' in result.reason
    assert NAME in result.reason
    assert placement.writes == []


def test_a_node_below_another_provider_is_not_written(
    placement, agent_factory, operator
):
    operator.create(OTHER, 'rack')
    operator.create(NODE, NAME, OTHER)
    result = agent_factory(nested).cycle()
    assert result.status is Status.FAILED
    assert OTHER in result.reason
    assert placement.writes == []


def test_a_provider_deleted_between_read_and_write_is_made_again(
    placement, agent_factory, operator
):
    agent = agent_factory(describe)
    agent.done()
    agent.driver.describe = more
    meddle(placement, lambda: operator.delete(NODE))
    assert agent.cycle().status is Status.WAITING
    agent.done()
    assert operator.inventories()['VCPU']['total'] == 9
    assert operator.aggregates() == {AGGREGATE}


def test_a_provider_created_between_list_and_creation_is_met(
    placement, agent_factory, operator
):
    meddle(
        placement,
        lambda: operator.create(NODE, NAME),
        'POST *',
    )
    agent_factory(describe).done()
    assert operator.inventories()['VCPU']['total'] == 8


def test_a_child_that_somebody_deletes_first_is_gone_all_the_same(
    placement, agent_factory, operator
):
    agent = agent_factory(nested)
    agent.done()
    agent.driver.describe = lambda tree, node: tree.remove('numa0')
    meddle(
        placement,
        lambda: operator.delete(CHILD),
        'DELETE *',
    )
    agent.done()
    assert set(operator.holdings()) == {NAME}


def test_a_child_that_another_puts_below_is_not_lost(
    placement, agent_factory, operator
):
    """The deletion of what is no leaf any more is refused, and looked at."""
    agent = agent_factory(nested)
    agent.done()
    agent.driver.describe = lambda tree, _node: (
        tree.remove('numa0') if tree.exists('numa0') else None
    )
    meddle(
        placement,
        lambda: operator.create(OTHER, 'nic', CHILD),
        'DELETE *',
    )
    agent.cycle()
    assert 'nic' in operator.holdings()
    assert operator.holdings()['nic']['parent'] == 'numa0'


def test_two_agents_at_once_on_one_tree_converge(
    placement, agent_factory, operator
):
    """Not a way to run it, but nothing may be lost or loop over it."""
    one = agent_factory(describe)
    two = agent_factory(more)
    one.done()
    acted = []

    def hook(request):
        if request.method == 'PUT' and not acted:
            acted.append(request)
            two.done()

    one.driver.describe = more
    placement.before_request(hook)
    one.done()
    assert operator.traits() == {*OWN, 'HW_CPU_X86_AVX', 'HW_CPU_X86_AVX2'}
    placement.clear()
    one.done()
    two.done()
    assert placement.writes == []
