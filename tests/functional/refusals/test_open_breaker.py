# SPDX-License-Identifier: Apache-2.0
"""Placement fails inside for three providers in a row: nothing else is begun.

Other nodes are in the middle of their turns then, in threads of their own.

White-box: threads are made to meet inside the private count of faults.
"""

import threading

import pytest
from agents import Driver

from compute_agent.cycle.resource_tracker import Status
from report_client.apply import executor

NODES = {
    f'{number}{number * 7}-1111-4111-8111-111111111111': f'node-{number}'
    for number in map(str, range(1, 8))
}
FIRST, *OTHERS = NODES
CHILD = 'aaaaaaaa-0000-4000-8000-000000000001'
AGGREGATE = 'aaaaaaaa-0000-4000-8000-00000000000f'
AVX2 = 'HW_CPU_X86_AVX2'
SECONDS = 60  # until another thread has done its part; only a hang takes it


class World:
    """Nodes of some traits, the first of them with a child."""

    def __init__(self):
        self.traits = ['HW_CPU_X86_AVX']

    def describe(self, tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 4}})
        tree.update_traits(node, self.traits)
        if node == NODES[FIRST]:
            if not tree.exists('child'):
                tree.new_child('child', node, uuid=CHILD)
            tree.update_inventory('child', {'VGPU': {'total': 4}})
            tree.update_traits('child', self.traits)


@pytest.fixture
def world():
    return World()


@pytest.fixture
def opened(monkeypatch):
    """Set when the breaker has opened."""
    event, real = threading.Event(), executor.CircuitBreaker._counted

    def counted(self, subject, exc):
        why = real(self, subject, exc)
        if why is not None:
            event.set()
        return why

    monkeypatch.setattr(executor.CircuitBreaker, '_counted', counted)
    return event


@pytest.fixture
def agent(placement, operator, agent_factory, world):
    """An agent of nodes that are there; what comes next is to be written."""
    operator.create(FIRST, NODES[FIRST])
    operator.create(CHILD, 'child', FIRST)
    made = agent_factory(
        Driver(world.describe, nodes=NODES), workers=2, max_removed_percent=100
    )
    made.done()
    world.traits.append(AVX2)
    placement.clear()
    return made


def is_write(request, *uuids):
    return request.method == 'PUT' and any(u in request.path for u in uuids)


@pytest.mark.catches('a write that was never sent counts as possibly done')
def test_what_was_not_begun_is_nobody_s(
    agent, placement, operator, world, opened
):
    """Else what another writes there meanwhile would count as ours."""

    def hold(request):
        if is_write(request, FIRST, CHILD):
            assert opened.wait(SECONDS)

    placement.before_request(hold)
    for uuid in OTHERS:
        placement.fault(f'PUT *{uuid}/*', 500, times=None)
    assert any(r.outage for r in agent.sync())
    begun = {
        u for u in (FIRST, CHILD) for w in placement.writes if u in w.path
    }
    (left,) = {FIRST, CHILD} - begun
    assert (
        agent.state.journal.intents([FIRST]).get(FIRST, {}).get(left) is None
    )
    placement.mend()
    operator.add_traits(AVX2, uuid=left)
    agent.done()
    world.traits.remove(AVX2)
    agent.done()
    assert AVX2 in operator.traits(left)
    assert AVX2 not in operator.traits(*begun)


def test_a_look_that_was_on_its_way_leaves_it_open(
    agent, placement, operator, opened
):
    """The first node meets a conflict and looks again meanwhile."""
    conflicted, looking = threading.Event(), threading.Event()

    def hold(request):
        if is_write(request, *OTHERS):
            assert looking.wait(SECONDS)
        elif is_write(request, FIRST) and not conflicted.is_set():
            conflicted.set()
            operator.set_aggregates(AGGREGATE, uuid=FIRST)
        elif (
            request.method == 'GET'
            and 'in_tree' in request.path
            and conflicted.is_set()
            and not looking.is_set()
        ):
            looking.set()
            assert opened.wait(SECONDS)

    placement.before_request(hold)
    for uuid in OTHERS:
        placement.fault(f'PUT *{uuid}/*', 500, times=None)
    first, *_ = agent.sync()
    assert (first.status, first.outage) == (Status.FAILED, True)
    assert first.again_in is None
    placement.mend()
    agent.done()
    assert AVX2 in operator.traits(FIRST)
