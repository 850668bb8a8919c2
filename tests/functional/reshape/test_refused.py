# SPDX-License-Identifier: Apache-2.0
"""What cannot be moved is said, by the agent or by placement, and stays."""

import pytest
from agents import NODE, Driver
from vgpu_cloud import (
    ALONE,
    ELSEWHERE,
    GPU0,
    GPU1,
    LATE,
    MOVED,
    SHARE,
    TWO_NODES,
    WITH_DISK,
    Mover,
    allocated,
    check,
    reshapes,
    room_by_room,
)

from compute_agent import errors
from compute_agent.cycle import resource_tracker

Status = resource_tracker.Status


def test_without_the_role_it_is_refused_and_says_which_is_missing(
    placement, agent_factory, operator, vgpus_in_use
):
    before = allocated(placement)
    placement.session.headers['X-Roles'] = 'admin'
    try:
        (result,) = agent_factory(Mover(), state=vgpus_in_use).sync()
    finally:
        del placement.session.headers['X-Roles']
    assert result.status is Status.FAILED
    assert not result.outage
    assert 'needs the role service' in result.reason
    assert [r.status for r in reshapes(placement)] == [403]
    assert allocated(placement) == before
    assert operator.inventories()['VGPU']['total'] == 6
    placement.clear()
    agent_factory(Mover(), state=vgpus_in_use).done()
    check(placement, operator)


def lose(allocations):
    room_by_room(allocations)
    del allocations[ALONE]['allocations'][GPU0]


def invent(allocations):
    room_by_room(allocations)
    allocations[ALONE]['allocations'][GPU0]['resources']['VGPU'] = 2


def forget(allocations):
    room_by_room(allocations)
    del allocations[ALONE]


def make(allocations):
    room_by_room(allocations)
    allocations[LATE] = allocations[ALONE]


def give_away(allocations):
    room_by_room(allocations)
    allocations[ALONE]['project_id'] = 'mine'


def touch_the_share(allocations):
    room_by_room(allocations)
    del allocations[WITH_DISK]['allocations'][SHARE]


def touch_the_other_node(allocations):
    room_by_room(allocations)
    parts = allocations[TWO_NODES]['allocations']
    parts[ELSEWHERE]['resources']['MEMORY_MB'] = 1


def overfill(allocations):
    for one in allocations.values():
        one['allocations'][GPU0] = {'resources': {'VGPU': 0}}
        resources = one['allocations'][NODE]['resources']
        one['allocations'][GPU0]['resources']['VGPU'] = resources.pop('VGPU')


def misplace(allocations):
    room_by_room(allocations)
    parts = allocations[WITH_DISK]['allocations']
    parts[GPU1] = parts.pop(NODE)


def garble(allocations):
    room_by_room(allocations)
    allocations[ALONE]['allocations'] = None


@pytest.mark.parametrize(
    ('mistake', 'said'),
    [
        (lose, 'would have 1 VGPU less than it has'),
        (invent, 'would have 1 VGPU more than it has'),
        (forget, f'consumer {ALONE} is missing'),
        (make, f"consumer '{LATE}' has no allocations in this tree"),
        (give_away, "project_id is 'mine', which was 'project'"),
        (touch_the_share, 'its DISK_GB of share'),
        (touch_the_other_node, f'its MEMORY_MB of {ELSEWHERE}'),
        (overfill, '4 VGPU would be allocated of 3'),
        (misplace, f'2 VCPU of gpu1 ({GPU1}), which has none'),
        (garble, 'allocations is None'),
    ],
)
def test_what_a_driver_may_not_do_is_said_and_nothing_is_done(
    placement, agent_factory, operator, vgpus_in_use, mistake, said
):
    agent = agent_factory(Mover(mistake), state=vgpus_in_use)
    result = agent.cycle()
    assert result.status is Status.FAILED
    assert said in result.reason
    assert '\n' not in result.reason
    assert placement.writes == []


class Swapping(Driver):
    """Moves VCPU to a child that gives up MEMORY_MB for it."""

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        if not provider_tree.exists('child'):
            provider_tree.new_child('child', nodename, uuid=GPU0)
        classes = {nodename: 'DISK_GB', 'child': 'VCPU'}
        if not self.swapped:
            classes = {nodename: 'VCPU', 'child': 'MEMORY_MB'}
        elif allocations is None and provider_tree.data(
            nodename
        ).inventory.get('VCPU'):
            raise errors.ReshapeNeeded
        for consumer in (allocations or {}).values():
            given = consumer['allocations']
            if 'VCPU' in given.get(NODE, {}).get('resources', {}):
                given[GPU0] = given.pop(NODE)
        for name, rc in classes.items():
            provider_tree.update_inventory(name, {rc: {'total': 8}})


def test_what_keeps_a_class_from_coming_is_said_with_what_cannot_be_moved(
    placement, agent_factory, operator
):
    driver = Swapping(None)
    driver.swapped = False
    agent = agent_factory(driver)
    agent.done()
    operator.allocate(ALONE, 'VCPU')
    operator.allocate(LATE, 'MEMORY_MB', GPU0)
    driver.swapped = True
    placement.clear()
    result = agent.cycle()
    assert result.status is Status.FAILED
    assert f'1 VCPU of child ({GPU0}), which has none' in result.reason
    assert (
        f'MEMORY_MB is not removed but to be reserved, because it is '
        f'allocated to {LATE}' in (result.reason)
    )
    assert 'VCPU is added when these allocations are gone' in result.reason
    assert placement.writes == []


def test_a_driver_that_asks_twice_is_refused(
    placement, agent_factory, vgpus_in_use
):
    class Insisting(Mover):
        def update_provider_tree(self, provider_tree, nodename, *_):
            raise errors.ReshapeNeeded

    result = agent_factory(Insisting(), state=vgpus_in_use).cycle()
    assert result.status is Status.FAILED
    assert 'which it was given' in result.reason
    assert placement.writes == []


def test_what_stays_where_it_was_is_reserved_there(
    placement, agent_factory, operator, vgpus_in_use
):
    def all_but_one(allocations):
        one = allocations.pop(TWO_NODES)
        room_by_room(allocations)
        allocations[TWO_NODES] = one

    result = agent_factory(Mover(all_but_one), state=vgpus_in_use).cycle()
    assert result.status is Status.FAILED
    assert f'allocated to {TWO_NODES}' in result.reason
    record = operator.inventories()['VGPU']
    assert record['reserved'] == record['total']
    now = allocated(placement)
    assert now[ALONE] == MOVED[ALONE]
    assert now[TWO_NODES][NODE] == {'VGPU': 2}
