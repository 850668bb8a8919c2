# SPDX-License-Identifier: Apache-2.0
"""Two daemons of one share on a real PostgreSQL, which goes away and comes back."""

import signal

import pytest
import stopped_process
from fleet_members import HOLDS, LEASE, ROOT, STANDS_BY

AWAY = 'cannot be used'
ONCE = 'retrying until it is mended'


@pytest.fixture
def network(relaying, pair):
    """The network between the agents and the database."""
    return relaying(pair.address)


@pytest.fixture
def on_postgresql(members, pair, network, monkeypatch):
    """The daemons of one share, on a PostgreSQL that may be slow."""
    monkeypatch.setitem(LEASE, 'lease_seconds', 6)
    pair.new_database('fleet')
    members.url = pair.url('fleet', network.address)
    return members


@pytest.mark.parametrize('number', [signal.SIGKILL, signal.SIGTERM])
def test_the_standby_goes_on_when_the_holder_ends(on_postgresql, number):
    holder, standby = on_postgresql.both()
    on_postgresql.cli.describe_node(ROOT, ['CUSTOM_NEW'])
    holder.end(number)
    standby.wait_for('+CUSTOM_NEW')
    standby.wait_for('-CUSTOM_GOLD')  # which the first one added
    assert standby.said.index(HOLDS) < standby.said.index('+CUSTOM_NEW')


def test_a_holder_that_was_stopped_writes_nothing_more(on_postgresql):
    holder, standby = on_postgresql.both()
    stopped_process.freeze(holder.process.pid)
    standby.wait_for(HOLDS)
    standby.wait_for('cycle: ')
    on_postgresql.cli.describe_node(ROOT, ['CUSTOM_NEW'])
    holder.process.send_signal(signal.SIGHUP)
    holder.process.send_signal(signal.SIGCONT)
    holder.wait_for('this agent stands by and writes nothing')
    holder.wait_for('files reloaded')
    assert '+CUSTOM_NEW' not in holder.said


def test_while_the_database_is_away_nothing_is_written(on_postgresql, network):
    holder, standby = on_postgresql.both()
    network.cut()
    for one in (holder, standby):
        one.wait_for(ONCE)
    on_postgresql.cli.describe_node(ROOT, ['CUSTOM_NEW'])
    refused = on_postgresql.on('first', 'sync')  # a cycle is tried now
    assert refused.code == 1
    assert AWAY in refused.line
    assert 'CUSTOM_NEW' not in on_postgresql.traits()
    network.mend()
    for one in (holder, standby):
        one.wait_for('back after')
    holder.wait_for('+CUSTOM_NEW')
    for one in (holder, standby):
        assert one.said.count(ONCE) == one.said.count(AWAY) == 1, one.said
    assert holder.said.count(HOLDS) == 1
    assert HOLDS not in standby.said


def test_a_holder_that_the_network_cuts_off_is_followed(
    on_postgresql, pair, relaying
):
    """Only its own connection to the database is held, as by a pulled cable."""
    own = relaying(pair.address)
    shared = on_postgresql.url
    on_postgresql.url = pair.url('fleet', own.address)
    holder = on_postgresql.start('first')
    holder.wait_for('cycle: ')
    on_postgresql.url = shared
    standby = on_postgresql.start('second')
    standby.wait_for(STANDS_BY)
    own.hold()
    standby.wait_for(HOLDS)
    on_postgresql.cli.describe_node(ROOT, ['CUSTOM_NEW'])
    holder.process.send_signal(signal.SIGHUP)
    standby.process.send_signal(signal.SIGHUP)
    standby.wait_for('+CUSTOM_NEW')
    own.mend()
    holder.wait_for('this agent stands by and writes nothing')
    assert '+CUSTOM_NEW' not in holder.said


def test_a_missing_database_ends_the_start_with_one_line(on_postgresql):
    on_postgresql.url = on_postgresql.url.replace('/fleet', '/nowhere')
    one = on_postgresql.start('first')
    assert one.process.wait(300) == 1
    *_, last = one.said.rstrip().splitlines()
    assert 'does not exist' in last
    assert 'create it' in last
