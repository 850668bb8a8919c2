# SPDX-License-Identifier: Apache-2.0
"""Large trees cost in proportion: counted in calls made, not in seconds."""

import uuid as uuidlib

import pytest
from call_counts import calls, calls_of

from compute_agent.tree import hierarchy, provider, provider_tree

MANY = 5000


def uuid_of(number):
    return str(uuidlib.UUID(int=number))


def rows(children):
    """A root and its children, as placement lists them."""
    yield {'uuid': uuid_of(1), 'name': 'root'}
    for number in range(2, children + 2):
        yield {
            'uuid': uuid_of(number),
            'name': f'child{number}',
            'parent_provider_uuid': uuid_of(1),
        }


def tree_of(children):
    tree = provider_tree.ProviderTree()
    tree.populate_from_iterable(rows(children))
    return tree


def chain(length):
    tree = provider_tree.ProviderTree()
    tree.new_root('n0', uuid_of(1))
    for number in range(1, length):
        tree.new_child(f'n{number}', f'n{number - 1}')
    return tree


def grow(children):
    tree = provider_tree.ProviderTree()
    tree.new_root('root', uuid_of(1))
    for number in range(children):
        tree.new_child(f'child{number}', 'root')


def of_providers(count):
    providers = [
        provider.Provider(
            uuid=row['uuid'],
            name=row['name'],
            parent_uuid=row.get('parent_provider_uuid'),
        )
        for row in rows(count)
    ]
    provider_tree.ProviderTree.from_providers(reversed(providers))


WHOLE = {
    'growing by new_child': grow,
    'populate_from_iterable': tree_of,
    'from_providers': of_providers,
    'growing downwards': chain,
}


@pytest.mark.parametrize('work', WHOLE.values(), ids=WHOLE.keys())
def test_twice_the_children_cost_twice_the_calls(work):
    half, whole = calls(lambda: work(MANY // 2)), calls(lambda: work(MANY))
    assert whole < 2.1 * half


SINGLE = {
    'data by name': lambda t: t.data('child7'),
    'data by uuid': lambda t: t.data(uuid_of(7)),
    'exists': lambda t: t.exists('child7'),
    'no such provider': lambda t: t.exists('nobody'),
    'new_child': lambda t: t.new_child('new', 'root'),
    'new_root': lambda t: t.new_root('new', uuid_of(10**9)),
    'update_inventory': lambda t: t.update_inventory(
        'child7', {'VGPU': {'total': 1}}
    ),
    'update_traits': lambda t: t.update_traits('child7', ['A', 'B']),
    'add_aggregates': lambda t: t.add_aggregates('child7', uuid_of(7)),
    'remove': lambda t: t.remove('child7'),
    'populate_from_iterable': lambda t: t.populate_from_iterable(
        [{'uuid': uuid_of(10**9), 'name': 'new'}]
    ),
}


@pytest.mark.parametrize('edit', SINGLE.values(), ids=SINGLE.keys())
def test_one_edit_costs_the_same_in_a_small_tree_and_in_a_large_one(edit):
    edit(tree_of(10))  # fills caches; not counted
    small, large = tree_of(10), tree_of(1000)
    assert calls(lambda: edit(large)) == calls(lambda: edit(small))


def test_a_tree_may_be_thousands_of_providers_deep():
    tree = chain(MANY)
    uuids = tree.get_provider_uuids()
    assert len(uuids) == MANY
    assert tree.get_provider_uuids_in_tree(uuids[-1]) == uuids
    assert tree.data(uuids[-1]).name == f'n{MANY - 1}'
    tree.remove('n1')
    assert tree.get_provider_uuids() == uuids[:1]


def test_a_copy_costs_the_same_for_a_small_tree_and_for_a_large_one():
    tree_of(10).copy()  # fills caches; not counted
    small, large = tree_of(10), tree_of(1000)
    assert calls(large.copy) == calls(small.copy)


def test_an_edit_in_a_copy_copies_its_provider_alone_and_once():
    copied = tree_of(1000).copy()

    def edit():
        copied.update_inventory('child7', {'VGPU': {'total': 1}})
        copied.add_traits('child7', 'A')
        copied.add_aggregates('child7', uuid_of(7))
        copied.data('child8')

    assert calls_of(hierarchy.Member.copy, edit) == 1


def test_growing_below_a_copied_root_copies_the_root_alone():
    copied = tree_of(1000).copy()

    def grow_more():
        for number in range(10):
            copied.new_child(f'more{number}', 'root')
        copied.remove('more3')

    assert calls_of(hierarchy.Member.copy, grow_more) == 1
