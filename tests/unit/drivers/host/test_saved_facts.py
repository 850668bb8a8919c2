# SPDX-License-Identifier: Apache-2.0
"""Facts of another host in a file: what ``facts -f json`` prints."""

import dataclasses
import json

import pytest

from compute_agent import errors
from drivers.host import driver
from drivers.host.facts import fact, rows
from drivers.host.reading import local


def _row(name, value, unknown=''):
    return {'name': name, 'value': value, 'source': 'x', 'unknown': unknown}


def test_facts_and_devices_come_back(tmp_path):
    path = tmp_path / 'facts.json'
    path.write_text(
        json.dumps(
            [
                _row('cpu.flags', ['avx']),
                _row('dmi.sys_vendor', None, 'permission denied'),
                _row('net.devices', ['ens1']),
                _row('net.ens1.driver', 'ice'),
            ]
        )
    )
    found = driver.read_saved_facts(str(path))
    assert found.facts['cpu.flags'].value == ('avx',)
    assert found.facts['dmi.sys_vendor'].unknown == 'permission denied'
    (device,) = found.devices['net']
    assert device.facts['driver'].value == 'ice'


def test_local_facts_that_a_refused_file_may_have_stay_unknown(tmp_path):
    folder = tmp_path / 'facts.d'
    folder.mkdir()
    (folder / 'a').write_text('rack=r12')
    (folder / 'b').symlink_to('a')
    read = local.LocalFacts([str(folder)]).read()
    facts = fact.Facts(
        facts={found.name: found for found in read.facts},
        devices={},
        incomplete={'local': read.faults[0]},
    )
    path = tmp_path / 'facts.json'
    listed = [dataclasses.asdict(row) for row in rows.of_facts(facts)]
    path.write_text(json.dumps(listed))
    found = driver.read_saved_facts(str(path))
    assert found.get('local.rack').value == 'r12'
    assert 'it is a symbolic link' in found.get('local.room').unknown
    assert found.get('cpu.flags') is None


@pytest.mark.parametrize(
    ('text', 'why'),
    [
        ('{}', 'it is not a list of facts'),
        ('[1]', 'an item is not a fact with name and value'),
        ('[{"name": 3, "value": 1}]', '3 has fields that are no texts'),
        ('[{"name": "CPU", "value": 1}]', "'CPU.' is not the name of a fact"),
        ('no json', 'Expecting value: line 1 column 1 (char 0)'),
        ('[' * 100_000, ''),
        (
            f'[{{"name": "cpu.model", "value": {2**64}}}]',
            'cpu.model: it is not from -9223372036854775808 to',
        ),
        (
            f'[{{"name": "cpu.x", "value": {"[" * 99}{"]" * 99}}}]',
            'cpu.x: it has lists in lists in more than 8 levels',
        ),
    ],
)
def test_another_file_is_one_line(tmp_path, text, why):
    path = tmp_path / 'facts.json'
    path.write_text(text)
    with pytest.raises(errors.ConfigError) as raised:
        driver.read_saved_facts(str(path))
    line = str(raised.value)
    assert line.startswith(
        f'{path} is not the output of "compute-agent facts -f json": {why}'
    )
    assert '\n' not in line


def test_a_file_of_100_megabytes_is_one_line(tmp_path):
    path = tmp_path / 'facts.json'
    with path.open('wb') as file:
        file.truncate(100_000_000)
    with pytest.raises(
        errors.ConfigError, match='has more than 16000000 bytes'
    ):
        driver.read_saved_facts(str(path))


def test_a_missing_file_is_one_line(tmp_path):
    with pytest.raises(errors.ConfigError, match='No such file'):
        driver.read_saved_facts(str(tmp_path / 'facts.json'))
