# SPDX-License-Identifier: Apache-2.0
"""The observer returns the providers of nodes at the fewest requests."""

import dataclasses
import logging
import threading

import pytest
from looking import CHILD, NODE, NOW, content, reads

from compute_agent import errors
from compute_agent.tree import assertion

SECOND = 'second'


@pytest.fixture
def station(new_station):
    made = new_station()
    made.cloud.put(NODE, generation=5, traits='A')
    made.cloud.put(CHILD, NODE)
    return made


# --- a node's own tree --------------------------------------------------------


def test_a_node_is_observed_with_all_below_it(station):
    found, asked = station.asking(NODE)
    seen = found[NODE]
    assert asked == ['in_tree=node', *reads(NODE, CHILD)]
    assert content(seen) == {NODE: 5, CHILD: 1}
    assert seen.node_uuid == NODE
    assert seen.home == {NODE, CHILD}
    assert seen.providers[NODE].traits == {'A'}
    assert seen.notes == ()
    assert seen.fresh == {
        (uuid, kind) for uuid in (NODE, CHILD) for kind in assertion.Kind
    }


def test_a_node_that_is_not_there_is_observed_as_nothing(station):
    found, asked = station.asking('new')
    assert asked == ['in_tree=new']
    assert (found['new'].providers, found['new'].home) == ({}, set())


def test_several_nodes_are_observed_by_one_list(station):
    station.cloud.put(SECOND)
    found, asked = station.asking(SECOND, NODE, 'new')
    assert asked == ['', *reads(SECOND, NODE, CHILD)]
    assert {uuid: content(seen) for uuid, seen in found.items()} == {
        SECOND: {SECOND: 1},
        NODE: {NODE: 5, CHILD: 1},
        'new': {},
    }
    assert station.asking(SECOND, NODE, 'new')[1] == ['']


def test_what_stands_still_is_the_very_same_observation(station):
    first = station.look(NODE)[NODE]
    second = station.look(NODE)[NODE]
    assert second.providers == first.providers
    assert second.fresh == set()
    assert station.look(NODE)[NODE] is second


def test_what_moved_is_another_observation(station):
    station.look(NODE)
    still = station.look(NODE)[NODE]
    station.cloud.put(CHILD, NODE, generation=2)
    moved = station.look(NODE)[NODE]
    assert content(moved) == {NODE: 5, CHILD: 2}
    assert moved.fresh == {(CHILD, kind) for kind in assertion.Kind}
    after = station.look(NODE)[NODE]
    assert (content(still), content(after)) == (
        {NODE: 5, CHILD: 1},
        content(moved),
    )
    assert after.fresh == set()


def test_what_was_written_is_another_observation_though_nothing_is_read(
    station,
):
    station.look(NODE)
    still = station.look(NODE)[NODE]
    known = station.known(NODE)
    one = dataclasses.replace(known.provider, generation=6)
    station.state.journal.record_outcome(
        [], readings=[dataclasses.replace(known, provider=one)]
    )
    station.cloud.put(NODE, generation=6)
    found, asked = station.asking(NODE)
    assert asked == ['in_tree=node']
    assert found[NODE] is not still
    assert content(found[NODE]) == {NODE: 6, CHILD: 1}


def test_what_is_no_more_is_not_observed_and_forgotten(station, caplog):
    caplog.set_level(logging.INFO, 'report_client')
    station.create(NODE, CHILD)
    station.look(NODE)
    station.look(NODE)
    del station.cloud.there[CHILD]
    found, asked = station.asking(NODE)
    assert asked == ['in_tree=node', 'in_tree=child']
    assert content(found[NODE]) == {NODE: 5}
    assert found[NODE].home == {NODE}
    assert caplog.messages == ['gone from placement: child']
    assert station.known(CHILD) is None
    assert station.known(NODE) is not None
    assert station.state.records.created_for([NODE]) == {}
    assert station.asking(NODE)[1] == ['in_tree=node']
    assert len(caplog.messages) == 1


def test_all_that_is_no_more_is_named(station, caplog):
    caplog.set_level(logging.INFO, 'report_client')
    station.look(NODE)
    station.cloud.there.clear()
    assert content(station.look(NODE)[NODE]) == {}
    (line,) = caplog.messages
    assert line in {
        'gone from placement: node, child',
        'gone from placement: child, node',
    }


