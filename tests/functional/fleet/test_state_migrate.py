# SPDX-License-Identifier: Apache-2.0
"""``state migrate`` moves a record to a shared database and back, whole."""

import contextlib
import json
import signal

import pytest
from fleet_members import HOLDS, LEASE, ROOT

from compute_agent.fleet.database import connection, schema
from compute_agent.fleet.values import mark
from compute_agent.state.state import State


@pytest.fixture
def alone(members):
    """An agent without a shared database that has reported its node."""
    members.config('first', state_connection='')
    assert members.cli.run('sync').code == 0
    return members


@pytest.fixture
def directory(tmp_path):
    return tmp_path / 'state-first'


def record(directory):
    """Return the record in a directory, and what it is a copy of."""
    opened = State.open_copy(directory)
    try:
        return opened.documents(), opened.place
    finally:
        opened.close()


def history(members):
    """Return the history of the node: when and what."""
    rows = members.cli.run('history', ROOT, '-f', 'json').data
    return [(row['Time'], row['What']) for row in rows]


def test_the_tables_are_made_once(members):
    members.config('first')
    shown = members.cli.run('state', 'migrate')
    assert (shown.code, 'makes the tables' in shown.out) == (1, True)
    made = members.cli.run('state', 'migrate', '--yes')
    assert (made.code, f'version {schema.head()} now' in made.out) == (0, True)
    again = members.cli.run('state', 'migrate')
    assert (again.code, 'already' in again.out) == (0, True)


def test_a_record_moves_there_and_back_with_its_history(
    alone, directory, tmp_path
):
    before, _ = record(directory)
    told = history(alone)
    alone.config('first')
    moved = alone.cli.run(
        'state', 'migrate', '--from', str(directory), '--yes', '-f', 'json'
    )
    assert moved.code == 0, moved.err
    assert (moved.data['nodes'], moved.data['providers']) == (1, len(before))
    assert record(directory)[0] == before

    back = tmp_path / 'state-back'
    moved = alone.cli.run('state', 'migrate', '--to', str(back), '--yes')
    assert moved.code == 0, moved.err
    assert record(back) == (before, '')
    alone.config('back', state_connection='')
    assert told == history(alone)[-len(told) :]

    # The share is empty, so that nobody reports from what is old.
    alone.config('first')
    empty = alone.cli.run('state', 'migrate', '--to', str(tmp_path / 'more'))
    assert 'has no record to move' in empty.err


@pytest.mark.catches('two databases with a share of one name have one mark')
def test_a_share_that_moves_goes_on_without_a_question(members, tmp_path):
    """Its marks are its own; those of another database's share are not."""
    file = members.cli.fake_file
    file.write_text(f'node_filter: {{shard: rack1}}\n{file.read_text()}')
    members.config('first', state_connection='')
    assert members.cli.run('sync').code == 0
    marks = [marks_of(members)]
    members.config('first')
    moves = ('state', 'migrate', '--yes', '--from')
    assert members.cli.run(*moves, str(tmp_path / 'state-first')).code == 0
    assert marks_of(members) == marks[0]
    assert doctor_of_marks(members)['outcome'] == 'ok'
    assert members.cli.run('sync').code == 0
    marks.append(marks_of(members))

    first, second = members.url, f'{members.url}2'
    members.url = second
    members.config('second')
    assert doctor_of_marks(members)['outcome'] == 'warning'
    refused = members.on('second', 'sync')
    assert 'another compute-agent (share FAKE, agent' in refused.out
    assert marks_of(members) == marks[1]

    back = str(tmp_path / 'state-back')
    members.url = first
    members.config('first')
    assert members.cli.run('state', 'migrate', '--yes', '--to', back).code == 0
    members.url = f'{first}3'
    members.config('third')
    assert members.cli.run(*moves, back).code == 0
    assert members.cli.run('sync').code == 0
    marks.append(marks_of(members))
    assert [len(one) for one in marks] == [1, 1, 1]
    assert len({*map(frozenset, marks)}) == 3


def doctor_of_marks(members):
    """Return the row of the doctor about the marks on the roots."""
    members.cli.config.chmod(0o600)
    rows = members.cli.run('doctor', '-f', 'json').data
    return next(row for row in rows if row['check'] == 'marks')


def marks_of(members):
    """Return the marks on the node's root."""
    return [str(one) for one in mark.marks(members.traits())]


def test_a_directory_whose_record_moved_is_not_used_alone(alone, directory):
    alone.config('first')
    moved = alone.cli.run(
        'state', 'migrate', '--from', str(directory), '--yes'
    )
    assert moved.code == 0, moved.err
    alone.config('first', state_connection='')
    refused = alone.cli.run('sync')
    assert refused.code == 1
    assert 'is a copy of that of' in refused.err
    for words in (['plan'], ['state', 'show'], ['history']):
        shown = alone.cli.run(*words)
        assert shown.code == 0, shown.err
        assert 'may be older' in shown.err
    moved = alone.cli.run(
        *('state', 'migrate', '--from', alone.url, '--to', str(directory)),
        '--yes',
    )
    assert moved.code == 0, moved.err
    assert alone.cli.run('sync').code == 0


