# SPDX-License-Identifier: Apache-2.0
"""A node's providers in other trees, deleted providers, and known names."""

import logging

import pytest
from looking import NODE, NOW, content, creation, reads, tagging

from compute_agent import errors
from compute_agent.tree import assertion, names
from report_client import errors as placement_errors

OTHER = 'other'
NAMES = ['traits', 'resource_classes']


@pytest.fixture
def station(new_station):
    made = new_station()
    made.cloud.put(NODE, generation=5)
    made.cloud.put(OTHER)
    return made


# --- other trees --------------------------------------------------------------


def test_what_was_created_for_a_node_is_observed_wherever_it_stands(station):
    station.create(NODE, OTHER)
    found, asked = station.asking(NODE)
    own, other = reads(NODE), reads(OTHER)
    assert asked == ['in_tree=node', *own, 'in_tree=other', *other]
    assert content(found[NODE]) == {NODE: 5, OTHER: 1}
    assert found[NODE].home == {NODE}
    assert station.asking(NODE)[1] == ['in_tree=node', 'in_tree=other']


@pytest.mark.catches('a node is looked for elsewhere once')
def test_what_is_created_later_is_observed_though_the_node_is_as_before(
    station,
):
    for _ in range(3):
        station.look(NODE, 'second')
    station.create(NODE, OTHER)
    found = station.look(NODE, 'second')
    assert content(found[NODE]) == {NODE: 5, OTHER: 1}


@pytest.mark.catches('a node is looked for elsewhere in each cycle')
def test_the_database_is_asked_what_is_elsewhere_after_a_write_only(
    station, monkeypatch
):
    station.cloud.put('second')
    asked, real = [], type(station.state.records).created_for

    def created_for(records, uuids):
        asked.append(sorted(uuids))
        return real(records, uuids)

    monkeypatch.setattr(
        type(station.state.records), 'created_for', created_for
    )
    for _ in range(3):
        station.look(NODE, 'second')
    asked.clear()
    for _ in range(2):
        station.look(NODE, 'second')
        station.look(NODE)
    assert asked == []
    station.create('third', OTHER)
    station.look(NODE, 'second')
    assert asked == [[NODE, 'second']]


def test_what_was_created_for_another_node_is_not(station):
    station.create('second', OTHER)
    found, asked = station.asking(NODE, 'second')
    assert content(found[NODE]) == {NODE: 5}
    assert content(found['second']) == {OTHER: 1}
    assert asked.count('in_tree=other') == 1


def test_what_stands_in_the_tree_is_not_asked_for_again(station):
    station.cloud.put('child', NODE)
    station.create(NODE, 'child')
    station.observer.watch_provider(NODE, 'child')
    assert station.asking(NODE)[1] == ['in_tree=node', *reads(NODE, 'child')]


def test_of_another_tree_only_what_is_below_it_is_observed(station):
    """No order of a list is promised."""
    station.cloud.put('grandparent')
    station.cloud.put('moved', 'grandparent', generation=3)
    station.cloud.put('sibling', 'grandparent')
    station.cloud.put('below', 'moved')
    station.cloud.put('deep', 'below')
    station.cloud.put('deeper', 'deep')
    station.cloud.put('deepest', 'deeper')
    station.cloud.there = dict(reversed(station.cloud.there.items()))
    station.create(NODE, 'moved')
    found, _ = station.asking(NODE)
    assert content(found[NODE]) == {
        NODE: 5,
        'moved': 3,
        'below': 1,
        'deep': 1,
        'deeper': 1,
        'deepest': 1,
    }


def test_what_a_crash_left_is_looked_for(station):
    made = creation(NODE, OTHER)
    station.intend(made)
    found, _ = station.asking(NODE)
    assert content(found[NODE]) == {NODE: 5, OTHER: 1}
    assert station.state.journal.intents([NODE]) == {}
    (note,) = found[NODE].notes
    assert note.startswith('other: its creation got no answer')
    assert note.endswith('"compute-agent resource provider adopt other"')
    assert station.asking(NODE)[1] == ['in_tree=node']


