# SPDX-License-Identifier: Apache-2.0
"""From forest to forest: names out of the way, and no way where there is none.

What can be written as a case is one in tests/plans.
"""

import pytest
from call_counts import calls

from compute_agent.plan.diff import hierarchy
from compute_agent.plan.operations import operations as ops
from compute_agent.tree import provider


def forest(**providers):
    """Providers by uuid: a name, or a name and a parent."""
    made = []
    for uuid, given in providers.items():
        name, parent = given if isinstance(given, tuple) else (given, None)
        made.append(
            provider.Provider(uuid=uuid, name=name, parent_uuid=parent)
        )
    return provider.snapshot(made)


def kinds(operations):
    return [type(op).__name__.removesuffix('Provider') for op in operations]


def changed(before, after):
    """Return both lists of changes, having seen that they get there."""
    reshaping, deletions = hierarchy.changes(before, after)
    assert ops.simulate([*reshaping, *deletions], before) == after
    return reshaping, deletions


def test_equal_forests_need_nothing():
    same = forest(a='one', b=('two', 'a'))
    assert hierarchy.changes(same, same) == ([], [])


def test_deletions_are_apart_from_the_rest():
    reshaping, deletions = changed(
        forest(a='one', b='two'), forest(a='uno', c='three')
    )
    assert kinds(reshaping) == ['Update', 'Create']
    assert kinds(deletions) == ['Delete']


def test_a_deletion_that_frees_a_name_is_not_among_the_last():
    reshaping, deletions = changed(forest(a='one'), forest(b='one'))
    assert kinds(reshaping) == ['Delete', 'Create']
    assert deletions == []


def test_only_the_names_that_are_needed_are_freed_first():
    reshaping, deletions = changed(
        forest(a='one', b='two', c='three'), forest(d='two')
    )
    assert [op.uuid for op in reshaping] == ['b', 'd']
    assert [op.uuid for op in deletions] == ['c', 'a']


def test_what_is_below_a_freed_name_goes_with_it_once():
    reshaping, deletions = changed(
        forest(a='one', b=('two', 'a'), c=('three', 'b')),
        forest(d='one', e='two'),
    )
    assert kinds(reshaping) == ['Delete'] * 3 + ['Create'] * 2
    assert [op.uuid for op in reshaping] == ['c', 'b', 'a', 'd', 'e']
    assert deletions == []


def test_two_rings_of_names_are_opened_one_by_one():
    reshaping, _ = changed(
        forest(a='1', b='2', c='3', d='4', e='5'),
        forest(a='2', b='1', c='4', d='5', e='3'),
    )
    assert len(reshaping) == 5 + 2


def test_a_chain_of_names_needs_no_way_round():
    reshaping, _ = changed(
        forest(a='1', b='2', c='3', d='4'), forest(a='2', b='3', c='4', d='5')
    )
    assert len(reshaping) == 4


def test_what_a_crash_left_out_of_the_way_needs_no_second_step_aside():
    reshaping, _ = changed(forest(a='moving-a', b='2'), forest(a='2', b='1'))
    assert len(reshaping) == 2


def test_a_ring_of_thirty_names_is_opened_once():
    uuids = [f'u{i}' for i in range(30)]
    before = forest(**{u: u for u in uuids})
    turned = zip(uuids, [*uuids[1:], uuids[0]], strict=True)
    reshaping, _ = changed(before, forest(**dict(turned)))
    assert len(reshaping) == 31


def test_a_tree_is_turned_upside_down():
    before = forest(a='a', b=('b', 'a'), c=('c', 'b'), d=('d', 'c'))
    after = forest(d='d', c=('c', 'd'), b=('b', 'c'), a=('a', 'b'))
    reshaping, _ = changed(before, after)
    assert kinds(reshaping) == ['Update'] * 4


@pytest.mark.parametrize(
    ('before', 'after'),
    [
        (forest(a='one', b='two'), forest(a='one', b='one')),
        (forest(a='one'), forest(a='one', b='one')),
        (forest(), forest(a='one', b='one')),
        (forest(a='one', b='two'), forest(a='three', b='three')),
    ],
    ids=['renamed', 'created', 'both created', 'both renamed'],
)
def test_a_name_that_two_should_have_is_impossible(in_time, before, after):
    with pytest.raises(ops.Impossible, match='name'):
        hierarchy.changes(before, after)


def test_a_parent_that_nobody_has_is_impossible():
    with pytest.raises(ops.Impossible, match='parent nobody does not exist'):
        hierarchy.changes(forest(), forest(a=('one', 'nobody')))


def with_children(count, prefix):
    """Return a root with this many children."""
    children = {f'{prefix}{n}': (f'c{n}', 'root') for n in range(count)}
    return forest(root='root', **children)


@pytest.mark.parametrize(
    ('before', 'after'),
    [('', 'a'), ('a', ''), ('a', 'b')],
    ids=['created', 'deleted', 'replaced under the same names'],
)
def test_twice_the_children_cost_twice_the_calls(before, after):
    def change(count):
        snapshots = [
            with_children(count if prefix else 0, prefix)
            for prefix in (before, after)
        ]
        return calls(lambda: hierarchy.changes(*snapshots))

    assert change(400) < 2.1 * change(200)
