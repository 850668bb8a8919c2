# SPDX-License-Identifier: Apache-2.0
"""Each transaction goes on without its history if the disk has no room."""

import contextlib
import sqlite3

import pytest

from compute_agent import errors
from compute_agent.limits import approval
from compute_agent.ownership.record import Record
from compute_agent.plan import intents
from compute_agent.plan.history_entry import Entry, What
from compute_agent.state import state as state_module
from compute_agent.state.history import history
from compute_agent.state.values.node_record import NodeRecord
from compute_agent.tree import node, provider

NODE = '11111111-1111-4111-8111-111111111111'
SUBJECT = approval.subject(approval.Kind.NAMES, ('a', 'trait', 'CUSTOM_X'))


@pytest.fixture
def state(tmp_path):
    """A state that has read a provider with a trait twice."""
    opened = state_module.State.open(tmp_path, 'here')
    with contextlib.closing(opened):
        for generation in (1, 2):
            opened.journal.save([reading(generation)])
        yield opened


@pytest.fixture
def full(state, monkeypatch):
    """SQLite ends each transaction that writes history."""

    def end_all(_history, db, *_):
        db.execute('rollback')
        raise sqlite3.OperationalError('database or disk is full')

    monkeypatch.setattr(history.History, '_insert', end_all)
    return state


def reading(generation, *traits):
    one = provider.Provider(
        uuid=NODE, name='cn1', generation=generation, traits=frozenset(traits)
    )
    return provider.Reading(
        provider=one, root_uuid=NODE, read_at=float(generation)
    )


def record(state):
    return state.records.record([NODE], NODE)


def saved(state):
    state.journal.save(one for one in [reading(3, 'CUSTOM_HAND')])
    return state.snapshot.readings([NODE]) == {NODE: reading(3, 'CUSTOM_HAND')}


def recorded(state):
    intent = intents.Intent(node_uuid=NODE, uuid=NODE, kind=None, generation=2)
    state.journal.begin(NODE, [intent], {})
    state.journal.record_outcome(
        iter([intent]),
        readings=iter([reading(3)]),
        entries=[Entry(what=What.CREATED, node_uuid=NODE, uuid=NODE)],
    )
    return (
        record(state).created == {NODE}
        and state.snapshot.readings([NODE]) == {NODE: reading(3)}
        and state.journal.intents([NODE]) == {}
    )


def forgotten(state):
    state.journal.forget(iter([NODE]), iter([NODE]))
    return state.snapshot.readings([NODE]) == {}


def restored(state):
    state.journal.restore(iter([reading(1)]))
    return state.snapshot.readings([NODE]) == {NODE: reading(1)}


def adopted(state):
    state.journal.adopt(NODE, {NODE: 2})
    return record(state).created == {NODE}


def taken_over(state):
    state.records.take_over(iter([NODE]))
    return record(state).taken_over == {NODE}


def granted(state):
    state.approvals.grant([SUBJECT], 'alice')
    return state.approvals.approved([SUBJECT]) == {SUBJECT: 'alice'}


def imported(state):
    state.handover.import_records(
        [
            NodeRecord(
                node=node.Node(uuid=NODE, name='cn1'),
                driver='fake',
                record=Record(created=frozenset([NODE])),
            )
        ]
    )
    return record(state).created == {NODE}


def exported(state):
    state.journal.adopt(NODE, {NODE: 2})
    state.handover.forget_with_record(NODE)
    return record(state).created == frozenset()


@pytest.mark.parametrize(
    'change',
    [
        saved,
        recorded,
        forgotten,
        restored,
        adopted,
        taken_over,
        granted,
        imported,
        exported,
    ],
)
def test_what_the_history_tells_is_done_without_it(full, change, caplog):
    assert change(full)
    assert full.history.entries() == []
    assert caplog.text.count('the history cannot be written') == 1


def test_the_history_goes_on_once_there_is_room(state, full, monkeypatch):
    assert saved(full)
    monkeypatch.undo()
    state.records.take_over([NODE])
    assert [p.entry.what for p in state.history.entries()] == [
        What.FIRST_WRITE
    ]


def test_a_failure_for_another_reason_is_raised_once(state, monkeypatch):
    """It changed nothing, and nothing was told of it."""
    tries = []

    def fail(*_):
        tries.append(1)
        raise sqlite3.OperationalError('disk I/O error')

    monkeypatch.setattr(state.snapshot, 'save', fail)
    with pytest.raises(errors.Unavailable, match='disk I/O error'):
        state.journal.save([reading(3)])
    assert tries == [1]
