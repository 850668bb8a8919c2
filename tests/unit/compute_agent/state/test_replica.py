# SPDX-License-Identifier: Apache-2.0
"""The record of a share: commits, standbys, take-overs, lost answers."""

import contextlib
import dataclasses
import sqlite3

import pytest
from shared_in_memory import SharedInMemory

from compute_agent import errors
from compute_agent.limits import approval
from compute_agent.plan import history_entry, intents
from compute_agent.state import nodes, state
from compute_agent.tree import assertion, provider

NODE = '11111111-1111-4111-8111-111111111111'
OTHER = '22222222-2222-4222-8222-222222222222'
TRAIT = assertion.Kind.TRAIT
CREATION = intents.Intent(node_uuid=NODE, uuid=NODE, kind=None, generation=0)


def intent(*names, generation=1):
    return intents.Intent(
        node_uuid=NODE,
        uuid=NODE,
        kind=TRAIT,
        generation=generation,
        names=frozenset(names),
        added=frozenset(names),
    )


def reading(generation=1, traits=(), uuid=NODE, root=NODE):
    return provider.Reading(
        provider=provider.Provider(
            uuid=uuid,
            name=uuid,
            generation=generation,
            traits=frozenset(traits),
            parent_uuid=None if uuid == root else root,
        ),
        root_uuid=root,
        read_at=1.0,
    )


class Agent:
    """An agent's state as a copy of the shared record."""

    def __init__(self, shared, opened=None, place='db/share'):
        self.shared = shared
        self.state = opened or state.State.in_memory('here')
        self.replica = self.state.replica(shared, place)

    def take_over(self):
        self.replica.take_over(self.shared.take())

    def record(self, uuid=NODE):
        return self.state.records.record([uuid], NODE)

    def add(self, *names, generation=1):
        """Add names to the node, as a cycle does."""
        wanted = intent(*names, generation=generation)
        self.state.journal.begin(NODE, [wanted], {})
        self.state.journal.record_outcome(
            [wanted], readings=[reading(generation + 1, names)]
        )


@pytest.fixture
def shared():
    return SharedInMemory()


@pytest.fixture
def agents(shared):
    with contextlib.ExitStack() as stack:

        def make(opened=None, place='db/share'):
            agent = Agent(shared, opened, place)
            stack.callback(agent.state.close)
            return agent

        yield make


@pytest.fixture
def holder(agents):
    agent = agents()
    agent.take_over()
    return agent


@pytest.fixture
def standby(agents):
    return agents()


def ours(agent):
    return agent.record().ours.get((NODE, TRAIT), frozenset())


@pytest.mark.catches('changes of the intents are not noted')
def test_an_intent_is_shared_before_its_request(holder, standby):
    holder.state.journal.begin(NODE, [CREATION], {})
    standby.replica.catch_up()
    assert standby.state.journal.intents([NODE]) == {NODE: {NODE: [CREATION]}}


@pytest.mark.catches(
    'the entries of the history stay on the host of their agent'
)
def test_a_standby_has_the_holders_record(holder, standby):
    standby.replica.catch_up()
    holder.add('CUSTOM_A')
    holder.state.agreed_names.agree(NODE, 'cn1')
    before = standby.state.journal.writes()
    standby.replica.catch_up()
    assert standby.state.journal.writes() > before
    assert ours(standby) == {'CUSTOM_A'}
    holder.state.records.take_over([NODE])
    holder.add('CUSTOM_A', 'CUSTOM_B', generation=2)
    standby.replica.catch_up()
    assert ours(standby) == {'CUSTOM_A', 'CUSTOM_B'}
    assert standby.record() == holder.record()
    assert [e.entry for e in standby.state.history.entries()] == [
        e.entry for e in holder.state.history.entries()
    ]


@pytest.mark.catches('an approval holds only by the clock of its machine')
def test_an_approval_holds_where_the_clock_is_two_hours_behind(
    holder, standby
):
    hour, now = 3600.0, 1e9
    holder.state.history.clock = lambda: now + hour
    standby.state.history.clock = lambda: now - hour
    some = [approval.subject(approval.Kind.NAMES, ('a', 'trait', 'CUSTOM_X'))]
    holder.state.approvals.grant(some, 'ann')
    standby.replica.catch_up()
    standby.take_over()
    assert standby.state.approvals.approved(some) == {some[0]: 'ann'}
    standby.state.history.clock = lambda: now + hour + approval.LIFETIME
    assert standby.state.approvals.approved(some) == {}


