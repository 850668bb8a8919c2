# SPDX-License-Identifier: Apache-2.0
"""What a refusal means for the rest of the plan, of the turn, and of a crash.

The refusals are made up: a real placement would need another's part for each.
"""

import fnmatch

import pytest
import requests
from agents import NAME, NODE, sent

from compute_agent.cycle.resource_tracker import Status
from compute_agent.tree import assertion

CHILD = '55555555-5555-4555-8555-555555555555'
AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
OWN = {'COMPUTE_NODE', 'OWNER_NOVA'}
TRAIT = assertion.Kind.TRAIT
PUT_TRAITS = f'PUT /resource_providers/{NODE}/traits'
PUT_INVENTORIES = f'PUT /resource_providers/{NODE}/inventories'


def having(classes, *traits):
    def describe(tree, node):
        tree.update_inventory(node, {rc: {'total': 4} for rc in classes})
        tree.declare_traits(node, *traits)

    return describe


@pytest.fixture
def agent(agent_factory):
    made = agent_factory(having(['VCPU', 'VGPU'], 'CUSTOM_GPU'))
    made.done()
    return made


def requests_like(placement, pattern):
    return [r for r in placement.requests if fnmatch.fnmatch(str(r), pattern)]


@pytest.mark.parametrize('status', [400, 500])
def test_what_follows_a_refused_write_is_ours_if_only_its_answer_is_lost(
    placement, agent, status
):
    """It led to a generation that the refused one was to have led to."""
    agent.driver.describe = having(['VCPU'], 'CUSTOM_GPU', 'CUSTOM_NEW')
    placement.fault(PUT_INVENTORIES, status)
    placement.fault(PUT_TRAITS, requests.ReadTimeout, after_commit=True)
    assert agent.cycle().status is Status.FAILED
    (result,) = agent.done()
    assert result.notes == ()
    record = agent.state.records.record([NODE], NODE)
    assert 'CUSTOM_NEW' in record.ours[NODE, TRAIT]


def test_a_capacity_that_may_not_go_keeps_its_traits(
    placement, agent, operator
):
    agent.driver.describe = having(['VCPU'])
    placement.fault(PUT_INVENTORIES, 400)
    result = agent.cycle()
    assert result.status is Status.FAILED
    assert (
        'not sent, because an operation that it depends on was refused'
        in result.reason
    )
    assert set(operator.inventories()) == {'VCPU', 'VGPU'}
    assert operator.traits() == {*OWN, 'CUSTOM_GPU'}
    agent.done()
    assert set(operator.inventories()) == {'VCPU'}
    assert operator.traits() == OWN


def test_a_capacity_that_may_not_go_keeps_no_trait_from_being_added(
    placement, agent, operator
):
    agent.driver.describe = having(['VCPU'], 'CUSTOM_GPU', 'CUSTOM_NEW')
    placement.fault(PUT_INVENTORIES, 400)
    assert agent.cycle().status is Status.FAILED
    assert operator.traits() == {*OWN, 'CUSTOM_GPU', 'CUSTOM_NEW'}


def with_a_child(*traits):
    def describe(tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 4}})
        if not tree.exists('gpu'):
            tree.new_child('gpu', node, CHILD)
        tree.update_inventory('gpu', {'VGPU': {'total': 4}})
        tree.declare_traits(node, *traits)
        tree.declare_traits('gpu', *traits)

    return describe


@pytest.fixture
def nested(agent_factory):
    made = agent_factory(with_a_child('CUSTOM_A'))
    made.done()
    made.driver.describe = with_a_child('CUSTOM_A', 'CUSTOM_B')
    return made


def meddle(placement, operator, times):
    """Let another write to the child before each write of its traits."""
    left = list(range(times))

    def hook(request):
        if f'{CHILD}/traits' in str(request) and request.method == 'PUT':
            number = left and left.pop()
            if number != []:
                operator.add_traits(f'CUSTOM_N{number}', uuid=CHILD)

    placement.before_request(hook)


