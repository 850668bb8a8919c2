# SPDX-License-Identifier: Apache-2.0
"""The history says what changed, by whom and why, and nothing else."""

import sqlite3

import pytest
import requests
from agents import NODE, Driver

from compute_agent.cmd import history as command
from compute_agent.plan.history_entry import OTHERS, Result, What
from compute_agent.state import state
from compute_agent.state.history import history

VCPU = {'VCPU': {'total': 8}}
CHILD = '22222222-2222-4222-8222-222222222222'


@pytest.fixture
def agent(agent_factory, clock):
    """An agent after its first cycle, whose history is read from there on."""
    made = agent_factory(describing('CUSTOM_A', 'CUSTOM_B'), clock=clock)
    made.done()
    clock.now += 60
    return made


def describing(*names, total=8):
    def describe(tree, node):
        tree.update_inventory(node, {'VCPU': {'total': total}})
        tree.declare_traits(node, *names)

    return describe


def told(agent, clock):
    """Run a cycle; return what the history tells of it."""
    since = clock.now
    agent.sync()
    clock.now += 60
    return said(agent, since)


def said(agent, since=0.0):
    return [past.entry for past in agent.state.history.entries(since)]


def marks(entry):
    return sorted(
        f'{"+" if c.exists and not c.existed else "~" if c.exists else "-"}'
        f'{c.name}'
        for c in entry.changes
    )


def briefly(entries):
    return [(e.by, e.what, marks(e)) for e in entries]


def test_a_lowered_total_does_not_get_the_cause_of_a_class_that_went(
    agent, clock
):
    def describe(tree, node):
        tree.update_inventory(node, records)

    agent.driver.describe = describe
    records = {**VCPU, 'PCPU': {'total': 2}}
    told(agent, clock)
    records = {'VCPU': {'total': 4}}
    entries = told(agent, clock)
    (changed,) = [e for e in entries if e.what is What.INVENTORIES]
    assert marks(changed) == ['-PCPU', '~VCPU']
    assert [*command._why(changed)] == [
        'PCPU: the driver no longer reports it'
    ]


def rows(agent):
    with agent.state._database.reading() as db:
        return db.execute('select count(*) from history').fetchone()[0]


# --- what the agent writes ----------------------------------------------------


def test_the_first_cycle_is_an_entry_for_each_operation(agent):
    found = said(agent)
    assert [e.what for e in found] == [
        What.NEW_TRAIT,
        What.NEW_TRAIT,
        What.CREATED,
        What.TRAITS,
        What.INVENTORIES,
    ]
    assert {e.text for e in found[:2]} == {'CUSTOM_A', 'CUSTOM_B'}
    assert marks(found[3]) == [
        '+COMPUTE_NODE',
        '+CUSTOM_A',
        '+CUSTOM_B',
        '+OWNER_NOVA',
    ]
    assert found[4].changes[0].after.total == 8
    assert {(e.uuid, e.provider) for e in found[2:]} == {(NODE, 'node-1')}
    assert {e.node_uuid for e in found} == {NODE}
    assert {e.by for e in found} == {'this agent'}
    assert not any(e.restored or e.approved for e in found)


def test_a_cycle_in_which_nothing_changed_adds_nothing(agent, clock):
    before = rows(agent)
    assert told(agent, clock) == []
    assert told(agent, clock) == []
    assert rows(agent) == before > 0


def test_a_removal_has_its_cause(agent, clock):
    agent.driver.describe = describing('CUSTOM_A')
    (entry,) = told(agent, clock)
    assert marks(entry) == ['-CUSTOM_B']
    assert entry.is_removal
    assert str(entry.changes[0].cause) == 'the driver no longer reports it'


def test_a_changed_amount_has_both_values(agent, clock):
    agent.driver.describe = describing('CUSTOM_A', 'CUSTOM_B', total=9)
    (entry,) = told(agent, clock)
    (change,) = entry.changes
    assert (change.before.total, change.after.total) == (8, 9)
    assert not entry.is_removal


