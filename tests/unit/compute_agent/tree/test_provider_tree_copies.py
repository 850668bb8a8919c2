# SPDX-License-Identifier: Apache-2.0
"""A tree and its copy share what neither has edited, and nothing else."""

import pytest

from compute_agent.tree import provider_tree

ROOT = '00000000-0000-0000-0000-000000000001'
CHILD = '00000000-0000-0000-0000-000000000002'
AGG = '00000000-0000-0000-0000-0000000000a1'
OTHER = '00000000-0000-0000-0000-0000000000a2'

EDITS = {
    'update_inventory': lambda t: t.update_inventory('child', {}),
    'declare_inventory': lambda t: t.declare_inventory(
        'child', {'VGPU': {'total': 1}}
    ),
    'update_resources': lambda t: t.update_resources('child', {'A': {1}}),
    'update_traits': lambda t: t.update_traits('child', ['B'], 7),
    'declare_traits': lambda t: t.declare_traits('child', 'B'),
    'add_traits': lambda t: t.add_traits('child', 'B'),
    'remove_traits': lambda t: t.remove_traits('child', 'A'),
    'update_aggregates': lambda t: t.update_aggregates('child', []),
    'declare_aggregates': lambda t: t.declare_aggregates('child', OTHER),
    'add_aggregates': lambda t: t.add_aggregates('child', OTHER),
    'remove_aggregates': lambda t: t.remove_aggregates('child', AGG),
    'new_child': lambda t: t.new_child('new', 'child'),
    'new_root': lambda t: t.new_root('new', OTHER),
    'remove': lambda t: t.remove('child'),
    'populate_from_iterable': lambda t: t.populate_from_iterable(
        [{'uuid': CHILD, 'name': 'renamed', 'parent_provider_uuid': ROOT}]
    ),
}


@pytest.fixture
def tree():
    """A root and a child with contents of each kind."""
    tree = provider_tree.ProviderTree()
    tree.new_root('root', ROOT)
    tree.new_child('child', 'root', CHILD)
    tree.update_inventory('child', {'VGPU': {'total': 4}})
    tree.update_traits('child', ['A'])
    tree.update_aggregates('child', [AGG])
    tree.update_resources('child', {'VGPU': {1}})
    return tree


def contents(tree):
    """The providers, and what each source asserted, as they are now."""
    return (
        [tree.data(uuid) for uuid in tree.get_provider_uuids()],
        {key: dict(by) for key, by in tree.assertions.items()},
    )


@pytest.fixture(params=EDITS.values(), ids=EDITS.keys())
def edit(request):
    return request.param


def test_an_edit_of_the_copy_leaves_the_original_as_it_was(tree, edit):
    before = contents(tree)
    copied = tree.copy()
    edit(copied)
    assert contents(tree) == before != contents(copied)


def test_an_edit_of_the_original_leaves_the_copy_as_it_was(tree, edit):
    copied, before = tree.copy(), contents(tree)
    edit(tree)
    assert contents(copied) == before != contents(tree)


def test_two_copies_of_one_edit_are_edited_apart(tree, edit):
    edited = tree.copy()
    edit(edited)
    after = contents(edited)
    one, other = edited.copy(), edited.copy()
    for root in one.roots:
        one.add_traits(root.uuid, 'CUSTOM_ONE')
        one.update_inventory(root.uuid, {'VCPU': {'total': 1}})
    assert contents(edited) == contents(other) == after


def test_edits_before_a_copy_do_not_reach_it_later(tree):
    tree.add_traits('child', 'B')
    copied = tree.copy()
    tree.add_traits('child', 'C')
    copied.add_traits('child', 'D')
    assert tree.data('child').traits == {'A', 'B', 'C'}
    assert copied.data('child').traits == {'A', 'B', 'D'}


def test_a_copy_whose_edits_are_discarded_is_the_original_again(tree, edit):
    copied = tree.copy()
    edit(copied)
    copied.discard_edits()
    assert contents(copied) == contents(tree)
    edit(copied)
    assert contents(copied) != contents(tree)
