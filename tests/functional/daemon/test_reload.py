# SPDX-License-Identifier: Apache-2.0
"""SIGHUP: the daemon goes by what its files say from then on."""

import os
import signal

import command_line
import pytest

ROOT = '11111111-1111-4111-8111-111111111111'
TRAITS = f'/resource_providers/{ROOT}/traits'
RELOADED = 'configuration and provider-config files reloaded'
STAYS = ' not reloaded, the earlier version stays in force: '
# The program, told to reload while it imports its first library.
HURRIED = """
import os, signal, sys

class Hurry:
    def find_spec(self, name, path=None, target=None):
        if name == 'cliff':
            os.kill(os.getpid(), signal.SIGHUP)

sys.meta_path.insert(0, Hurry())
from compute_agent.cmd.app import start
sys.exit(start.main())
"""
# The program, which tells after each cycle how many configurations it has.
COUNTED = """
import gc, sys
from oslo_config import cfg
from compute_agent.cmd.app import start

whole = gc.collect

def collect(generation=2):
    whole(generation)
    found = [one for one in gc.get_objects() if isinstance(one, cfg.ConfigOpts)]
    print(f'configurations: {len(found)}', file=sys.stderr, flush=True)

gc.collect = collect
sys.exit(start.main())
"""


def write(cli, *traits, name='a.yaml'):
    text = (
        "meta: {schema_version: '1.0'}\n"
        'providers:\n'
        '  - identification: {uuid: $COMPUTE_NODE}\n'
        f'    traits: {{additional: [{", ".join(traits)}]}}\n'
    )
    (cli.provider_configs / name).write_text(text)


def custom(cli):
    found = cli.placement(TRAITS)['traits']
    return {t for t in found if t.startswith('CUSTOM_')} - {'CUSTOM_GOLD'}


@pytest.fixture
def running(cli, daemon):
    """A daemon whose cycles are an hour apart, after the first of them."""
    write(cli, 'CUSTOM_A')
    cli.configure(update_resources_interval=3600, debug=True)
    one = daemon(cli.config, program=command_line.PATIENT)
    one.wait_for('cycle: 1 done')
    assert custom(cli) == {'CUSTOM_A'}
    return one


def hang_up(one, *, cycles):
    one.process.send_signal(signal.SIGHUP)
    one.wait_for('cycle: ', times=cycles)


def test_provider_configs_are_read_anew_and_a_cycle_begins_at_once(
    cli, running
):
    write(cli, 'CUSTOM_B')
    write(cli, 'CUSTOM_C', name='b.yaml.disabled')
    hang_up(running, cycles=2)
    assert custom(cli) == {'CUSTOM_B'}
    assert running.said.count(RELOADED) == 1
    (cli.provider_configs / 'a.yaml').unlink()
    hang_up(running, cycles=3)
    assert custom(cli) == set()
    assert running.end() == 0, running.said
    assert 'stopping in the middle of a cycle' not in running.said


@pytest.mark.long
def test_a_file_that_changes_waits_for_the_signal(cli, daemon):
    cli.configure(update_resources_interval=1, debug=True)
    one = daemon(cli.config)
    one.wait_for('cycle: 1 done')
    write(cli, 'CUSTOM_A')
    done = one.said.count('cycle: ')
    one.wait_for('cycle: ', times=done + 2)
    assert custom(cli) == set()
    assert cli.run('plan').code == 2


def test_a_mistake_in_a_file_is_one_line_and_the_last_good_set_stays(
    cli, running
):
    write(cli, 'gold')
    hang_up(running, cycles=2)
    (line,) = [text for text in running.said.splitlines() if STAYS in text]
    assert ' ERROR ' in line
    assert line.count('a.yaml') == 1
    assert f'{cli.provider_configs}/a.yaml:4: providers[0]' in line
    assert 'Traceback' not in running.said
    assert custom(cli) == {'CUSTOM_A'}
    write(cli, 'CUSTOM_B')
    hang_up(running, cycles=3)
    assert custom(cli) == {'CUSTOM_B'}


def test_a_mistake_in_the_configuration_leaves_all_options_as_they_were(
    cli, running
):
    write(cli, 'CUSTOM_B')
    cli.configure(update_resources_interval='often', debug=True)
    hang_up(running, cycles=2)
    (line,) = [text for text in running.said.splitlines() if STAYS in text]
    assert 'update_resources_interval' in line
    assert custom(cli) == {'CUSTOM_B'}  # this file is right
    assert 'Traceback' not in running.said
    cli.config.unlink()
    hang_up(running, cycles=3)
    assert 'no such configuration file' in running.said


@pytest.mark.long
def test_an_interval_beyond_any_clock_is_refused_and_the_old_one_stays(
    cli, running
):
    cli.configure(update_resources_interval=99999999999999, debug=True)
    hang_up(running, cycles=2)
    (line,) = [text for text in running.said.splitlines() if STAYS in text]
    assert 'update_resources_interval' in line
    assert 'equal to 604800' in line


@pytest.mark.long
def test_a_reload_while_it_still_starts_is_done_when_it_has(cli, daemon):
    write(cli, 'CUSTOM_A')
    cli.configure(update_resources_interval=3600, debug=True)
    one = daemon(cli.config, program=('-c', HURRIED))
    one.wait_for('cycle: 1 done')
    assert one.said.count(RELOADED) == 1
    assert custom(cli) == {'CUSTOM_A'}
    assert one.end() == 0


def test_the_options_that_a_reload_compared_are_freed(cli, daemon):
    cli.configure(update_resources_interval=3600)
    one = daemon(cli.config, program=('-c', COUNTED))
    one.wait_for('configurations: ')
    for times in range(2, 7):
        one.process.send_signal(signal.SIGHUP)
        one.wait_for('configurations: ', times=times)
    _, *after = [
        line for line in one.said.splitlines() if 'configurations: ' in line
    ]
    assert len(after) == 5
    assert len(set(after)) == 1


def test_options_that_may_change_are_taken_over(cli, running):
    other = cli.folder / 'other'
    other.mkdir()
    cli.provider_configs = other
    write(cli, 'CUSTOM_B')
    cli.configure(update_resources_interval=1, debug=True)
    running.process.send_signal(signal.SIGHUP)
    running.wait_for('cycle: ', times=4)
    assert custom(cli) == {'CUSTOM_B'}


def test_a_mistake_in_a_file_at_the_start_is_one_line_and_exit_1(cli):
    write(cli, 'gold')
    for command in ('run', 'sync', 'plan'):
        result = cli.run(command)
        assert result.code == 1
        place = f'compute-agent: {cli.provider_configs}/a.yaml:4: '
        assert result.line.startswith(place)
    assert cli.run('tree', 'show').code == 0


def test_a_named_directory_that_is_not_there_is_said_at_the_start(cli):
    cli.provider_configs.rmdir()
    result = cli.run('sync')
    assert result.code == 1
    assert (
        f'the directory {cli.provider_configs} does not exist' in result.line
    )


@pytest.mark.long
def test_it_ends_with_the_terminal_it_was_started_from(cli, daemon):
    ours, terminal = command_line.pseudo_terminal()
    one = daemon(cli.config, '--show-tree', terminal=terminal)
    os.close(terminal)
    one.wait_for('in step with')
    one.process.send_signal(signal.SIGHUP)
    one.wait_for(RELOADED)
    os.close(ours)
    assert one.process.wait(command_line.PATIENCE) == 0, one.said
