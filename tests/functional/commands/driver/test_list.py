# SPDX-License-Identifier: Apache-2.0
"""``driver list``: origin, capabilities and last check, without an import."""

import json
import os
import sys

import installed_package
import pytest

from compute_agent import testing
from compute_agent.cmd.app import main

DRIVER = """
import somewhere_else
from compute_agent.virt import driver
from . import of_racks

class RackDriver(of_racks.OfRacks):
    def facts(self, nodename):
        return 1

    def changes(self, since):
        return None

raise AssertionError('this driver was imported')
"""
BASE = """
from compute_agent.virt.driver import ComputeDriver

class OfRacks(ComputeDriver):
    register_opts = staticmethod(print)
    authority: tuple[str, ...] = ('CUSTOM_RACK',)
    subscribe: object

    def evidence(self, nodename):
        return []
"""
CONTRACT = """
from compute_agent import testing

class Base(testing.DriverContract):
    capabilities = {testing.Capability.SEVERAL_NODES}

class TestRack(Base):
    driver = 'rack'

raise AssertionError('this contract was imported')
"""
POINTS = """
[compute_agent.drivers]
rack = racks.driver:RackDriver
built = racks.compiled:Built
[compute_agent.driver_contracts]
rack = racks.contract:TestRack
"""
UNIMPORTED = "raise AssertionError('this was imported')"
PASSED = 'passed: 2 rules, 1 skipped'
OLD = 'contract 0.9, 2026-11-23'


class Site:
    """A folder with an installed package of racks."""

    def __init__(self, folder):
        self._package = folder / 'racks'
        self._folder = folder
        installed_package.install(
            folder,
            'racks',
            '2.0',
            points=POINTS,
            tops=['racks'],
            modules={
                'racks/__init__': UNIMPORTED,
                'racks/driver': DRIVER,
                'racks/of_racks': BASE,
                'racks/contract': CONTRACT,
            },
        )

    def install(self, name, version, *modules):
        installed_package.install(
            self._folder,
            name,
            version,
            modules=dict.fromkeys(modules, UNIMPORTED),
            tops={module.partition('/')[0] for module in modules},
        )

    def ship(self, report):
        text = report if isinstance(report, str) else json.dumps(report)
        (self._package / 'driver-check.json').write_text(text)


