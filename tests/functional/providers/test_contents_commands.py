# SPDX-License-Identifier: Apache-2.0
"""The contents of a provider are shown and taken back, at a generation."""

import pytest
import yaml

from report_client.api import provider_contents, provider_details

pytestmark = pytest.mark.long

NODE = '11111111-1111-4111-8111-111111111111'
CHILD = '33333333-3333-4333-8333-333333333333'
AGG = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
OTHER_AGG = 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb'
USER = 'cccccccc-cccc-4ccc-8ccc-cccccccccccc'
NOT_WRITTEN = 'nothing was written under generation'


@pytest.fixture
def known(cli):
    """A cn1 with 8 VCPU (2 used) and memory, a trait, an aggregate, a child."""
    cli.others.create(NODE, 'cn1')
    for words in (
        ('create', 'numa0', '--uuid', CHILD, '--parent', 'cn1'),
        ('inventory', 'set', 'cn1', 'VCPU=8', 'VCPU:allocation_ratio=4'),
        ('inventory', 'set', 'cn1', 'MEMORY_MB=2048', 'MEMORY_MB:reserved=48'),
        ('trait', 'add', 'cn1', 'HW_CPU_X86_AVX2'),
        ('aggregate', 'add', 'cn1', AGG),
    ):
        assert cli.run('resource', 'provider', *words).code == 0
    cli.others.allocate(NODE, USER, {'VCPU': 2})
    return cli


def generation(cli, uuid=NODE):
    return cli.others.generation(uuid)


# --- show ---------------------------------------------------------------------


def test_all_of_a_provider_is_shown(known):
    result = known.run('resource', 'provider', 'show', 'cn1')
    assert (result.code, result.err) == (0, '')
    assert result.out == (
        f'cn1 ({NODE})\n'
        f'  generation: {generation(known)}\n'
        '  parent: none\n'
        '  children:\n'
        f'    numa0 ({CHILD})\n'
        '  inventories:\n'
        '    MEMORY_MB: 2048, reserved 48; used 0 of 2000\n'
        '    VCPU: 8, allocation_ratio 4; used 2 of 32\n'
        '  traits:\n'
        '    HW_CPU_X86_AVX2\n'
        '  aggregates:\n'
        f'    {AGG}\n'
        '  allocations: 1\n'
    )


def test_a_child_is_shown_with_its_parent_and_root(known):
    shown = known.run('resource', 'provider', 'show', CHILD).out
    assert f'\n  parent: cn1 ({NODE})\n  root: cn1 ({NODE})\n' in shown
    assert '\n  inventories: none\n  traits: none\n' in shown
    assert shown.endswith('\n  allocations: none\n')


def test_a_provider_is_shown_as_data(known):
    data = known.run('resource', 'provider', 'show', 'cn1', '-f', 'json').data
    assert data == {
        'name': 'cn1',
        'uuid': NODE,
        'generation': generation(known),
        'parent': None,
        'root': {'name': 'cn1', 'uuid': NODE},
        'children': [{'name': 'numa0', 'uuid': CHILD}],
        'traits': ['HW_CPU_X86_AVX2'],
        'inventories': {
            'MEMORY_MB': {
                'total': 2048,
                'reserved': 48,
                'min_unit': 1,
                'max_unit': 2147483647,
                'step_size': 1,
                'allocation_ratio': 1.0,
                'used': 0,
            },
            'VCPU': {
                'total': 8,
                'reserved': 0,
                'min_unit': 1,
                'max_unit': 2147483647,
                'step_size': 1,
                'allocation_ratio': 4.0,
                'used': 2,
            },
        },
        'aggregates': [AGG],
        'allocations': 1,
    }
    shown = known.run('resource', 'provider', 'show', 'cn1', '-f', 'yaml').out
    assert yaml.safe_load(shown) == data


