# SPDX-License-Identifier: Apache-2.0
"""In which order a plan comes that moves what is allocated."""

import dataclasses

import pytest

from compute_agent.plan import allocations as alloc
from compute_agent.plan.diff import diff
from compute_agent.plan.operations import operations as ops
from compute_agent.tree import inventory, provider


def one(uuid, parent=None, traits=(), **totals):
    return provider.Provider(
        uuid=uuid,
        name=f'{uuid}-name',
        parent_uuid=parent,
        generation=1,
        traits=frozenset(traits),
        inventories={
            rc: inventory.Inventory(total=total)
            for rc, total in totals.items()
        },
    )


def move(before, after):
    return alloc.Move(
        consumer=alloc.Consumer(
            uuid='c1',
            project_id='p',
            user_id='u',
            generation=1,
            allocations=before,
        ),
        allocations=after,
    )


TO_CHILD = move({'root': {'VGPU': 1}}, {'child': {'VGPU': 1}})


def lines(before, after, *moves):
    """The plan as short lines; a reshape with its providers and classes."""
    before, after = provider.snapshot(before), provider.snapshot(after)
    return [_line(op) for op in diff.operations(before, after, moves=moves)]


def _line(operation):
    what = type(operation).__name__
    if isinstance(operation, ops.Reshape):
        parts = [
            f'{part.uuid}={"+".join(sorted(part.inventories))}'
            for part in operation.inventories
        ]
        return f'{what} {operation.uuid} {" ".join(parts)}'
    if isinstance(operation, ops.SetInventories):
        return f'{what} {operation.uuid}={"+".join(operation.inventories)}'
    return f'{what} {operation.uuid}'


def test_what_takes_is_labelled_before_and_what_gives_after():
    before = [one('root', VCPU=8, VGPU=2)]
    after = [
        one('root', traits=['B'], VCPU=8),
        one('child', 'root', traits=['A'], VGPU=2),
    ]
    assert lines(before, after, TO_CHILD) == [
        'CreateProvider child',
        'SetTraits child',
        'Reshape root root=VCPU child=VGPU',
        'SetTraits root',
    ]


def test_what_has_no_part_in_it_is_written_by_itself():
    before = [
        one('root', VCPU=8, VGPU=2),
        one('smaller', 'root', DISK_GB=2),
        one('larger', 'root', DISK_GB=1),
        one('child', 'root'),
    ]
    after = [
        one('root', VCPU=8),
        one('smaller', 'root', DISK_GB=1),
        one('larger', 'root', DISK_GB=2),
        one('child', 'root', VGPU=2),
    ]
    assert lines(before, after, TO_CHILD) == [
        'SetInventories smaller=DISK_GB',
        'Reshape root root=VCPU child=VGPU',
        'SetInventories larger=DISK_GB',
    ]


def test_what_gives_and_grows_with_new_labels_grows_last():
    before = [one('root', VCPU=8, VGPU=2), one('child', 'root')]
    after = [
        one('root', traits=['B'], VCPU=16),
        one('child', 'root', VGPU=2),
    ]
    assert lines(before, after, TO_CHILD) == [
        'Reshape root root=VCPU child=VGPU',
        'SetTraits root',
        'SetInventories root=VCPU',
    ]


def test_what_gives_and_only_grows_is_not_in_it():
    before = [one('root', VGPU=2), one('child', 'root')]
    after = [
        one('root', traits=['B'], VGPU=4),
        one('child', 'root', VGPU=2),
    ]
    assert lines(before, after, TO_CHILD) == [
        'SetTraits root',
        'Reshape root child=VGPU',
        'SetInventories root=VGPU',
    ]


def test_what_gives_one_class_and_gets_another_is_written_once():
    before = [one('root', VGPU=2), one('child', 'root')]
    after = [one('root', PCPU=2), one('child', 'root', VGPU=2)]
    assert lines(before, after, TO_CHILD) == [
        'Reshape root root=PCPU child=VGPU'
    ]


def test_what_takes_and_shrinks_with_new_labels_shrinks_first():
    before = [one('root', VGPU=2), one('child', 'root', VCPU=8)]
    after = [
        one('root'),
        one('child', 'root', traits=['A'], VCPU=4, VGPU=2),
    ]
    assert lines(before, after, TO_CHILD) == [
        'SetInventories child=VCPU',
        'SetTraits child',
        'Reshape root root= child=VCPU+VGPU',
    ]


