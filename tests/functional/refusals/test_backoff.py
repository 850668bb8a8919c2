# SPDX-License-Identifier: Apache-2.0
"""What placement refuses is sent again later and later, all else at once."""

import itertools

import pytest
from agents import NODE, Driver
from call_counts import calls

from compute_agent.cycle import resource_tracker
from compute_agent.cycle.resource_tracker import Control
from compute_agent.limits import backoff

Status = resource_tracker.Status
REFUSED = (400, {'errors': [{'status': 400, 'detail': 'not today'}]})
NODES = {
    f'{number}{number * 7}-1111-4111-8111-111111111111': f'node-{number}'
    for number in map(str, range(1, 8))
}


class World:
    total = 4
    traits = ('HW_CPU_X86_AVX',)

    def describe(self, tree, node):
        tree.update_inventory(node, {'VCPU': {'total': self.total}})
        tree.update_traits(node, self.traits)


@pytest.fixture
def world():
    return World()


def patient(clock):
    """Waits that are as long as may be."""
    return Control(
        back_off=backoff.Backoff(clock, spread=lambda _low, high: high)
    )


@pytest.fixture
def agent(agent_factory, world, clock):
    agent = agent_factory(world.describe, control=patient(clock))
    agent.done()
    return agent


def cycles(agent, clock, seconds):
    """Do a cycle a minute for so long; return the results."""
    results = []
    for _ in range(seconds // 60):
        results.append(agent.cycle())
        clock.now += 60
    return results


@pytest.mark.long_except(every=2)
@pytest.mark.catches('a refused write is sent in every cycle', case='500')
@pytest.mark.parametrize('answer', [REFUSED, 500])
def test_in_an_hour_of_cycles_it_is_sent_a_few_times_at_growing_distances(
    placement, agent, world, clock, answer
):
    world.total = 9
    placement.clear()
    fault = placement.fault('PUT */inventories', answer, times=None)
    results = cycles(agent, clock, 3600)
    sent = [n for n, r in enumerate(results) if r.status is Status.FAILED]
    assert sent[:4] == [0, 1, 3, 7]
    assert {b - a for a, b in itertools.pairwise(sent[4:])} == {10}
    assert fault.hits == len(sent) == len(placement.writes) == 9
    waiting = [r for r in results if r.status is Status.WAITING]
    assert {r.reason for r in results} == {results[0].reason}
    assert all(0 < r.again_in <= 600 for r in waiting)
    placement.mend()
    assert {r.status for r in cycles(agent, clock, 660)[-1:]} == {Status.DONE}


def test_another_plan_is_sent_at_once(placement, agent, world, operator):
    world.total = 9
    placement.fault('PUT */inventories', REFUSED)
    assert agent.cycle().status is Status.FAILED
    assert agent.cycle().status is Status.WAITING
    world.total = 10
    agent.done()
    assert operator.inventories()['VCPU']['total'] == 10


def test_what_stands_beside_it_is_not_held_up(
    placement, agent, world, operator
):
    """The traits go through; what is left of the plan waits."""
    world.total, world.traits = 9, ('HW_CPU_X86_AVX', 'HW_CPU_X86_AVX2')
    placement.fault('PUT */inventories', REFUSED, times=None)
    assert agent.cycle().status is Status.FAILED
    assert 'HW_CPU_X86_AVX2' in operator.traits()
    placement.clear()
    assert agent.cycle().status is Status.WAITING
    assert placement.writes == []


def test_a_person_s_sync_always_tries(
    placement, agent_factory, agent, world, clock
):
    world.total = 9
    placement.fault('PUT */inventories', REFUSED)
    assert agent.cycle().status is Status.FAILED
    assert agent.cycle().status is Status.WAITING
    agent_factory(
        world.describe, state=agent.state, control=patient(clock)
    ).done()


def test_success_ends_the_waiting(placement, agent, world, clock):
    for total in (9, 10):
        world.total = total
        placement.fault('PUT */inventories', REFUSED)
        assert agent.cycle().again_in == 60
        clock.now += 60
        agent.done()


def test_a_refusal_holds_up_no_other_node(
    placement, agent_factory, world, clock
):
    agent = agent_factory(
        Driver(world.describe, nodes=NODES), control=patient(clock)
    )
    agent.done()
    world.total = 9
    refused = next(iter(NODES))
    placement.fault(f'PUT *{refused}/inventories', REFUSED, times=None)
    for status in (Status.FAILED, Status.WAITING):
        ends = [r.status for r in agent.sync()]
        assert ends == [status] + [Status.DONE] * 6


# --- 500s --------------------------------------------------------------------


@pytest.mark.parametrize('workers', [1, 3])
def test_three_providers_that_fail_in_a_row_end_the_cycle(
    placement, agent_factory, world, workers
):
    agent = agent_factory(Driver(world.describe, nodes=NODES), workers=workers)
    agent.done()
    world.total = 9
    placement.clear()
    placement.fault('PUT *', 500, times=None)
    results = agent.sync()
    assert any(r.outage for r in results)
    assert {r.status for r in results} == {Status.FAILED}
    # Those at work when it opens end theirs.
    assert 3 <= len(placement.writes) <= 3 + workers - 1
    placement.mend()
    agent.done()


@pytest.mark.catches("an outage repeats one node's results for every node")
def test_what_was_done_before_an_outage_is_said_of_its_node_alone(
    placement, agent_factory, world
):
    agent = agent_factory(Driver(world.describe, nodes=NODES))
    agent.done()
    world.total, world.traits = 9, ('HW_CPU_X86_AVX2',)
    placement.fault('PUT */inventories', 503, times=None)
    first, *others = agent.sync()
    assert first.outage
    assert [op.kind for op in first.applied] == ['trait']
    assert {(r.outage, r.applied) for r in others} == {(True, ())}
    assert all(r.no_server for r in (first, *others))  # 503: soon again


def test_two_that_fail_are_two(placement, agent_factory, world):
    agent = agent_factory(Driver(world.describe, nodes=NODES))
    agent.done()
    world.total = 9
    placement.fault('PUT *', 500, times=2)
    results = agent.sync()
    assert [r.status for r in results] == [Status.FAILED] * 2 + [
        Status.DONE
    ] * 5
    assert not any(r.outage for r in results)


def test_providers_that_stay_broken_do_not_starve_the_others(
    placement, agent_factory, world, clock
):
    """Three at the head of the list open the breaker, then they wait."""
    agent = agent_factory(
        Driver(world.describe, nodes=NODES), control=patient(clock)
    )
    agent.done()
    world.total = 9
    for broken in list(NODES)[:3]:
        placement.fault(f'PUT *{broken}/*', 500, times=None)
    assert any(r.outage for r in agent.sync())
    ends = [r.status for r in agent.sync()]
    assert ends == [Status.WAITING] * 3 + [Status.DONE] * 4


@pytest.mark.catches(
    'a node with refused writes starves the others', case='3-False'
)
@pytest.mark.parametrize(
    'moves', [False, pytest.param(True, marks=pytest.mark.long)]
)
@pytest.mark.parametrize(
    'count',
    [3, *(pytest.param(n, marks=pytest.mark.long) for n in (2, 4, 7))],
)
def test_one_node_of_many_broken_providers_does_not_starve_the_others(
    placement, agent_factory, world, clock, operator, count, moves
):
    """It is the first in the list, and opens the breaker all alone.

    What is to be written to its children is the same in each cycle, and
    waits, or moves with everything else, and is tried at once.
    """
    children = [f'aaaaaaaa-0000-4000-8000-{n:012}' for n in range(count)]
    broken, *others = NODES
    free = 5

    def describe(tree, node):
        world.describe(tree, node)
        for uuid in children if node == NODES[broken] else ():
            if not tree.exists(uuid):
                tree.new_child(uuid, node, uuid=uuid)
            tree.update_inventory(uuid, {'VGPU': {'total': free}})

    agent = agent_factory(
        Driver(describe, nodes=NODES), control=patient(clock)
    )
    agent.done()
    free, outages, done = 6, 0, 0
    for uuid in children:
        placement.fault(f'PUT *{uuid}/*', 500, times=None)
    for world.total in range(10, 30):  # each cycle has something to write
        free += moves
        results = agent.sync()
        outages += any(r.outage for r in results)
        done += all(r.status is Status.DONE for r in results[1:])
        clock.now += 60
    assert done >= 19  # in the first one nobody knows which one is broken
    assert all(operator.inventories(u)['VCPU']['total'] == 29 for u in others)
    if count == 2:
        assert outages == 0
    elif not moves:
        assert 0 < outages <= 10


def test_who_was_refused_comes_after_who_was_not(
    placement, agent_factory, world, clock
):
    agent = agent_factory(
        Driver(world.describe, nodes=NODES), control=patient(clock)
    )
    agent.done()
    first, *others = NODES
    placement.fault(f'PUT *{first}/*', REFUSED)
    for world.total, order in (
        (9, [first, *others]),
        (10, [*others, first]),
        (11, [first, *others]),
    ):
        placement.clear()
        assert [r.node.uuid for r in agent.sync()] == list(NODES)
        assert [u for w in placement.writes for u in NODES if u in w.path] == (
            order
        )


def test_a_node_that_stands_still_is_not_written_by_a_broken_cycle(
    placement, agent, operator
):
    placement.fault('PUT *', 500, times=None)
    before = operator.generation(NODE)
    agent.done()
    assert operator.generation(NODE) == before


def test_refused_children_cost_no_more_each_the_more_there_are(
    placement, agent, world
):
    """Neither the refusals, nor the cycles in which they wait."""
    placement.fault('POST /resource_providers', REFUSED, times=None)

    def cost(count):
        def describe(tree, node):
            world.describe(tree, node)
            for number in range(count):
                child = f'{count}-{number}'
                tree.new_child(child, node)
                tree.update_inventory(child, {'VGPU': {'total': 4}})
                tree.update_traits(child, {'HW_CPU_X86_AVX'})

        agent.driver.describe = describe
        return [calls(agent.cycle) for _ in range(2)]

    cost(10)
    for few, many in zip(cost(30), cost(120), strict=True):
        assert many < 5 * few