def test_what_a_crash_left_of_nothing_is_dropped(station):
    station.intend(creation(NODE, 'never'), creation('second', 'nor-this'))
    _, asked = station.asking(NODE)
    assert asked == ['in_tree=node', *reads(NODE), 'in_tree=never']
    assert station.state.journal.intents([NODE]) == {}
    assert station.state.records.created_for([NODE]) == {}
    assert station.state.journal.intents(['second']) != {}


def test_what_a_crash_left_of_the_tree_is_settled(station):
    station.look(NODE)
    cut = tagging(NODE, NODE, 'A', generation=6)
    station.intend(cut)
    station.cloud.put(NODE, generation=6, traits='A')
    assert station.look(NODE)[NODE].notes == ()
    assert station.state.journal.intents([NODE]) == {}
    assert station.state.records.record([NODE], NODE).ours == {
        (NODE, assertion.Kind.TRAIT): {'A'}
    }


def test_what_cannot_be_read_elsewhere_is_unknown(station):
    station.create(NODE, OTHER)
    fault = station.cloud.faults['in_tree=other'] = errors.UnknownState('?')
    assert station.look(NODE)[NODE] is fault
    assert station.state.records.created_for([NODE]) == {NODE: [OTHER]}


def test_what_was_beside_the_tree_and_now_is_in_it_is_no_longer_alone(station):
    """The list missed what was created between it and the next request."""
    station.cloud.put('child', NODE)
    station.create(NODE, 'child')
    station.look(NODE)
    station.cloud.hidden.add('child')
    station.cloud.meanwhile['in_tree=child'] = station.cloud.hidden.clear
    assert station.look(NODE)[NODE].home == {NODE}
    assert station.look(NODE)[NODE].home == {NODE, 'child'}


# --- what was found -----------------------------------------------------------


def test_what_was_found_is_observed_from_then_on(station):
    station.look(NODE)
    station.observer.watch_provider(NODE, OTHER)
    found, asked = station.asking(NODE)
    assert asked == ['in_tree=node', 'in_tree=other', *reads(OTHER)]
    assert content(found[NODE]) == {NODE: 5, OTHER: 1}
    assert station.asking(NODE)[1] == ['in_tree=node', 'in_tree=other']


def test_what_was_found_for_one_node_is_not_for_another(station):
    station.observer.watch_provider('second', OTHER)
    assert content(station.look(NODE)[NODE]) == {NODE: 5}


def test_several_may_be_found(station):
    station.cloud.put('more')
    station.observer.watch_provider(NODE, OTHER)
    station.observer.watch_provider(NODE, 'more')
    assert content(station.look(NODE)[NODE]) == {NODE: 5, 'more': 1, OTHER: 1}


def test_what_was_found_and_is_gone_is_looked_for_no_more(station):
    station.look(NODE)
    station.cloud.put('more')
    station.observer.watch_provider(NODE, OTHER)
    station.observer.watch_provider(NODE, 'more')
    del station.cloud.there[OTHER]
    assert 'in_tree=other' in station.asking(NODE)[1]
    assert station.asking(NODE)[1] == ['in_tree=node', 'in_tree=more']


# --- what is gone -------------------------------------------------------------


def test_what_was_created_elsewhere_and_is_gone_is_forgotten(station, caplog):
    caplog.set_level(logging.INFO, 'report_client')
    station.create(NODE, OTHER)
    station.look(NODE)
    del station.cloud.there[OTHER]
    assert content(station.look(NODE)[NODE]) == {NODE: 5}
    assert station.state.records.created_for([NODE]) == {}
    assert caplog.messages == ['gone from placement: other']


