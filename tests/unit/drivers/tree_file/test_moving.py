# SPDX-License-Identifier: Apache-2.0
"""Which providers a class leaves, and where what is allocated of it goes."""

import pytest

from compute_agent import errors
from compute_agent.tree import inventory, provider, provider_tree
from drivers.tree_file import moving

ROOT, GPU0, GPU1, SHARE = (
    f'{n}0000000-0000-4000-8000-000000000000' for n in range(1, 5)
)


def tree(*children, root=2):
    """The class was on the root and is on the children, by their totals."""
    made = provider_tree.ProviderTree.from_providers(
        [
            provider.Provider(
                uuid=ROOT,
                name='node',
                inventories={
                    'VGPU': inventory.Inventory(total=root),
                    'VCPU': inventory.Inventory(total=1),
                },
            ),
            provider.Provider(
                uuid=SHARE,
                name='share',
                inventories={'VGPU': inventory.Inventory(total=9)},
            ),
        ],
    )
    made.update_inventory(ROOT, {'VCPU': {'total': 1}})
    for uuid, record in zip((GPU0, GPU1), children, strict=False):
        made.new_child(uuid, ROOT, uuid)
        made.update_inventory(uuid, {'VGPU': record})
    return made


def consumers(*amounts):
    return {
        f'c{n}': {
            'allocations': {
                ROOT: {'resources': {'VGPU': amount}, 'generation': 1},
                SHARE: {'resources': {'VGPU': 1}, 'generation': 1},
            }
        }
        for n, amount in enumerate(amounts)
    }


def places(allocations):
    return [
        {
            uuid: part['resources']['VGPU']
            for uuid, part in one['allocations'].items()
            if uuid != SHARE
        }
        for one in allocations.values()
    ]


def test_a_class_leaves_where_it_was_and_is_no_more():
    assert moving.leaves(tree({'total': 2}), 'node', 'VGPU') == [ROOT]


def test_one_that_stays_leaves_nothing():
    assert moving.leaves(tree(), 'node', 'VCPU') == []


def test_it_leaves_a_provider_that_is_removed():
    made = tree({'total': 2})
    again = provider_tree.ProviderTree.from_providers(
        [
            provider.Provider(uuid=ROOT, name='node'),
            provider.Provider(
                uuid=GPU0,
                name='gpu',
                parent_uuid=ROOT,
                inventories=made.baseline[ROOT].inventories,
            ),
        ]
    )
    again.remove(GPU0)
    assert moving.leaves(again, 'node', 'VGPU') == [GPU0]


def test_each_consumer_goes_to_the_first_with_room():
    allocations = consumers(2, 1, 1)
    moving.move(
        tree({'total': 3}, {'total': 3}), 'node', ['VGPU'], allocations
    )
    assert places(allocations) == [{GPU0: 2}, {GPU0: 1}, {GPU1: 1}]


def test_what_is_reserved_or_too_large_for_one_is_no_room():
    allocations = consumers(2)
    moving.move(
        tree({'total': 3, 'reserved': 2}, {'total': 3}),
        'node',
        ['VGPU'],
        allocations,
    )
    assert places(allocations) == [{GPU1: 2}]
    allocations = consumers(2)
    moving.move(
        tree({'total': 3, 'max_unit': 1}, {'total': 3}),
        'node',
        ['VGPU'],
        allocations,
    )
    assert places(allocations) == [{GPU1: 2}]


def test_what_else_a_consumer_has_stays_where_it_is():
    allocations = consumers(1)
    here = allocations['c0']['allocations'][ROOT]['resources']
    here['VCPU'] = 1
    moving.move(tree({'total': 3}), 'node', ['VGPU'], allocations)
    assert here == {'VCPU': 1}
    assert allocations['c0']['allocations'][GPU0] == {'resources': {'VGPU': 1}}
    assert allocations['c0']['allocations'][SHARE]['resources'] == {'VGPU': 1}


def test_one_that_has_nothing_there_is_left_alone():
    allocations = consumers(0)
    del allocations['c0']['allocations'][ROOT]
    moving.move(tree({'total': 3}), 'node', ['VGPU'], allocations)
    assert places(allocations) == [{}]


def test_without_room_it_says_whose_there_is_none_for():
    with pytest.raises(errors.DriverError) as caught:
        moving.move(tree({'total': 1}), 'node', ['VGPU'], consumers(2))
    assert str(caught.value) == (
        'no provider of node has room for the 2 VGPU of consumer c0'
    )
