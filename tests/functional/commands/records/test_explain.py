# SPDX-License-Identifier: Apache-2.0
"""``explain``: who has a trait, who added it, and what it stands on."""

import pytest
import yaml

from compute_agent import errors

NODE = '11111111-1111-4111-8111-111111111111'
CHILD = '22222222-2222-4222-8222-222222222222'


def write(cli, *traits, child=()):
    node = {
        'name': 'cn1',
        'uuid': NODE,
        'inventories': {'VCPU': 8},
        'traits': list(traits),
        'children': [{'name': 'nic', 'uuid': CHILD, 'traits': list(child)}],
    }
    cli.fake_file.write_text(yaml.safe_dump({'nodes': [node]}))


def add_by_hand(cli, trait):
    cli.others.add_traits(NODE, trait)


def states(cli, trait):
    (told,) = cli.run('explain', trait, '-f', 'json').data
    return {p['provider']: p['state'] for p in told['providers']}


def holders(cli, trait):
    (told,) = cli.run('explain', trait, '-f', 'json').data
    return {p['provider']: p['claimed_by'] for p in told['providers']}


def causes(cli, trait):
    (told,) = cli.run('explain', trait, '-f', 'json').data
    return {p['provider']: p['cause'] for p in told['providers']}


def test_each_provider_is_told_apart(cli):
    write(cli, 'CUSTOM_GOLD', child=['HW_NIC_SRIOV'])
    assert states(cli, 'CUSTOM_GOLD') == {'cn1': 'due', 'nic': 'absent'}
    assert holders(cli, 'CUSTOM_GOLD') == {'cn1': ['driver'], 'nic': []}
    cli.run('sync')
    assert states(cli, 'CUSTOM_GOLD') == {'cn1': 'ours', 'nic': 'absent'}
    assert states(cli, 'HW_NIC_SRIOV') == {'cn1': 'absent', 'nic': 'ours'}
    add_by_hand(cli, 'CUSTOM_HAND')
    assert states(cli, 'CUSTOM_HAND')['cn1'] == 'others'
    write(cli, 'CUSTOM_HAND')
    assert states(cli, 'CUSTOM_GOLD')['cn1'] == 'leaving'
    assert causes(cli, 'CUSTOM_GOLD') == {
        'cn1': {'reason': 'unclaimed', 'sources': ['driver']},
        'nic': None,
    }
    assert (
        f'  cn1 ({NODE}): there, and the next sync removes it: the driver no '
        'longer reports it'
    ) in cli.run('explain', 'CUSTOM_GOLD').out.splitlines()
    cli.run('sync')
    assert states(cli, 'CUSTOM_GOLD')['cn1'] == 'absent'
    assert states(cli, 'CUSTOM_HAND')['cn1'] == 'shared'


def test_it_reads_well(cli):
    write(cli, 'CUSTOM_GOLD')
    cli.run('sync')
    result = cli.run('explain', 'CUSTOM_GOLD', '--node', 'cn1')
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[:3] == [
        f'CUSTOM_GOLD on cn1 ({NODE})',
        f'  cn1 ({NODE}): there: this agent added it; claimed by driver',
        f'  nic ({CHILD}): not there',
    ]
    assert lines[3].startswith('  driver: present by cn1 [')
    assert 'fake.yaml' in lines[3]


def test_who_would_give_it_is_said_before_it_is_there(cli):
    write(cli, 'CUSTOM_GOLD')
    result = cli.run('explain', 'CUSTOM_GOLD')
    assert (
        f'  cn1 ({NODE}): not there, and the next sync adds it; claimed by driver'
    ) in result.out.splitlines()


def test_what_the_agent_gives_by_itself_needs_no_driver(cli):
    write(cli)
    for _ in range(2):
        result = cli.run('explain', 'COMPUTE_NODE')
        assert '; claimed by agent\n' in result.out
        assert '  agent: it adds this trait itself\n' in result.out
        assert 'found nothing' not in result.out
        cli.run('sync')


def test_a_trait_that_placement_lacks_is_said_with_the_reason(cli):
    write(cli, 'HW_FROM_TOMORROW')
    result = cli.run('explain', 'HW_FROM_TOMORROW')
    assert 'not there' in result.out
    assert 'note: HW_FROM_TOMORROW: left out' in result.out


def test_notes_on_longer_names_are_not_this_ones(cli):
    write(cli, 'HW_CPU_X86_AVX2', 'HW_CPU_X86_AVX2_TOMORROW')
    assert 'note:' not in cli.run('explain', 'HW_CPU_X86_AVX2').out


def test_a_driver_that_cannot_say_is_unknown(cli, monkeypatch):
    def fail(self, nodename):
        raise errors.DriverError('the host does not tell')

    write(cli, 'CUSTOM_GOLD')
    monkeypatch.setattr('drivers.fake.driver.FakeDriver.evidence', fail)
    result = cli.run('explain', 'CUSTOM_GOLD')
    assert result.code == 1
    assert 'driver: unknown: the host does not tell' in result.out
    assert f'cn1 ({NODE}): not there, and the next sync adds it' in result.out
    (told,) = cli.run('explain', 'CUSTOM_GOLD', '-f', 'json').data
    assert told['findings'] is None


def test_nothing_is_written(cli):
    write(cli, 'CUSTOM_GOLD')
    cli.run('explain', 'CUSTOM_GOLD')
    assert cli.providers() == {}


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        (['no trait'], 'is not a name placement takes'),
        (['CUSTOM_GOLD', '--node', 'cn9'], 'no node cn9'),
        (['hw_cpu_x86_avx2'], 'did you mean HW_CPU_X86_AVX2?'),
        (['HW_CPU_X86_AVX22'], 'did you mean HW_CPU_X86_AVX2?'),
    ],
)
def test_a_mistake_is_one_line(cli, words, said):
    result = cli.run('explain', *words)
    assert result.code == 1
    assert said in result.line


def test_a_node_that_cannot_be_planned_is_unknown(cli):
    write(cli, 'CUSTOM_GOLD')
    cli.others.create(NODE, 'another')
    result = cli.run('explain', 'CUSTOM_GOLD')
    assert result.code == 1
    assert 'unknown: placement knows provider' in result.out


def test_a_cpu_trait_names_its_flag(cli):
    cli.configure(compute_driver='libvirt', host='cn1')
    (told,) = cli.run('explain', 'HW_CPU_X86_SSE2', '-f', 'json').data
    (found,) = told['findings']
    assert found['fact'] == 'sse2'
    assert found['sources']


def test_an_operator_s_file_is_named_with_the_line(cli):
    path = cli.provider_configs / 'a.yaml'
    path.write_text(
        "meta: {schema_version: '1.0'}\n"
        'providers:\n'
        '  - identification: {uuid: $COMPUTE_NODE}\n'
        '    traits:\n'
        '      additional:\n'
        '        - CUSTOM_FILED\n'
    )
    write(cli)
    result = cli.run('explain', 'CUSTOM_FILED')
    assert 'not there, and the next sync adds it' in result.out
    assert f'  file: added to $COMPUTE_NODE at {path}:6\n' in result.out
    cli.run('sync')
    result = cli.run('explain', 'CUSTOM_FILED')
    assert f'this agent added it; claimed by file:{path}\n' in result.out
    (told,) = cli.run('explain', 'CUSTOM_FILED', '-f', 'json').data
    assert told['files'][0]['sources'] == [f'{path}:6']
    (told,) = cli.run('explain', 'HW_CPU_X86_AVX2', '-f', 'json').data
    assert told['files'] == []
