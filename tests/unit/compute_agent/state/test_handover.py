# SPDX-License-Identifier: Apache-2.0
"""The record of a node that changes its agent: exported, imported, forgotten."""

import contextlib
import dataclasses
import sqlite3

import pytest

from compute_agent import errors
from compute_agent.ownership.record import Record
from compute_agent.plan import intents
from compute_agent.state import state as state_module
from compute_agent.state.nodes import KnownNode
from compute_agent.state.values import node_record
from compute_agent.tree import assertion, provider
from compute_agent.tree.node import Node

NODE = '11111111-1111-4111-8111-111111111111'
CHILD = '22222222-2222-4222-8222-222222222222'
SHARED = '33333333-3333-4333-8333-333333333333'
OTHER = '44444444-4444-4444-8444-444444444444'
TRAIT = assertion.Kind.TRAIT
AGGREGATE = assertion.Kind.AGGREGATE
DRIVER = 'rack:Rack'
HERE = Node(uuid=NODE, name='node-1')


@pytest.fixture
def other():
    opened = state_module.State.in_memory('elsewhere')
    yield opened
    opened.close()


def known(name, asked_at=0.0):
    return KnownNode(name=name, asked_at=asked_at, drivers=frozenset({DRIVER}))


def creation(uuid):
    return intents.Intent(node_uuid=NODE, uuid=uuid, kind=None, generation=0)


def adding(uuid, *names, kind=TRAIT, generation=1, node=NODE):
    return intents.Intent(
        node_uuid=node,
        uuid=uuid,
        kind=kind,
        generation=generation,
        names=frozenset(names),
        added=frozenset(names),
    )


def reading(uuid, root=NODE, traits=(), read_at=1.0):
    one = provider.Provider(
        uuid=uuid, name=uuid, generation=7, traits=frozenset(traits)
    )
    return provider.Reading(provider=one, root_uuid=root, read_at=read_at)


def remember(state, node_uuid, *done, claims=None):
    """Record writes as a cycle of that node does."""
    sent = [dataclasses.replace(one, node_uuid=node_uuid) for one in done]
    state.journal.begin(node_uuid, sent, claims or {})
    state.journal.record_outcome(sent)


# --- exporting ---------------------------------------------------------------


@pytest.fixture
def full(state):
    """A node with a child and a sharing provider, and another node."""
    state.nodes.keep({NODE: known('node-1', 9.0), OTHER: known('4')})
    state.journal.save(
        [reading(NODE), reading(CHILD), reading(SHARED, SHARED)]
    )
    state.journal.save([reading(OTHER, OTHER)])
    remember(
        state,
        NODE,
        adding(NODE, 'CUSTOM_X'),
        creation(SHARED),
        claims={(NODE, TRAIT): {'driver': frozenset({'CUSTOM_X'})}},
    )
    remember(state, NODE, adding(CHILD, 'CUSTOM_Y'))
    remember(state, OTHER, creation(OTHER), adding(OTHER, 'CUSTOM_Z'))
    return state


RECORD = Record(
    created=frozenset({SHARED}),
    ours={
        (NODE, TRAIT): frozenset({'CUSTOM_X'}),
        (CHILD, TRAIT): frozenset({'CUSTOM_Y'}),
    },
    claims={(NODE, TRAIT): {'driver': frozenset({'CUSTOM_X'})}},
)
HANDED = node_record.NodeRecord(node=HERE, driver=DRIVER, record=RECORD)
# Who imports a record may go on where the other agent wrote.
IMPORTED = dataclasses.replace(
    RECORD, taken_over=frozenset({NODE, CHILD, SHARED})
)


def test_an_export_has_the_node_s_providers_and_no_other_s(full):
    assert full.handover.export_record(HERE) == HANDED
    assert HANDED.providers == [NODE, CHILD, SHARED]