@pytest.fixture
def site(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    return Site(tmp_path)


@pytest.fixture
def listed(site, tmp_path, capsys):
    """Return name → row of what ``driver list`` prints."""

    def rows(compute_driver='rack'):
        file = tmp_path / 'agent.conf'
        file.write_text(f'[DEFAULT]\ncompute_driver = {compute_driver}\n')
        words = ['--config-file', str(file), 'driver', 'list', '-f', 'json']
        assert main.main(words) == 0
        printed = capsys.readouterr()
        found = {row['Name']: row for row in json.loads(printed.out)}
        return found, printed.err

    return rows


def report(
    version='2.0', contract=testing.CONTRACT_VERSION, failed=(), untried=()
):
    statuses = {'CA001': 'passed', 'CA002': 'passed', 'CA003': 'skipped'}
    statuses |= dict.fromkeys(failed, 'failed')
    statuses |= dict.fromkeys(untried, 'not tried')
    return {
        'contract': contract,
        'driver': {
            'name': 'rack',
            'class': 'racks.driver:RackDriver',
            'version': version,
        },
        'checked_at': '2026-11-23T08:00:00+00:00',
        'rules': [
            {'number': number, 'status': status}
            for number, status in statuses.items()
        ],
    }


def test_a_driver_of_another_package_is_shown_and_not_imported(listed):
    found, notes = listed('rack,fake')
    assert found['rack'] == {
        'Name': 'rack',
        'Configured': 'yes',
        'Origin': 'another package',
        'Class': 'racks.driver:RackDriver',
        'Distribution': 'racks',
        'Version': '2.0',
        'Capabilities': [
            'AUTHORITY',
            'CHANGES',
            'EVIDENCE',
            'FACTS',
            'OPTIONS',
            'SEVERAL_NODES',
        ],
        'Last Check': 'none',
    }
    assert 'racks' not in sys.modules
    assert found['built']['Capabilities'] is None
    assert notes == ''


def test_the_drivers_of_this_package_are_told_apart(listed):
    found, _ = listed()
    assert found['fake']['Origin'] == 'this package'
    assert found['fake']['Configured'] == 'no'
    assert 'OPTIONS' in found['fake']['Capabilities']
    assert found['fake']['Last Check'].startswith('passed: ')
    assert 'AUTHORITY' in found['libvirt']['Capabilities']
    assert found['libvirt']['Class'] == 'drivers.libvirt.driver:LibvirtDriver'


def test_a_driver_is_configured_under_each_of_its_names(listed):
    found, _ = listed('libvirt')
    names = [name for name, row in found.items() if row['Configured'] == 'yes']
    assert names == [
        'compute_agent.LibvirtDriver', 'libvirt', 'libvirt.LibvirtDriver',
    ]  # fmt: skip


def test_a_configured_target_has_a_row_of_its_own(listed):
    found, _ = listed('rack:nowhere.Blade')
    row = found['rack:nowhere.Blade']
    assert (row['Origin'], row['Class']) == ('rack:', 'nowhere.Blade')
    assert row['Configured'] == 'yes'
    assert (row['Distribution'], row['Version']) == (None, None)
    assert row['Capabilities'] == found['rack']['Capabilities']
    assert row['Last Check'] == 'none'
    assert found['rack']['Configured'] == 'no'


def test_a_target_is_of_the_distribution_that_has_its_module(site, listed):
    nova = ['__init__', 'virt/__init__', 'virt/ironic/__init__']
    site.install('nova', '34.0', *(f'nova/{module}' for module in nova))
    site.install('bare-metal', '29.0', 'ironic/__init__')
    found, _ = listed('nova:ironic.IronicDriver,nova:racks.blades.Blade')
    homes = {
        name: (row['Distribution'], row['Version'])
        for name, row in found.items()
        if name.startswith('nova:')
    }
    assert homes == {
        'nova:ironic.IronicDriver': ('nova', '34.0'),
        'nova:racks.blades.Blade': ('racks', '2.0'),
    }
    assert {'nova', 'ironic', 'racks'}.isdisjoint(sys.modules)


@pytest.mark.parametrize(
    ('shipped', 'line'),
    [
        (report(), f'{PASSED} (contract 1.0, 2026-11-23)'),
        (
            report(untried=['CA002']),
            (
                'passed: 1 rules, 1 skipped, 1 not tried (contract 1.0, '
                '2026-11-23)'
            ),
        ),
        (
            report(failed=['CA002', 'CA009']),
            'failed: CA002, CA009 of 4 rules (contract 1.0, 2026-11-23)',
        ),
        (
            report(version='1.9'),
            f'old: of version 1.9: {PASSED} (contract 1.0, 2026-11-23)',
        ),
        (
            report(contract='0.9'),
            f'old: of another contract than 1.0: {PASSED} ({OLD})',
        ),
        (
            report() | {'driver': {'name': 'other', 'class': 'x:Y'}},
            'none',
        ),
    ],
)
def test_the_shipped_proof_is_shown_with_its_date_and_versions(
    site, listed, shipped, line
):
    site.ship(shipped)
    found, _ = listed()
    assert found['rack']['Last Check'] == line


@pytest.mark.parametrize(
    'shipped',
    [
        *('{', '[]', '{"driver": 1}', '[' * 200_000),
        report() | {'rules': []},
        report() | {'rules': [{'number': 'CA001', 'status': 'banana'}]},
    ],
)
def test_a_proof_that_cannot_be_read_is_no_missing_one(site, listed, shipped):
    site.ship(shipped)
    found, _ = listed()
    assert found['rack']['Last Check'].startswith('unreadable: ')
    assert '\n' not in found['rack']['Last Check']


def test_a_proof_that_is_no_regular_file_of_its_size_is_not_read(
    site, listed, tmp_path
):
    file = tmp_path / 'racks' / 'driver-check.json'
    makers = {
        'it has more than 1048576 bytes': lambda: os.truncate(
            file, 6_000_000_000
        ),
        'it is not a regular file': lambda: os.mkfifo(file),
        'Is a directory': file.mkdir,
    }
    for why, make in makers.items():
        if 'more than' in why:
            site.ship('')
        make()
        found, _ = listed()
        assert found['rack']['Last Check'].startswith('unreadable: ')
        assert why in found['rack']['Last Check']
        file.rmdir() if file.is_dir() else file.unlink()
    file.symlink_to('/dev/zero')
    found, _ = listed()
    assert 'not a regular file' in found['rack']['Last Check']


def test_a_configured_driver_that_is_not_installed_is_said(listed):
    _, notes = listed('rack,racket')
    assert notes == (
        'compute-agent: [DEFAULT] compute_driver names racket, which is not '
        'installed\n'
    )


def test_a_broken_configuration_hides_no_driver(site, capsys):
    words = ['--config-file', '/nowhere', 'driver', 'list', '-f', 'json']
    assert main.main(words) == 0
    printed = capsys.readouterr()
    assert 'it is unknown which drivers are configured' in printed.err
    rows = {row['Name']: row for row in json.loads(printed.out)}
    assert rows['rack']['Configured'] is None


def test_in_a_table_an_unknown_is_no_empty_cell(site, capsys):
    words = ['driver', 'list', '-f', 'value', '-c', 'Name', '-c']
    assert main.main([*words, 'Capabilities']) == 0
    assert 'built unknown' in capsys.readouterr().out.splitlines()