def test_all_parts_that_are_shown_are_of_one_generation(known, monkeypatch):
    """A guest starts between the read of the usages and that of the traits."""
    read = provider_details.ProviderDetails._consumers

    def after_a_start(self, target):
        if not known.placement(f'/allocations/{AGG}')['allocations']:
            known.others.allocate(NODE, AGG, {'VCPU': 5})
        return read(self, target)

    monkeypatch.setattr(
        provider_details.ProviderDetails, '_consumers', after_a_start
    )
    data = known.run('resource', 'provider', 'show', 'cn1', '-f', 'json').data
    assert data['inventories']['VCPU']['used'] == 7
    assert data['allocations'] == 2
    assert data['generation'] == generation(known)


# --- lists --------------------------------------------------------------------


def test_inventories_are_listed_with_their_use(known):
    result = known.run(
        'resource', 'provider', 'inventory', 'list', 'cn1', '-f', 'json'
    )
    assert result.code == 0
    now = generation(known)
    assert result.line == f'compute-agent: cn1 ({NODE}) has generation {now}'
    assert result.data['resource_provider_generation'] == now
    memory, cpus = result.data['inventories']
    assert memory['Resource class'] == 'MEMORY_MB'
    assert (memory['Reserved'], memory['Used']) == (48, 0)
    assert cpus == {
        'Resource class': 'VCPU',
        'Total': 8,
        'Reserved': 0,
        'Min unit': 1,
        'Max unit': 2147483647,
        'Step size': 1,
        'Allocation ratio': 4.0,
        'Used': 2,
    }


@pytest.mark.parametrize('form', ['json', 'yaml'])
@pytest.mark.parametrize('names', [['HW_CPU_X86_AVX2', 'CUSTOM_GOLD'], []])
def test_traits_are_printed_with_the_generation_for_the_next_change(
    known, form, names
):
    """As the seed has the body of GET; it serves for --generation at once."""
    known.run('resource', 'provider', 'trait', 'delete', 'cn1')
    if names:
        known.run(
            'resource', 'provider', 'trait', 'set', 'cn1', '--create', *names
        )
    shown = known.run(
        'resource', 'provider', 'trait', 'list', 'cn1', '-f', form
    )
    found = yaml.safe_load(shown.out)
    now = generation(known)
    assert found == {
        'traits': sorted(names),
        'resource_provider_generation': now,
    }
    done = known.run(
        *('resource', 'provider', 'trait', 'add', 'cn1', 'HW_CPU_X86_SSE'),
        f'--generation={now}',
    )
    assert done.code == 0, done.err


def test_aggregates_are_printed_with_the_generation(known):
    known.run('resource', 'provider', 'aggregate', 'add', 'cn1', AGG)
    shown = known.run(
        'resource', 'provider', 'aggregate', 'list', 'cn1', '-f', 'json'
    )
    assert shown.data == {
        'aggregates': [AGG],
        'resource_provider_generation': generation(known),
    }


# --- what is taken back -------------------------------------------------------


def test_an_inventory_in_use_is_not_removed_and_its_consumer_is_named(known):
    words = (
        'resource',
        'provider',
        'inventory',
        'delete',
        'cn1',
        'VCPU',
        'MEMORY_MB',
    )
    result = known.run(*words)
    assert (result.code, result.out) == (1, '')
    assert result.line == (
        f'compute-agent: cn1 ({NODE}): nothing was removed: VCPU is allocated '
        f'to {USER}'
    )
    found = known.placement(f'/resource_providers/{NODE}/inventories')
    assert sorted(found['inventories']) == ['MEMORY_MB', 'VCPU']


def test_a_class_that_comes_meanwhile_survives_a_removal(known, monkeypatch):
    """Another writer sets DISK_GB between the read and the write."""
    send = provider_contents.ProviderContents._send
    left = ['DISK_GB=5']

    def late(self, target, wanted, at):
        if left:
            words = (
                'resource',
                'provider',
                'inventory',
                'set',
                'cn1',
                left.pop(),
            )
            known.run(*words)
        return send(self, target, wanted, at)

    monkeypatch.setattr(provider_contents.ProviderContents, '_send', late)
    words = ('resource', 'provider', 'inventory', 'delete', 'cn1', 'MEMORY_MB')
    assert known.run(*words).code == 0
    found = known.placement(f'/resource_providers/{NODE}/inventories')
    assert sorted(found['inventories']) == ['DISK_GB', 'VCPU']