def test_an_export_is_the_same_whichever_placement_is_looked_at(tmp_path):
    for site in ('one', 'two'):
        one = state_module.State.open(tmp_path, site)
        one.journal.save([reading(CHILD)])
        one.close()
    one = state_module.State.open(tmp_path)
    one.nodes.keep({NODE: known('node-1')})
    remember(one, NODE, adding(CHILD, 'CUSTOM_Y'))
    assert one.handover.export_record(HERE).providers == [CHILD]
    one.close()


def test_a_provider_that_moved_to_another_tree_is_that_one_s(tmp_path):
    for site, root, when in (('old', NODE, 1.0), ('new', OTHER, 2.0)):
        one = state_module.State.open(tmp_path, site)
        one.journal.save([reading(CHILD, root, read_at=when)])
        one.close()
    one = state_module.State.open(tmp_path)
    one.nodes.keep({NODE: known('node-1'), OTHER: known('node-4')})
    remember(one, NODE, adding(NODE, 'CUSTOM_X'), adding(CHILD, 'CUSTOM_Y'))
    assert one.handover.export_record(HERE).providers == [NODE]
    there = dataclasses.replace(HERE, uuid=OTHER)
    assert one.handover.export_record(there).providers == [CHILD]
    one.close()


def test_an_export_leaves_what_is_held_for_other_nodes(full):
    held = {(SHARED, TRAIT): {'driver': frozenset({'CUSTOM_S'})}}
    remember(full, OTHER, claims=held)
    assert full.handover.export_record(HERE) == HANDED


@pytest.mark.parametrize(
    ('of', 'uuid'), [(NODE, NODE), (NODE, SHARED), (OTHER, SHARED)]
)
def test_an_unconfirmed_write_keeps_a_node_from_being_exported(full, of, uuid):
    sent = [adding(uuid, 'CUSTOM_NEW', generation=8, node=of)]
    full.journal.begin(of, sent, {})
    with pytest.raises(errors.UnknownState, match='run "compute-agent sync"'):
        full.handover.export_record(HERE)
    full.journal.record_outcome([], sent)
    assert full.handover.export_record(HERE) == HANDED


def test_another_node_s_unconfirmed_write_is_no_hindrance(full):
    full.journal.begin(OTHER, [adding(OTHER, 'CUSTOM_NEW', generation=8)], {})
    assert full.handover.export_record(HERE) == HANDED


def test_a_node_of_which_nothing_is_recorded_is_not_exported(state):
    state.nodes.keep({NODE: known('node-1')})
    state.journal.save([reading(NODE)])
    with pytest.raises(errors.ConfigError, match='nothing is recorded of'):
        state.handover.export_record(HERE)


# --- importing ---------------------------------------------------------------


def tables(directory):
    """All that is in the database, readings too."""
    with contextlib.closing(sqlite3.connect(directory / 'state.sqlite')) as db:
        return {
            table: sorted(db.execute(f'select * from {table}').fetchall())
            for (table,) in db.execute(
                "select name from sqlite_master where type = 'table'"
                " and name != 'written'"
            ).fetchall()
        }


def test_what_was_exported_is_there_after_the_import(state):
    state.handover.import_records([HANDED])
    assert state.records.record([NODE, CHILD, SHARED], NODE) == IMPORTED
    assert state.nodes.of_drivers([DRIVER]) == {NODE: known('node-1')}
    assert state.records.created_for([NODE]).get(NODE, []) == [SHARED]


def test_an_import_may_be_repeated(tmp_path):
    with contextlib.closing(state_module.State.open(tmp_path)) as state:
        state.handover.import_records([HANDED])
        once = tables(tmp_path)
        state.handover.import_records([HANDED])
        assert tables(tmp_path) == once


def test_what_was_imported_is_exported_again(state, other):
    state.handover.import_records([HANDED])
    assert state.snapshot.readings([NODE, CHILD, SHARED]) == {}
    state.journal.save([reading(CHILD, traits=['CUSTOM_Y'])])
    again = state.handover.export_record(HERE)
    assert again == HANDED
    other.handover.import_records([again])
    assert other.records.record([NODE, CHILD, SHARED], NODE) == IMPORTED


