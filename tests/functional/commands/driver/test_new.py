# SPDX-License-Identifier: Apache-2.0
"""A new driver's package works from its first minute; mistakes are a line.

``test_tutorial.py`` installs such a package as its author does, and runs the
tests that came with it.
"""

import importlib.metadata
import json
import tomllib

import pytest

from compute_agent import deprecation
from packaging import requirements


@pytest.mark.long
def test_a_new_package_is_installed_loaded_and_synced(author, cli, tmp_path):
    def done(command, folder):
        result = author.run(command, folder)
        assert result.returncode == 0, f'$ {command}\n{result.stdout}'
        return result.stdout

    folder = tmp_path / 'rack-driver'
    done('compute-agent driver new rack', tmp_path)
    done('pip install --quiet .', folder)
    cli.configure(compute_driver='rack')
    with cli.config.open('a') as config:
        config.write(f'\n[rack]\nfile = {folder / "nodes.json"}\n')
    agent = f'compute-agent --config-file {cli.config}'
    assert ['rack', 'rack-driver'] in [
        [row['Name'], row['Distribution']]
        for row in json.loads(done(f'{agent} driver list -f json', folder))
    ]
    synced = json.loads(done(f'{agent} sync -f json', folder))
    assert {node['node']: held(cli, node['uuid']) for node in synced} == {
        'node-1': (8, {'COMPUTE_NODE', 'CUSTOM_BIG', 'OWNER_NOVA'}),
        'node-2': (4, {'COMPUTE_NODE', 'OWNER_NOVA'}),
    }
    again = done(f'{agent} sync', folder)
    assert again == '2 nodes: 2 done; 0 operations\n'


def held(cli, uuid):
    """Return a provider's slots and its traits."""
    provider = f'/resource_providers/{uuid}'
    inventories = cli.placement(f'{provider}/inventories')['inventories']
    (slots,) = inventories.values()
    return slots['total'], set(cli.placement(f'{provider}/traits')['traits'])


def test_the_command_says_what_it_wrote(cli, tmp_path):
    made = cli.run('driver', 'new', 'shelf', '--directory', str(tmp_path))
    assert made.code == 0
    first, *files, last = made.out.splitlines()
    folder = tmp_path / 'shelf-driver'
    assert first == f'created the driver shelf in {folder}:'
    assert all((folder / line.strip()).is_file() for line in files)
    assert 'shelf_driver/driver.py' in made.out
    assert last == (f'next: cd {folder} && pip install -e ".[test]" && pytest')


def test_the_package_says_which_agents_it_is_for(cli, tmp_path):
    cli.run('driver', 'new', 'shelf', '--directory', str(tmp_path))
    folder = tmp_path / 'shelf-driver'
    project = tomllib.loads((folder / 'pyproject.toml').read_text())
    (needed,) = project['project']['dependencies']
    version = importlib.metadata.version('compute-agent')
    assert requirements.Requirement(needed).specifier.contains(
        version, prereleases=True
    )
    driver = (folder / 'shelf_driver' / 'driver.py').read_text()
    assert f"contract_version = '{deprecation.CONTRACT_VERSION}'" in driver


def test_the_result_is_data_for_a_program(cli, tmp_path):
    made = cli.run('driver', 'new', 'shelf', '--directory', str(tmp_path),
                   '-f', 'json')  # fmt: skip
    assert made.data['driver'] == 'shelf'
    assert made.data['folder'] == str(tmp_path / 'shelf-driver')
    assert 'pyproject.toml' in made.data['files']


@pytest.mark.parametrize(
    ('name', 'line'),
    [
        ('Shelf', "compute-agent: 'Shelf' cannot be the name of a driver: "),
        ('fake', 'compute-agent: a driver fake is installed already: '),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_written(
    cli, tmp_path, name, line
):
    target = tmp_path / 'target'
    target.mkdir()
    made = cli.run('driver', 'new', name, '--directory', str(target))
    assert made.code == 1
    assert made.line.startswith(line)
    assert not list(target.iterdir())


def test_a_folder_that_exists_is_not_overwritten(cli, tmp_path):
    words = ('driver', 'new', 'shelf', '--directory', str(tmp_path))
    assert cli.run(*words).code == 0
    readme = tmp_path / 'shelf-driver' / 'README.md'
    readme.write_text('mine')
    again = cli.run(*words)
    assert again.line.endswith(
        'shelf-driver exists and is not overwritten; remove it, or choose '
        'another --directory'
    )
    assert readme.read_text() == 'mine'
