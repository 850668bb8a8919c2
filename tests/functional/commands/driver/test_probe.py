# SPDX-License-Identifier: Apache-2.0
"""probe shows what the driver sees, without placement."""

import json
import pathlib

import os_traits
import pytest
import recorded_hosts
import save_host

pytestmark = pytest.mark.long


@pytest.fixture
def on_this_host(cli):
    """The libvirt driver on the machine that runs the tests."""
    cli.configure({'auth_type': None}, compute_driver='libvirt', host='here')
    return cli


def test_each_trait_comes_with_its_flag_and_who_saw_it(on_this_host):
    (node,) = on_this_host.run('probe', '-f', 'json').data
    present = [
        f for f in node['findings'] if f['trait'] and f['found'] == 'present'
    ]
    assert node['node'] == 'here'
    assert {f['trait'] for f in present} <= set(os_traits.get_traits())
    assert all(f['fact'] and f['sources'] for f in present)
    words = set(pathlib.Path('/proc/cpuinfo').read_text().split())
    by_kernel = [
        f
        for f in present
        if f['trait'].startswith('HW_CPU_X86') and 'kernel' in f['sources']
    ]
    assert {f['fact'] for f in by_kernel} <= words


def test_flags_that_no_trait_stands_for_are_listed(on_this_host):
    (node,) = on_this_host.run('probe', '-f', 'json').data
    loose = {f['fact'] for f in node['findings'] if f['trait'] is None}
    mapped = {
        f['fact']
        for f in node['findings']
        if f['trait'] and f['found'] == 'present'
    }
    assert loose
    assert not loose & mapped


def test_the_text_says_what_is_unknown_and_why(on_this_host):
    shown = on_this_host.run('probe')
    assert shown.code == 0
    assert 'unknown, left as they are in placement' in shown.out
    assert 'absent' not in shown.out
    assert '  absent (' in on_this_host.run('probe', '--all').out


def test_the_cache_is_checked_not_trusted(on_this_host):
    before = on_this_host.run('probe', '-f', 'json').data
    cache = on_this_host.state_path / 'cpuinfo.json'
    kept = cache.read_text()
    cache.write_text('{"flags": "all of them"')
    assert on_this_host.run('probe', '-f', 'json').data == before
    forged = json.loads(kept)
    forged['answer']['flags'] += ['3dnow', 'xop']
    cache.write_text(json.dumps(forged))
    (node,) = on_this_host.run('probe', '-f', 'json').data
    present = {f['trait'] for f in node['findings'] if f['found'] == 'present'}
    assert 'HW_CPU_X86_3DNOW' not in present
    assert 'HW_CPU_X86_XOP' not in present


def test_the_fake_driver_says_file_and_line(cli):
    (node,) = cli.run('probe', '-f', 'json').data
    gold = [f for f in node['findings'] if f['trait'] == 'CUSTOM_GOLD']
    assert gold[0]['sources'] == [f'{cli.fake_file}:6']


def test_what_probe_finds_is_what_placement_gets(on_this_host):
    (node,) = on_this_host.run('probe', '-f', 'json').data
    present = {f['trait'] for f in node['findings'] if f['found'] == 'present'}
    on_this_host.configure(compute_driver='libvirt', host='here')
    (done,) = on_this_host.run('sync', '-f', 'json').data
    traits = on_this_host.placement(
        f'/resource_providers/{done["uuid"]}/traits'
    )['traits']
    assert set(traits) == (present - {None}) | {'COMPUTE_NODE', 'OWNER_NOVA'}


def test_raw_evidence_is_a_host_for_the_tests(on_this_host, tmp_path):
    report = on_this_host.run('probe', '--raw', '-f', 'json').data
    folder = tmp_path / 'case'
    save_host.save(report, folder)
    (found,) = recorded_hosts.expected(folder)['tree'].values()
    present = {
        f['trait']
        for f in report[0]['findings']
        if f['trait'] and f['found'] == 'present'
    }
    assert present <= set(found['traits'])


def test_raw_evidence_is_left_out_of_a_plain_report(on_this_host):
    assert 'raw' not in on_this_host.run('probe', '-f', 'json').data[0]


def test_a_driver_without_raw_evidence_says_so(cli):
    refused = cli.run('probe', '--raw', '-f', 'json')
    assert refused.code == 1
    assert 'leave out --raw' in refused.err
