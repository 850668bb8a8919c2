# SPDX-License-Identifier: Apache-2.0
"""The facts of recorded hosts; ``tests/host_facts`` has a file for each."""

import dataclasses
import json
import pathlib

import host_facts as recorded_hosts
import pytest

from drivers.host.facts import catalogue, rows
from drivers.host.reading import reader


@pytest.fixture(params=recorded_hosts.CASES, ids=lambda path: path.stem)
def host(request, tmp_path):
    return recorded_hosts.make(request.param, tmp_path)


def _as_json(value):
    return json.loads(json.dumps(value))


def test_the_facts_are_those_of_the_host(host):
    found = host.rows()
    shown = {name: found[name] for name in host.expected}
    assert {
        name: _as_json(row.value) for name, row in shown.items()
    } == host.expected
    assert not [row for row in shown.values() if row.unknown]


def test_what_cannot_be_read_is_unknown_and_says_why(host):
    found = host.rows()
    for name, why in host.unknown.items():
        assert found[name].unknown.startswith(why), name
        assert found[name].value is None


def test_every_fact_is_in_the_catalogue_with_its_type(host):
    for row in host.rows().values():
        family, _, rest = row.name.partition('.')
        attribute = rest.rpartition('.')[2]
        if attribute == 'devices':
            continue
        entry = catalogue.ENTRIES[f'{family}.{attribute}']
        assert row.unknown or catalogue.fits(entry, row.value), row


def test_rows_become_the_same_facts_again(host):
    facts = reader.FactReader(host.sources()).read()
    listed = rows.of_facts(facts)
    read_back = [
        rows.Row(**json.loads(json.dumps(dataclasses.asdict(row))))
        for row in listed
    ]
    again = rows.to_facts(read_back)
    assert rows.of_facts(again) == listed
    assert again.devices.keys() == facts.devices.keys()


def test_every_fact_of_the_catalogue_is_known_on_some_recorded_host(tmp_path):
    known = set()
    for case in recorded_hosts.CASES:
        for row in recorded_hosts.make(case, tmp_path).rows().values():
            if not row.unknown:
                family, _, rest = row.name.partition('.')
                known.add(f'{family}.{rest.rpartition(".")[2]}')
    assert sorted(set(catalogue.ENTRIES) - known) == []


def test_the_catalogue_is_sorted():
    assert list(catalogue.ENTRIES) == sorted(catalogue.ENTRIES)


def test_the_documentation_has_the_catalogue():
    page = pathlib.Path(__file__).parents[5] / 'docs/host-facts.md'
    listed = [
        line
        for line in page.read_text('utf-8').splitlines()
        if line.startswith('| `')
    ]
    assert listed == [
        f'| `{entry.name}` | {entry.type} | {entry.unit} | {entry.source} '
        f'| {entry.unknown} |'
        for entry in catalogue.ENTRIES.values()
    ]


@pytest.mark.parametrize(
    ('family', 'gone'),
    [
        ('gpu', 'bus/pci/devices/0000:00:1f.0/class'),
        (
            'mdev_type',
            'bus/pci/devices/0000:41:00.4/mdev_supported_types',
        ),
    ],
)
def test_a_device_that_goes_away_makes_its_list_unknown_not_empty(
    tmp_path, family, gone
):
    case = recorded_hosts.TESTS / 'host_facts/gpu-host.yaml'
    host = recorded_hosts.make(case, tmp_path)
    path = host.root / 'sys' / gone
    path.rename(host.root / 'elsewhere')
    row = host.rows()[f'{family}.devices']
    assert row.unknown == 'a device went away meanwhile'
