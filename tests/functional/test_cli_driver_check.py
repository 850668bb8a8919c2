# SPDX-License-Identifier: Apache-2.0
"""``driver check`` prints the result of each rule, and writes the proof.

Each command runs in a process of its own: a process has one placement, and one
pytest.
"""

import json
import os
import subprocess
import sys

import pytest

DRIVERS = """
import itertools

from oslo_config import cfg

from compute_agent.virt import driver

OPTS = [
    cfg.IntOpt('watts', default=9, help='The power of the shelf, in watts.')
]
GROWING = itertools.count(1)


def list_opts():
    return [('shelf', OPTS)]


class Shelf(driver.ComputeDriver):
    def __init__(self, watts):
        self.watts = watts

    @classmethod
    def register_opts(cls, conf):
        conf.register_opts(OPTS, group='shelf')

    @classmethod
    def from_conf(cls, conf):
        return cls(conf.shelf.watts)

    def get_available_nodes(self):
        return ['shelf-1']

    def update_provider_tree(self, tree, nodename, allocations=None):
        tree.declare_inventory(nodename, {'CUSTOM_W': {'total': self.watts}})


class Moody(Shelf):
    def update_provider_tree(self, tree, nodename, allocations=None):
        total = next(GROWING)
        tree.declare_inventory(nodename, {'CUSTOM_W': {'total': total}})


class Ragged(Shelf):
    def update_provider_tree(self, tree, nodename, allocations=None):
        for number, letter in enumerate(set('abcdefgh')):
            name = f'{nodename}-{number}'
            if not tree.exists(name):
                tree.new_child(name, nodename)
            tree.declare_traits(name, f'CUSTOM_{letter.upper()}')
"""
CONTRACTS = """
import pytest

from compute_agent import testing


class ShelfContract(testing.DriverContract):
    driver = 'shelf'

    @pytest.fixture
    def world(self, tmp_path):
        return testing.World(conf={'shelf': {'watts': 7}}, is_shared=True)


class RaggedContract(ShelfContract):
    driver = 'ragged'


class NoWorld(testing.DriverContract):
    driver = 'nowhere'

    @pytest.fixture
    def world(self):
        raise OSError('the rack is not plugged in')
"""
ENTRY_POINTS = """
[compute_agent.drivers]
shelf = shelves:Shelf
moody = shelves:Moody
nowhere = shelves:Shelf
ragged = shelves:Ragged
nothing = shelves:Shelf
[compute_agent.driver_contracts]
shelf = shelf_contracts:ShelfContract
nowhere = shelf_contracts:NoWorld
ragged = shelf_contracts:RaggedContract
nothing = shelves:Shelf
[oslo.config.opts]
shelf = shelves:list_opts
"""
PYTEST = ('-c', 'import sys, pytest; %ssys.exit(pytest.main())')
MAIN = 'from compute_agent.cmd.app import start; sys.exit(start.main())'


@pytest.fixture
def site(tmp_path):
    """A folder with an installed package of drivers."""
    folder = tmp_path / 'site'
    info = folder / 'shelves-2.1.dist-info'
    info.mkdir(parents=True)
    (info / 'METADATA').write_text('Name: shelves\nVersion: 2.1\n')
    (info / 'entry_points.txt').write_text(ENTRY_POINTS)
    (folder / 'shelves.py').write_text(DRIVERS)
    (folder / 'shelf_contracts.py').write_text(CONTRACTS)
    return folder


@pytest.fixture
def run(site, tmp_path):
    """Run a command beside the package."""

    def run(*words, before='', program=('-c', f'import sys; %s{MAIN}')):
        option, text = program
        return subprocess.run(
            [sys.executable, option, text % before, *words],
            env={**os.environ, 'PYTHONPATH': str(site)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def line(done):
    """Return the one line of an error."""
    assert done.returncode == 1, done.stdout
    assert 'Traceback' not in done.stderr
    (only,) = done.stderr.splitlines()
    return only


@pytest.mark.long
def test_a_driver_that_keeps_all_rules_gets_a_proof(run, site, tmp_path):
    file = site / 'driver-check.json'
    done = run('driver', 'check', 'shelf', '--json', str(file), '-f', 'json')
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(file.read_text())
    assert report['driver'] == {
        'name': 'shelf',
        'class': 'shelves:Shelf',
        'distribution': 'shelves',
        'version': '2.1',
    }
    assert report['capabilities'] == ['OPTIONS']
    assert {'python', 'openstack-placement', 'os-traits'} <= set(
        report['versions']
    )
    assert report['result']['failed'] == 0
    by_number = {row['number']: row for row in report['rules']}
    assert by_number['CA004']['status'] == 'passed'
    assert by_number['CA009']['status'] == 'skipped'
    assert 'no seams' in by_number['CA009']['reason']
    assert [row['Rule'] for row in json.loads(done.stdout)] == list(by_number)
    listed = json.loads(run('driver', 'list', '-f', 'json').stdout)
    (row,) = (one for one in listed if one['Name'] == 'shelf')
    assert row['Last Check'].startswith('passed: ')


@pytest.mark.long
def test_a_broken_rule_is_exit_code_1(run):
    done = run('driver', 'check', 'moody', '-f', 'csv')
    assert done.returncode == 1
    assert ' failed' in line(done)
    (row,) = (r for r in done.stdout.splitlines() if r.startswith('"CA004'))
    assert 'failed' in row
    assert 'the second cycle' in row


def test_an_unknown_driver_is_one_line(run):
    said = line(run('driver', 'check', 'shelve'))
    assert "no driver 'shelve' is installed (did you mean 'shelf'?)" in said


def test_a_world_that_cannot_be_made_is_one_line(run):
    assert line(run('driver', 'check', 'nowhere')) == (
        'compute-agent: driver nowhere cannot be checked: OSError: the rack '
        'is not plugged in'
    )


def test_a_contract_that_is_no_contract_class_is_one_line(run):
    said = line(run('driver', 'check', 'nothing'))
    assert 'name a subclass of compute_agent.testing.DriverContract' in said


def test_without_the_extra_the_line_says_what_to_install(run):
    said = line(
        run(
            *('driver', 'check', 'shelf'),
            before="sys.modules['pytest'] = None; ",
        )
    )
    assert "needs pytest: pip install 'compute-agent[testing]'" in said


@pytest.mark.long
def test_an_order_that_depends_on_the_hash_seed_is_found(run):
    done = run('--compute-driver=ragged', '-k', 'CA016', program=PYTEST)
    assert done.returncode == 1, done.stdout
    assert 'in two processes with other hash seeds' in done.stdout


@pytest.mark.long
def test_pytest_checks_an_installed_driver_by_name(run):
    done = run(
        *('--compute-driver=shelf', '-q', '-k', 'CA004 or CA026'),
        program=PYTEST,
    )
    assert done.returncode == 0, done.stdout
    assert '2 passed' in done.stdout
    done = run('--compute-driver=moody', program=PYTEST)
    assert done.returncode == 4
    assert 'name the contract class of the driver in one' in done.stderr
