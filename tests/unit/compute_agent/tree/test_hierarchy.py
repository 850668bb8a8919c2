# SPDX-License-Identifier: Apache-2.0
"""The bookkeeping below the tree: one name, one uuid, a parent for each."""

import pytest

from compute_agent import errors
from compute_agent.tree import hierarchy, inventory, provider


def member(uuid, parent=None, name=None):
    return hierarchy.Member(
        uuid=uuid, name=name or f'name-{uuid}', parent=parent
    )


@pytest.fixture
def grown():
    """a > (b > d, c), and e."""
    grown = hierarchy.Hierarchy()
    grown.replace(
        [
            member('d', 'b'),
            member('b', 'a'),
            member('a'),
            member('e'),
            member('c', 'a'),
        ]
    )
    return grown


def uuids(members):
    return [one.uuid for one in members]


def test_members_come_parents_first(grown):
    assert uuids(grown.members()) == ['a', 'b', 'd', 'c', 'e']


def test_walking_keeps_a_family_together(grown):
    assert uuids(grown.walk(grown['a'])) == ['a', 'b', 'd', 'c']
    assert uuids(grown.walk(grown['d'])) == ['d']


def test_roots_have_no_parent(grown):
    assert uuids(grown.roots()) == ['a', 'e']
    assert grown.root_of(grown['d']) is grown['a']
    assert grown.root_of(grown['e']) is grown['e']


def test_a_member_is_found_by_uuid_and_by_name(grown):
    assert grown['d'] is grown['name-d']
    assert 'd' in grown
    assert 'name-d' in grown
    assert 'name-x' not in grown


def test_one_that_is_not_there_is_named(grown):
    with pytest.raises(errors.TreeError, match='No such provider x'):
        grown['x']


@pytest.mark.parametrize(
    'taken',
    [
        member('d', name='new'),
        member('new', name='name-d'),
        member('new', name='d'),
        member('name-d', name='new'),
    ],
)
def test_a_name_or_uuid_that_either_index_has_is_taken(grown, taken):
    with pytest.raises(errors.TreeError, match='already exists'):
        grown.insert(taken)
    assert uuids(grown.members()) == ['a', 'b', 'd', 'c', 'e']


def test_a_uuid_may_be_its_own_name(grown):
    grown.insert(member('f', 'e', name='f'))
    assert grown['f'].parent == 'e'
    assert grown['e'].children == ['f']


def test_removing_returns_what_went_and_leaves_no_trace(grown):
    assert uuids(grown.remove(grown['b'])) == ['b', 'd']
    assert grown['a'].children == ['c']
    assert 'd' not in grown
    assert 'name-d' not in grown


def test_one_that_is_replaced_goes_with_all_below_it(grown):
    gone = grown.replace([member('b', 'e')])
    assert uuids(gone) == ['b', 'd']
    assert uuids(grown.walk(grown['e'])) == ['e', 'b']
    assert uuids(grown.walk(grown['a'])) == ['a', 'c']
    assert 'd' not in grown


@pytest.mark.parametrize(
    ('members', 'reason'),
    [
        ([member('a'), member('a')], 'Provider a comes twice'),
        (
            [member('a', name='x'), member('b', name='x')],
            'Provider x already exists',
        ),
        (
            [member('a', 'b')],
            'parent b of provider name-a is not there',
        ),
        ([member('a', 'a')], 'name-a would be in a cycle'),
        (
            [member('r'), member('b', 'a'), member('a', 'b')],
            'name-a, name-b would be in a cycle',
        ),
        (
            [member('a', 'b'), member('b', 'a'), member('c', 'b')],
            'name-a, name-b, name-c would be in a cycle',
        ),
    ],
)
def test_what_is_no_forest_is_refused(members, reason):
    with pytest.raises(errors.TreeError, match=f'^{reason}'):
        hierarchy.Hierarchy().replace(members)


def test_an_empty_forest_has_neither_roots_nor_members():
    empty = hierarchy.Hierarchy()
    assert empty.roots() == []
    assert empty.members() == []


def test_a_member_holds_what_placement_holds():
    held = provider.Provider(
        uuid='u',
        name='n',
        generation=3,
        inventories={'VCPU': inventory.Inventory(total=8)},
        traits=frozenset({'A'}),
        aggregates=frozenset({'g'}),
    )
    assert hierarchy.Member.from_provider(held, 'p') == hierarchy.Member(
        uuid='u',
        name='n',
        generation=3,
        parent='p',
        inventory={'VCPU': inventory.Inventory(total=8).to_record()},
        traits={'A'},
        aggregates={'g'},
    )
