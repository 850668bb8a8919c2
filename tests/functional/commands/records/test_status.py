# SPDX-License-Identifier: Apache-2.0
"""``compute-agent status``: what a running daemon says of itself."""

import importlib.metadata
import signal
import stat

import pytest
import yaml

ROOT = '11111111-1111-4111-8111-111111111111'


def nodes(cli, number):
    """Have the driver describe so many nodes."""
    described = [
        {
            'name': f'cn{n}',
            'uuid': f'{n:08}-1111-4111-8111-111111111111',
            'inventories': {'VCPU': 8},
        }
        for n in range(number)
    ]
    cli.fake_file.write_text(yaml.safe_dump({'nodes': described}))
    return [node['uuid'] for node in described]


def test_a_daemon_in_step_says_so(cli, daemon):
    cli.configure(update_resources_interval=3600)
    one = daemon(cli.config)
    one.wait_for('cycle: 1 done')
    socket = cli.state_path / 'control.sock'
    assert stat.S_IMODE(socket.stat().st_mode) == 0o600
    result = cli.run('status')
    assert result.code == 0, result.err
    begin, cycle, count, node = result.out.splitlines()
    version = importlib.metadata.version('compute-agent')
    assert begin.startswith(f'compute-agent {version}, agent ')
    process = one.process.pid
    assert f' of share fake, process {process}, has run for ' in begin
    assert cycle.startswith('last cycle: ended ')
    assert '1 done, 0 waiting, 0 failed; 4 operations' in cycle
    assert count == '1 node: 1 done, 0 waiting, 0 failed'
    assert node.startswith(f'  cn1 ({ROOT}): done; last done ')
    whole = cli.run('status', 'cn1').out
    assert '    made in the last cycle: create provider cn1' in whole
    data = cli.run('status', '-f', 'json').data
    assert data['process'] == one.process.pid
    assert data['nodes'][0]['status'] == 'done'
    assert data['outage'] is data['held'] is data['running_since'] is None
    assert yaml.safe_load(cli.run('status', '-f', 'yaml').out)['nodes']
    assert cli.run('status', '--max-age', '600').code == 0
    assert 'no node cn9 is among' in cli.run('status', 'cn9').line
    assert one.end() == 0
    assert not socket.exists()
    gone = cli.run('status', '--max-age', '600')
    assert gone.code == 1
    assert gone.line.startswith(
        f'compute-agent: no daemon answers at {socket}'
    )
    assert (
        f'the last one was compute-agent {version}, process '
        f'{one.process.pid}, begun 2'
    ) in gone.line


@pytest.mark.long
def test_a_daemon_that_was_killed_is_gone_and_replaced(cli, daemon):
    cli.configure(update_resources_interval=3600)
    one = daemon(cli.config)
    one.wait_for('cycle: ')
    one.end(signal.SIGKILL)
    assert 'no daemon answers at ' in cli.run('status').line
    cli.run('sync')  # keeps the line about the daemon
    assert f'process {one.process.pid}, begun' in cli.run('status').line
    another = daemon(cli.config)
    another.wait_for('cycle: ')
    data = cli.run('status', '-f', 'json').data
    assert data['process'] == another.process.pid


@pytest.mark.long
def test_it_answers_while_a_cycle_hangs(cli, daemon, hanging_port):
    cli.configure(
        {
            'endpoint': f'http://127.0.0.1:{hanging_port.number}',
            'timeout': 3600,
        }
    )
    one = daemon(cli.config)
    hanging_port.wait_for_a_connection()
    result = cli.run('status', '--max-age', '600')
    assert result.code == 1
    assert 'last cycle: none has ended yet; a cycle has run since ' in (
        result.out
    )
    assert 'no node is known' in result.out
    assert one.end() == 0, one.said
    assert 'no daemon answers' in cli.run('status').line


@pytest.mark.long
def test_an_outage_and_its_age_are_told_and_the_nodes_stay(cli, daemon):
    cli.configure(update_resources_interval=1)
    one = daemon(cli.config)
    one.wait_for('cycle: ')
    cli.stop_placement()
    one.wait_for('retrying until it is mended')
    shown = cli.run('status', '-f', 'json').data
    assert shown['outage']['reason'] == shown['cycle']['trouble'] != ''
    assert shown['outage']['age'] >= 0
    assert [node['status'] for node in shown['nodes']] == ['done']
    text = cli.run('status').out
    assert '\noutage for ' in text
    assert '; the last good cycle ended: 2' in text
    done = shown['nodes'][0]['done_age']
    assert cli.run('status', '--max-age', str(done / 2)).code == 1
    late = cli.run('status', 'cn1', '--max-age', '0.001')
    assert late.code == 1
    assert f'cn1 ({ROOT}): not done in the last 0.001 s; last done' in late.out


@pytest.mark.long
def test_many_nodes_are_summed_up(cli, daemon):
    uuids = nodes(cli, 12)
    for name, uuid in (('cn3', uuids[0]), ('other', uuids[1])):
        cli.others.create(uuid, name)
    cli.configure(update_resources_interval=3600)
    one = daemon(cli.config)
    one.wait_for('cycle: ')
    brief = cli.run('status').out
    assert '12 nodes: 9 done, ' in brief
    assert 'cn5' not in brief
    assert f'  cn0 ({uuids[0]}): failed: ' in brief
    assert 'cn5' in cli.run('status', '--all').out
    assert len(cli.run('status', '-f', 'json').data['nodes']) == 12
    assert cli.run('status', 'cn5', '--max-age', '600').code == 0
    late = cli.run('status', '--max-age', '600')
    assert late.code == 1
    assert 'not done since the daemon began' in late.out


@pytest.mark.long
def test_a_socket_that_cannot_be_made_is_one_line_and_the_daemon_goes_on(
    cli, daemon
):
    cli.state_path.mkdir()
    (cli.state_path / 'control.sock').mkdir()
    one = daemon(cli.config)
    one.wait_for('cycle: 1 done')
    assert one.said.count('the control socket') == 1
    assert (
        'cannot be made: it is not a socket: remove it; the daemon goes'
        in (one.said)
    )
    assert one.end() == 0
    assert 'Traceback' not in one.said


@pytest.mark.long
def test_a_long_path_of_the_state_directory_works(cli, daemon):
    cli.state_path = cli.folder / ('x' * 200)
    cli.configure(update_resources_interval=3600)
    one = daemon(cli.config)
    one.wait_for('cycle: ')
    assert cli.run('status').code == 0
    assert one.end() == 0
    assert not (cli.state_path / 'control.sock').exists()
