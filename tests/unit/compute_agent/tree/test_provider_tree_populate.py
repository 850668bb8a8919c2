# SPDX-License-Identifier: Apache-2.0
"""populate_from_iterable adds or replaces: all of what it is given or none."""

import itertools

import pytest

from compute_agent import errors
from compute_agent.tree import provider_tree

ROOT = '00000000-0000-0000-0000-000000000001'
CHILD = '00000000-0000-0000-0000-000000000002'
LEAF = '00000000-0000-0000-0000-000000000003'
OTHER = '00000000-0000-0000-0000-000000000004'
NEW = '00000000-0000-0000-0000-000000000009'


def row(uuid, name, parent=None, **more):
    return {
        'uuid': uuid,
        'name': name,
        'parent_provider_uuid': parent,
        'root_provider_uuid': ROOT,
        'links': [],
        **more,
    }


THREE = [
    row(ROOT, 'root', generation=1),
    row(CHILD, 'child', ROOT, generation=2),
    row(LEAF, 'leaf', CHILD, generation=3),
]


@pytest.fixture
def tree():
    """root > child > leaf, with contents, and other as a second root."""
    tree = provider_tree.ProviderTree()
    tree.populate_from_iterable([*THREE, row(OTHER, 'other')])
    for uuid in tree.get_provider_uuids():
        tree.update_inventory(uuid, {'VCPU': {'total': 8}})
        tree.update_traits(uuid, ['A'])
        tree.update_aggregates(uuid, [NEW])
        tree.update_resources(uuid, {'VCPU': {1}})
    return tree


def shape(tree):
    return {
        data.name: (data.uuid, data.parent_uuid, data.generation)
        for data in map(tree.data, tree.get_provider_uuids())
    }


def contents(tree):
    return [tree.data(uuid) for uuid in tree.get_provider_uuids()]


def is_empty(data):
    return not (
        data.inventory or data.traits or data.aggregates or data.resources
    )


@pytest.mark.parametrize('given', list(itertools.permutations(THREE)))
def test_the_order_of_what_is_given_is_no_matter(given):
    tree = provider_tree.ProviderTree()
    assert tree.populate_from_iterable(given) is None
    assert shape(tree) == {
        'root': (ROOT, None, 1),
        'child': (CHILD, ROOT, 2),
        'leaf': (LEAF, CHILD, 3),
    }
    assert tree.get_provider_uuids() == [ROOT, CHILD, LEAF]


def test_any_iterable_will_do():
    tree = provider_tree.ProviderTree()
    tree.populate_from_iterable(iter(THREE))
    assert tree.exists('leaf')


def test_name_and_uuid_are_enough():
    tree = provider_tree.ProviderTree()
    tree.populate_from_iterable([{'uuid': ROOT, 'name': 'root'}])
    assert shape(tree) == {'root': (ROOT, None, None)}


@pytest.mark.parametrize('nothing', [[], (), {}, None])
def test_nothing_given_is_nothing_done(tree, nothing):
    before = contents(tree)
    tree.populate_from_iterable(nothing)
    assert contents(tree) == before


def test_a_new_child_of_a_known_parent_is_added(tree):
    before = contents(tree)
    tree.populate_from_iterable([row(NEW, 'new', CHILD)])
    assert tree.get_provider_uuids('child') == [CHILD, LEAF, NEW]
    tree.remove(NEW)
    assert contents(tree) == before


def test_what_is_given_again_is_replaced_by_an_empty_one(tree):
    tree.populate_from_iterable([row(LEAF, 'leaf', CHILD, generation=9)])
    data = tree.data(LEAF)
    assert is_empty(data)
    assert (data.generation, data.parent_uuid) == (9, CHILD)
    assert not is_empty(tree.data(CHILD))


def test_what_is_below_one_given_again_goes_unless_given_too(tree):
    tree.populate_from_iterable([row(CHILD, 'child', ROOT)])
    assert tree.get_provider_uuids() == [ROOT, CHILD, OTHER]
    assert not tree.exists('leaf')


def test_a_whole_tree_given_again_stands_again(tree):
    tree.populate_from_iterable(reversed(THREE))
    assert tree.get_provider_uuids('root') == [ROOT, CHILD, LEAF]
    assert all(is_empty(tree.data(u)) for u in (ROOT, CHILD, LEAF))
    assert not is_empty(tree.data(OTHER))


