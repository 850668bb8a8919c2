# SPDX-License-Identifier: Apache-2.0
"""What a cycle costs placement: requests are counted, not estimated."""

import pytest
from agents import NAME, NODE, Clock, sent

AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
CONSUMER = 'cccccccc-cccc-4ccc-8ccc-cccccccccccc'
SECOND = '22222222-2222-4222-8222-222222222222'
OPERATOR_S = 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb'
LIST = f'GET /resource_providers?in_tree={NAME}'
CHECK = f'GET {NAME}/allocations'
SHARING = (
    'GET /resource_providers?required=MISC_SHARES_VIA_AGGREGATE'
    f'&member_of=in:{AGGREGATE}'
)
READS = [
    f'GET {NAME}/traits',
    f'GET {NAME}/aggregates',
    f'GET {NAME}/inventories',
]


def simple(tree, node):
    tree.update_inventory(node, {'VCPU': {'total': 8}})
    tree.declare_traits(node, 'HW_CPU_X86_AVX')


def aggregated(tree, node):
    simple(tree, node)
    tree.declare_aggregates(node, AGGREGATE)


def test_the_first_sync_asks_for_names_once_and_writes_three_times(
    placement, agent_factory
):
    agent_factory(simple).done()
    assert sent(placement) == [
        LIST,
        'GET /traits',
        'GET /resource_classes',
        f'GET /resource_providers?name={NAME}',
        'POST /resource_providers',
        f'PUT {NAME}/traits',
        f'PUT {NAME}/inventories',
    ]


def test_the_first_plan_costs_the_reads_of_the_first_sync(
    placement, agent_factory
):
    agent_factory(simple).plan()
    assert sent(placement) == [
        LIST,
        'GET /traits',
        'GET /resource_classes',
        f'GET /resource_providers?name={NAME}',
    ]


@pytest.mark.catches('an unchanged inventory is written again')
def test_a_cycle_without_change_is_one_request(placement, agent_factory):
    agent = agent_factory(simple)
    agent.done()
    placement.clear()
    agent.done()
    assert sent(placement) == [LIST]


def test_a_restart_costs_nothing_more(placement, agent_factory, tmp_path):
    first = agent_factory(simple, state=tmp_path)
    first.done()
    first.state.close()
    placement.clear()
    agent_factory(simple, state=tmp_path).done()
    assert sent(placement) == [LIST]


@pytest.mark.catches('sharing providers are read only once')
def test_aggregates_cost_one_more_request_now_and_then(
    placement, agent_factory
):
    clock = Clock()
    agent = agent_factory(aggregated, clock=clock, sharing_interval=300)
    agent.done()
    placement.clear()
    for _ in range(10):
        agent.done()
        clock.now += 60
    assert sent(placement) == [LIST, SHARING, *[CHECK] * 4] * 2


def test_a_restart_costs_one_more_with_aggregates(placement, agent_factory):
    agent = agent_factory(aggregated)
    agent.done()
    placement.clear()
    agent_factory(aggregated, state=agent.state).done()
    assert sent(placement) == [LIST, SHARING]


def test_a_trait_more_reads_and_writes_traits_only(placement, agent_factory):
    agent = agent_factory(simple)
    agent.done()
    placement.clear()

    def more(tree, node):
        simple(tree, node)
        tree.add_traits(node, 'HW_CPU_X86_AVX2')

    agent.driver.describe = more
    agent.done()
    assert sent(placement) == [
        LIST,
        f'GET {NAME}/traits',
        f'PUT {NAME}/traits',
    ]


def test_an_allocation_moves_the_generation_and_is_no_drift(
    placement, agent_factory, operator
):
    agent = agent_factory(simple)
    agent.done()
    operator.allocate(CONSUMER, 'VCPU')
    placement.clear()
    agent.done()
    assert sent(placement) == [LIST, *READS]
    placement.clear()
    agent.done()
    assert sent(placement) == [CHECK]


def test_a_node_of_one_provider_is_listed_now_and_then(
    placement, agent_factory
):
    clock = Clock()
    agent = agent_factory(simple, clock=clock)
    agent.done()
    placement.clear()
    for _ in range(10):
        agent.done()
        clock.now += 60
    assert sent(placement) == [LIST, *[CHECK] * 4] * 2


