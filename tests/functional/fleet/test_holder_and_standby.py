# SPDX-License-Identifier: Apache-2.0
"""Two daemons with one share and one database: one reports, one stands by."""

import signal

import command_line
import pytest
from fleet_members import HOLDS, ROOT, SLOW, STANDS_BY, wait_until

from compute_agent.fleet.values import mark, roles
from compute_agent.tree import names

MARK = f'{names.CUSTOM_PREFIX}{mark.PREFIX}'


@pytest.mark.parametrize('number', [signal.SIGKILL, signal.SIGTERM])
def test_the_standby_goes_on_when_the_holder_ends(members, number):
    holder, standby = members.both()
    members.cli.describe_node(ROOT, ['CUSTOM_NEW'])
    holder.end(number)
    standby.wait_for('+CUSTOM_NEW')
    assert standby.said.index(HOLDS) < standby.said.index('+CUSTOM_NEW')
    assert 'CUSTOM_NEW' in members.traits()
    assert 'CUSTOM_GOLD' not in members.traits()  # by the record of the first
    assert HOLDS in holder.said
    assert ('leaves the share fake' in holder.said) is (
        number is signal.SIGTERM
    )


def test_a_holder_that_was_stopped_writes_nothing_more(members):
    holder, standby = members.both()
    members.freeze(holder)
    standby.wait_for(HOLDS)
    standby.wait_for('cycle: ')
    members.cli.describe_node(ROOT, ['CUSTOM_NEW'])
    holder.process.send_signal(signal.SIGHUP)
    holder.process.send_signal(signal.SIGCONT)
    holder.wait_for('this agent stands by and writes nothing')
    holder.wait_for('files reloaded')
    assert '+CUSTOM_NEW' not in holder.said
    standby.end()
    holder.wait_for('+CUSTOM_NEW')  # it follows in its turn


def test_a_cycle_that_takes_longer_than_the_lease_keeps_it(
    members, tmp_path, monkeypatch
):
    go_on = tmp_path / 'go-on'
    monkeypatch.setenv('GO_ON', str(go_on))
    holder = members.start('first', program=('-c', SLOW))
    holder.wait_for('it describes')
    standby = members.start('second')
    standby.wait_for(STANDS_BY)
    first = members.beat()
    wait_until(lambda: members.beat() > first + 3 * roles.LOOKS)
    go_on.touch()
    holder.wait_for('cycle: ')
    assert 'CUSTOM_GOLD' in members.traits()
    assert HOLDS not in standby.said


def test_daemons_that_start_together_have_one_holder(members):
    daemons = [members.start(name) for name in ('first', 'second', 'third')]
    wait_until(lambda: sum(HOLDS in one.said for one in daemons) == 1)
    (holder,) = [one for one in daemons if HOLDS in one.said]
    holder.wait_for('cycle: ')
    for one in daemons:
        if one is not holder:
            one.wait_for(STANDS_BY)
    assert [HOLDS in one.said for one in daemons].count(True) == 1


def test_a_person_releases_the_share(members):
    holder, standby = members.both()
    wait_until(
        lambda: members.on('first', 'status', '-f', 'json').data['membership'][
            'standbys'
        ]
    )
    said = members.on('first', 'release')
    assert (said.code, said.out) == (0, 'this agent left the share fake\n')
    standby.wait_for(HOLDS)
    holder.wait_for(STANDS_BY)
    refused = members.cli.run('release')
    assert refused.code == 1
    assert 'this agent is a standby: ' in refused.line


def test_a_command_holds_the_share_while_it_works(members):
    assert members.on('first', 'sync').code == 0
    one = members.start('second')
    one.wait_for(HOLDS)
    one.wait_for('cycle: ')
    assert '; 0 operations' in one.said
    assert '(epoch 2)' in one.said


def test_status_tells_the_role(members):
    holder, _standby = members.both()
    for name, role in (('first', 'holder'), ('second', 'standby')):
        found = members.on(name, 'status', '-f', 'json').data['membership']
        assert (found['share'], found['role']) == ('fake', role)
    said = members.on('second', 'status').out
    assert f'stands by: {found["holder"]}' in said
    assert f'(process {holder.process.pid}) holds' in found['holder']


def test_an_agent_that_may_not_stand_by_ends(members):
    holder = members.start('first')
    holder.wait_for('cycle: ')
    other = members.start('second', standby='false')
    assert other.process.wait(command_line.PATIENCE) == 1
    *_, last = other.said.rstrip().splitlines()
    assert f'(process {holder.process.pid}) holds the share fake' in last
    assert 'this agent may not stand by' in last


def test_the_next_holder_of_many_nodes_needs_no_yes(members):
    """All agents of a share have one mark on the roots of its nodes."""
    file = members.cli.fake_file
    text = f'node_filter: {{shard: rack1}}\n{file.read_text()}'
    file.write_text(text)
    holder, standby = members.both()
    (one,) = (t for t in members.traits() if t.startswith(MARK))
    file.write_text(text.replace('CUSTOM_GOLD', 'CUSTOM_NEW'))
    holder.end(signal.SIGKILL)
    standby.wait_for('+CUSTOM_NEW')
    assert {one, 'CUSTOM_NEW'} <= members.traits()