def test_what_was_never_seen_here_may_be_at_another_service(station, caplog):
    caplog.set_level(logging.INFO, 'report_client')
    station.create(NODE, 'elsewhere')
    station.look(NODE)
    assert station.state.records.created_for([NODE]) == {NODE: ['elsewhere']}
    assert caplog.messages == []


def test_what_is_gone_of_one_node_is_that_nodes(station):
    station.cloud.put('second')
    station.cloud.put('child', 'second')
    station.look(NODE, 'second')
    del station.cloud.there['child']
    found = station.look(NODE, 'second')
    assert content(found[NODE]) == {NODE: 5}
    assert content(found['second']) == {'second': 1}
    assert station.known('child') is None


def test_of_a_node_that_is_unknown_nothing_is_forgotten(station):
    station.cloud.put('child', NODE)
    station.create(NODE, 'child')
    station.look(NODE)
    del station.cloud.there['child']
    station.cloud.put(NODE, generation=6)
    station.cloud.faults['node/traits'] = errors.UnknownState('?')
    station.look(NODE)
    assert station.known('child') is not None
    assert station.state.records.created_for([NODE]) == {NODE: ['child']}


# --- names --------------------------------------------------------------------


def names_asked(station):
    """Return the names, and what was asked for them."""
    station.cloud.take()
    return station.observer.names.known(), station.cloud.take()


def test_names_are_asked_for_once(station):
    known, asked = names_asked(station)
    assert asked == NAMES
    assert known == names.KnownNames(
        traits=frozenset('A'),
        resource_classes=frozenset(['VCPU']),
        read_at=NOW,
    )
    assert names_asked(station) == (known, [])
    assert station.state.site.known_names() == known


def test_names_are_not_asked_for_after_a_restart(station):
    known, _ = names_asked(station)
    assert station.started().names.known() == known
    assert station.cloud.take() == []


def test_names_are_asked_for_with_the_slow_read(new_station):
    station = new_station(interval=100)
    names_asked(station)
    station.now += 99
    assert names_asked(station)[1] == []
    station.now += 1
    known, asked = names_asked(station)
    assert asked == NAMES
    assert known.read_at == NOW + 100


@pytest.mark.parametrize(
    'fault', [errors.Unavailable('away'), errors.UnknownState('?')]
)
def test_after_the_service_was_away_names_are_asked_for_once(station, fault):
    names_asked(station)
    station.cloud.faults['in_tree=node'] = fault
    with pytest.raises(type(fault)) as caught:
        station.look(NODE)
    assert caught.value is fault
    station.cloud.names['traits'] = ['A', 'B']
    known, asked = names_asked(station)
    assert asked == NAMES
    assert known.traits == {'A', 'B'}
    assert names_asked(station)[1] == []


def test_remembered_names_are_not_asked_for(station):
    assert station.observer.names.remembered() is None
    known, _ = names_asked(station)
    assert station.observer.names.remembered() == known
    assert station.cloud.take() == []


def test_names_that_were_created_are_learnt(station):
    names_asked(station)
    station.observer.names.learn(frozenset('B'), frozenset(['CUSTOM_A']))
    known, asked = names_asked(station)
    assert asked == []
    assert known == names.KnownNames(
        traits=frozenset('AB'),
        resource_classes=frozenset(['VCPU', 'CUSTOM_A']),
        read_at=NOW,
    )


def test_where_no_names_are_known_none_are_learnt(station):
    station.observer.names.learn(frozenset('B'), frozenset())
    assert station.observer.names.remembered() is None


def test_a_new_root_needs_a_free_name(station):
    station.cloud.put('uuid', name='cn1')
    with pytest.raises(placement_errors.Exists):
        station.observer.check_new_root('node', 'uuid', 'cn1')
    with pytest.raises(placement_errors.NameTaken):
        station.observer.check_new_root('node', 'other', 'cn1')
    station.observer.check_new_root('node', 'other', 'cn2')
    assert station.cloud.take() == ['name=cn1', 'name=cn1', 'name=cn2']
