# SPDX-License-Identifier: Apache-2.0
"""Providers are added and removed; what would break the tree is refused."""

import uuid as uuidlib

import pytest

from compute_agent import errors
from compute_agent.tree import provider_tree

ROOT = '00000000-0000-0000-0000-000000000001'
CHILD = '00000000-0000-0000-0000-000000000002'
LEAF = '00000000-0000-0000-0000-000000000003'
OTHER = '00000000-0000-0000-0000-000000000004'
NEW = '00000000-0000-0000-0000-000000000009'


@pytest.fixture
def tree():
    """root > child > leaf, and other as a second root."""
    tree = provider_tree.ProviderTree()
    tree.new_root('root', ROOT)
    tree.new_child('child', ROOT, CHILD)
    tree.new_child('leaf', CHILD, LEAF)
    tree.new_root('other', OTHER)
    return tree


def contents(tree):
    """All that can be seen of a tree."""
    return [tree.data(uuid) for uuid in tree.get_provider_uuids()]


def test_a_new_root_is_known_by_the_uuid_returned(tree):
    assert tree.new_root('new', NEW, 5) == NEW
    data = tree.data('new')
    assert (data.uuid, data.parent_uuid, data.generation) == (NEW, None, 5)


def test_a_uuid_is_returned_as_placement_spells_it(tree):
    spelled = 'ABCDEF00-0000-0000-0000-00000000000A'
    assert tree.new_root('new', spelled) == spelled.lower()
    assert tree.data('new').uuid == spelled.lower()


@pytest.mark.parametrize('parent', ['child', CHILD])
def test_a_new_child_stands_below_its_parent(tree, parent):
    assert tree.new_child('new', parent, NEW, 5) == NEW
    data = tree.data(NEW)
    assert (data.name, data.parent_uuid, data.generation) == ('new', CHILD, 5)
    assert tree.get_provider_uuids('child') == [CHILD, LEAF, NEW]


REFUSED = [
    (lambda t: t.new_root('new', ROOT), f'Provider {ROOT} already exists'),
    (lambda t: t.new_root('root', NEW), 'Provider root already exists'),
    (lambda t: t.new_root('child', NEW), 'Provider child already exists'),
    (lambda t: t.new_root(LEAF, NEW), f'Provider {LEAF} already exists'),
    (
        lambda t: t.new_child('new', 'root', LEAF),
        f'Provider {LEAF} already exists',
    ),
    (
        lambda t: t.new_child('leaf', 'root', NEW),
        'Provider leaf already exists',
    ),
    (lambda t: t.new_child('leaf', 'root'), 'Provider leaf already exists'),
    (lambda t: t.new_child('other', 'root'), 'Provider other already exists'),
    (lambda t: t.new_child('new', 'nobody'), 'No such provider nobody'),
    (lambda t: t.new_child('new', NEW, NEW), f'No such provider {NEW}'),
    (lambda t: t.new_root('new', 'no-uuid'), "provider 'no-uuid' is not a"),
    (lambda t: t.new_root('new', None), 'provider None is not a uuid'),
    (lambda t: t.new_child('new', ROOT, 'x'), "provider 'x' is not a uuid"),
    (lambda t: t.new_root('', NEW), "provider name '' is not one"),
    (lambda t: t.new_child('', ROOT), "provider name '' is not one"),
    (lambda t: t.new_child(None, ROOT, NEW), 'provider name None is not one'),
    (lambda t: t.remove('nobody'), 'No such provider nobody'),
    (lambda t: t.remove(NEW), f'No such provider {NEW}'),
]


@pytest.mark.parametrize(('edit', 'reason'), REFUSED)
def test_what_would_break_the_tree_is_refused_and_changes_nothing(
    tree, edit, reason
):
    before = contents(tree)
    with pytest.raises(ValueError, match=f'^{reason}') as caught:
        edit(tree)
    assert isinstance(caught.value, errors.AgentError)
    assert contents(tree) == before
    assert not tree.exists('new')
    assert not tree.exists(NEW)


def test_removing_a_provider_removes_all_below_it(tree):
    assert tree.remove('child') is None
    assert tree.get_provider_uuids() == [ROOT, OTHER]
    assert not tree.exists('leaf')
    assert not tree.exists(LEAF)


def test_a_root_is_removed_by_its_uuid_with_its_tree(tree):
    tree.remove(ROOT)
    assert tree.get_provider_uuids() == [OTHER]


def test_what_was_removed_leaves_name_and_uuid_free(tree):
    tree.remove('child')
    tree.new_child('leaf', 'other', CHILD)
    tree.new_root('child', LEAF)
    assert tree.data('leaf').uuid == CHILD
    assert tree.data('child').parent_uuid is None


def test_what_was_removed_comes_back_empty(tree):
    tree.add_traits('leaf', 'A')
    tree.remove('leaf')
    tree.new_child('leaf', CHILD, LEAF)
    assert tree.data('leaf').traits == set()


# --- uuids that are not given ------------------------------------------------


def test_a_child_without_a_uuid_gets_one_that_no_release_may_change(tree):
    uuid = tree.new_child('new', 'root')
    assert uuid == str(uuidlib.uuid5(uuidlib.UUID(ROOT), 'new'))
    assert tree.data('new').uuid == uuid


@pytest.mark.catches('a child created again after a crash gets another uuid')
def test_the_same_child_gets_the_same_uuid_again():
    def grown():
        tree = provider_tree.ProviderTree()
        tree.new_root('root', ROOT)
        return tree.new_child('new', 'root')

    assert grown() == grown()


def test_it_gets_it_again_whoever_else_was_there_before(tree):
    alone = tree.new_child('new', 'root')
    tree.remove('new')
    tree.new_child('before', 'root')
    assert tree.new_child('new', ROOT) == alone


def test_the_same_name_below_another_parent_gets_another_uuid(tree):
    first = tree.new_child('new', 'root')
    tree.remove('new')
    assert tree.new_child('new', 'child') != first


def test_many_children_get_many_uuids(tree):
    names = [f'gpu{i}' for i in range(50)] + [f'gpu#{i}' for i in range(50)]
    assert len({tree.new_child(name, 'root') for name in names}) == 100


def test_a_name_that_is_used_again_gets_another_uuid_while_others_live(tree):
    uuids = []
    for number in range(3):
        uuids.append(tree.new_child('new', 'root'))
        tree.remove('new')
        tree.new_child(f'renamed{number}', 'root', uuids[-1])
    uuids.append(tree.new_child('new#1', 'root'))
    assert len(set(uuids)) == 4
    assert uuids[:3] == [
        str(uuidlib.uuid5(uuidlib.UUID(ROOT), text))
        for text in ('new', 'new#1', 'new#2')
    ]
