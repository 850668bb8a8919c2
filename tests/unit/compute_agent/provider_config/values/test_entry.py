# SPDX-License-Identifier: Apache-2.0
"""Provider-config files as values: nova's format, and mistakes with lines.

A case is a file in ``tests/provider_config``. Its last lines, ``# =>``, are
the expected result: an entry with its names, a warning, or an error.
"""

import pathlib

import pytest

from compute_agent import errors, yaml_file
from compute_agent.provider_config.values import entry
from compute_agent.provider_config.values import parse as parser
from compute_agent.provider_config.values.parse import SCHEMA
from compute_agent.virt.values import finding

CASES = sorted(
    (pathlib.Path(__file__).parents[4] / 'provider_config').glob('*.yaml')
)


def parse(text, path='FILE'):
    document = yaml_file.parse(text, path, SCHEMA)
    return parser.parse(document)


def given(text):
    """Return the result of a text, as the cases write it."""
    try:
        file = parse(text)
        entry.combine(file.entries)
    except errors.ConfigError as exc:
        return [f'error {exc}']
    lines = [
        f'{e.at()} {e.called}: {" ".join([*e.traits, *e.inventories])}'
        for e in file.entries
    ]
    return [*lines, *(f'warning {w}' for w in file.warnings)] or ['nothing']


@pytest.mark.parametrize('path', CASES, ids=lambda path: path.stem)
def test_a_file_gives_what_its_last_lines_say(path):
    text = path.read_text()
    expected = [
        line.removeprefix('# => ')
        for line in text.splitlines()
        if line.startswith('# => ')
    ]
    assert expected
    assert given(text) == expected


def test_there_are_cases():
    assert len(CASES) > 30


def test_an_entry_knows_its_names_its_lines_and_its_source():
    (entry,) = parse(
        'meta: {schema_version: "1.0"}\n'
        'providers:\n'
        '  - identification: {name: nic}\n'
        '    traits:\n'
        '      additional:\n'
        '        - CUSTOM_A\n'
        '        - CUSTOM_B\n'
        '    inventories:\n'
        '      additional:\n'
        '        - CUSTOM_C: {total: 3, allocation_ratio: 2.5}\n',
        '/etc/a.yaml',
    ).entries
    assert entry.source == 'file:/etc/a.yaml'
    assert entry.traits == {'CUSTOM_A': 6, 'CUSTOM_B': 7}
    assert entry.inventories == {
        'CUSTOM_C': {'total': 3, 'allocation_ratio': 2.5}
    }
    assert entry.at(entry.lines_of_classes['CUSTOM_C']) == '/etc/a.yaml:10'
    assert [(f.trait, f.found, f.fact, f.sources) for f in entry.findings()][
        1
    ] == ('CUSTOM_B', finding.Found.PRESENT, 'nic', ('/etc/a.yaml:7',))


def test_the_same_provider_in_two_files_is_an_error_with_both_places():
    text = (
        'meta: {schema_version: "1.0"}\n'
        'providers:\n'
        '  - {identification: {name: a}, traits: {additional: [CUSTOM_A]}}\n'
    )
    both = [*parse(text, 'a.yaml').entries, *parse(text, 'b.yaml').entries]
    with pytest.raises(yaml_file.FileError) as caught:
        entry.combine(both)
    assert str(caught.value).startswith(
        'b.yaml:3: provider a already has an entry at a.yaml:3; put all'
    )


def test_a_name_and_a_uuid_that_read_the_same_are_two_identifications():
    uuid = '11111111-1111-4111-8111-111111111111'
    by_name, by_uuid = (
        entry.Entry(path=path, line=1, **{key: uuid})
        for path, key in (('a', 'name'), ('b', 'uuid'))
    )
    both = entry.combine([by_uuid, by_name])
    assert both.for_provider(uuid, 'a') == [by_uuid]
    assert both.for_provider('a', uuid) == [by_name]
    assert both.for_provider(uuid, uuid) == [by_name, by_uuid]
    assert list(both.explicit) == [by_uuid, by_name]
    assert both.every_root is None