@pytest.mark.catches('the document of a provider without a record stays')
def test_what_one_agent_forgets_is_gone_for_all(holder, standby, shared):
    holder.add('CUSTOM_A')
    standby.replica.catch_up()
    holder.state.journal.disown([NODE])
    standby.replica.catch_up()
    assert ours(standby) == set()
    assert shared.content.documents[NODE][1] is None


def test_a_standby_that_catches_up_with_nothing_writes_nothing(
    holder, standby, shared
):
    holder.add('CUSTOM_A')
    standby.replica.catch_up()
    before = written(standby)
    assert standby.replica.seen < shared.beat(1)
    standby.replica.catch_up()
    assert written(standby) == before
    assert standby.replica.seen == shared.content.beat


def written(agent):
    with agent.state._database.reading() as db:
        return db.execute('select writes from written').fetchone()


def test_a_standby_changes_no_record(holder, standby):
    standby.replica.catch_up()
    with pytest.raises(errors.Deposed, match='only the holder'):
        standby.state.journal.begin(NODE, [CREATION], {})
    assert standby.state.journal.intents([NODE]) == {}


def test_a_standby_tells_its_own_history_alone(holder, standby):
    standby.replica.catch_up()
    entry = history_entry.Entry(what=history_entry.What.STARTED)
    standby.state.history.add([entry])
    (kept,) = standby.state.history.entries()
    assert kept.entry.what is history_entry.What.STARTED
    assert not shared_history(holder)


def shared_history(agent):
    return agent.shared.content.history


@pytest.mark.catches('an agent that was deposed goes on')
def test_a_deposed_holder_changes_nothing(holder, standby, caplog):
    holder.add('CUSTOM_A')
    standby.take_over()
    with pytest.raises(errors.Deposed):
        holder.state.journal.begin(NODE, [intent('CUSTOM_B')], {})
    assert holder.state.journal.intents([NODE]) == {}
    with pytest.raises(errors.Deposed):
        holder.state.records.take_over([NODE])  # with history
    assert 'history' not in caplog.text
    holder.replica.stand_by()
    standby.add('CUSTOM_C', generation=2)
    holder.replica.catch_up()
    assert ours(holder) == {'CUSTOM_C'}


@pytest.mark.catches(
    'the record is committed here before the shared database has it'
)
def test_without_the_shared_database_nothing_is_changed_here(holder, shared):
    shared.away = True
    with pytest.raises(errors.Unavailable):
        holder.state.journal.begin(NODE, [CREATION], {})
    assert holder.state.journal.intents([NODE]) == {}
    shared.away = False
    assert holder.replica.is_behind
    with pytest.raises(errors.Unavailable, match='may lack a commit'):
        holder.state.journal.begin(NODE, [CREATION], {})
    holder.replica.catch_up()
    holder.state.journal.begin(NODE, [CREATION], {})
    assert not holder.replica.is_behind


@pytest.mark.catches(
    'a commit whose answer was lost is taken for one that was not done',
    case='after',
)
@pytest.mark.parametrize('how', ['before', 'after'])
def test_a_lost_answer_is_looked_up(holder, standby, shared, how):
    shared.loses_answer = how
    with pytest.raises(errors.Unavailable):
        holder.state.journal.begin(NODE, [CREATION], {})
    assert holder.replica.is_behind
    holder.replica.catch_up()
    standby.replica.catch_up()
    there = {NODE: {NODE: [CREATION]}} if how == 'after' else {}
    assert holder.state.journal.intents([NODE]) == there
    assert standby.state.journal.intents([NODE]) == there
    holder.add('CUSTOM_A')
    standby.replica.catch_up()
    assert ours(standby) == ours(holder) == {'CUSTOM_A'}


def test_a_commit_that_failed_here_is_completed(agents, shared, tmp_path):
    holder = agents(state.State.open(tmp_path, 'here'))
    holder.take_over()
    with holder.state._database.reading() as db:
        holder.state._database._db = Failing(db)
    with pytest.raises(errors.Unavailable):
        holder.state.journal.begin(NODE, [CREATION], {})
    holder.state._database._db = db
    assert holder.state.journal.intents([NODE]) == {}
    with pytest.raises(errors.Unavailable, match='may lack a commit'):
        holder.state.journal.begin(NODE, [CREATION], {})
    holder.replica.catch_up()
    assert holder.state.journal.intents([NODE]) == {NODE: {NODE: [CREATION]}}


