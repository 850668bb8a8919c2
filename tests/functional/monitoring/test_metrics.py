# SPDX-License-Identifier: Apache-2.0
"""The metrics of agents whose cycles go well, and of those that do not."""

import platform

import pytest
from agents import NAME, NODE, Driver
from keystoneauth1 import exceptions
from monitored import Monitored

from compute_agent import errors
from compute_agent.monitoring.values import routes
from compute_agent.transport import watched

NODES = {
    f'{n}{n * 7}-1111-4111-8111-111111111111': f'node-{n}' for n in '123456789'
}
OWN = 'OWNER_NOVA'


class World:
    """What a driver describes: a test changes it."""

    def __init__(self):
        self.traits = {'HW_CPU_X86_AVX', 'HW_CPU_X86_AVX2'}
        self.total = 8
        self.fails = False

    def describe(self, tree, node):
        if self.fails:
            raise errors.DriverError('the driver is away')
        tree.update_inventory(node, {'VCPU': {'total': self.total}})
        tree.update_traits(node, self.traits)


@pytest.fixture
def world():
    return World()


@pytest.fixture
def one(placement, agent_factory, world, clock):
    """An agent of one node, measured."""
    agent = agent_factory(world.describe, clock=clock)
    with Monitored.of(agent, placement, clock) as made:
        yield made


def test_the_first_cycle_is_in_all_metrics(one, placement, clock):
    one.cycle()
    seen = one.scrape()
    assert seen['compute_agent_nodes{state="done"}'] == 1
    assert seen['compute_agent_nodes{state="failed"}'] == 0
    assert seen['compute_agent_last_success_timestamp_seconds'] == clock.now
    assert seen['compute_agent_last_cycle_timestamp_seconds'] == clock.now
    assert seen['compute_agent_cycle_start_timestamp_seconds'] == 0
    assert seen['compute_agent_outage'] == 0
    assert (
        seen['compute_agent_cycle_duration_seconds_count{outcome="good"}'] == 1
    )
    writes = {
        kind: seen[f'compute_agent_writes_total{{kind="{kind}"}}']
        for kind in ('create_provider', 'set_traits', 'set_inventories')
    }
    assert sum(writes.values()) == len(placement.writes)
    assert all(writes.values())
    assert seen['compute_agent_writes_total{kind="delete_provider"}'] == 0
    calls = 'compute_agent_driver_call_duration_seconds_count'
    assert seen[f'{calls}{{call="describe",driver="Driver"}}'] == 1
    assert seen[f'{calls}{{call="nodes",driver="Driver"}}'] >= 1
    python = platform.python_version()
    info = f'compute_agent_build_info{{python="{python}",version="0"}}'
    assert seen[info] == 1


def test_each_request_is_counted_by_its_route_and_code(one, placement):
    one.cycle()
    counted = {
        name: value
        for name, value in one.scrape().items()
        if name.startswith('compute_agent_requests_total')
    }
    assert sum(counted.values()) == len(placement.requests)
    assert (
        counted[
            'compute_agent_requests_total{code="200",method="PUT",route='
            '"/resource_providers/{uuid}/traits",service="placement"}'
        ]
        == 1
    )
    assert not any(NODE in name for name in counted)


def test_requests_without_an_answer_are_counted(one, placement):
    placement.fault('*', exceptions.ConnectFailure('refused'), times=None)
    one.cycle()
    seen = one.scrape()
    assert any('code="none"' in name for name in seen)
    assert seen['compute_agent_outage'] == 1
    assert seen['compute_agent_last_success_timestamp_seconds'] == 0
    outcome = 'compute_agent_cycle_duration_seconds_count{outcome="outage"}'
    assert seen[outcome] == 1
    assert one.health().cycles.last.trouble


def test_removals_are_counted_by_kind_and_cause(one, world):
    one.cycle()
    world.traits = {'HW_CPU_X86_AVX'}
    one.cycle()
    seen = one.scrape()
    removals = {
        name: value
        for name, value in seen.items()
        if name.startswith('compute_agent_removals_total') and value
    }
    assert removals == {
        'compute_agent_removals_total{cause="unclaimed",kind="trait"}': 1
    }


def test_drift_is_found_and_mended_once(one, operator, world):
    one.cycle()
    operator.remove_traits('HW_CPU_X86_AVX')
    operator.change_inventory('VCPU', total=4)
    for _ in range(3):
        one.cycle()
    seen = one.scrape()
    for kind, count in (('trait', 1), ('inventory', 1), ('aggregate', 0)):
        for what in ('found', 'restored'):
            name = f'compute_agent_drift_{what}_total{{kind="{kind}"}}'
            assert seen[name] == count, name


def test_drift_that_waits_is_found_once_and_not_mended(
    one, operator, placement
):
    one.cycle()
    operator.remove_traits('HW_CPU_X86_AVX')
    placement.fault('PUT */traits', 400, times=None)
    for _ in range(3):
        one.cycle()
    seen = one.scrape()
    assert seen['compute_agent_drift_found_total{kind="trait"}'] == 1
    assert seen['compute_agent_drift_restored_total{kind="trait"}'] == 0
    assert seen['compute_agent_backoff_nodes'] == 1
    assert seen['compute_agent_backoff_operations'] >= 1
    assert seen['compute_agent_nodes{state="done"}'] == 0
    placement.mend()


