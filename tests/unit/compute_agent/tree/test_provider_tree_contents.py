# SPDX-License-Identifier: Apache-2.0
"""Inventory, traits, aggregates: set whole or in part, refused or taken."""

import pytest

from compute_agent import errors
from compute_agent.tree import provider_tree

ROOT = '00000000-0000-0000-0000-000000000001'
AGG1 = '00000000-0000-0000-0000-0000000000a1'
AGG2 = '00000000-0000-0000-0000-0000000000a2'
AGG3 = '00000000-0000-0000-0000-0000000000a3'
VCPU = {'VCPU': {'total': 8, 'allocation_ratio': 16.0}}
DISK = {'DISK_GB': {'total': 100}}


@pytest.fixture
def tree():
    """One provider of each kind of thing, at generation 3."""
    tree = provider_tree.ProviderTree()
    tree.new_root('root', ROOT, generation=3)
    tree.update_inventory('root', VCPU)
    tree.update_traits('root', ['A', 'B'])
    tree.update_aggregates('root', [AGG1, AGG2])
    return tree


def test_updating_inventory_says_whether_it_changed(tree):
    assert tree.update_inventory('root', VCPU) is False
    assert tree.update_inventory(ROOT, DISK) is True
    assert tree.data('root').inventory == DISK


def test_updating_traits_says_whether_they_changed(tree):
    assert tree.update_traits('root', ('B', 'A')) is False
    assert tree.update_traits(ROOT, {'A', 'C'}) is True
    assert tree.data('root').traits == {'A', 'C'}


def test_updating_aggregates_says_whether_they_changed(tree):
    assert tree.update_aggregates('root', (AGG2, AGG1)) is False
    assert tree.update_aggregates(ROOT, {AGG3}) is True
    assert tree.data('root').aggregates == {AGG3}


def test_updating_resources_says_whether_they_changed(tree):
    assert tree.update_resources('root', {'CUSTOM_PMEM': {1}}) is True
    assert tree.update_resources(ROOT, {'CUSTOM_PMEM': {1}}) is False
    assert tree.data('root').resources == {'CUSTOM_PMEM': {1}}


@pytest.mark.parametrize(
    ('records', 'changed'),
    [
        ({'VCPU': {**VCPU['VCPU'], 'reserved': 0, 'step_size': 1}}, False),
        ({'VCPU': {**VCPU['VCPU'], 'reserved': 1}}, True),
        ({'VCPU': {'total': 8}}, True),
        ({}, True),
        ({**VCPU, **DISK}, True),
    ],
)
def test_a_changed_inventory_is_one_that_differs_with_defaults_filled(
    tree, records, changed
):
    assert tree.update_inventory('root', records) is changed


def test_a_field_no_longer_given_has_changed_and_is_gone(tree):
    tree.update_inventory('root', {'VCPU': {'total': 8, 'reserved': 2}})
    assert tree.update_inventory('root', {'VCPU': {'total': 8}}) is True
    assert tree.data('root').inventory == {'VCPU': {'total': 8}}


@pytest.mark.parametrize(
    'update',
    [
        lambda tree, g: tree.update_inventory('root', VCPU, g),
        lambda tree, g: tree.update_inventory('root', DISK, generation=g),
        lambda tree, g: tree.update_traits('root', ['A', 'B'], g),
        lambda tree, g: tree.update_traits('root', ['C'], generation=g),
        lambda tree, g: tree.update_aggregates('root', [AGG1, AGG2], g),
        lambda tree, g: tree.update_aggregates('root', [], generation=g),
    ],
)
def test_a_generation_is_noted_even_where_nothing_changed(tree, update):
    update(tree, None)
    assert tree.data('root').generation == 3
    update(tree, 0)
    assert tree.data('root').generation == 0
    update(tree, 7)
    assert tree.data('root').generation == 7


def test_traits_are_added_to_those_there_are(tree):
    assert tree.add_traits('root', 'B', 'C') is None
    assert tree.data('root').traits == {'A', 'B', 'C'}


def test_traits_are_removed_and_those_not_there_are_no_mistake(tree):
    assert tree.remove_traits('root', 'B', 'C') is None
    assert tree.data('root').traits == {'A'}


def test_aggregates_are_added_and_removed_likewise(tree):
    assert tree.add_aggregates('root', AGG3, AGG1) is None
    assert tree.remove_aggregates('root', AGG2, ROOT) is None
    assert tree.data('root').aggregates == {AGG1, AGG3}


def test_adding_and_removing_nothing_changes_nothing(tree):
    before = tree.data('root')
    tree.add_traits('root')
    tree.remove_traits('root')
    tree.add_aggregates('root')
    tree.remove_aggregates('root')
    assert tree.data('root') == before


def test_declared_classes_stand_beside_those_of_others(tree):
    with tree.asserting('another'):
        declared = {'DISK_GB': {'total': 100}}
        assert tree.declare_inventory('root', declared) is None
    assert tree.data('root').inventory == {**VCPU, **DISK}


def test_a_class_declared_again_is_replaced_whole(tree):
    tree.declare_inventory('root', {'VCPU': {'total': 4}})
    assert tree.data('root').inventory == {'VCPU': {'total': 4}}