# --- a generation -------------------------------------------------------------

CHANGES = [
    ('trait', 'set', 'cn1', 'HW_CPU_X86_AVX'),
    ('trait', 'add', 'cn1', 'HW_CPU_X86_AVX'),
    ('trait', 'remove', 'cn1', 'HW_CPU_X86_AVX2'),
    ('trait', 'delete', 'cn1'),
    ('inventory', 'set', 'cn1', 'VCPU=9'),
    ('inventory', 'delete', 'cn1', 'MEMORY_MB'),
    ('aggregate', 'set', 'cn1', OTHER_AGG),
    ('aggregate', 'add', 'cn1', OTHER_AGG),
    ('aggregate', 'remove', 'cn1', AGG),
]


@pytest.mark.parametrize('words', CHANGES)
def test_a_change_is_written_under_the_generation_that_was_read(known, words):
    now = generation(known)
    result = known.run(
        'resource', 'provider', *words, '--generation', str(now)
    )
    assert (result.code, result.err) == (0, '')
    assert result.out.endswith(f'; generation {now + 1}\n')
    assert generation(known) == now + 1


@pytest.mark.parametrize('words', CHANGES)
def test_a_change_under_another_generation_is_not_written(known, sent, words):
    now = generation(known)
    result = known.run(
        'resource', 'provider', *words, '--generation', str(now - 1)
    )
    assert (result.code, result.out) == (1, '')
    assert result.line == (
        f'compute-agent: cn1 ({NODE}) has generation {now} now: {NOT_WRITTEN} '
        f'{now - 1}; read the provider again'
    )
    assert generation(known) == now
    assert not [line for line in sent if line.startswith('PUT')]


def test_a_generation_that_is_outdated_while_written_is_not_repeated(
    known, monkeypatch, sent
):
    """Another writer comes between the read and the write."""
    send = provider_contents.ProviderContents._send
    now = generation(known)

    def late(self, target, wanted, at):
        allocate_more(known)
        return send(self, target, wanted, at)

    monkeypatch.setattr(provider_contents.ProviderContents, '_send', late)
    words = ('trait', 'set', 'cn1', 'HW_CPU_X86_AVX', '--generation', str(now))
    result = known.run('resource', 'provider', *words)
    assert (result.code, result.out) == (1, '')
    assert 'was changed by another writer just now' in result.line
    assert f'{NOT_WRITTEN} {now}' in result.line
    path = f'/resource_providers/{NODE}/traits'
    assert sent.count(f'PUT {path}') == 1
    assert known.placement(path)['traits'] == ['HW_CPU_X86_AVX2']


def allocate_more(cli):
    cli.others.set_aggregates(NODE, AGG, OTHER_AGG)


def test_a_custom_trait_is_created_under_a_generation_too(known):
    now = generation(known)
    words = ('trait', 'set', 'cn1', 'CUSTOM_NEW', '--create')
    result = known.run(
        'resource', 'provider', *words, '--generation', str(now)
    )
    assert (result.code, result.err) == (0, '')
    assert generation(known) == now + 1


@pytest.mark.parametrize('text', ['three', '-1', '1.5', '', '9' * 40])
def test_a_generation_that_is_no_number_is_one_line(cli, sent, text):
    words = (
        'resource',
        'provider',
        'trait',
        'delete',
        'cn1',
        f'--generation={text}',
    )
    result = cli.run(*words)
    assert (result.code, result.out) == (1, '')
    assert 'a generation is a whole number' in result.line
    assert sent == []


def test_the_generation_after_a_change_is_data(known):
    now = generation(known)
    words = ('resource', 'provider', 'trait', 'add', 'cn1', '-f', 'json')
    assert known.run(*words, 'HW_CPU_X86_AVX').data['generation'] == now + 1
    again = known.run(*words, 'HW_CPU_X86_AVX').data
    assert (again['changed'], again['generation']) == (False, now + 1)


def test_a_uuid_of_no_provider_is_one_line(cli):
    result = cli.run('resource', 'provider', 'show', NODE)
    assert (result.code, result.out) == (1, '')
    assert result.line == f'compute-agent: no provider is called {NODE}'
