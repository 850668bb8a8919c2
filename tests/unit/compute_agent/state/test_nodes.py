# SPDX-License-Identifier: Apache-2.0
"""The nodes of the state: kept, listed and forgotten."""

import sqlite3

import pytest

from compute_agent import errors
from compute_agent.state import state as state_module
from compute_agent.state.nodes import KnownNode
from compute_agent.tree import assertion
from compute_agent.tree.node import Node

NODE = '11111111-1111-4111-8111-111111111111'
CHILD = '22222222-2222-4222-8222-222222222222'
SHARED = '33333333-3333-4333-8333-333333333333'
OTHER = '44444444-4444-4444-8444-444444444444'
TRAIT = assertion.Kind.TRAIT
AGGREGATE = assertion.Kind.AGGREGATE
DRIVER = 'rack:Rack'
HERE = Node(uuid=NODE, name='node-1')


def known(name, asked_at=0.0, drivers=(DRIVER,)):
    return KnownNode(name=name, asked_at=asked_at, drivers=frozenset(drivers))


def test_a_new_state_knows_no_node(state):
    assert state.nodes.of_drivers([DRIVER]) == {}
    assert state.nodes.all() == []


def test_nodes_come_back_as_they_were_kept(state):
    given = {NODE: known('node-1'), OTHER: known('nöde "4"', 1e9 + 0.25)}
    state.nodes.keep(given)
    assert state.nodes.of_drivers([DRIVER]) == given


def test_a_node_that_is_kept_again_is_the_new_one(state):
    state.nodes.keep({NODE: known('old', 5.0), OTHER: known('4')})
    state.nodes.keep({NODE: known('new')})
    assert state.nodes.of_drivers([DRIVER]) == {
        NODE: known('new'),
        OTHER: known('4'),
    }


def test_nodes_are_their_driver_s_and_a_node_has_one_driver(state):
    state.nodes.keep({NODE: known('node-1')})
    state.nodes.keep({OTHER: known('node-4', drivers=['other:Driver'])})
    assert set(state.nodes.of_drivers([DRIVER])) == {NODE}
    assert set(state.nodes.of_drivers(['other:Driver'])) == {OTHER}
    state.nodes.keep({NODE: known('node-1', drivers=['other:Driver'])})
    assert state.nodes.of_drivers([DRIVER]) == {}
    assert set(state.nodes.of_drivers(['other:Driver'])) == {NODE, OTHER}


def test_every_driver_s_nodes_are_known_by_name(state):
    state.nodes.keep({OTHER: known('a', 5.0, ['other:Driver'])})
    state.nodes.keep({NODE: known('node-1')})
    assert state.nodes.all() == [
        Node(uuid=OTHER, name='a'),
        HERE,
    ]


def test_forgotten_nodes_are_known_no_more_and_their_record_stays(state):
    state.nodes.keep({NODE: known('node-1'), OTHER: known('node-4')})
    state.journal.adopt(NODE, {NODE: 1})
    state.nodes.forget([NODE, CHILD])
    assert set(state.nodes.of_drivers([DRIVER])) == {OTHER}
    assert state.records.record([NODE], NODE).created == {NODE}


def test_nodes_outlast_their_providers(state):
    """The driver may still have a node whose provider was deleted."""
    state.nodes.keep({NODE: known('node-1')})
    state.journal.forget([NODE])
    assert set(state.nodes.of_drivers([DRIVER])) == {NODE}


def test_a_state_that_cannot_be_read_knows_nothing_rather_than_no_node(
    tmp_path,
):
    state = state_module.State.open(tmp_path)
    with sqlite3.connect(tmp_path / 'state.sqlite') as db:
        db.execute('drop table node')
    db.close()
    for look in (state.nodes.all, lambda: state.nodes.of_drivers([DRIVER])):
        with pytest.raises(errors.ConfigError, match='cannot be read'):
            look()
    state.close()


def test_what_passes_on_is_created_and_held_for_the_heir(state):
    one, two = frozenset({'CUSTOM_1'}), frozenset({'CUSTOM_2'})
    for node, some in ((NODE, one), (OTHER, two)):
        state.journal.begin(node, [], {(SHARED, TRAIT): {'driver': some}})
    state.journal.begin(NODE, [], {(SHARED, TRAIT): {'agent': one}})
    state.journal.begin(NODE, [], {(SHARED, AGGREGATE): {'driver': one}})
    state.journal.adopt(NODE, {SHARED: 1})
    state.records.pass_on(SHARED, NODE, OTHER)
    assert state.records.created_for([NODE]).get(NODE, []) == []
    assert state.records.created_for([OTHER]).get(OTHER, []) == [SHARED]
    assert state.records.record([SHARED], OTHER).claims == {
        (SHARED, TRAIT): {'driver': two},
        (SHARED, AGGREGATE): {'driver': one},
    }
    state.nodes.forget([NODE])
    assert state.records.record([SHARED], OTHER).others == {}
