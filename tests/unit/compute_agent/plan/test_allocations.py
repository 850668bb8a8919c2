# SPDX-License-Identifier: Apache-2.0
"""What a driver is given of allocations, and what it may make of them."""

import pytest

from compute_agent import errors
from compute_agent.plan import allocations as alloc

ROOT, CHILD, SHARE = 'root', 'child', 'share'


def consumer(uuid='c1', **parts):
    return alloc.Consumer(
        uuid=uuid,
        project_id='p',
        user_id='u',
        generation=7,
        allocations=parts or {ROOT: {'VGPU': 2}, SHARE: {'DISK_GB': 5}},
        consumer_type='INSTANCE',
    )


def given(*consumers):
    consumers = consumers or (consumer(),)
    return alloc.Allocations(
        {one.uuid: one for one in consumers},
        {ROOT: 3, SHARE: 4, CHILD: 0},
    )


def test_a_driver_gets_what_nova_s_get():
    assert given().described == {
        'c1': {
            'allocations': {
                ROOT: {'resources': {'VGPU': 2}, 'generation': 3},
                SHARE: {'resources': {'DISK_GB': 5}, 'generation': 4},
            },
            'project_id': 'p',
            'user_id': 'u',
            'consumer_generation': 7,
            'consumer_type': 'INSTANCE',
        }
    }


def test_there_is_no_type_where_placement_has_none():
    one = alloc.Consumer(
        uuid='c1', project_id='p', user_id='u', generation=1, allocations={}
    )
    assert 'consumer_type' not in given(one).described['c1']


def test_what_is_not_edited_moves_nothing():
    (move,) = given().moves()
    assert list(move.changes()) == []
    assert alloc.providers((move,)) == (set(), set())


def test_what_is_edited_is_what_moves():
    allocations = given()
    parts = allocations.described['c1']['allocations']
    parts[CHILD] = {'resources': parts.pop(ROOT)['resources']}
    (move,) = allocations.moves()
    assert move.consumer == consumer()
    assert move.allocations == {
        CHILD: {'VGPU': 2},
        SHARE: {'DISK_GB': 5},
    }
    assert list(move.changes()) == [(CHILD, 'VGPU', 2), (ROOT, 'VGPU', -2)]
    assert alloc.providers((move,)) == ({ROOT}, {CHILD})


@pytest.mark.parametrize(
    'rest', [{'resources': {}}, {'resources': {'VGPU': 0}}]
)
def test_a_part_of_nothing_is_no_part(rest):
    allocations = given()
    parts = allocations.described['c1']['allocations']
    parts[CHILD] = {'resources': {'VGPU': 2}}
    parts[ROOT] = rest
    (move,) = allocations.moves()
    assert set(move.allocations) == {CHILD, SHARE}


def test_the_edit_of_one_is_not_the_edit_of_another():
    one = consumer()
    allocations = given(one)
    allocations.described['c1']['allocations'][ROOT]['resources'].clear()
    assert one.allocations[ROOT] == {'VGPU': 2}


def removed(described):
    del described['c1']


def added(described):
    described['c2'] = described['c1']


def replaced(described):
    described['c1'] = ['VGPU']


def renamed(described):
    described['c1']['user_id'] = 'me'


def extended(described):
    described['c1']['mappings'] = {}


def emptied(described):
    del described['c1']['allocations']


def flattened(described):
    described['c1']['allocations'][ROOT] = {'VGPU': 2}


def misnamed(described):
    described['c1']['allocations'][7] = {'resources': {'VGPU': 1}}


def parted(described):
    described['c1']['allocations'][ROOT] = 'VGPU'


def halved(described):
    described['c1']['allocations'][ROOT]['resources']['VGPU'] = 1.5


def negated(described):
    described['c1']['allocations'][ROOT]['resources']['VGPU'] = -1


def switched(described):
    described['c1']['allocations'][ROOT]['resources']['VGPU'] = True


def unclassed(described):
    described['c1']['allocations'][ROOT]['resources'][None] = 1


@pytest.mark.parametrize(
    ('edit', 'said'),
    [
        (removed, 'consumer c1 is missing'),
        (added, "consumer 'c2' has no allocations in this tree"),
        (replaced, "consumer c1 is ['VGPU']"),
        (renamed, "consumer c1: user_id is 'me', which was 'u'"),
        (extended, 'consumer c1: mappings is {}, which was None'),
        (emptied, 'consumer c1: allocations is None'),
        (flattened, "consumer c1: 'root' is {'VGPU': 2}"),
        (misnamed, "consumer c1: 7 is {'resources': {'VGPU': 1}}"),
        (parted, "consumer c1: 'root' is 'VGPU'"),
        (halved, "consumer c1: 1.5 of 'VGPU' is not an amount"),
        (negated, "consumer c1: -1 of 'VGPU' is not an amount"),
        (switched, "consumer c1: True of 'VGPU' is not an amount"),
        (unclassed, 'consumer c1: 1 of None is not an amount'),
    ],
)
def test_what_is_no_edit_is_refused_with_one_line(edit, said):
    allocations = given()
    edit(allocations.described)
    with pytest.raises(errors.DriverError) as caught:
        allocations.moves()
    assert str(caught.value) == (
        "the driver's edit of the allocations is not possible, so nothing is "
        f'written: {said}'
    )


def test_of_many_mistakes_some_are_said_and_the_rest_counted():
    allocations = given(*(consumer(f'c{n}') for n in range(6)))
    allocations.described.clear()
    with pytest.raises(errors.DriverError) as caught:
        allocations.moves()
    assert str(caught.value).endswith('consumer c3 is missing; and 2 more')
