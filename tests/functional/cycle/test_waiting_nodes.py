# SPDX-License-Identifier: Apache-2.0
"""A cycle in which nodes wait costs one request, like any quiet cycle."""

import pytest
from agents import Driver

from compute_agent.cycle import resource_tracker
from compute_agent.limits import backoff, blast_radius
from compute_agent.virt import driver as virt

Status = resource_tracker.Status
RACK = {f'{n:08}-1111-4111-8111-111111111111': f'node-{n}' for n in range(6)}
UUIDS = list(RACK)
THEIRS = 'eeeeeeee-eeee-4eee-8eee-eeeeeeeeeeee'
CONSUMER = '99999999-9999-4999-8999-999999999999'


class Rack(Driver):
    """A driver of six nodes with a child each.

    :ivar classes: the resource classes of each node
    :ivar children: True while the nodes have their children
    """

    def __init__(self):
        super().__init__(
            self._describe_one, nodes=RACK, missing=virt.Existence.NO
        )
        self.classes = ['VCPU', 'VGPU']
        self.children = True

    def _describe_one(self, tree, node):
        tree.update_inventory(node, {rc: {'total': 64} for rc in self.classes})
        child = f'{node}-child'
        if self.children and not tree.exists(child):
            tree.new_child(child, node)
        if not self.children and tree.exists(child):
            tree.remove(child)
        if self.children:
            tree.update_inventory(child, {'PCPU': {'total': 4}})


@pytest.fixture
def rack():
    return Rack()


@pytest.fixture
def limits():
    """The limits of the next cycle, as the only entry."""
    return [blast_radius.Limits()]


@pytest.fixture
def agent(agent_factory, rack, clock, limits):
    control = resource_tracker.Control(
        limits=lambda: limits[0],
        back_off=backoff.Backoff(clock, spread=lambda _low, high: high),
    )
    agent = agent_factory(rack, clock=clock, control=control)
    for _ in range(2):
        agent.done()
    return agent


def statuses(agent, clock, seconds=1):
    clock.now += seconds
    return {r.status for r in agent.sync()}


def assert_waits_for_one_request(agent, placement, clock, status):
    """Four cycles: the first two may read what they did not know."""
    for _ in range(2):
        assert status in statuses(agent, clock)
    for _ in range(2):
        placement.clear()
        assert status in statuses(agent, clock)
        assert [str(r) for r in placement.requests] == [
            'GET /resource_providers'
        ]


def lose_a_class(rack):
    rack.classes = ['VCPU']


def lose_children(rack):
    rack.children = False


def lose_nodes(rack):
    for uuid in UUIDS[:4]:
        del rack.nodes[uuid]


@pytest.mark.parametrize('lose', [lose_a_class, lose_children, lose_nodes])
@pytest.mark.catches('a waiting node asks for allocations in each cycle')
def test_removals_that_a_limit_holds_back(agent, rack, clock, placement, lose):
    lose(rack)
    assert_waits_for_one_request(agent, placement, clock, Status.WAITING)


def test_refused_deletions(agent, rack, clock, placement):
    placement.fault('DELETE *', 400, times=None)
    del rack.nodes[UUIDS[0]]
    statuses(agent, clock)
    assert_waits_for_one_request(agent, placement, clock, Status.WAITING)


@pytest.mark.catches('departed nodes that wait cost a second list')
def test_a_departed_root_that_is_not_ours_to_delete(
    agent, rack, clock, placement, operator
):
    operator.create(THEIRS, 'theirs', UUIDS[0])
    del rack.nodes[UUIDS[0]]
    assert_waits_for_one_request(agent, placement, clock, Status.FAILED)
    operator.delete(THEIRS)
    assert statuses(agent, clock) == {Status.DONE}
    assert 'node-0' not in operator.holdings()


def test_what_is_freed_meanwhile_goes_once_the_node_does_not_wait(
    agent, rack, clock, limits, placement, operator
):
    """The end of an allocation raises no generation."""
    operator.allocate(CONSUMER, 'VGPU', UUIDS[0])
    lose_a_class(rack)
    for _ in range(2):
        assert Status.WAITING in statuses(agent, clock)
    placement.delete(f'/allocations/{CONSUMER}')
    assert Status.WAITING in statuses(agent, clock)
    limits[0] = None
    for _ in range(2):
        statuses(agent, clock)
    assert 'VGPU' not in operator.inventories(UUIDS[0])
