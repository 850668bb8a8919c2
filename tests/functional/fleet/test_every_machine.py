# SPDX-License-Identifier: Apache-2.0
"""Commands that read, on a machine that does not report: the shared record."""

import signal
import socket
from concurrent import futures

import pytest
from fleet_members import LEASE, ROOT, SLOW, STANDS_BY, wait_until

MANY = [f'CUSTOM_{number:02}' for number in range(60)]
HELD = '"compute-agent approve" shows what waits, and allows it'


@pytest.fixture
def elsewhere(members):
    """A machine whose own state has nothing; no daemon runs there."""
    members.start('first').wait_for('cycle: ')

    def on_third(*words):
        return members.on('third', *words)

    return on_third


def test_the_record_is_that_of_the_share(elsewhere, members):
    rows = elsewhere('state', 'show', '-f', 'json').data
    assert {row['Provider'] for row in rows} == {'cn1'}
    assert {row['Name'] for row in rows} >= {'CUSTOM_GOLD', 'VCPU'}
    assert rows == members.on('first', 'state', 'show', '-f', 'json').data


def test_the_history_is_that_of_the_share(elsewhere):
    said = elsewhere('history', 'cn1')
    assert said.code == 0
    assert '+CUSTOM_GOLD' in said.out


def test_the_plan_removes_by_the_record_of_the_share(elsewhere, members):
    members.cli.describe_node(ROOT, ['CUSTOM_NEW'])
    said = elsewhere('plan')
    assert said.code == 2
    assert '+CUSTOM_NEW' in said.out
    assert '-CUSTOM_GOLD' in said.out
    assert 'CUSTOM_GOLD' in members.traits()


def test_explain_knows_who_added_a_trait(elsewhere, members):
    words = ['explain', 'CUSTOM_GOLD', '-f', 'json']
    assert elsewhere(*words).data == members.on('first', *words).data


def test_drift_is_told_where_the_agent_reports(elsewhere, members):
    assert members.on('first', 'drift').code == 0
    members.cli.others.add_traits(ROOT, 'CUSTOM_OTHER')
    said = members.on('first', 'drift')
    assert said.code == 2
    assert 'CUSTOM_OTHER' in said.out
    refused = elsewhere('drift')
    assert refused.code == 1
    assert 'run the command on its machine' in refused.line


@pytest.mark.long_except(every=2)
@pytest.mark.parametrize('name', ['first', 'third'])
def test_a_record_is_handed_over_beside_running_agents(
    members, tmp_path, name
):
    members.both()

    def rows():
        return members.on('third', 'state', 'show', '-f', 'json').data

    before, file = rows(), tmp_path / 'record.json'
    assert any(row['Created'] for row in before)
    exported = members.on(name, 'state', 'export', '--forget', 'cn1')
    assert exported.code == 0, exported.err
    file.write_text(exported.out)
    assert not any(row['Created'] for row in rows())
    imported = members.on(name, 'state', 'import', '--yes', str(file))
    assert imported.code == 0, imported.err
    wait_until(lambda: rows() == before)
    told = members.on('third', 'history', '-f', 'json').data
    who = [r['Who'] for r in told if 'record' in r['What']]
    is_afar = [f' on {socket.gethostname()} (asked at ' in w for w in who]
    assert is_afar == [name == 'third'] * 2


def test_a_record_is_handed_over_where_no_agent_reports(members, tmp_path):
    assert members.on('first', 'sync').code == 0
    file = tmp_path / 'record.json'
    exported = members.on('first', 'state', 'export', '--forget', 'cn1')
    assert exported.code == 0, exported.err
    file.write_text(exported.out)
    assert members.on('second', 'state', 'show').out == ''
    imported = members.on('second', 'state', 'import', '--yes', str(file))
    assert imported.code == 0, imported.err
    rows = members.on('third', 'state', 'show', '-f', 'json').data
    assert any(row['Created'] for row in rows)


def test_audit_knows_the_providers_of_the_share(elsewhere):
    said = elsewhere('audit', '-f', 'json')
    assert said.data is not None


def test_nothing_is_kept_on_the_machine(elsewhere, members, tmp_path):
    before = members.beat()
    for words in (['plan'], ['history'], ['state', 'show'], ['drift']):
        elsewhere(*words)
    assert not (tmp_path / 'state-third').exists()
    assert before <= members.beat()


def test_a_database_that_no_agent_used_yet_has_no_record(members):
    said = members.on('third', 'state', 'show')
    assert (said.code, said.out) == (0, '')
    assert members.on('third', 'plan').code == 2


def test_a_database_that_is_away_is_said(members):
    members.url = 'postgresql+psycopg://a:secret@127.0.0.1:1/fleet'
    said = members.on('third', 'state', 'show')
    assert said.code == 1
    assert 'the shared database postgresql+psycopg://127.0.0.1:1/fleet' in (
        said.line
    )
    assert 'secret' not in said.line