def test_what_was_refused_is_not_sent_again_when_the_node_is_looked_at_again(
    placement, nested, operator
):
    placement.fault(PUT_TRAITS, 400, times=None)
    meddle(placement, operator, 3)
    result = nested.cycle()
    assert result.status is Status.FAILED
    assert result.reason.count('HTTP 400') == 1
    assert len(requests_like(placement, PUT_TRAITS)) == 2  # the first cycle's
    assert 'CUSTOM_B' in operator.traits(CHILD)
    placement.mend()
    nested.done()
    assert 'CUSTOM_B' in operator.traits()


def test_a_turn_that_ends_early_says_what_was_refused_in_it(
    placement, nested, operator
):
    placement.fault(PUT_TRAITS, 400, times=None)
    meddle(placement, operator, 9)
    result = nested.cycle()
    assert result.status is Status.WAITING
    assert 'HTTP 400' in result.reason
    assert result.again_in is not None


def test_what_is_refused_and_then_not_wanted_any_more_is_no_failure(
    placement, nested, operator
):
    """Another did it, between our two looks."""
    placement.fault(PUT_TRAITS, 400)
    meddle(placement, operator, 1)

    def help_out(request):
        if request.method == 'PUT' and f'{CHILD}/traits' in str(request):
            operator.add_traits('CUSTOM_B')

    placement.before_request(help_out)
    result = nested.cycle()
    assert (result.status, result.reason) == (Status.DONE, '')


def test_what_is_not_there_is_looked_for_once_more(placement, agent_factory):
    agent = agent_factory(having(['VCPU']))
    agent.done()
    placement.clear()
    agent.driver.describe = having(['VCPU'], 'HW_CPU_X86_AVX')
    placement.fault(PUT_TRAITS, 404, times=None)
    result = agent.cycle()
    assert result.status is Status.WAITING
    assert sent(placement).count(f'PUT {NAME}/traits') == 2
    placement.mend()
    agent.done()


def test_of_a_tree_that_a_child_was_moved_into_nothing_else_is_taken_in(
    placement, agent_factory, operator
):
    agent = agent_factory(with_a_child('CUSTOM_A'))
    agent.done()
    far, below = (f'{n * 8}-9999-4999-8999-999999999999' for n in '98')
    operator.create(far, 'far')
    operator.create(below, 'below', CHILD)
    placement.put(
        f'/resource_providers/{CHILD}',
        {'name': 'gpu', 'parent_provider_uuid': far},
    )
    seen = agent.client.observe([NODE])[NODE]
    assert set(seen.providers) == {NODE, CHILD, below}
    assert seen.home == {NODE}


@pytest.mark.parametrize('status', [400, 500])
def test_a_tree_whose_root_is_refused_comes_whole_in_the_next_cycle(
    placement, agent_factory, operator, status
):
    def nested(tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 4}})
        if not tree.exists(CHILD):
            tree.new_child('child', node, CHILD)
        tree.update_inventory(CHILD, {'VGPU': {'total': 4}})
        tree.declare_traits(CHILD, 'CUSTOM_GPU')

    agent = agent_factory(nested)
    placement.fault('POST /resource_providers', status)
    result = agent.cycle()
    assert result.status is Status.FAILED
    assert (
        result.reason.count(
            'not sent, because an operation that it depends on was refused'
        )
        == 5
    )
    assert sent(placement)[-1] == 'POST /resource_providers'
    for _ in range(2):  # the first one waits, for it was refused
        agent.cycle()
    assert set(operator.inventories(CHILD)) == {'VGPU'}


@pytest.mark.parametrize('number', range(3))
def test_names_that_change_places_do_so_though_a_server_s_fault_hid_it(
    placement, agent_factory, number
):
    other = '66666666-6666-4666-8666-666666666666'
    names = {CHILD: 'one', other: 'two'}

    def describe(tree, node):
        for uuid in (CHILD, other):
            if tree.exists(uuid):
                tree.remove(uuid)
        for uuid, name in names.items():
            tree.new_child(name, node, uuid)

    agent = agent_factory(describe)
    agent.done()
    names.update({CHILD: 'two', other: 'one'})
    placement.fault(
        'PUT /resource_providers/????????-*-????????????',
        500,
        skip=number,
        after_commit=True,
    )
    assert agent.cycle().status is Status.FAILED
    agent.done()
    for uuid, name in names.items():
        assert placement.get(f'/resource_providers/{uuid}')['name'] == name
