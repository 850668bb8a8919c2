# SPDX-License-Identifier: Apache-2.0
"""An answer that fails or makes no sense is unknown: it writes nothing."""

import pytest
import requests
from agents import NAME, NODE

from compute_agent import errors
from compute_agent.cycle import resource_tracker

OWN = {'COMPUTE_NODE', 'OWNER_NOVA'}
AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
SECOND = '22222222-2222-4222-8222-222222222222'
Status = resource_tracker.Status

READS = {
    'list': 'GET /resource_providers?in_tree=*',
    'sharing': 'GET /resource_providers?required=*',
    'traits': 'GET */traits',
    'aggregates': 'GET */aggregates',
    'inventories': 'GET */inventories',
}
ANSWERS = {
    '500': 500,
    '503': 503,
    '401': 401,
    '404': 404,
    'html': (200, '<html>It works!</html>'),
    'empty body': (200, ''),
    'array': (200, '[]'),
    'empty object': (200, '{}'),
    'truncated': (200, '{"resource_providers": [{"uuid": "1111'),
    'null inside': (
        200,
        {
            'resource_providers': None,
            'traits': None,
            'aggregates': None,
            'inventories': None,
            'resource_provider_generation': 2,
        },
    ),
    'other items': (
        200,
        {
            'resource_providers': [{'uuid': NODE}],
            'traits': [None],
            'aggregates': [{}],
            'inventories': {'VCPU': None},
            'resource_provider_generation': 2,
        },
    ),
    'no generation': (
        200,
        {
            'resource_providers': [
                {
                    'uuid': NODE,
                    'name': NAME,
                    'parent_provider_uuid': None,
                    'root_provider_uuid': NODE,
                    'generation': None,
                }
            ],
            'traits': [],
            'aggregates': [],
            'inventories': {},
        },
    ),
    'connection refused': requests.ConnectionError,
    'timeout': requests.ReadTimeout('too late'),
}
# Of these, the ones that claim nothing which could be true of any request.
LOST = [
    '500',
    '503',
    'html',
    'empty body',
    'array',
    'connection refused',
    'timeout',
]


def describe(tree, node):
    tree.update_inventory(node, {'VCPU': {'total': 8}})
    tree.declare_traits(node, 'HW_CPU_X86_AVX', 'CUSTOM_A')
    tree.declare_aggregates(node, AGGREGATE)


def changed(tree, node):
    """All kinds differ, so that a cycle that knows would write them all."""
    tree.update_inventory(node, {'MEMORY_MB': {'total': 64}})
    tree.update_traits(node, ['HW_CPU_X86_AVX2'])
    tree.update_aggregates(node, [])


def cycle(agent):
    """Do a cycle; whether it got as far as a result is not the point."""
    try:
        return agent.sync()
    except errors.AgentError:
        return []


@pytest.mark.long_except(every=9)
@pytest.mark.catches(
    'a part that cannot be read counts as empty', case='traits-500'
)
@pytest.mark.parametrize('answer', ANSWERS)
@pytest.mark.parametrize('read', READS)
def test_no_write_comes_of_it_and_the_next_cycle_heals(
    placement, agent_factory, operator, read, answer
):
    agent = agent_factory(describe)
    agent.done()
    operator.add_traits('CUSTOM_OPERATOR')
    before = operator.holdings()
    agent.driver.describe = changed
    placement.clear()
    fault = placement.fault(READS[read], ANSWERS[answer], times=None)
    for result in cycle(agent):
        assert result.status is not Status.DONE
        assert result.reason
        assert '\n' not in result.reason
    assert fault.hits
    assert placement.writes == []
    assert operator.holdings() == before
    placement.mend()
    agent.done()
    assert operator.traits() == {*OWN, 'HW_CPU_X86_AVX2'}
    assert operator.aggregates() == set()
    assert set(operator.inventories()) == {'MEMORY_MB'}


@pytest.mark.catches('a list that cannot be read counts as empty')
def test_a_list_that_cannot_be_read_costs_no_record(
    placement, agent_factory, operator
):
    """What was ours before is ours to remove after."""
    agent = agent_factory(describe)
    agent.done()
    before = agent.state.records.record({NODE}, NODE)
    placement.fault(READS['list'], 500, times=None)
    cycle(agent)
    assert agent.state.records.record({NODE}, NODE) == before
    placement.mend()
    agent.driver.describe = lambda tree, node: tree.declare_traits(
        node, 'HW_CPU_X86_AVX'
    )
    agent.done()
    assert operator.traits() == {*OWN, 'HW_CPU_X86_AVX'}


@pytest.mark.parametrize('answer', LOST)
def test_a_first_cycle_that_cannot_read_creates_nothing(
    placement, agent_factory, operator, answer
):
    agent = agent_factory(describe)
    placement.fault('GET *', ANSWERS[answer], times=None)
    for result in cycle(agent):
        assert result.status is not Status.DONE
    assert placement.writes == []
    placement.mend()
    agent.done()
    assert operator.inventories()['VCPU']['total'] == 8