# --- what others change -------------------------------------------------------


def test_what_another_writer_took_away_is_told_and_restored(
    agent, clock, operator
):
    operator.remove_traits('CUSTOM_A')
    others, own = told(agent, clock)
    assert (others.by, others.what, marks(others)) == (
        OTHERS,
        What.TRAITS,
        ['-CUSTOM_A'],
    )
    assert (own.by, marks(own)) == ('this agent', ['+CUSTOM_A'])
    assert own.restored == {'CUSTOM_A'}


def test_what_another_writer_added_is_told_once(agent, clock, operator):
    operator.add_traits('CUSTOM_HAND')
    assert briefly(told(agent, clock)) == [
        (OTHERS, What.TRAITS, ['+CUSTOM_HAND'])
    ]
    operator.allocate(CHILD, 'VCPU')
    assert told(agent, clock) == []


def test_a_changed_amount_of_another_writer_is_restored(
    agent, clock, operator
):
    operator.change_inventory('VCPU', reserved=3)
    others, own = told(agent, clock)
    assert (others.by, marks(others)) == (OTHERS, ['~VCPU'])
    assert others.changes[0].after.reserved == 3
    assert (own.restored, own.changes[0].after.reserved) == ({'VCPU'}, 0)


def test_a_provider_that_another_writer_adds_and_removes(
    agent, clock, operator
):
    operator.create(CHILD, 'theirs', parent_uuid=NODE)
    operator.add_traits('CUSTOM_HAND', uuid=CHILD)
    assert briefly(told(agent, clock)) == [
        (OTHERS, What.CREATED, []),
        (OTHERS, What.TRAITS, ['+CUSTOM_HAND']),
    ]
    operator.delete(CHILD)
    (gone,) = told(agent, clock)
    assert (gone.by, gone.what, gone.provider) == (
        OTHERS,
        What.DELETED,
        'theirs',
    )
    assert gone.is_removal


def test_a_tree_that_was_there_before_the_agent_is_no_change_of_others(
    agent_factory, operator
):
    operator.create(NODE, 'node-1')
    operator.create(CHILD, 'theirs', parent_uuid=NODE)
    operator.add_traits('CUSTOM_HAND', uuid=CHILD)
    agent = agent_factory(describing('CUSTOM_A'))
    agent.done()
    assert OTHERS not in {e.by for e in said(agent)}


def test_a_deleted_root_is_told_and_its_creation_is_a_restoration(
    agent, clock, operator
):
    operator.delete(NODE)
    (gone,) = told(agent, clock)
    assert (gone.by, gone.what) == (OTHERS, What.DELETED)
    back = told(agent, clock)
    assert (back[0].what, back[0].restored) == (What.CREATED, {''})


# --- lost answers, refusals ---------------------------------------------------


def test_a_write_whose_answer_was_lost_is_not_another_writers(
    agent, clock, placement
):
    agent.driver.describe = describing('CUSTOM_A', 'CUSTOM_C')
    placement.fault(
        'PUT */traits',
        requests.ConnectionError('cut off'),
        times=None,
        after_commit=True,
    )
    lost = told(agent, clock)
    assert [e.result for e in lost] == [Result.DONE, Result.UNCONFIRMED]
    placement.mend()
    (found,) = told(agent, clock)
    assert (found.by, marks(found)) == (
        'this agent',
        ['+CUSTOM_C', '-CUSTOM_B'],
    )
    assert 'the answer was lost' in found.text


