# SPDX-License-Identifier: Apache-2.0
"""The list strategy chooses the cheapest lists, and returns rows by node."""

import threading

import pytest
from looking import NOW

from compute_agent import errors
from compute_agent.tree import provider

DAY = 86400


@pytest.fixture
def station(new_station):
    made = new_station()
    for node in ('one', 'two', 'three'):
        made.cloud.put(node)
    made.cloud.put('child', 'one')
    return made


def crowd(station, providers):
    """Let so many providers stand there."""
    for number in range(providers - len(station.cloud.there)):
        station.cloud.put(f'other-{number}')


def counted(station, providers, at=NOW):
    """Record that so many providers stood there."""
    station.state.site.save_size(
        provider.Size(providers=providers, counted_at=at)
    )


def uuids(found):
    """Return the providers in the tree of each node."""
    return {node: [row.uuid for row in rows] for node, rows in found.items()}


# --- which list ---------------------------------------------------------------


def test_for_one_node_its_tree_is_listed(station):
    crowd(station, 1000)
    assert uuids(station.lists().trees(['one'])) == {'one': ['one', 'child']}
    assert station.cloud.take() == ['in_tree=one']
    assert station.state.site.size() is None


def test_for_several_all_is_listed_at_once(station):
    assert uuids(station.lists().trees(['one', 'two'])) == {
        'one': ['one', 'child'],
        'two': ['two'],
    }
    assert station.cloud.take() == ['']


def test_for_none_nothing_is_asked(station):
    assert station.lists().trees([]) == {}
    assert station.cloud.take() == []


def test_a_node_that_is_not_the_root_has_the_whole_tree(station):
    station.cloud.put('grandchild', 'child')
    tree = ['one', 'child', 'grandchild']
    found = station.lists().trees(['child', 'grandchild'])
    assert uuids(found) == {'child': tree, 'grandchild': tree}


def test_a_node_that_is_not_there_has_no_rows(station):
    assert uuids(station.lists().trees(['two', 'gone'])) == {'two': ['two']}
    assert uuids(station.lists().trees(['gone'])) == {'gone': []}


def test_trees_among_very_many_are_listed_one_by_one(station):
    crowd(station, 401)
    some = station.lists()
    first = some.trees(['one', 'two'])
    assert station.cloud.take() == ['']
    size = station.state.site.size()
    assert (size.providers, size.counted_at) == (401, NOW)
    assert some.trees(['one', 'two']) == first
    assert station.cloud.take() == ['in_tree=one', 'in_tree=two']


def test_trees_among_many_are_listed_at_once(station):
    crowd(station, 400)
    some = station.lists()
    some.trees(['one', 'two'])
    assert station.state.site.size() is None
    some.trees(['one', 'two'])
    assert station.cloud.take() == ['', '']


@pytest.mark.parametrize(('size', 'asked'), [(600, 1), (601, 3)])
def test_how_many_are_very_many_depends_on_the_nodes(station, size, asked):
    counted(station, size)
    station.lists().trees(['one', 'two', 'three'])
    assert len(station.cloud.take()) == asked


@pytest.mark.parametrize(
    ('age', 'asked'), [(0, 2), (DAY - 0.5, 2), (DAY, 1), (-0.5, 1)]
)
def test_after_a_day_all_are_counted_again(station, age, asked):
    counted(station, 1000, NOW - age)
    station.lists().trees(['one', 'two'])
    assert len(station.cloud.take()) == asked


# --- what fails ---------------------------------------------------------------


def test_a_tree_that_cannot_be_read_is_unknown_and_no_other(station):
    counted(station, 1000)
    fault = station.cloud.faults['in_tree=one'] = errors.UnknownState('what?')
    found = station.lists().trees(['one', 'two'])
    assert found.pop('one') is fault
    assert uuids(found) == {'two': ['two']}


@pytest.mark.parametrize(
    ('end', 'size'), [('', 0), ('in_tree=one', 1000)], ids=['all', 'a tree']
)
def test_without_an_answer_nothing_is_known(station, end, size):
    counted(station, size)
    station.cloud.faults[end] = errors.Unavailable('away')
    with pytest.raises(errors.Unavailable, match='away'):
        station.lists().trees(['one', 'two'])


@pytest.mark.parametrize('size', [0, 1000])
def test_one_node_alone_is_unknown_as_a_whole(station, size):
    counted(station, size)
    station.cloud.faults['in_tree=one'] = errors.UnknownState('what?')
    with pytest.raises(errors.UnknownState, match='what'):
        station.lists().trees(['one'])


# --- side by side -------------------------------------------------------------


def test_as_many_trees_are_listed_at_a_time_as_there_are_workers(station):
    counted(station, 1000)
    both = threading.Barrier(2, timeout=60)
    for node in ('one', 'two'):
        station.cloud.meanwhile[f'in_tree={node}'] = both.wait
    found = station.lists(workers=2).trees(['one', 'two'])
    assert found.keys() == {'one', 'two'}


# --- who has a name -----------------------------------------------------------


def test_who_has_a_name_is_asked_where_nothing_was_listed(station):
    station.cloud.put('uuid', name='cn1')
    some = station.lists()
    assert some.uuid_of_name('cn1') == 'uuid'
    assert some.uuid_of_name('cn2') is None
    assert station.cloud.take() == ['name=cn1', 'name=cn2']


def test_a_name_in_another_case_is_another_name(station):
    station.cloud.put('uuid', name='CN1')
    assert station.lists().uuid_of_name('cn1') is None
    station.cloud.put('lower', name='cn1')
    assert station.lists().uuid_of_name('cn1') == 'lower'


def test_a_name_that_was_not_in_the_whole_list_is_nobodys(station):
    some = station.lists()
    some.trees(['one', 'two'])
    station.cloud.put('uuid', name='cn1')
    station.cloud.take()
    assert some.uuid_of_name('cn1') is None
    assert station.cloud.take() == []
    assert some.uuid_of_name('three') == 'three'
    assert station.cloud.take() == ['name=three']


def test_of_names_a_list_of_some_trees_says_nothing(station):
    some = station.lists()
    some.trees(['one', 'two'])
    counted(station, 1000)
    some.trees(['one', 'two'])
    station.cloud.put('uuid', name='cn1')
    assert some.uuid_of_name('cn1') == 'uuid'
