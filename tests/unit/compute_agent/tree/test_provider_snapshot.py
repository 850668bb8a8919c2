# SPDX-License-Identifier: Apache-2.0
"""Providers as values: their order, their families, what makes them equal."""

import dataclasses
import itertools

import pytest

from compute_agent.tree import inventory, provider


def family(**parents):
    """Providers by uuid and parent, named like their uuids."""
    return [
        provider.Provider(uuid=uuid, name=uuid, parent_uuid=parent)
        for uuid, parent in parents.items()
    ]


THREE_LEVELS = family(root=None, left='root', right='root', leaf='left')


@pytest.mark.parametrize('given', list(itertools.permutations(THREE_LEVELS)))
def test_parents_come_before_their_children_whatever_came_first(given):
    order = list(provider.snapshot(given))
    assert sorted(order) == ['leaf', 'left', 'right', 'root']
    assert order.index('root') < order.index('left') < order.index('leaf')
    assert order.index('root') < order.index('right')


def test_trees_and_siblings_stay_in_the_order_they_came():
    given = family(b=None, a=None, b2='b', a1='a', b1='b')
    assert list(provider.snapshot(given)) == ['b', 'b2', 'b1', 'a', 'a1']


def test_a_provider_whose_parent_is_elsewhere_stands_as_a_root():
    given = family(shared='elsewhere', below='shared')
    kept = provider.snapshot(given)
    assert list(kept) == ['shared', 'below']
    assert kept['shared'].parent_uuid == 'elsewhere'


def test_a_chain_of_thousands_is_put_in_order():
    parents = {f'u{i}': f'u{i - 1}' for i in range(5000, 0, -1)}
    assert list(provider.snapshot(family(**parents, u0=None))) == [
        f'u{i}' for i in range(5001)
    ]


@pytest.mark.parametrize(
    'ring',
    [
        family(a='a'),
        family(a='b', b='a'),
        family(root=None, a='c', b='a', c='b', below='c'),
    ],
)
def test_a_ring_is_refused_for_no_order_could_keep_it(ring):
    with pytest.raises(ValueError, match='cycle'):
        provider.snapshot(ring)


def test_descendants_are_the_provider_and_all_below_it_parents_first():
    kept = provider.snapshot([*THREE_LEVELS, *family(other=None)])
    assert provider.descendants(kept, 'root') == [
        'root',
        'left',
        'leaf',
        'right',
    ]
    assert provider.descendants(kept, 'left') == ['left', 'leaf']
    assert provider.descendants(kept, 'leaf') == ['leaf']


def test_a_provider_that_is_not_there_has_no_descendants():
    assert provider.descendants(provider.snapshot(THREE_LEVELS), 'x') == []


def test_a_generation_says_when_and_not_what():
    one = provider.Provider(uuid='u', name='n', generation=1)
    assert one == dataclasses.replace(one, generation=2)


@pytest.mark.parametrize(
    'change',
    [
        {'uuid': 'v'},
        {'name': 'm'},
        {'parent_uuid': 'p'},
        {'inventories': {'VCPU': inventory.Inventory(total=9)}},
        {'inventories': {}},
        {'traits': frozenset()},
        {'aggregates': frozenset({'b'})},
    ],
)
def test_every_other_field_makes_a_difference(change):
    one = provider.Provider(
        uuid='u',
        name='n',
        inventories={'VCPU': inventory.Inventory(total=8)},
        traits=frozenset({'A'}),
    )
    assert one != dataclasses.replace(one, **change)


def test_a_databases_rounding_of_a_ratio_makes_none():
    def rounded(ratio):
        record = inventory.Inventory(total=8, allocation_ratio=ratio)
        return provider.Provider(
            uuid='u', name='n', inventories={'VCPU': record}
        )

    assert rounded(1.3) == rounded(1.2999999523162842)


def test_it_is_shown_by_name_and_uuid():
    assert str(provider.Provider(uuid='u', name='n')) == 'n (u)'