def test_a_conflict_is_counted(one, placement, operator, world):
    one.cycle()
    world.traits.add('HW_CPU_X86_SSE')
    other = iter(['CUSTOM_OTHER'])

    def meanwhile(request):
        if request.method == 'PUT':
            for trait in other:
                operator.add_traits(trait)

    placement.before_request(meanwhile)
    one.cycle()
    seen = one.scrape()
    assert seen['compute_agent_conflicts_total'] == 1
    assert seen['compute_agent_nodes{state="done"}'] == 1


def test_a_failing_driver_is_a_failed_node_and_no_outage(one, world, clock):
    one.cycle()
    began = clock.now
    clock.now += 60
    world.fails = True
    one.cycle()
    seen = one.scrape()
    assert seen['compute_agent_nodes{state="failed"}'] == 1
    assert seen['compute_agent_outage'] == 0
    assert seen['compute_agent_last_success_timestamp_seconds'] == clock.now
    oldest = 'compute_agent_nodes_oldest_success_timestamp_seconds'
    assert seen[oldest] == began


def test_a_cycle_that_runs_shows_when_it_began(one, clock):
    one.cycle()
    clock.now += 60
    one.listeners.begin()
    clock.now += 5
    seen = one.scrape()
    name = 'compute_agent_cycle_start_timestamp_seconds'
    assert seen[name] == clock.now - 5


def test_providers_that_are_set_aside_are_counted_by_cause(
    placement, agent_factory, clock
):
    sick = True

    def describe(tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 8}})
        if sick:
            tree.unhealthy(node, 'a fan stands still')

    with Monitored.of(
        agent_factory(describe, clock=clock), placement, clock
    ) as one:
        one.cycle()
        seen = one.scrape()
        name = 'compute_agent_set_aside_providers'
        assert seen[f'{name}{{cause="unhealthy"}}'] == 1
        assert seen[f'{name}{{cause="drained"}}'] == 0
        sick = False
        one.cycle()
        assert one.scrape()[f'{name}{{cause="unhealthy"}}'] == 0


def test_the_numbers_of_a_driver_have_its_name(one):
    one.cycle()
    name = 'compute_agent_driver_value{driver="fake",name="fans"}'
    assert one.scrape()[name] == 2.0


def test_held_changes_are_counted_by_kind(
    placement, agent_factory, operator, clock, world
):
    agent = agent_factory(world.describe, clock=clock, max_removed_percent=0)
    with Monitored.of(agent, placement, clock) as one:
        one.cycle()
        world.total = 1
        one.cycle()
        seen = one.scrape()
        assert seen['compute_agent_held_changes{kind="capacity"}'] == 1
        assert seen['compute_agent_held_changes{kind="names"}'] == 0
        world.total = 8
        one.cycle()
        assert one.scrape()['compute_agent_held_changes{kind="capacity"}'] == 0


def test_nodes_have_no_names_unless_asked_for(one):
    one.cycle()
    text = one.text()
    assert NAME not in text
    assert NODE not in text


def test_no_more_nodes_are_named_than_the_option_says(
    placement, agent_factory, clock, world
):
    agent = agent_factory(Driver(world.describe, nodes=NODES), clock=clock)
    with Monitored.of(agent, placement, clock, names=4) as one:
        one.cycle()
        seen = one.scrape()
    last = 'compute_agent_node_last_success_timestamp_seconds'
    named = [name for name in seen if name.startswith(last)]
    assert named == [f'{last}{{node="node-{n}"}}' for n in '1234']
    assert seen['compute_agent_node_state{node="node-1",state="done"}'] == 1
    assert seen['compute_agent_unnamed_nodes'] == 5


def test_a_hundred_cycles_of_any_kind_make_no_further_series(
    one, operator, placement, world
):
    for turn in range(8):
        world.traits ^= {'HW_CPU_X86_SSE'}
        world.fails = turn == 5
        one.cycle()
    before = set(one.scrape())
    for turn in range(92):
        world.traits ^= {'HW_CPU_X86_SSE'}
        world.fails = turn % 7 == 5
        one.cycle()
    assert set(one.scrape()) == before


def test_hostile_answers_make_a_bounded_number_of_series(one):
    for number in range(3000):
        one.metrics.sent(
            watched.Sent(
                method=f'X{number}',
                path=f'/traits/{number}/{number}',
                status=number,
                seconds=0.0,
            )
        )
    counted = [
        name
        for name in one.scrape()
        if name.startswith('compute_agent_requests_total')
    ]
    assert len(counted) < 100


def test_every_name_is_the_agents_own(one):
    one.cycle()
    assert all(name.startswith('compute_agent_') for name in one.scrape())
    assert 'compute_agent_process_resident_memory_bytes' in one.scrape()
    assert not any('_created' in name for name in one.scrape())


def test_the_routes_of_a_cycle_are_all_known(one):
    one.cycle()
    assert f'route="{routes.OTHER.template}"' not in one.text()