def test_only_what_stands_still_as_a_whole_is_taken_from_memory(station):
    """That costs one question to the state, for however many nodes."""
    station.cloud.put(SECOND)
    station.look(NODE, SECOND)
    asked, readings = [], station.state.snapshot.readings

    def counting(uuids):
        some = list(uuids)
        asked.append(set(some))
        return readings(some)

    station.state.snapshot.readings = counting
    station.look(NODE, SECOND)
    assert asked == [{NODE, CHILD, SECOND}]


# --- what is due --------------------------------------------------------------


def test_what_is_due_is_read_again_though_it_stands_still(new_station):
    station = new_station(interval=100)
    station.cloud.put(NODE)
    station.look(NODE)
    station.now += 89
    assert station.asking(NODE)[1] == ['in_tree=node']
    station.now += 11
    assert station.asking(NODE)[1] == ['in_tree=node', *reads(NODE)]
    assert station.known(NODE).read_at == NOW + 100


# --- what fails ---------------------------------------------------------------


@pytest.mark.parametrize(
    'fault', [errors.UnknownState('?'), errors.Replan('moved')]
)
def test_what_fails_one_node_fails_no_other(station, fault):
    station.cloud.put(SECOND)
    station.cloud.faults['node/traits'] = fault
    found, asked = station.asking(NODE, SECOND)
    assert found[NODE] is fault
    assert content(found[SECOND]) == {SECOND: 1}
    assert asked == ['', 'node/traits', *reads(SECOND)]


def test_without_the_service_nothing_is_observed(station):
    station.cloud.put(SECOND)
    station.cloud.faults['node/traits'] = errors.Unavailable('away')
    with pytest.raises(errors.Unavailable, match='away'):
        station.look(NODE, SECOND)


def test_a_tree_that_cannot_be_listed_is_unknown_and_no_other(station):
    station.cloud.put(SECOND, aggregates='x')
    station.look(NODE, SECOND)
    station.create(NODE, CHILD)
    for number in range(500):
        station.cloud.put(f'other-{number}')
    station.look(NODE, SECOND)
    fault = station.cloud.faults['in_tree=node'] = errors.UnknownState('?')
    found, asked = station.asking(NODE, SECOND)
    assert found[NODE] is fault
    assert content(found[SECOND]) == {SECOND: 1}
    assert asked[:2] == ['in_tree=node', 'in_tree=second']
    assert len(asked) == 3
    assert station.known(CHILD) is not None


# --- side by side -------------------------------------------------------------


def test_nodes_are_read_side_by_side(new_station):
    station = new_station(workers=2)
    both = threading.Barrier(2, timeout=60)
    for node in (NODE, SECOND):
        station.cloud.put(node)
        station.cloud.meanwhile[f'{node}/traits'] = both.wait
    assert station.look(NODE, SECOND).keys() == {NODE, SECOND}


def test_trees_are_listed_side_by_side(station):
    station.cloud.put(SECOND)
    for number in range(500):
        station.cloud.put(f'other-{number}')
    both = threading.Barrier(2, timeout=60)
    two = station.started(workers=2)
    two.observe([NODE, SECOND])
    for node in (NODE, SECOND):
        station.cloud.meanwhile[f'in_tree={node}'] = both.wait
    assert two.observe([NODE, SECOND]).keys() == {NODE, SECOND}


def test_one_by_one_unless_said_otherwise(station):
    station.cloud.put(SECOND)
    threads = set()
    for node in (NODE, SECOND):
        station.cloud.meanwhile[f'{node}/traits'] = lambda: threads.add(
            threading.current_thread()
        )
    station.started().observe([NODE, SECOND])
    assert threads == {threading.current_thread()}


def test_what_another_thread_wrote_during_the_look_is_no_fall(station):
    station.look(NODE)
    known = station.known(NODE)
    later = dataclasses.replace(known.provider, generation=6)
    station.cloud.meanwhile['in_tree=node'] = lambda: (
        station.state.journal.record_outcome(
            [], readings=[dataclasses.replace(known, provider=later)]
        )
    )
    assert content(station.look(NODE)[NODE]) == {NODE: 6, CHILD: 1}
