# SPDX-License-Identifier: Apache-2.0
"""facts lists what the driver knows of this host, without placement."""

import json
import pathlib

import pytest
import yaml


@pytest.fixture
def on_this_host(cli):
    """The command on the machine that runs the tests; libvirt is not asked."""
    cli.configure({'auth_type': None}, compute_driver='host', host='here')
    return cli


def test_facts_have_values_and_sources(on_this_host):
    rows = on_this_host.run('facts', 'kernel.*', '-f', 'json').data
    found = {row['name']: row for row in rows}
    release = pathlib.Path('/proc/sys/kernel/osrelease')
    assert found['kernel.release'] == {
        'name': 'kernel.release',
        'value': release.read_text().strip(),
        'source': str(release),
        'unknown': '',
    }
    assert {name.partition('.')[0] for name in found} == {'kernel'}


def test_whole_values_are_in_json_and_yaml_and_short_ones_in_a_table(
    on_this_host,
):
    (row,) = on_this_host.run('facts', 'cpu.flags', '-f', 'json').data
    shown = on_this_host.run('facts', 'cpu.flags').out
    assert len(row['value']) > 10
    assert f'… ({len(row["value"])})' in shown
    again = on_this_host.run('facts', 'cpu.flags', '-f', 'yaml').out
    assert yaml.safe_load(again) == [row]


def test_an_unknown_fact_says_why(on_this_host):
    rows = on_this_host.run('facts', 'libvirt.*', '-f', 'json').data
    assert rows
    assert all(row['value'] is None and row['unknown'] for row in rows)


def test_a_refused_file_is_one_line_and_the_rest_is_listed(cli, tmp_path):
    folder = tmp_path / 'facts.d'
    folder.mkdir()
    (folder / 'a').write_text('rack=r12\n')
    (folder / 'b').symlink_to('a')
    cli.configure({'auth_type': None}, compute_driver='host')
    with cli.config.open('a') as file:
        file.write(f'\n[facts]\ndirectories = {folder}\n')
    shown = cli.run('facts', 'local.*', '-f', 'value', '-c', 'name')
    assert shown.code == 0
    assert shown.out == 'local.*\nlocal.rack\n'
    assert shown.err.splitlines() == [
        (
            f'compute-agent: {folder}/b is not read: it is a symbolic link; put '
            'the file itself there'
        )
    ]
    for form, load in (('json', json.loads), ('yaml', yaml.safe_load)):
        found = load(cli.run('facts', 'local.*', '-f', form).out)
        others, rack = found
        assert rack['value'] == 'r12'
        assert others['value'] is None
        assert others['unknown'].startswith(f'{folder}/b is not read: ')
    saved = tmp_path / 'saved.json'
    saved.write_text(cli.run('facts', '-f', 'json').out)
    write_rule(cli, tmp_path, 'local.room')
    tried = cli.run('rules', 'test', 'site', '--facts', str(saved))
    assert f'unknown: local.room is unknown: {folder}/b' in tried.out, tried


def write_rule(cli, tmp_path, fact):
    rules = tmp_path / 'rules.d'
    rules.mkdir()
    rule = f"rules: [{{name: site, traits: ['CUSTOM_{{{fact}}}']}}]"
    (rules / 'a.yaml').write_text(rule)
    with cli.config.open('a') as file:
        file.write(f'\n[rules]\ndirectory = {rules}\n')


def test_another_driver_leaves_the_facts_to_the_driver_host(cli):
    cli.configure({'auth_type': None}, compute_driver='libvirt', host='here')
    rows = cli.run('facts', 'cpu.arch', '-f', 'json').data
    assert [row['name'] for row in rows] == ['cpu.arch']
