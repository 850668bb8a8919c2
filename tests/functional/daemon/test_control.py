# SPDX-License-Identifier: Apache-2.0
"""Commands that wait for a daemon which gets a signal, or hangs."""

import signal

import pytest

pytestmark = pytest.mark.long

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
