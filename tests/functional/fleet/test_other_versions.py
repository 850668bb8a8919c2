# SPDX-License-Identifier: Apache-2.0
"""Agents of two releases at one shared database: a person migrates, no daemon.

The next release is that of ``next_schema.py``.
"""

import signal

import command_line
import next_schema
import pytest
from fleet_members import HOLDS, wait_until

from compute_agent.fleet.database import connection, schema

TOO_OLD = (
    f'has version {schema.head()}, and this agent needs version '
    f'{next_schema.VERSION}: stop the agents of older versions, and run '
    '"compute-agent state migrate"'
)
TOO_NEW = (
    f'has version {next_schema.VERSION}, and this agent knows versions up to '
    f'{schema.head()}: upgrade this agent to the version of the one that '
    'migrated it'
)
COMMANDS = (['sync'], ['plan'], ['history'], ['state', 'show'])


@pytest.fixture
def steps(tmp_path, monkeypatch):
    """The steps of the next release."""
    made = next_schema.written(tmp_path / 'next')
    monkeypatch.setenv(next_schema.STEPS, str(made))
    return made


@pytest.fixture
def upgraded(steps, monkeypatch):
    """A function: from then on, the commands are of the next release."""
    return lambda: monkeypatch.setattr(schema, '_STEPS', steps)


@pytest.fixture
def version(members):
    """A function that returns the version of the shared database."""

    def found():
        engine = connection.engine(members.url)
        try:
            return schema.version(engine)
        finally:
            engine.dispose()

    return found


def test_a_newer_agent_leaves_an_older_database_to_a_person(
    members, upgraded, version
):
    before = version_of_first(members, version)
    newer = members.start('second', program=next_schema.PROGRAM)
    assert newer.process.wait(command_line.PATIENCE) == 1
    assert TOO_OLD in last_line(newer)
    assert version() == before

    upgraded()
    for words in COMMANDS:
        assert TOO_OLD in members.on('second', *words).line
    assert version() == before
    assert members.on('second', 'state', 'migrate', '--yes').code == 0
    newer = members.start('second', program=next_schema.PROGRAM)
    newer.wait_for('cycle: ')
    assert version() == next_schema.VERSION


@pytest.mark.usefixtures('steps')
def test_a_newer_agent_makes_the_tables_of_an_empty_database(members, version):
    one = members.start('first', program=next_schema.PROGRAM)
    one.wait_for('cycle: ')
    assert version() == next_schema.VERSION


def test_an_older_agent_refuses_a_newer_database(
    members, steps, version, monkeypatch
):
    version_of_first(members, version)
    with monkeypatch.context() as patched:
        patched.setattr(schema, '_STEPS', steps)
        assert members.on('second', 'state', 'migrate', '--yes').code == 0
    older = members.start('first')
    assert older.process.wait(command_line.PATIENCE) == 1
    assert TOO_NEW in last_line(older)
    for words in (*COMMANDS, ['state', 'migrate', '--yes']):
        assert TOO_NEW in members.on('first', *words).line
    rows = {
        row['check']: row
        for row in members.on('first', 'doctor', '-f', 'json').data
    }
    assert rows['its tables']['outcome'] == 'failed'
    assert TOO_NEW in rows['its tables']['said']


def test_a_standby_takes_no_share_of_a_database_that_was_migrated(
    members, upgraded
):
    holder, standby = members.both()
    upgraded()
    assert members.on('third', 'state', 'migrate', '--yes').code == 0
    holder.end(signal.SIGKILL)
    wait_until(lambda: TOO_NEW in standby.said or HOLDS in standby.said)
    assert HOLDS not in standby.said
    standby.process.send_signal(signal.SIGHUP)
    standby.wait_for('files reloaded')
    assert standby.said.count(TOO_NEW) == 1


def version_of_first(members, version):
    """Have the first agent report; return the version of its database."""
    assert members.on('first', 'sync').code == 0
    assert version() == schema.head()
    return version()


def last_line(daemon):
    """Return the last line that a daemon said."""
    *_, last = daemon.said.rstrip().splitlines()
    assert 'Traceback' not in daemon.said
    return last
