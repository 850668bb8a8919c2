# SPDX-License-Identifier: Apache-2.0
"""What a driver tells the operator beside what it asserts."""

import pytest

from compute_agent.tree import provider, provider_tree

ROOT = '00000000-0000-0000-0000-000000000001'


@pytest.fixture
def tree():
    one = provider.Provider(uuid=ROOT, name='root', generation=1)
    return provider_tree.ProviderTree.from_providers([one])


def test_a_tree_has_no_lines_of_its_own(tree):
    assert (tree.notes, tree.faults) == ([], [])


def test_lines_are_kept_in_the_order_they_were_said(tree):
    tree.note('first')
    tree.fault('wrong')
    tree.note('second')
    tree.fault('worse')
    assert tree.notes == ['first', 'second']
    assert tree.faults == ['wrong', 'worse']


@pytest.mark.parametrize('say', ['note', 'fault'])
def test_a_line_asserts_nothing_and_changes_nothing(tree, say):
    before = tree.data(ROOT)
    getattr(tree, say)('something')
    assert tree.data(ROOT) == before
    assert tree.assertions == {}


def test_lines_stay_when_what_they_are_about_is_removed(tree):
    with tree.asserting('file:/etc/x.yaml'):
        tree.fault('of a file')
    tree.new_child('child', ROOT)
    tree.note('of a child')
    tree.remove('child')
    tree.remove('root')
    assert (tree.notes, tree.faults) == (['of a child'], ['of a file'])


def test_each_tree_has_its_own_lines(tree):
    tree.note('here')
    assert provider_tree.ProviderTree().notes == []


def test_classes_that_count_as_another_are_a_trees_own(tree):
    tree.count_as('PCPU', 'VCPU')
    edited = tree.copy()
    edited.count_as('CUSTOM_A', 'CUSTOM_B')
    assert tree.counted_as == {'PCPU': 'VCPU'}
    edited.discard_edits()
    assert edited.counted_as == {'PCPU': 'VCPU'}
    assert (
        tree.description()
        == provider_tree.ProviderTree.from_snapshot(
            tree.baseline
        ).description()
    )