def test_what_gives_one_class_and_takes_another_is_written_once():
    before = [one('root', VGPU=2), one('child', 'root', PCPU=2)]
    after = [
        one('root', traits=['A'], PCPU=2),
        one('child', 'root', traits=['B'], VGPU=2),
    ]
    swap = move(
        {'root': {'VGPU': 1}, 'child': {'PCPU': 1}},
        {'root': {'PCPU': 1}, 'child': {'VGPU': 1}},
    )
    assert lines(before, after, swap) == [
        'SetTraits root',
        'SetTraits child',
        'Reshape root root=PCPU child=VGPU',
    ]


def test_what_gives_and_takes_and_stays_as_it_is_is_not_in_it():
    """But guests that only change places have all their providers sent."""
    same = [one('a', VGPU=2), one('b', VGPU=2)]
    swap = move(
        {'a': {'VGPU': 1}, 'b': {'VGPU': 2}},
        {'a': {'VGPU': 2}, 'b': {'VGPU': 1}},
    )
    assert lines(same, same, swap) == ['Reshape a a=VGPU b=VGPU']
    other = move(
        {'a': {'VGPU': 1, 'VCPU': 1}, 'b': {'PCPU': 1}},
        {'a': {'VGPU': 1, 'PCPU': 1}, 'b': {'VCPU': 1}},
    )
    before = [one('a', VGPU=2, VCPU=1, PCPU=1), one('b', PCPU=1)]
    after = [one('a', VGPU=2, VCPU=1, PCPU=1), one('b', VCPU=1)]
    assert lines(before, after, other) == ['Reshape b b=VCPU']


def test_what_goes_is_emptied_with_it_and_deleted_last():
    before = [one('root'), one('old', 'root', VGPU=2)]
    after = [one('root'), one('new', 'root', VGPU=2)]
    moved = move({'old': {'VGPU': 1}}, {'new': {'VGPU': 1}})
    assert lines(before, after, moved) == [
        'CreateProvider new',
        'Reshape root new=VGPU old=',
        'DeleteProvider old',
    ]


def test_the_name_of_what_goes_is_freed_by_a_rename():
    before = [one('root'), one('old', 'root', VGPU=2)]
    new = dataclasses.replace(one('new', 'root', VGPU=2), name='old-name')
    moved = move({'old': {'VGPU': 1}}, {'new': {'VGPU': 1}})
    assert lines(before, [one('root'), new], moved) == [
        'UpdateProvider old',
        'CreateProvider new',
        'Reshape root new=VGPU old=',
        'DeleteProvider old',
    ]


def test_what_goes_and_lost_its_inventory_before_is_only_deleted():
    before = [one('root'), one('old', 'root')]
    after = [one('root'), one('new', 'root', VGPU=2)]
    moved = move({'old': {'VGPU': 1}}, {'new': {'VGPU': 1}})
    assert lines(before, after, moved) == [
        'CreateProvider new',
        'Reshape root new=VGPU',
        'DeleteProvider old',
    ]


def test_a_consumer_that_moves_nothing_makes_no_reshape():
    before = [one('root', VGPU=2)]
    still = move({'root': {'VGPU': 1}}, {'root': {'VGPU': 1}})
    assert lines(before, [one('root', VGPU=1)], still) == [
        'SetInventories root=VGPU'
    ]


def test_what_is_allocated_of_nothing_cannot_be():
    before = provider.snapshot([one('root', VGPU=2), one('child', 'root')])
    operation = ops.Reshape(
        uuid='root', name='root-name', inventories=(), moves=(TO_CHILD,)
    )
    with pytest.raises(ops.Impossible, match='child-name .* has no VGPU'):
        operation.apply_to(before)


def test_it_says_what_moves_and_which_providers_it_touches():
    (operation,) = diff.operations(
        provider.snapshot([one('root', VGPU=2), one('child', 'root')]),
        provider.snapshot([one('root'), one('child', 'root', VGPU=2)]),
        moves=(
            move(
                {'root': {'VGPU': 1}, 'far': {'DISK_GB': 1}},
                {'child': {'VGPU': 1}, 'far': {'DISK_GB': 1}},
            ),
        ),
    )
    assert operation.moved_classes == operation.added == {'VGPU'}
    assert operation.providers == {'root', 'child', 'far'}