def test_keeping_changes_nothing(tree):
    before = tree.data('root')
    assert tree.keep_inventory('root') is None
    assert tree.keep_traits('root') is None
    assert tree.keep_aggregates(ROOT) is None
    assert tree.data('root') == before


EDITS = {
    'update_inventory': lambda t, who: t.update_inventory(who, VCPU),
    'declare_inventory': lambda t, who: t.declare_inventory(
        who, {'X': {'total': 1}}
    ),
    'keep_inventory': lambda t, who: t.keep_inventory(who),
    'update_resources': lambda t, who: t.update_resources(who, {}),
    'update_traits': lambda t, who: t.update_traits(who, []),
    'declare_traits': lambda t, who: t.declare_traits(who, 'A'),
    'add_traits': lambda t, who: t.add_traits(who, 'A'),
    'add no traits': lambda t, who: t.add_traits(who),
    'remove_traits': lambda t, who: t.remove_traits(who, 'A'),
    'keep_traits': lambda t, who: t.keep_traits(who),
    'update_aggregates': lambda t, who: t.update_aggregates(who, []),
    'declare_aggregates': lambda t, who: t.declare_aggregates(who, AGG1),
    'add_aggregates': lambda t, who: t.add_aggregates(who, AGG1),
    'remove_aggregates': lambda t, who: t.remove_aggregates(who),
    'keep_aggregates': lambda t, who: t.keep_aggregates(who),
}


@pytest.mark.parametrize('edit', EDITS.values(), ids=EDITS.keys())
def test_editing_an_unknown_provider_is_a_value_error(tree, edit):
    said = dict(tree.assertions)
    with pytest.raises(ValueError, match='^No such provider nobody') as found:
        edit(tree, 'nobody')
    assert isinstance(found.value, errors.TreeError)
    assert tree.assertions == said


REFUSED = {
    'no inventory': (
        lambda t: t.update_inventory('root', None, 9),
        'None is not an inventory: give resource class → record',
    ),
    'a list of classes': (
        lambda t: t.update_inventory('root', ['VCPU'], 9),
        r"\['VCPU'\] is not an inventory: give resource class → record",
    ),
    'a bad record beside a good one': (
        lambda t: t.update_inventory('root', {**DISK, 'VCPU': {}}, 9),
        'inventory of VCPU: an inventory record needs a total',
    ),
    'none of a class': (
        lambda t: t.update_inventory('root', {'VCPU': {'total': 0}}, 9),
        'inventory of VCPU: total 0 must be .* leave out a class',
    ),
    'a class that is no name': (
        lambda t: t.update_inventory('root', {'vcpu': {'total': 1}}, 9),
        "resource class 'vcpu' is not a name",
    ),
    'a bad record of one class': (
        lambda t: t.declare_inventory(
            'root', {'VCPU': {'total': 1, 'used': 1}}
        ),
        'inventory of VCPU: unknown inventory field used',
    ),
    'no record of one class': (
        lambda t: t.declare_inventory('root', {'VCPU': None}),
        'inventory of VCPU: None is not an inventory record',
    ),
    'a trait that is no name': (
        lambda t: t.update_traits('root', ['C', 'hw:cpu'], 9),
        "trait 'hw:cpu' is not a name",
    ),
    'one string for the traits': (
        lambda t: t.update_traits('root', 'HW_CPU', 9),
        "'HW_CPU' is one string",
    ),
    'a trait to add that is no name': (
        lambda t: t.add_traits('root', 'C', 'c'),
        "trait 'c' is not a name",
    ),
    'a trait to declare that is no name': (
        lambda t: t.declare_traits('root', 'C', 'c'),
        "trait 'c' is not a name",
    ),
    'an aggregate to declare that is no uuid': (
        lambda t: t.declare_aggregates('root', AGG3, 'rack1'),
        "aggregate 'rack1' is not a uuid",
    ),
    'a list in place of a trait': (
        lambda t: t.add_traits('root', ['C']),
        r"trait \['C'\] is not a name",
    ),
    'a trait to remove that is no name': (
        lambda t: t.remove_traits('root', 'A', None),
        'trait None is not a name',
    ),
    'an aggregate that is no uuid': (
        lambda t: t.update_aggregates('root', [AGG3, 'rack1'], 9),
        "aggregate 'rack1' is not a uuid",
    ),
    'an aggregate to add that is no uuid': (
        lambda t: t.add_aggregates('root', AGG3, 'rack1'),
        "aggregate 'rack1' is not a uuid",
    ),
    'an aggregate to remove that is no uuid': (
        lambda t: t.remove_aggregates('root', AGG1, 'rack1'),
        "aggregate 'rack1' is not a uuid",
    ),
}


@pytest.mark.parametrize(
    ('edit', 'reason'), REFUSED.values(), ids=REFUSED.keys()
)
def test_what_placement_would_refuse_is_refused_and_changes_nothing(
    tree, edit, reason
):
    before, said = tree.data('root'), dict(tree.assertions)
    with pytest.raises(ValueError, match=f'^{reason}') as caught:
        edit(tree)
    assert isinstance(caught.value, errors.AgentError)
    assert tree.data('root') == before
    assert tree.assertions == said
