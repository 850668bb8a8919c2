# SPDX-License-Identifier: Apache-2.0
"""Commands that wait for a daemon which gets a signal, or hangs."""

import signal

import pytest

pytestmark = pytest.mark.long

MANY = [f'CUSTOM_{number:02}' for number in range(60)]
ROOT = '11111111-1111-4111-8111-111111111111'


@pytest.fixture
def hanging(cli, daemon, hanging_port):
    """A daemon whose cycle hangs."""
    cli.configure(
        {
            'endpoint': f'http://127.0.0.1:{hanging_port.number}',
            'timeout': 3600,
        }
    )
    one = daemon(cli.config)
    hanging_port.wait_for_a_connection()
    return one


@pytest.mark.parametrize(
    ('number', 'why'),
    [
        (signal.SIGKILL, 'the daemon ended, or was killed, before it answere'),
        (signal.SIGTERM, 'the daemon stops; a cycle that runs goes on at'),
    ],
)
def test_a_daemon_that_ends_is_told_to_all_who_wait(
    cli, daemon, hanging, number, why
):
    waiting = [daemon(cli.config, command='sync') for _ in range(2)]
    for each in waiting:
        each.wait_for('a cycle has run since 2')
    hanging.end(number)
    for each in waiting:
        assert each.process.wait(60) == 1
        lines = each.said.splitlines()
        assert len(lines) == 2
        assert lines[1].startswith(f'compute-agent: {why}')


def test_a_command_that_is_interrupted_leaves_the_daemon_alone(
    cli, daemon, hanging
):
    waiting = daemon(cli.config, command='sync')
    waiting.wait_for('a cycle has run since')
    assert waiting.end(signal.SIGINT) == 130
    assert 'Traceback' not in waiting.said
    assert cli.run('status').code == 0
    assert hanging.end() == 0
    assert 'Traceback' not in hanging.said


def test_sync_ends_the_first_wait_and_a_reload_comes_before_its_cycle(
    cli, daemon
):
    cli.configure(periodic_fuzzy_delay=3600, update_resources_interval=3600)
    one = daemon(cli.config)
    one.wait_for('the first cycle begins in')
    cli.describe_node(ROOT, ['CUSTOM_LATER'])
    one.process.send_signal(signal.SIGHUP)
    result = cli.run('sync')
    assert result.code == 0, result.err
    assert '+CUSTOM_LATER' in result.out
    one.wait_for('cycle: 1 done')
    assert one.said.index('files reloaded') < one.said.index('cycle: 1 done')
    assert 'asks for a cycle' in one.said
    one.process.send_signal(signal.SIGHUP)
    again = cli.run('sync', '-f', 'json')
    assert again.code == 0, again.err
    assert [each['status'] for each in again.data] == ['done']
    assert one.end() == 0


def test_sync_prunes_beside_a_daemon(cli, daemon):
    cli.configure(update_resources_interval=3600)
    one = daemon(cli.config)
    one.wait_for('cycle: ')
    cli.others.add_traits(ROOT, 'CUSTOM_OTHER')
    words = ['sync', '--prune', 'CUSTOM_OTHER,CUSTOM_NONE']
    wrong = cli.run(*words, '--node', 'cn2')
    assert (wrong.code, 'no node cn2' in wrong.line) == (1, True)
    said = cli.run(*words, 'cn1')
    assert said.code == 0, said.err
    assert '-CUSTOM_OTHER' in said.out
    assert said.line.endswith(
        'CUSTOM_NONE is removed from no provider: no provider has it, or a '
        'source claims it'
    )
    cli.others.add_traits(ROOT, 'CUSTOM_OTHER')
    again = cli.run('sync')
    assert (again.code, '-CUSTOM_OTHER' in again.out) == (0, False)
    assert one.end() == 0


def test_sync_prunes_beside_a_daemon_what_waits_for_a_yes(cli, daemon):
    cli.configure(
        agent={'max_removed_percent': 0}, update_resources_interval=3600
    )
    one = daemon(cli.config)
    one.wait_for('cycle: ')
    cli.others.add_traits(ROOT, *MANY)
    words = ['sync', '--prune', ','.join(MANY)]
    held = cli.run(*words)
    assert (held.code, 'wait for approval' in held.out) == (1, True)
    said = cli.run(*words, '--yes')
    assert said.code == 0, said.err
    assert said.out.startswith(f'approved: {len(MANY)} changes')
    assert f'-{MANY[0]}' in said.out
    assert one.end() == 0
