# SPDX-License-Identifier: Apache-2.0
"""An approval covers what was shown, until placement carried it out."""

import os_traits
import pytest
from agents import Driver

from compute_agent.cycle import resource_tracker
from compute_agent.limits import backoff
from compute_agent.state import state

Status = resource_tracker.Status
MANY = sorted(os_traits.get_traits(prefix='HW_'))[:60]
NODES = {
    f'{n:08}-1111-4111-8111-111111111111': f'node-{n}' for n in range(1, 5)
}
ONE, TWO, THREE, FOUR = NODES


class World:
    """What the driver says of its nodes."""

    def __init__(self):
        self.traits = dict.fromkeys(NODES.values(), MANY)
        self.total = 64

    def describe(self, tree, node):
        tree.update_inventory(node, {'VCPU': {'total': self.total}})
        tree.update_traits(node, self.traits[node])


@pytest.fixture
def world():
    return World()


@pytest.fixture
def agent(agent_factory, world, clock, tmp_path):
    """An agent whose refused writes wait for ten minutes."""
    control = resource_tracker.Control(
        back_off=backoff.Backoff(clock, spread=lambda _low, high: high),
    )
    agent = agent_factory(
        Driver(world.describe, nodes=NODES),
        clock=clock,
        state=tmp_path,
        control=control,
    )
    agent.done()
    return agent


@pytest.fixture
def approve(agent, clock, tmp_path):
    """Approve what a plan shows, as the command does beside a daemon."""

    def approve(*nodes):
        held = [r for r in agent.plan() if not nodes or r.node.name in nodes]
        beside = state.State.open_beside(tmp_path)
        subjects = frozenset().union(*(r.held for r in held))
        assert subjects
        beside.history.clock = clock
        beside.approvals.grant(subjects, 'alice')
        beside.close()

    return approve


def ends(agent, clock, seconds=60):
    clock.now += seconds
    return [r.status for r in agent.sync()]


def traits(operator, uuid):
    return {t for t in operator.traits(uuid) if t.startswith('HW_')}


def lose_traits(world):
    world.traits = dict.fromkeys(NODES.values(), ())


def lose_capacity(world):
    world.total = 1


@pytest.mark.parametrize('lose', [lose_traits, lose_capacity])
@pytest.mark.parametrize('skip', [0, 1])
def test_an_outage_does_not_use_an_approval_up(
    agent, world, clock, placement, operator, approve, lose, skip
):
    before = operator.holdings()
    lose(world)
    assert ends(agent, clock) == [Status.WAITING] * 4
    approve()
    placement.fault('PUT /resource_providers/*', 503, skip=skip)
    assert Status.FAILED in ends(agent, clock)
    assert ends(agent, clock) == [Status.DONE] * 4
    after = operator.holdings()
    assert all(after[name] != before[name] for name in NODES.values())


def test_an_outage_before_the_judgement_leaves_the_approval(
    agent, world, clock, placement, operator, approve
):
    lose_traits(world)
    ends(agent, clock)
    approve()
    world.traits['node-1'] = [MANY[0]]
    operator.add_traits('HW_CPU_X86_AVX512F', uuid=TWO)
    for path in (ONE, TWO):
        placement.fault(f'GET /resource_providers/{path}/*', 503)
        assert Status.FAILED in ends(agent, clock)
    for _ in range(2):
        ends(agent, clock)
    assert traits(operator, ONE) == {MANY[0]}
    # Nobody was shown this one, and the node took part in a mass.
    assert traits(operator, TWO) == {'HW_CPU_X86_AVX512F'}
    approve('node-2')
    ends(agent, clock)
    assert traits(operator, TWO) == set()


def test_a_node_whose_refused_writes_wait_does_not_delay_an_approval(
    agent, world, clock, placement, operator, approve
):
    """The plan that a person sees has this node, the daemon's has not."""
    lose_traits(world)
    ends(agent, clock)
    approve()
    placement.fault(f'PUT /resource_providers/{FOUR}/traits', 400)
    assert ends(agent, clock) == [*[Status.DONE] * 3, Status.FAILED]
    assert traits(operator, ONE) == set()
    # All are due again; one of them waits until its refusal is older.
    for uuid in (ONE, TWO, THREE):
        operator.add_traits(*MANY, uuid=uuid)
    approve()
    waits = [*[Status.DONE] * 3, Status.WAITING]
    assert ends(agent, clock, seconds=1) == waits
    assert traits(operator, ONE) == set()
    assert ends(agent, clock, seconds=900) == [Status.DONE] * 4
    assert traits(operator, FOUR) == set()


@pytest.mark.catches('an approval is never used up')
def test_an_approval_of_what_was_done_is_over(
    agent, world, clock, operator, approve
):
    lose_traits(world)
    ends(agent, clock)
    approve()
    assert ends(agent, clock) == [Status.DONE] * 4
    world.traits = dict.fromkeys(NODES.values(), MANY)
    assert ends(agent, clock) == [Status.DONE] * 4
    lose_traits(world)
    assert ends(agent, clock) == [Status.WAITING] * 4
    assert traits(operator, ONE) == set(MANY)


def test_the_small_rest_of_an_approved_mass_uses_its_approval_up(
    agent, world, clock, placement, operator, approve
):
    lose_traits(world)
    assert ends(agent, clock) == [Status.WAITING] * 4
    approve()
    placement.fault(f'PUT /resource_providers/{FOUR}/traits', 503)
    assert ends(agent, clock) == [*[Status.DONE] * 3, Status.FAILED]
    assert ends(agent, clock) == [Status.DONE] * 4
    world.traits = dict.fromkeys(NODES.values(), MANY)
    assert ends(agent, clock) == [Status.DONE] * 4
    lose_traits(world)
    assert ends(agent, clock) == [Status.WAITING] * 4
    assert len(traits(operator, ONE)) == len(traits(operator, TWO)) == 60


@pytest.mark.catches('an approval is of a whole set only')
def test_what_one_node_loses_is_approved_for_it_alone(
    agent, world, clock, operator, approve
):
    lose_traits(world)
    ends(agent, clock)
    approve('node-1')
    assert ends(agent, clock) == [Status.DONE, *[Status.WAITING] * 3]
    assert traits(operator, ONE) == set()
    assert traits(operator, TWO) == set(MANY)


def test_a_plan_says_what_is_approved_and_uses_nothing_up(
    agent, world, clock, operator, approve
):
    lose_traits(world)
    ends(agent, clock)
    approve('node-1')
    for _ in range(2):
        first, second, *_ = agent.plan()
        assert first.status is Status.DONE
        assert first.approved == ('removals of names are approved by alice',)
        assert second.status is Status.WAITING
        assert second.approved == ()
    assert ends(agent, clock) == [Status.DONE, *[Status.WAITING] * 3]
