# SPDX-License-Identifier: Apache-2.0
"""Daemons that are started together do not come to placement together."""

import re
import signal

import command_line
import pytest

pytestmark = pytest.mark.long

WEEK = 7 * 24 * 3600
WAITS = 'the first cycle begins in '
RELOADED = 'configuration and provider-config files reloaded'


@pytest.fixture
def waiting(cli, daemon):
    """A daemon that waits before its first cycle, for days in all odds."""
    cli.configure(
        periodic_fuzzy_delay=WEEK, update_resources_interval=-1, debug=True
    )
    one = daemon(cli.config, program=command_line.PATIENT)
    one.wait_for(WAITS)
    return one


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_wait_with_exit_0_and_nothing_done(
    cli, waiting, number
):
    assert waiting.end(number) == 0, waiting.said
    assert re.search(rf' INFO .*{WAITS}\d+\.\d s', waiting.said)
    assert 'cycle: ' not in waiting.said
    assert cli.providers() == {}


def test_a_hang_up_leaves_the_wait_as_it_is(waiting):
    waiting.process.send_signal(signal.SIGHUP)
    assert waiting.end() == 0, waiting.said
    assert RELOADED not in waiting.said
    assert 'cycle: ' not in waiting.said


def test_a_hang_up_while_it_waits_counts_from_the_first_cycle_on(cli, daemon):
    cli.configure(periodic_fuzzy_delay=3, debug=True)
    one = daemon(cli.config)
    one.wait_for(WAITS)
    one.process.send_signal(signal.SIGHUP)
    one.wait_for(RELOADED)
    one.wait_for('cycle: 1 done')
    assert one.said.count(RELOADED) == 1
    assert one.end() == 0


def test_nobody_waits_longer_than_an_interval(cli, daemon):
    cli.configure(periodic_fuzzy_delay=WEEK, update_resources_interval=1)
    one = daemon(cli.config)
    one.wait_for('cycle: 1 done')
    (seconds,) = re.findall(rf'{WAITS}(\d+\.\d) s', one.said)
    assert float(seconds) <= 1


def test_a_mistake_in_the_configuration_is_found_before_the_wait(cli, daemon):
    cli.configure(periodic_fuzzy_delay=WEEK, compute_driver='none')
    assert daemon(cli.config).process.wait(command_line.PATIENCE) == 1


def test_so_is_one_in_a_provider_config_file(cli, daemon):
    cli.configure(periodic_fuzzy_delay=WEEK, update_resources_interval=WEEK)
    (cli.provider_configs / 'a.yaml').write_text('meta: {}')
    one = daemon(cli.config)
    assert one.process.wait(command_line.PATIENCE) == 1
    assert 'a.yaml' in one.said
    assert WAITS not in one.said


def test_other_commands_never_wait(cli):
    cli.configure(periodic_fuzzy_delay=WEEK, update_resources_interval=WEEK)
    assert cli.run('plan').code == 2
    assert cli.run('sync').code == 0
    assert cli.run('tree', 'show').code == 0