def test_one_given_with_another_parent_moves(tree):
    tree.populate_from_iterable([row(LEAF, 'leaf', OTHER)])
    assert tree.get_provider_uuids('root') == [ROOT, CHILD]
    assert tree.get_provider_uuids('other') == [OTHER, LEAF]


def test_one_given_without_a_parent_becomes_a_root(tree):
    tree.populate_from_iterable([row(LEAF, 'leaf')])
    assert tree.data('leaf').parent_uuid is None
    assert [root.name for root in tree.roots] == ['root', 'other', 'leaf']


def test_one_given_with_another_name_has_it(tree):
    tree.populate_from_iterable([row(LEAF, 'renamed', CHILD)])
    assert tree.data('renamed').uuid == LEAF
    assert not tree.exists('leaf')


def test_two_may_swap_their_names(tree):
    tree.populate_from_iterable(
        [row(LEAF, 'other', CHILD), row(OTHER, 'leaf')]
    )
    assert tree.data('other').uuid == LEAF
    assert tree.data('leaf').uuid == OTHER


def test_parent_and_child_may_swap_their_places(tree):
    tree.populate_from_iterable(
        [row(CHILD, 'child', LEAF), row(LEAF, 'leaf', ROOT)]
    )
    assert tree.get_provider_uuids('root') == [ROOT, LEAF, CHILD]


REFUSED = {
    'a parent that is nowhere': (
        [row(NEW, 'new', ROOT), row(OTHER, 'other', LEAF[:-1] + '8')],
        'parent .*8 of provider other is not there',
    ),
    'a parent that goes with its own parent': (
        [row(CHILD, 'child', ROOT), row(NEW, 'new', LEAF)],
        'parent .*3 of provider new is not there',
    ),
    'a ring of two': (
        [row(NEW, 'new', CHILD), row(CHILD, 'child', NEW)],
        'child, new would be in a cycle',
    ),
    'its own parent': (
        [row(NEW, 'new', ROOT), row(OTHER, 'other', OTHER)],
        'other would be in a cycle',
    ),
    'a ring beside what is fine': (
        [
            row(NEW, 'new'),
            row(CHILD, 'child', LEAF),
            row(LEAF, 'leaf', CHILD),
        ],
        'child, leaf would be in a cycle',
    ),
    'a name that another has': (
        [row(NEW, 'other', ROOT)],
        'Provider other already exists',
    ),
    'a name twice': (
        [row(NEW, 'new'), row(OTHER, 'new')],
        'Provider new already exists',
    ),
    'a name that is the uuid of another': (
        [row(OTHER, 'new'), row(NEW, CHILD, ROOT)],
        f'Provider {CHILD} already exists',
    ),
    'a name that is the uuid of another one given': (
        [row(OTHER, 'new'), row(NEW, OTHER, ROOT)],
        f'Provider {OTHER} already exists',
    ),
    'a uuid twice': (
        [row(NEW, 'new'), row(NEW, 'newer')],
        f'Provider {NEW} comes twice',
    ),
    'no uuid': ([row(NEW, 'new'), row('x', 'x')], "provider 'x' is not a"),
    'no name': ([row(NEW, 'new'), row(OTHER, '')], "provider name '' is not"),
}


@pytest.mark.parametrize(
    ('given', 'reason'), REFUSED.values(), ids=REFUSED.keys()
)
def test_what_would_be_no_forest_is_refused_and_changes_nothing(
    tree, given, reason
):
    before = contents(tree)
    with pytest.raises(ValueError, match=f'^{reason}') as caught:
        tree.populate_from_iterable(given)
    assert isinstance(caught.value, errors.AgentError)
    assert contents(tree) == before
    assert not tree.exists('new')


def test_a_uuid_that_is_the_name_of_another_is_refused_and_changes_nothing(
    tree,
):
    tree.new_root(NEW, OTHER[:-1] + '8')
    before = contents(tree)
    with pytest.raises(ValueError, match=f'^Provider {NEW} already exists'):
        tree.populate_from_iterable([row(OTHER, 'other'), row(NEW, 'new')])
    assert contents(tree) == before


def test_a_provider_may_be_named_after_its_own_uuid(tree):
    tree.populate_from_iterable([row(NEW, NEW), row(OTHER, OTHER)])
    assert tree.data(NEW).name == NEW
    assert is_empty(tree.data(OTHER))


def test_what_was_said_of_a_replaced_provider_is_taken_back(tree):
    tree.populate_from_iterable([row(CHILD, 'child', ROOT)])
    spoken_of = {uuid for uuid, _ in tree.assertions}
    assert spoken_of == {ROOT, OTHER}