@pytest.mark.long_except(every=2)
@pytest.mark.parametrize('name', ['second', 'third'])
def test_an_approval_on_any_machine_reaches_the_holder(
    members, name, monkeypatch
):
    """On ``second`` a daemon stands by, on ``third`` none runs."""
    monkeypatch.setitem(LEASE, 'max_removed_percent', 0)
    members.cli.describe_node(ROOT, MANY)
    holder, _standby = members.both()
    members.cli.describe_node(ROOT, [])
    holder.process.send_signal(signal.SIGHUP)
    holder.wait_for(HELD)
    listed = members.on(name, 'approve', '-f', 'json').data
    assert listed['changes'] == len(MANY)
    said = members.on(name, 'approve', listed['digest'])
    assert said.code == 0
    assert f'(process {holder.process.pid}) holds the share' in said.err
    assert f'approved: {len(MANY)} changes' in said.out
    assert not {*MANY} & members.traits()
    told = members.on(name, 'history', '-f', 'json').data
    (entry,) = [row for row in told if row['What'] == 'changes approved']
    assert f' on {socket.gethostname()} (asked at ' in entry['Who']


@pytest.mark.long_except(every=3)
@pytest.mark.parametrize('name', ['first', 'second', 'third'])
def test_sync_on_any_machine_is_carried_out_by_the_holder(members, name):
    holder, _standby = members.both()
    members.cli.describe_node(ROOT, ['CUSTOM_NEW'])
    members.cli.others.add_traits(ROOT, 'CUSTOM_OTHER')
    holder.process.send_signal(signal.SIGHUP)  # it reads the driver's file
    said = members.on(name, 'sync', '--prune', 'CUSTOM_OTHER,CUSTOM_NONE')
    assert said.code == 0, said.err
    assert 'CUSTOM_NONE is removed from no provider' in said.err
    is_told = f'(process {holder.process.pid}) holds the share' in said.err
    assert is_told is (name != 'first')
    assert members.traits() >= {'CUSTOM_NEW'}
    assert not members.traits() & {'CUSTOM_OTHER', 'CUSTOM_GOLD'}
    again = members.on(name, 'sync', 'cn1', '-f', 'json')
    assert (again.code, [row['node'] for row in again.data]) == (0, ['cn1'])
    wrong = members.on(name, 'sync', 'cn2')
    assert wrong.code == 1
    assert 'cn2' in wrong.err


@pytest.mark.long_except(every=2)
@pytest.mark.parametrize('name', ['second', 'third'])
def test_an_unknown_digest_is_refused_by_the_holder(members, name):
    members.both()
    said = members.on(name, 'approve', '0123456789abcdef')
    assert said.code == 1
    assert 'nothing was approved' in said.err


def test_a_request_that_a_dead_holder_began_is_not_carried_out_again(
    members, tmp_path, monkeypatch
):
    go_on = tmp_path / 'go-on'
    go_on.touch()
    monkeypatch.setenv('GO_ON', str(go_on))
    holder = members.start('first', program=('-c', SLOW))
    holder.wait_for('cycle: ')
    standby = members.start('second')
    standby.wait_for(STANDS_BY)
    go_on.unlink()
    members.cli.describe_node(ROOT, ['CUSTOM_NEW'])
    members.config('third')
    with futures.ThreadPoolExecutor(1) as beside:
        said = beside.submit(members.cli.run, 'sync')
        holder.wait_for('asks for a cycle')
        holder.end(signal.SIGKILL)
        standby.wait_for('CUSTOM_NEW')
        result = said.result()
    assert result.code == 1
    assert 'lost the share before the end' in result.err


def test_where_no_agent_reports_the_command_does_it_itself(members):
    holder = members.start('first')
    holder.wait_for('cycle: ')
    holder.end(signal.SIGKILL)
    members.cli.describe_node(ROOT, ['CUSTOM_NEW'])
    said = members.on('third', 'sync')
    assert said.code == 0, said.err
    assert 'CUSTOM_NEW' in members.traits()


@pytest.mark.long_except(every=2)
@pytest.mark.parametrize('name', ['second', 'third'])
def test_status_on_any_machine_shows_who_reports_and_who_stands_by(
    patient, name
):
    holder, standby = patient.both()
    (share,) = patient.on(name, 'status', '-f', 'json').data['shares']
    assert (share['share'], share['epoch']) == ('fake', 1)
    assert share['holder']['process'] == holder.process.pid
    assert share['beat_age'] is not None
    (other,) = share['standbys']
    assert other['process'] == standby.process.pid
    said = patient.on(name, 'status')
    assert said.code == 0
    assert f'(process {holder.process.pid}, since ' in said.out
    assert f'(process {standby.process.pid}, since ' in said.out


def test_status_tells_that_the_holder_does_not_beat(members):
    holder = members.start('first')
    holder.wait_for('cycle: ')
    holder.end(signal.SIGKILL)
    (share,) = members.on('third', 'status', '-f', 'json').data['shares']
    assert share['holder']['process'] == holder.process.pid
    assert share['beat_age'] is None
    assert ', has not beaten for ' in members.on('third', 'status').out


def test_status_of_a_daemon_needs_no_database(members):
    members.start('first').wait_for('cycle: ')
    members.url = 'postgresql+psycopg://a:secret@127.0.0.1:1/fleet'
    said = members.on('first', 'status')
    assert said.code == 0
    assert 'reports the share fake' in said.out
    assert 'cannot be used' in said.err