class Failing:
    """A connection that cannot commit."""

    def __init__(self, db):
        self._db = db

    def execute(self, query, *values):
        if query == 'commit':
            raise sqlite3.OperationalError('the disk is full')
        return self._db.execute(query, *values)

    def __getattr__(self, name):
        return getattr(self._db, name)


# --- starts and take-overs ----------------------------------------------------


@pytest.mark.catches(
    'the first holder of a share leaves its own record behind'
)
def test_the_first_holder_brings_its_record_along(agents, standby):
    alone = state.State.in_memory('here')
    Agent.add(as_agent(alone), 'CUSTOM_A')
    alone.history.add(
        [history_entry.Entry(what=history_entry.What.STARTED, text='before')]
    )
    first = agents(alone)
    first.take_over()
    standby.replica.catch_up()
    assert ours(standby) == ours(first) == {'CUSTOM_A'}
    texts = [e.entry.text for e in standby.state.history.entries()]
    assert texts == ['before']


def as_agent(opened):
    agent = object.__new__(Agent)
    agent.state = opened
    return agent


def test_the_record_of_a_second_host_is_dropped_and_told(
    agents, holder, caplog
):
    holder.add('CUSTOM_A')
    other = state.State.in_memory('here')
    Agent.add(as_agent(other), 'CUSTOM_B')
    Agent.add(as_agent(other), 'CUSTOM_B', generation=2)
    second = agents(other)
    second.replica.catch_up()
    assert ours(second) == {'CUSTOM_A'}
    assert 'does not count, because db/share has a record' in caplog.text


def test_a_share_that_moved_has_its_history_once(agents, shared, tmp_path):
    with contextlib.closing(state.State.open(tmp_path, 'here')) as opened:
        holder = Agent(shared, opened)
        holder.take_over()
        holder.state.records.take_over([NODE])
    again = agents(state.State.open(tmp_path, 'here'), 'another db/share')
    again.replica.catch_up()
    assert len(again.state.history.entries()) == 1


def test_a_command_beside_a_standby_sees_the_record(agents, holder, tmp_path):
    standby = agents(state.State.open(tmp_path, 'here'))
    holder.add('CUSTOM_A')
    standby.replica.catch_up()
    with contextlib.closing(state.State.open_copy(tmp_path, 'here')) as copy:
        found = copy.records.record([NODE], NODE)
    assert found.ours == {(NODE, TRAIT): {'CUSTOM_A'}}


def test_an_empty_host_is_no_news(holder, standby, caplog):
    holder.add('CUSTOM_A')
    standby.replica.catch_up()
    assert not caplog.records


@pytest.mark.catches(
    'a reading of a provider that another agent wrote to is kept'
)
def test_a_restart_keeps_the_readings_that_nobody_changed(
    agents, shared, tmp_path
):
    opened = state.State.open(tmp_path, 'here')
    holder = agents(opened)
    holder.take_over()
    holder.add('CUSTOM_A')
    child = reading(4, uuid=OTHER, root=OTHER)
    opened.journal.save([child])
    opened.close()
    other = agents()
    other.take_over()
    other.add('CUSTOM_A', 'CUSTOM_C', generation=2)
    again = agents(state.State.open(tmp_path, 'here'))
    again.take_over()
    assert ours(again) == {'CUSTOM_A', 'CUSTOM_C'}
    assert again.state.snapshot.readings([NODE, OTHER]) == {OTHER: child}
    count = len(again.state.history.entries())
    assert count == len(shared.content.history)


@pytest.mark.catches(
    'a holder goes on with its own record, not with that of the share'
)
def test_what_was_done_without_the_fleet_is_dropped(agents, shared, tmp_path):
    with contextlib.closing(state.State.open(tmp_path, 'here')) as opened:
        holder = Agent(shared, opened)
        holder.take_over()
        holder.add('CUSTOM_A')
    with contextlib.closing(state.State.open(tmp_path, 'here')) as alone:
        Agent.add(as_agent(alone), 'CUSTOM_B', generation=2)
    again = agents(state.State.open(tmp_path, 'here'))
    again.take_over()
    assert ours(again) == {'CUSTOM_A'}


def test_open_writes_are_inherited_until_they_are_settled(holder, standby):
    standby.replica.catch_up()
    holder.state.journal.begin(NODE, [intent('CUSTOM_A')], {})
    assert holder.state.journal.inherited() == frozenset()
    standby.take_over()
    assert standby.state.journal.inherited() == {NODE}
    standby.state.journal.settled(NODE)
    assert standby.state.journal.inherited() == frozenset()
    standby.replica.stand_by()