def test_a_new_allocation_costs_nothing_more(
    placement, agent_factory, operator
):
    agent = checked(agent_factory)
    operator.allocate(CONSUMER, 'VCPU')
    placement.clear()
    agent.done()
    agent.done()
    assert sent(placement) == [CHECK, CHECK]


def test_two_new_allocations_have_the_provider_read(
    placement, agent_factory, operator
):
    agent = checked(agent_factory)
    for consumer in (CONSUMER, SECOND):
        operator.allocate(consumer, 'VCPU')
    placement.clear()
    agent.done()
    assert sent(placement) == [CHECK, LIST, *READS]


@pytest.mark.catches('any new generation counts as an allocation')
def test_a_change_and_the_end_of_an_allocation_are_no_allocation(
    placement, agent_factory, operator
):
    agent = checked(agent_factory)
    operator.allocate(CONSUMER, 'VCPU')
    agent.done()
    operator.remove_traits('HW_CPU_X86_AVX')
    placement.delete(f'/allocations/{CONSUMER}')
    agent.done()
    assert 'HW_CPU_X86_AVX' in operator.traits()


@pytest.mark.catches('an allocation proves that nothing else changed')
def test_a_change_and_a_new_allocation_are_no_allocation(
    agent_factory, operator
):
    agent = checked(agent_factory)
    operator.remove_traits('HW_CPU_X86_AVX')
    operator.allocate(CONSUMER, 'VCPU')
    agent.done()
    assert 'HW_CPU_X86_AVX' in operator.traits()


@pytest.mark.catches('a tree of one provider is never listed again')
def test_a_child_of_another_writer_is_seen_after_five_minutes(
    agent_factory, operator
):
    clock = Clock()
    agent = checked(agent_factory, clock=clock)
    operator.create(SECOND, 'nic', NODE)
    clock.now += 300
    assert agent.client.observe([NODE])[NODE].home == {NODE, SECOND}


@pytest.mark.catches('a plan that is sent leaves the tree unlisted')
def test_the_first_child_of_this_agent_is_seen_at_once(agent_factory):
    agent = checked(agent_factory)
    seen = agent.client.observe([NODE])[NODE]
    tree = seen.tree()
    tree.new_child('nic', NODE, SECOND)
    agent.applied(agent.plan_for(tree, seen))
    assert agent.client.observe([NODE])[NODE].home == {NODE, SECOND}


def checked(agent_factory, **settings):
    """Return an agent whose last cycle asked for allocations only."""
    agent = agent_factory(simple, **settings)
    for _ in range(3):
        agent.done()
    return agent


def test_two_nodes_are_one_list(placement, agent_factory):
    agent = agent_factory(simple, nodes={NODE: NAME, SECOND: 'node-2'})
    agent.done()
    placement.clear()
    agent.done()
    assert sent(placement) == ['GET /resource_providers']


def test_of_many_nodes_only_the_changed_one_is_read(
    placement, agent_factory, operator
):
    agent = agent_factory(simple, nodes={NODE: NAME, SECOND: 'node-2'})
    agent.done()
    operator.add_traits('CUSTOM_OPERATOR')
    placement.clear()
    agent.done()
    assert sent(placement) == ['GET /resource_providers', *READS]


def test_no_node_is_no_request(placement, agent_factory):
    agent = agent_factory(simple)
    agent.driver.nodes = {}
    assert agent.sync() == []
    assert sent(placement) == []


def test_names_are_asked_for_only_where_one_is_new(placement, agent_factory):
    agent = agent_factory(simple)
    agent.done()
    placement.clear()

    def custom(tree, node):
        simple(tree, node)
        tree.add_traits(node, 'CUSTOM_ONE')

    agent.driver.describe = custom
    agent.done()
    assert 'GET /traits' not in sent(placement)
    assert 'PUT /traits/CUSTOM_ONE' in sent(placement)


def test_all_is_read_again_when_the_slow_read_is_due(placement, agent_factory):
    clock = Clock()
    agent = agent_factory(simple, clock=clock, full_read_interval=3600)
    agent.done()
    placement.clear()
    clock.now += 3200
    agent.done()
    assert sent(placement) == [LIST]
    placement.clear()
    clock.now += 400
    agent.done()
    assert sent(placement) == [LIST, *READS]