def test_a_conflict_in_the_middle_of_a_plan_leaves_each_change_to_its_writer(
    agent, clock, operator, placement
):
    """The provider is not kept as read after the agent's first write to it."""
    agent.driver.describe = describing('CUSTOM_A', total=9)

    waiting = ['CUSTOM_HAND']

    def interfere(request):
        if (
            waiting
            and request.method == 'PUT'
            and request.path.endswith('/inventories')
        ):
            operator.add_traits(waiting.pop())

    placement.before_request(interfere)
    found = briefly(told(agent, clock))
    assert ('this agent', What.TRAITS, ['-CUSTOM_B']) in found
    assert (OTHERS, What.TRAITS, ['+CUSTOM_HAND']) in found
    assert ('this agent', What.INVENTORIES, ['~VCPU']) in found
    assert len(found) == 3, found


def test_a_refusal_is_told_once_for_each_reason(agent, clock, placement):
    agent.driver.describe = describing('CUSTOM_A')
    placement.fault('PUT */traits', 400, times=None)
    (refused,) = told(agent, clock)
    assert (refused.result, marks(refused)) == (Result.REFUSED, ['-CUSTOM_B'])
    assert '400' in refused.text
    assert told(agent, clock) == []
    placement.mend()
    placement.fault('PUT */traits', 403, times=None)
    (other,) = told(agent, clock)
    assert other.text not in {'', refused.text}
    placement.mend()
    (done,) = told(agent, clock)
    assert done.result is Result.DONE


# --- persons ------------------------------------------------------------------


def test_an_approved_removal_names_the_person(agent_factory, clock, tmp_path):
    agent = agent_factory(
        Driver(describing(*(f'CUSTOM_{n}' for n in range(60)))),
        clock=clock,
        max_removed_percent=0,
        state=tmp_path,
    )
    agent.done()
    agent.driver.describe = describing()
    (held,) = agent.sync()
    beside = state.State.open_beside(tmp_path)
    beside.history.clock = clock
    beside.approvals.grant(held.held, 'alice')
    beside.close()
    clock.now += 60
    agent.done()
    *_, approved, removal = said(agent)
    assert (approved.what, approved.by) == (What.APPROVED, 'alice')
    assert approved.text == 'names: 60'
    assert removal.approved == {f'CUSTOM_{n}': 'alice' for n in range(60)}


# --- trouble ------------------------------------------------------------------


def test_without_its_table_the_agent_reports_as_before(
    agent, clock, operator, caplog
):
    with agent.state._database.writing() as db:
        db.execute('drop table history')
    agent.driver.describe = describing('CUSTOM_C')
    operator.add_traits('CUSTOM_HAND')
    agent.done()
    agent.done()
    assert {'CUSTOM_C', 'CUSTOM_HAND'} <= operator.traits()
    record = agent.state.records.record([NODE], NODE)
    assert 'CUSTOM_C' in record.ours[NODE, 'trait']
    lines = [r for r in caplog.messages if 'the history cannot be' in r]
    assert len(lines) == 1


def test_a_disk_without_room_for_the_history_has_room_for_the_outcome(
    agent, operator, monkeypatch
):
    """SQLite may end the whole transaction; it is done again without it."""

    def end_all(_history, db, *_):
        db.execute('rollback')
        raise sqlite3.OperationalError('database or disk is full')

    monkeypatch.setattr(history.History, '_insert', end_all)
    agent.driver.describe = describing('CUSTOM_C')
    agent.done()
    assert 'CUSTOM_C' in operator.traits()
    assert agent.state.journal.intents([NODE]) == {}
    record = agent.state.records.record([NODE], NODE)
    assert 'CUSTOM_C' in record.ours[NODE, 'trait']


def test_amounts_whose_answer_was_lost_are_not_another_writers(
    agent, clock, placement
):
    agent.driver.describe = describing('CUSTOM_A', 'CUSTOM_B', total=9)
    placement.fault(
        'PUT */inventories',
        requests.ConnectionError('cut off'),
        times=None,
        after_commit=True,
    )
    (sent,) = told(agent, clock)
    assert (sent.result, marks(sent)) == (Result.UNCONFIRMED, ['~VCPU'])
    assert 'cut off' in sent.text
    placement.mend()
    assert told(agent, clock) == []
