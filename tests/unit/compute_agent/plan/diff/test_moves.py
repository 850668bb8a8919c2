# SPDX-License-Identifier: Apache-2.0
"""What of a driver's moves cannot be had, said before placement says it."""

import pytest

from compute_agent.plan import allocations as alloc
from compute_agent.plan.diff import moves
from compute_agent.tree import inventory, provider

ELSEWHERE = (
    "consumer c1: its DISK_GB of {}, which is not of this node's tree, is not "
    "the driver's to change"
)
OWN = frozenset({'root', 'child', 'old'})
SAME = {'PCPU': 'VCPU'}


def one(uuid, **records):
    return provider.Provider(
        uuid=uuid,
        name=f'{uuid}-name',
        inventories={
            rc: inventory.Inventory(**record) for rc, record in records.items()
        },
    )


AFTER = provider.snapshot(
    [
        one('root', VCPU={'total': 8}),
        one(
            'child',
            VGPU={'total': 8, 'min_unit': 2, 'max_unit': 6, 'step_size': 2},
        ),
        one('share', DISK_GB={'total': 10}),
    ]
)


def move(before, after, uuid='c1'):
    return alloc.Move(
        consumer=alloc.Consumer(
            uuid=uuid,
            project_id='p',
            user_id='u',
            generation=1,
            allocations=before,
        ),
        allocations=after,
    )


def vgpu(amount, uuid='c1'):
    return move({'root': {'VGPU': amount}}, {'child': {'VGPU': amount}}, uuid)


def problems(some, after=AFTER, counted_as=SAME):
    return moves.problems(some, after, OWN, counted_as)


def test_what_fits_is_no_problem():
    assert problems((vgpu(4), vgpu(4, 'c2'))) == []


@pytest.mark.parametrize(
    ('before', 'after', 'said'),
    [
        (
            {'root': {'VGPU': 2}},
            {},
            'consumer c1 would have 2 VGPU less than it has',
        ),
        (
            {'root': {'VGPU': 2}},
            {'child': {'VGPU': 4}},
            'consumer c1 would have 2 VGPU more than it has',
        ),
        (
            {'root': {'VCPU': 2}},
            {'root': {'PCPU': 1}},
            'consumer c1 would have 1 VCPU less than it has',
        ),
        (
            {'root': {'VCPU': 2}},
            {'root': {'VGPU': 2}},
            (
                'consumer c1 would have 2 VCPU less than it has; '
                'consumer c1 would have 2 VGPU more than it has'
            ),
        ),
        (
            {'share': {'DISK_GB': 2}},
            {'share': {'DISK_GB': 1}},
            ELSEWHERE.format('share-name (share)'),
        ),
        (
            {'far': {'DISK_GB': 2}},
            {},
            ELSEWHERE.format('far'),
        ),
        (
            {'child': {'VGPU': 2}},
            {'root': {'VGPU': 2}},
            'consumer c1: 2 VGPU of root-name (root), which has none',
        ),
        (
            {'root': {'VGPU': 2}},
            {'old': {'VGPU': 2}},
            'consumer c1: 2 VGPU of old, which has none',
        ),
        (
            {'root': {'VGPU': 8}},
            {'child': {'VGPU': 8}},
            'consumer c1: 8 VGPU of child-name (child), whose max_unit is 6',
        ),
        (
            {'root': {'VGPU': 1}},
            {'child': {'VGPU': 1}},
            'consumer c1: 1 VGPU of child-name (child), whose min_unit is 2',
        ),
        (
            {'root': {'VGPU': 3}},
            {'child': {'VGPU': 3}},
            'consumer c1: 3 VGPU of child-name (child), whose step_size is 2',
        ),
    ],
)
def test_what_cannot_be_is_said(before, after, said):
    found = problems((move(before, after),))
    assert '; '.join(found) == said


def test_a_processor_may_change_its_class():
    pinned = move({'root': {'VCPU': 4}}, {'root': {'VCPU': 1, 'PCPU': 3}})
    offering = one('root', VCPU={'total': 2}, PCPU={'total': 4})
    after = provider.snapshot([offering])
    assert problems((pinned,), after) == []


def test_a_class_becomes_another_only_if_the_driver_says_so():
    pinned = move({'root': {'VCPU': 1}}, {'root': {'PCPU': 1}})
    assert problems((pinned,), counted_as={}) == [
        'consumer c1 would have 1 PCPU more than it has',
        'consumer c1 would have 1 VCPU less than it has',
    ]


def test_what_is_allocated_already_counts():
    stays = move({'child': {'VGPU': 4}}, {'child': {'VGPU': 4}}, 'c2')
    assert problems((stays, vgpu(6))) == [
        'child-name (child): 10 VGPU would be allocated of 8'
    ]


def test_what_is_overfull_may_stay_so():
    """Placement takes what makes it no worse."""
    stays = move({'root': {'VCPU': 20}}, {'root': {'VCPU': 20}}, 'c2')
    both = move(
        {'root': {'VGPU': 2, 'VCPU': 1}},
        {'root': {'VCPU': 1}, 'child': {'VGPU': 2}},
    )
    assert problems((stays, both)) == []


def test_what_does_not_move_is_not_looked_at():
    """Nor is it sent."""
    odd = move({'child': {'VGPU': 1}}, {'child': {'VGPU': 1}})
    assert problems((odd,)) == []


def test_other_trees_are_for_placement_to_judge():
    both = move(
        {'root': {'VGPU': 2}, 'far': {'VGPU': 99}},
        {'child': {'VGPU': 2}, 'far': {'VGPU': 99}},
    )
    assert problems((both,)) == []


def test_consumers_are_found_where_they_will_be():
    found = alloc.consumers_after((vgpu(4), vgpu(4, 'c2')))
    assert found == {'child': {'VGPU': frozenset({'c1', 'c2'})}}