def test_a_clock_that_went_back_reads_again(placement, agent_factory):
    clock = Clock()
    agent = agent_factory(simple, clock=clock)
    agent.done()
    placement.clear()
    clock.now -= 100_000
    agent.done()
    assert sent(placement) == [LIST, *READS]


def test_no_slow_read_where_it_is_off(placement, agent_factory):
    clock = Clock()
    agent = agent_factory(simple, clock=clock, full_read_interval=0)
    agent.done()
    placement.clear()
    clock.now += 1e9
    agent.done()
    assert sent(placement) == [LIST]


def test_the_slow_read_sees_what_moved_no_generation(
    placement, agent_factory, operator
):
    clock = Clock()
    agent = agent_factory(aggregated, clock=clock)
    agent.done()
    _set_aggregates_before_1_19(placement)
    clock.now += 4000
    agent.done()
    assert operator.aggregates() == {AGGREGATE}


@pytest.mark.catches('a write relies on remembered data')
def test_a_write_meets_what_moved_no_generation(
    placement, agent_factory, operator
):
    """The remembered set decides that nothing is to do, never what is."""
    agent = agent_factory(aggregated)
    agent.done()
    _set_aggregates_before_1_19(placement, OPERATOR_S)

    def another(tree, node):
        aggregated(tree, node)
        tree.add_aggregates(node, SECOND)

    agent.driver.describe = another
    agent.done()
    assert operator.aggregates() == {AGGREGATE, SECOND, OPERATOR_S}


def test_every_request_is_at_one_microversion(placement, agent_factory):
    agent_factory(aggregated).done()
    assert {r.microversion for r in placement.requests} == {'1.39'}


@pytest.mark.parametrize('newest', ['1.30', '1.38'])
def test_an_older_server_is_asked_at_its_newest(
    placement, agent_factory, operator, newest
):
    older = {
        'errors': [
            {
                'status': 406,
                'detail': 'Unacceptable version header: 1.39',
                'max_version': newest,
                'min_version': '1.0',
            }
        ]
    }
    placement.fault(lambda r: r.microversion == '1.39', (406, older))
    agent_factory(simple).done()
    first, *others = placement.requests
    assert first.microversion == '1.39'
    assert {r.microversion for r in others} == {newest}
    assert operator.inventories()['VCPU']['total'] == 8


def test_sharing_providers_are_seen_by_the_driver(
    agent_factory, operator, placement
):
    operator.create(SECOND, 'nfs')
    operator.add_traits('MISC_SHARES_VIA_AGGREGATE', uuid=SECOND)
    operator.set_inventories({'DISK_GB': {'total': 100}}, uuid=SECOND)
    operator.set_aggregates(AGGREGATE, uuid=SECOND)
    seen = []

    def look(tree, node):
        aggregated(tree, node)
        seen.append(tree.has_sharing_provider('DISK_GB'))

    agent = agent_factory(look)
    agent.done()
    agent.done()
    placement.clear()
    agent.done()
    assert seen == [False, True, True]
    assert sent(placement) == [CHECK]


@pytest.mark.catches("the agent's own sharing providers are read late")
def test_what_this_agent_shares_is_looked_at_in_each_cycle(
    placement, agent_factory, operator
):
    def sharing(tree, node):
        aggregated(tree, node)
        if not tree.exists(SECOND):
            tree.new_root('nfs', SECOND)
        tree.declare_traits(SECOND, 'MISC_SHARES_VIA_AGGREGATE', 'CUSTOM_NFS')
        tree.declare_aggregates(SECOND, AGGREGATE)

    agent = agent_factory(sharing)
    agent.done()
    operator.remove_traits('CUSTOM_NFS', uuid=SECOND)
    agent.done()
    assert 'CUSTOM_NFS' in operator.traits(SECOND)
    agent.done()
    placement.clear()
    agent.done()
    assert sent(placement) == [CHECK, SHARING]


def _set_aggregates_before_1_19(placement, *aggregates):
    placement.put(
        f'/resource_providers/{NODE}/aggregates',
        list(aggregates),
        microversion='1.18',
    )
