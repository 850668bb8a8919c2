# SPDX-License-Identifier: Apache-2.0
"""Nodes that leave in the same cycle are one batch, and no others."""

from compute_agent.cycle.departures import batches
from compute_agent.state.nodes import KnownNode
from compute_agent.virt.driver import Existence

LISTED = 3
NOW = 1000.0


def left(*names, before=None, listed=LISTED, now=NOW):
    """The missing nodes, after those of these names left, too."""
    new = {name: KnownNode(name=name) for name in names}
    missing = {**(before or {}), **new}
    stay = [f'stays-{number}' for number in range(listed)]
    known = {**missing, **{name: KnownNode(name=name) for name in stay}}
    return missing | batches.newly_left(known, stay, now)


def test_a_node_has_left_of_all_the_nodes_that_there_were():
    assert left('a', 'b')['a'].left_of == LISTED + 2


def test_nodes_that_leave_together_are_one_batch():
    found = batches.batches(left('a', 'b'))
    assert found['a'] is found['b']
    assert found['a'].nodes == {'a', 'b'}


def test_a_node_that_leaves_later_is_another_batch():
    found = batches.batches(left('b', before=left('a'), now=NOW + 60))
    assert [found[name].nodes for name in 'ab'] == [{'a'}, {'b'}]


def test_a_later_batch_has_a_later_time_although_the_clock_was_set_back():
    first = left('a')
    second = left('b', before=first, now=NOW - 3600)
    assert second['a'] == first['a']
    assert second['b'].left_at > second['a'].left_at


def test_a_node_that_exists_has_not_left():
    moved = KnownNode(name='a', answer=Existence.YES)
    found = left('b', before={'a': moved})
    assert found['a'] == moved
    assert found['b'].left_of == LISTED + 1
    assert batches.batches(found).keys() == {'b'}


def test_a_list_without_any_node_that_was_known_is_another_one():
    known = {name: KnownNode(name=name) for name in 'abc'}
    found = batches.newly_left(known, ['x', 'y'], NOW)
    # The nodes of the other list do not count.
    assert {node.left_of for node in found.values()} == {-3}
    assert batches.batches(found)['a'].is_all
    assert batches.partly_back(found, ['x', 'y']) == {}
    back = batches.partly_back(found, ['a', 'x'])
    assert back.keys() == {'b', 'c'}
    assert not batches.batches({**found, **back})['b'].is_all


def test_a_node_that_stays_makes_the_list_the_right_one():
    known = {name: KnownNode(name=name) for name in 'abc'}
    found = batches.newly_left(known, ['c', 'x'], NOW)
    assert not batches.batches(found)['a'].is_all