@pytest.mark.catches('a directory keeps the id of the share')
def test_a_directory_has_an_id_of_its_own_without_the_share(alone, directory):
    """Else two agents with one mark would not know each other."""

    alone.config('first')
    words = ('state', 'migrate', '--from', str(directory), '--yes')
    assert alone.cli.run(*words).code == 0
    engine = connection.engine(alone.url)
    of_share = mark.shared_id(LEASE['share'], schema.identity(engine))
    engine.dispose()
    with contextlib.closing(State.open_copy(directory)) as opened:
        assert opened.agent_id != of_share


def test_a_record_is_never_overwritten(alone, directory, tmp_path):
    alone.config('first')
    words = ('state', 'migrate', '--yes')
    assert alone.cli.run(*words, '--from', str(directory)).code == 0
    other = tmp_path / 'state-other'
    alone.config('other', state_connection='')
    alone.cli.describe_node(ROOT, ['CUSTOM_OTHER'])
    alone.cli.run('sync')
    before = record(other)
    alone.config('first')
    for way in ('--from', '--to'):
        refused = alone.cli.run(*words, way, str(other))
        assert refused.code == 1
        assert 'has a record already' in refused.err
    assert record(other) == before


def test_nothing_moves_while_a_daemon_runs(patient, directory, tmp_path):
    holder = patient.start('first')
    holder.wait_for('cycle: ')
    used = patient.cli.run('state', 'migrate', '--from', str(directory))
    assert used.code == 1
    assert 'uses the state directory' in used.err
    held = patient.cli.run(
        'state', 'migrate', '--to', str(tmp_path / 'state-back'), '--yes'
    )
    assert held.code == 1
    said = f'(process {holder.process.pid}); stop them'
    assert said in held.err
    assert HOLDS in holder.said
    holder.end(signal.SIGTERM)


def test_nothing_moves_while_an_agent_stands_by(patient, tmp_path):
    """The standby of a holder that died would take the share meanwhile."""
    holder, standby = patient.both()
    patient.freeze(holder)
    said = patient.on(
        'third', 'state', 'migrate', '--to', str(tmp_path / 'back'), '--yes'
    )
    assert said.code == 1
    assert f'(process {standby.process.pid})' in said.err
    assert not record(tmp_path / 'back')[0]


def test_leave_names_the_agents_that_would_add_everything_again(patient):
    holder, standby = patient.both()
    for name in ('second', 'third'):
        said = patient.on(name, 'leave', '--yes')
        assert said.code == 1
        for one in (holder, standby):
            assert f'(process {one.process.pid})' in said.line
        assert 'stop them all' in said.line
    standby.end()
    holder.end()
    said = patient.on('third', 'leave', '--yes')
    assert said.code == 0, said.err
    providers = patient.cli.placement('/resource_providers')
    assert providers['resource_providers'] == []


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        (('--from', '/a', '--to', '/b'), 'between a state directory and'),
        (('--from', 'sqlite://a', '--to', 'sqlite://b'), 'give a directory'),
        (('--to', 'http://a'), 'is not the URL of a database'),
        (
            ('--from', 'mysql+pymysql://a:secret@b/c', '--to', '/b'),
            'everybody on this host sees the password',
        ),
    ],
)
def test_two_wrong_places_are_one_line(members, words, said):
    members.config('first')
    result = members.cli.run('state', 'migrate', *words)
    assert result.code == 1
    assert said in result.err


def test_the_doctor_examines_the_shared_database(members):
    members.config('first')

    def fleet(code):
        result = members.cli.run('doctor', '-f', 'json')
        assert result.code == code, result.err
        return {row['check']: row for row in json.loads(result.out)}

    rows = fleet(0)
    assert rows['its tables']['said'].startswith('there are none yet')
    assert rows['share']['said'] == 'no agent has reported fake yet'
    holder = members.start('first')
    holder.wait_for('cycle: ')
    rows = fleet(0)
    assert rows['its tables']['said'] == f'they have version {schema.head()}'
    assert rows['its rights']['outcome'] == 'ok'
    assert 'answers' in rows['shared database']['said']
    assert 'holds fake, with epoch 1' in rows['share']['said']
    engine = connection.engine(members.url)
    with engine.begin() as db:
        db.exec_driver_sql("update lease set driver = 'ironic'")
    engine.dispose()
    assert 'with the driver ironic' in fleet(1)['share']['said']
    holder.end(signal.SIGTERM)