@pytest.mark.long_except(every=3)
@pytest.mark.parametrize('answer', [*LOST, 'null inside'])
@pytest.mark.parametrize('names', ['/traits', '/resource_classes'])
def test_unknown_names_are_not_no_names(
    placement, agent_factory, operator, names, answer
):
    agent = agent_factory(describe)
    placement.fault(f'GET {names}', ANSWERS[answer], times=None)
    for result in cycle(agent):
        assert result.status is not Status.DONE
    assert placement.writes == []
    placement.mend()
    agent.done()
    assert {'HW_CPU_X86_AVX', 'CUSTOM_A'} < operator.traits()


@pytest.mark.long_except(every=5)
@pytest.mark.parametrize('answer', LOST)
@pytest.mark.parametrize(
    'write',
    ['POST *', 'PUT */traits', 'PUT */aggregates', 'PUT */inventories'],
)
@pytest.mark.parametrize('after_commit', [False, True], ids=['lost', 'done'])
def test_a_write_with_an_answer_like_that_is_settled_by_the_next_cycle(
    placement, agent_factory, operator, write, answer, after_commit
):
    agent = agent_factory(describe)
    fault = placement.fault(write, ANSWERS[answer], after_commit=after_commit)
    cycle(agent)
    assert fault.hits == 1
    agent.done()
    assert operator.traits() == {*OWN, 'HW_CPU_X86_AVX', 'CUSTOM_A'}
    assert operator.aggregates() == {AGGREGATE}
    assert set(operator.inventories()) == {'VCPU'}
    placement.clear()
    agent.done()
    assert placement.writes == []
    agent.driver.describe = changed
    agent.done()
    assert operator.traits() == {*OWN, 'HW_CPU_X86_AVX2'}


def test_one_nodes_unreadable_provider_is_that_nodes(
    placement, agent_factory, operator
):
    agent = agent_factory(describe, nodes={NODE: NAME, SECOND: 'node-2'})
    agent.done()
    operator.add_traits('CUSTOM_OPERATOR')
    agent.driver.describe = changed
    placement.fault(f'GET */{NODE}/traits', 500, times=None)
    one, two = agent.sync()
    assert (one.status, two.status) == (Status.WAITING, Status.DONE)
    assert 'CUSTOM_OPERATOR' in operator.traits()
    assert 'HW_CPU_X86_AVX2' in operator.traits(SECOND)


def test_a_node_missing_from_a_complete_list_is_gone_and_made_again(
    agent_factory, operator
):
    agent = agent_factory(describe)
    agent.done()
    operator.delete(NODE)
    assert agent.cycle().status is Status.WAITING
    agent.done()
    assert operator.inventories()['VCPU']['total'] == 8


@pytest.mark.catches(
    'a provider whose generation fell counts as the same provider'
)
def test_a_generation_that_falls_is_unknown_once_then_another_provider(
    placement, agent_factory, operator
):
    agent = agent_factory(describe)
    agent.done()
    operator.delete(NODE)
    operator.create(NODE, NAME)
    operator.add_traits('CUSTOM_A', 'CUSTOM_OTHERS')
    placement.clear()
    result = agent.cycle()
    assert result.status is Status.WAITING
    assert 'fell' in result.reason
    assert placement.writes == []
    agent.done()
    assert operator.inventories()['VCPU']['total'] == 8
    agent.driver.describe = lambda tree, node: tree.declare_traits(node)
    agent.done()
    assert operator.traits() == {*OWN, 'CUSTOM_A', 'CUSTOM_OTHERS'}


def test_a_list_that_once_showed_an_older_generation_forgets_nothing(
    placement, agent_factory, operator
):
    """A replica that lags behind, say: the record must survive it."""
    agent = agent_factory(describe)
    agent.done()
    listed = placement.get(f'/resource_providers?in_tree={NODE}')
    listed['resource_providers'][0]['generation'] -= 1
    placement.fault('GET /resource_providers?in_tree=*', (200, listed))
    assert agent.cycle().status is Status.WAITING
    agent.done()
    agent.driver.describe = lambda tree, node: tree.declare_traits(node)
    agent.done()
    assert operator.traits() == OWN


@pytest.mark.catches('before a write only the generation is compared')
def test_the_same_generation_by_chance_is_met_before_a_write(
    agent_factory, operator
):
    """Re-created, and by as many writes as the old one had."""
    agent = agent_factory(describe)
    agent.done()
    generation = operator.generation(NODE)
    operator.delete(NODE)
    operator.create(NODE, NAME)
    operator.add_traits('CUSTOM_OTHERS')
    operator.set_inventories({'DISK_GB': {'total': 1}})
    while operator.generation(NODE) < generation:
        operator.set_aggregates(SECOND)
    assert operator.generation(NODE) == generation

    def more(tree, node):
        tree.declare_traits(node, 'HW_CPU_X86_AVX2')

    agent.driver.describe = more
    agent.done()
    assert 'CUSTOM_OTHERS' in operator.traits()
    assert 'HW_CPU_X86_AVX2' in operator.traits()
