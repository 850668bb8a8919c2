# SPDX-License-Identifier: Apache-2.0
"""A driver that another distribution brings is found, held to and synced."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

PACKAGE = pathlib.Path(__file__).parents[2] / 'packages' / 'rack_driver'


@pytest.fixture(scope='module')
def site(tmp_path_factory):
    """A directory in which the package is installed."""
    source = tmp_path_factory.mktemp('source')
    for name in ('pyproject.toml', 'rack_driver.py'):
        (source / name).write_bytes((PACKAGE / name).read_bytes())
    site = tmp_path_factory.mktemp('site')
    subprocess.run(
        [
            *(sys.executable, '-m', 'pip', 'install', '--quiet'),
            *('--no-deps', '--no-build-isolation', '--no-index'),
            *('--disable-pip-version-check', '--target', str(site)),
            str(source),
        ],
        check=True,
    )
    return site


@pytest.fixture
def program(site, cli):
    """Run the program where the package is installed beside it."""

    def run(*words):
        return subprocess.run(
            [
                *(sys.executable, '-m', 'compute_agent.cmd.app.main'),
                *('--config-file', str(cli.config), *words),
            ],
            env={**os.environ, 'PYTHONPATH': str(site)},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_it_is_listed_with_its_distribution(program):
    listed = json.loads(program('driver', 'list', '-f', 'json').stdout)
    (found,) = (row for row in listed if row['Name'] == 'rack')
    assert found == {
        'Name': 'rack',
        'Configured': 'no',
        'Origin': 'another package',
        'Class': 'rack_driver:RackDriver',
        'Distribution': 'rack-driver',
        'Version': '1.0',
        'Capabilities': ['OPTIONS'],
        'Last Check': 'none',
    }


def test_it_is_synced_with_its_own_options(program, cli):
    cli.configure(compute_driver='rack')
    with cli.config.open('a') as config:
        config.write('\n[rack]\nunits = 47\n')
    done = program('sync', '-f', 'json')
    assert done.returncode == 0, done.stderr
    (node,) = json.loads(done.stdout)
    providers = f'/resource_providers/{node["uuid"]}'
    inventories = cli.placement(f'{providers}/inventories')['inventories']
    assert inventories['CUSTOM_RACK_UNIT']['total'] == 47
    assert 'CUSTOM_RACK' in cli.placement(f'{providers}/traits')['traits']
    again = program('sync')
    assert again.stdout == f'rack1 ({node["uuid"]}): done, nothing to do\n'