@pytest.mark.catches(
    'what was read before another agent wrote is kept in memory'
)
def test_all_that_is_kept_in_memory_is_read_again(holder, standby):
    standby.replica.catch_up()
    assert standby.state.agreed_names.agreed_name(NODE) is None
    assert standby.state.nodes.of_drivers(['m:C']) == {}
    assert ours(standby) == set()
    known = nodes.KnownNode(name='cn1', drivers=frozenset({'m:C'}))
    holder.state.nodes.keep({NODE: known})
    holder.state.agreed_names.agree(NODE, 'cn1')
    holder.add('CUSTOM_A')
    standby.replica.catch_up()
    assert standby.state.agreed_names.agreed_name(NODE) == 'cn1'
    assert standby.state.nodes.of_drivers(['m:C']) == {NODE: known}
    assert ours(standby) == {'CUSTOM_A'}


def test_a_newer_document_is_refused_by_an_older_agent(
    holder, standby, shared
):
    standby.replica.catch_up()
    holder.add('CUSTOM_A')
    sequence, text = shared.content.documents[NODE]
    newer = text.replace('"version":2', '"version":3')
    shared.content.documents[NODE] = sequence, newer
    with pytest.raises(errors.ConfigError, match='upgrade this agent'):
        standby.replica.catch_up()
    with pytest.raises(errors.ConfigError, match='upgrade this agent'):
        standby.take_over()
    assert ours(standby) == set()


# --- a shared database that lost commits --------------------------------------


def test_a_holder_commits_again_what_the_database_lost(
    holder, standby, shared
):
    holder.add('CUSTOM_A')
    replica = shared.copied()
    holder.add('CUSTOM_A', 'CUSTOM_B', generation=2)
    holder.state.journal.begin(OTHER, [CREATION], {})
    shared.fail_over(replica)
    holder.state.records.take_over([OTHER])
    standby.replica.catch_up()
    assert ours(standby) == ours(holder) == {'CUSTOM_A', 'CUSTOM_B'}
    assert standby.state.journal.intents([NODE, OTHER]) == (
        holder.state.journal.intents([NODE, OTHER])
    )
    assert not standby.state.records.record([NODE], NODE).created


@pytest.mark.catches(
    'nobody notices by a beat that the shared database lost commits'
)
@pytest.mark.catches('lost commits are committed again with the next change')
def test_a_beat_tells_a_holder_that_commits_were_lost(holder, standby, shared):
    holder.add('CUSTOM_A')
    replica = shared.copied()
    holder.add('CUSTOM_A', 'CUSTOM_B', generation=2)
    shared.fail_over(replica)
    for _ in range(5):  # the beats come again to where they were
        above = holder.replica.seen
        holder.replica.saw(shared.beat(1), above=above)
    assert holder.replica.is_behind  # it catches up before its next cycle
    holder.replica.catch_up()
    assert not holder.replica.is_behind
    standby.replica.catch_up()
    assert ours(standby) == {'CUSTOM_A', 'CUSTOM_B'}


@pytest.mark.catches(
    'names of a record that lost its last changes count as before'
)
def test_after_lost_commits_no_name_counts_on_a_changed_provider(
    holder, standby, shared, caplog
):
    holder.add('CUSTOM_A')
    holder.state.journal.begin(
        OTHER, [dataclasses.replace(intent('CUSTOM_X'), uuid=OTHER)], {}
    )
    holder.state.journal.record_outcome(
        [dataclasses.replace(intent('CUSTOM_X'), uuid=OTHER)],
        readings=[reading(2, ['CUSTOM_X'], OTHER, OTHER)],
    )
    replica = shared.copied()
    holder.add(generation=2)  # the name is gone, and another adds it again
    standby.replica.catch_up()
    shared.fail_over(replica)
    standby.take_over()
    assert 'lost commits' in caplog.text
    standby.state.journal.save([reading(4, ['CUSTOM_A'])])
    standby.state.journal.save([reading(2, ['CUSTOM_X'], OTHER, OTHER)])
    assert ours(standby) == set()
    assert standby.record(OTHER).ours == {(OTHER, TRAIT): {'CUSTOM_X'}}


def test_a_doubt_outlives_its_agent(holder, standby, agents, shared):
    holder.add('CUSTOM_A')
    replica = shared.copied()
    holder.add(generation=2)
    standby.replica.catch_up()
    shared.fail_over(replica)
    standby.take_over()
    third = agents()
    third.take_over()
    third.state.journal.save([reading(4, ['CUSTOM_A'])])
    assert ours(third) == set()