def test_an_import_adds_to_what_is_there(state):
    remember(
        state,
        NODE,
        creation(CHILD),
        adding(NODE, 'CUSTOM_B', 'CUSTOM_X'),
        adding(NODE, OTHER, kind=AGGREGATE, generation=2),
        claims={
            (NODE, TRAIT): {
                'driver': frozenset({'CUSTOM_B'}),
                'agent': frozenset({'OWNER_NOVA'}),
            },
            (NODE, AGGREGATE): {'driver': frozenset({OTHER})},
        },
    )
    state.handover.import_records([HANDED])
    assert state.records.record([NODE, CHILD, SHARED], NODE) == Record(
        created=frozenset({CHILD, SHARED}),
        ours={
            (NODE, TRAIT): frozenset({'CUSTOM_B', 'CUSTOM_X'}),
            (NODE, AGGREGATE): frozenset({OTHER}),
            (CHILD, TRAIT): frozenset({'CUSTOM_Y'}),
        },
        claims={
            (NODE, TRAIT): {
                'driver': frozenset({'CUSTOM_X'}),
                'agent': frozenset({'OWNER_NOVA'}),
            },
            (NODE, AGGREGATE): {'driver': frozenset({OTHER})},
        },
        taken_over=IMPORTED.taken_over,
    )


def test_an_import_leaves_other_nodes_alone(state):
    state.nodes.keep({OTHER: known('4', 5.0)})
    remember(state, OTHER, creation(OTHER), adding(OTHER, 'CUSTOM_Z'))
    state.journal.save([reading(OTHER, OTHER, ['CUSTOM_Z'])])
    state.handover.import_records([HANDED])
    assert state.nodes.of_drivers([DRIVER])[OTHER] == known('4', 5.0)
    assert state.records.record([OTHER], NODE).ours == {
        (OTHER, TRAIT): {'CUSTOM_Z'}
    }
    assert state.snapshot.readings([OTHER])[OTHER].read_at == 1.0


def test_what_was_imported_is_read_again_and_what_is_not_there_is_not_ours(
    state,
):
    state.journal.save([reading(NODE, traits=['CUSTOM_B'])])
    state.handover.import_records([HANDED])
    kept = state.snapshot.readings([NODE])[NODE]
    assert (kept.read_at, kept.provider.generation) == (0.0, 7)
    state.journal.save([reading(NODE, traits=['CUSTOM_B'])])
    assert (NODE, TRAIT) not in state.records.record([NODE], NODE).ours


def test_half_an_import_is_none(tmp_path):
    state = state_module.State.open(tmp_path)
    with sqlite3.connect(tmp_path / 'state.sqlite') as db:
        db.execute('drop table reading')
    db.close()
    with pytest.raises(errors.Unavailable, match='cannot be written'):
        state.handover.import_records([HANDED])
    assert state.nodes.all() == []
    assert state.records.record([NODE, CHILD, SHARED], NODE) == Record()
    state.close()


# --- forgetting --------------------------------------------------------------


def test_a_node_that_moved_leaves_nothing_and_the_others_all(full):
    full.handover.forget_with_record(NODE)
    assert set(full.nodes.of_drivers([DRIVER])) == {OTHER}
    assert full.records.record([NODE, CHILD, SHARED], NODE) == Record()
    assert set(full.snapshot.readings([NODE, CHILD, SHARED, OTHER])) == {OTHER}
    assert full.records.record([OTHER], NODE).created == {OTHER}


def test_a_node_that_moved_holds_nothing_of_others_providers(full):
    held = {(OTHER, TRAIT): {'driver': frozenset({'CUSTOM_S'})}}
    remember(full, NODE, claims=held)
    full.handover.forget_with_record(NODE)
    assert full.records.record([OTHER], OTHER).others == {}


def test_what_is_forgotten_is_forgotten_for_every_placement(tmp_path):
    one = state_module.State.open(tmp_path, 'one')
    one.journal.save([reading(CHILD)])
    two = state_module.State.open(tmp_path)
    two.handover.forget_with_record(NODE)
    two.close()
    assert one.snapshot.readings([CHILD]) == {}
    one.close()
