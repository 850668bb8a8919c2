# SPDX-License-Identifier: Apache-2.0
"""The daemon: cycles, outages, signals, one writer to a state directory."""

import contextlib
import importlib.metadata
import signal
import sqlite3

import command_line
import pytest

ROOT = '11111111-1111-4111-8111-111111111111'
TRAITS = f'/resource_providers/{ROOT}/traits'
IN_THE_MIDDLE = 'stopping in the middle of a cycle'


@pytest.mark.long_except(every=2)
@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_between_two_cycles_with_exit_0(cli, daemon, number):
    cli.configure(update_resources_interval=3600)
    one = daemon(cli.config, '--show-tree', program=command_line.PATIENT)
    one.wait_for('in step with placement')
    assert 'VCPU: 8, ratio 4' in one.said
    assert one.end(number) == 0, one.said
    assert IN_THE_MIDDLE not in one.said


@pytest.mark.long
def test_it_ends_though_another_process_keeps_its_database(cli, daemon):
    """SQLite would wait for ten seconds."""
    cli.configure(update_resources_interval=3600)
    one = daemon(cli.config)
    one.wait_for('cycle: ')
    path = cli.state_path / 'state.sqlite'
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute('begin immediate')
        assert one.end() == 0, one.said
    assert 'stopping although the state database does not' in one.said
    assert one.said.rstrip().endswith(' s: SIGTERM requested it')


def test_it_says_what_starts_and_why_it_stops(cli, daemon):
    address = cli.url.removeprefix('http://')
    cli.configure(
        {'endpoint': f'http://agent:secret@{address}'},
        update_resources_interval=3600,
    )
    one = daemon(cli.config)
    one.wait_for('cycle: ')
    one.end()
    assert (
        f'compute-agent {importlib.metadata.version("compute-agent")} starts '
        f'as process {one.process.pid}: driver fake, placement at {cli.url}, '
        f'state in {cli.state_path}, a cycle every 3600 s'
    ) in one.said
    assert f'FakeDriver describes the node cn1 ({ROOT})' in one.said
    assert one.said.count('compute-agent stops after ') == 1
    assert one.said.rstrip().endswith(' s: SIGTERM requested it')
    assert 'secret' not in one.said


def test_an_error_that_stops_it_is_in_its_log(cli, requests_mock):
    old = {'max_version': '1.29', 'min_version': '1.0'}
    requests_mock.get(
        f'{cli.url}/resource_providers',
        json={'errors': [old]},
        status_code=406,
    )
    result = cli.run('run')
    assert result.code == 1
    *_, stop, line = result.err.splitlines()
    assert 'compute-agent stops after ' in stop
    assert stop.count(line.removeprefix('compute-agent: ')) == 1


@pytest.mark.long
def test_signals_of_other_daemons_do_not_end_it(cli, daemon):
    """SIGUSR1 and SIGUSR2, also while it is starting."""
    cli.configure(update_resources_interval=3600)
    one = daemon(cli.config, program=command_line.USER_SIGNALS)
    one.wait_for('cycle: ')
    for number in (signal.SIGUSR1, signal.SIGUSR2):
        one.process.send_signal(number)
    one.process.send_signal(signal.SIGHUP)
    one.wait_for('files reloaded')
    assert one.end() == 0, one.said


@pytest.mark.long
def test_run_again_writes_nothing(cli, daemon):
    for expected in (4, 0):
        one = daemon(cli.config, '--show-tree')
        one.wait_for('in step with')
        one.end()
        assert f'; {expected} operations' in one.said
        generation = cli.placement(TRAITS)['resource_provider_generation']
        assert generation == 2


@pytest.mark.long
def test_a_dropped_trait_comes_back_and_one_set_by_hand_stays(cli, daemon):
    cli.run('sync')
    held = cli.others.traits('cn1')
    cli.others.remove_traits('cn1', 'HW_CPU_X86_AVX2')
    cli.others.add_traits('cn1', 'CUSTOM_MINE')
    one = daemon(cli.config, '--show-tree')
    one.wait_for('in step with')
    one.end()
    assert cli.others.traits('cn1') == {*held, 'CUSTOM_MINE'}


def test_a_hint_of_the_driver_begins_a_cycle(cli, daemon):
    """The next periodic cycle is an hour away."""
    cli.configure(update_resources_interval=3600)
    one = daemon(cli.config, program=command_line.HINTING)
    one.wait_for('cycle: ')
    cli.describe_node(ROOT, ['CUSTOM_HOT_PLUGGED'])
    one.process.send_signal(signal.SIGUSR1)
    one.wait_for('+CUSTOM_HOT_PLUGGED')
    one.wait_for('cycle: ', times=2)
    assert one.end() == 0, one.said
    assert one.said.count('the driver is closed') == 1
    assert IN_THE_MIDDLE not in one.said


def test_a_change_of_the_drivers_file_is_written_before_the_next_cycle(
    cli, daemon
):
    """The next periodic cycle is an hour away."""
    cli.configure(
        agent={'changes_interval': 1}, update_resources_interval=3600
    )
    one = daemon(cli.config)
    one.wait_for('cycle: ')
    cli.describe_node(ROOT, ['CUSTOM_EDITED'])
    one.wait_for('+CUSTOM_EDITED')
    assert one.end() == 0, one.said


def test_a_second_writer_is_refused_and_told_the_first_s_pid(cli, daemon):
    one = daemon(cli.config, '--show-tree')
    one.wait_for('in step with')
    for words in (['run'], ['leave']):
        result = cli.run(*words)
        assert result.code == 1
        assert (
            f'process {one.process.pid} uses the state directory'
            in result.line
        )
    assert cli.run('plan').code == 0


def test_an_outage_is_said_once_and_its_end_is_said(cli, daemon, unused_port):
    cli.configure(
        {'endpoint': f'http://127.0.0.1:{unused_port}'},
        update_resources_interval=1,
        debug=True,
    )
    one = daemon(cli.config, program=command_line.PATIENT)
    one.wait_for('still: ', times=2)
    assert one.said.count('retrying until it is mended') == 1
    cli.serve_placement(unused_port)
    one.wait_for('back after')
    one.wait_for('4 operations')
    assert one.end() == 0, one.said
    assert IN_THE_MIDDLE not in one.said


def test_it_ends_though_placement_hangs(cli, daemon, hanging_port):
    """The request could wait for an hour, and is given a second."""
    cli.configure(
        {
            'endpoint': f'http://127.0.0.1:{hanging_port.number}',
            'timeout': 3600,
        }
    )
    one = daemon(cli.config, program=command_line.TELLING)
    hanging_port.wait_for_a_connection()
    assert one.end() == 0, one.said
    assert one.said.count('waits 1.0 s for the thread cycles') == 1
    assert IN_THE_MIDDLE in one.said


def test_a_wrong_configuration_ends_it_at_once(cli):
    cli.configure(compute_driver='none')
    assert cli.run('run').code == 1
