# SPDX-License-Identifier: Apache-2.0
"""A working copy is a snapshot in which one provider can change."""

import pytest

from compute_agent.tree import provider, working_copy


def one(uuid, parent=None, name=''):
    return provider.Provider(uuid=uuid, name=name or uuid, parent_uuid=parent)


SEEN = provider.snapshot([one('a'), one('b', 'a'), one('c', 'b'), one('d')])


@pytest.fixture(params=['snapshot', 'working copy'])
def providers(request):
    """The same providers in either form."""
    if request.param == 'snapshot':
        return dict(SEEN)
    return working_copy.WorkingCopy(SEEN)


def test_it_equals_the_snapshot_and_leaves_it_alone():
    made = working_copy.WorkingCopy(SEEN)
    assert made == SEEN
    made.remove('d')
    assert len(made) == 3
    assert 'd' in SEEN


def test_children_and_holders_follow_each_change(providers):
    after = working_copy.replaced(providers, one('c', 'd', name='see'))
    after = working_copy.without(after, 'b')
    assert list(working_copy.children(after, 'a')) == []
    assert list(working_copy.children(after, 'd')) == ['c']
    assert list(working_copy.holders(after, 'c')) == []
    assert list(working_copy.holders(after, 'see')) == ['c']
    assert list(working_copy.holders(after, 'no such name')) == []


@pytest.mark.parametrize(
    'changed', [one('b', 'd'), one('a', 'd'), one('e', 'c'), one('c', 'b')]
)
def test_parents_come_first_whatever_moves(providers, changed):
    after = working_copy.replaced(providers, changed)
    order = list(after)
    assert after == {**SEEN, changed.uuid: changed}
    assert sorted(order) == sorted({*SEEN, changed.uuid})
    assert all(
        p.parent_uuid is None or order.index(p.parent_uuid) < order.index(u)
        for u, p in after.items()
    )


def test_a_parent_that_comes_after_its_child_is_before_it():
    orphan = working_copy.WorkingCopy({'b': one('b', 'a')})
    orphan.put(one('a'))
    assert list(orphan) == ['a', 'b']


def test_a_snapshot_is_copied_and_a_working_copy_is_not(providers):
    after = working_copy.without(providers, 'd')
    is_working = isinstance(providers, working_copy.WorkingCopy)
    assert (after is providers) == is_working


def test_descendants_are_all_below_and_parents_first():
    made = working_copy.WorkingCopy(SEEN)
    assert made.descendants('a') == ['a', 'b', 'c']
    assert made.descendants('d') == ['d']
