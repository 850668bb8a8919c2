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
SET = ('inventory', 'set', 'cn1', '--amend', '--resource')
NOT_WRITTEN = 'nothing was written under generation'


@pytest.fixture
def known(cli):
    """A cn1 with 8 VCPU (2 used) and memory, a trait, an aggregate, a child."""
    cli.others.create(NODE, 'cn1')
    for words in (
        ('create', 'numa0', '--uuid', CHILD, '--parent-provider', 'cn1'),
        (*SET, 'VCPU=8', '--resource', 'VCPU:allocation_ratio=4'),
        (*SET, 'MEMORY_MB=2048', '--resource', 'MEMORY_MB:reserved=48'),
        ('trait', 'add', 'cn1', 'HW_CPU_X86_AVX2'),
        ('aggregate', 'add', 'cn1', AGG),
    ):
        assert cli.run('resource', 'provider', *words).code == 0
    cli.others.allocate(NODE, USER, {'VCPU': 2})
    return cli


def generation(cli, uuid=NODE):
    return cli.others.generation(uuid)


# --- show ---------------------------------------------------------------------


def test_a_provider_is_shown_with_its_place(known):
    result = known.run('resource', 'provider', 'show', CHILD, '-f', 'json')
    assert (result.code, result.err) == (0, '')
    assert list(result.data.items()) == [
        ('uuid', CHILD),
        ('name', 'numa0'),
        ('generation', 0),
        ('root_provider_uuid', NODE),
        ('parent_provider_uuid', NODE),
    ]


def test_the_consumers_of_a_provider_are_shown(known):
    words = ('resource', 'provider', 'show', 'cn1', '--allocations')
    data = known.run(*words, '-f', 'json').data
    assert data['allocations'] == {
        USER: {'resources': {'VCPU': 2}, 'consumer_generation': 1}
    }


def test_all_of_a_provider_is_shown(known):
    words = ('resource', 'provider', 'show', 'cn1', '--long')
    shown = known.run(*words, '-f', 'yaml')
    assert (shown.code, shown.err) == (0, '')
    data = yaml.safe_load(shown.out)
    assert data == {
        'uuid': NODE,
        'name': 'cn1',
        'generation': generation(known),
        'root_provider_uuid': NODE,
        'parent_provider_uuid': None,
        'children': [f'numa0 ({CHILD})'],
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
        'traits': ['HW_CPU_X86_AVX2'],
        'aggregates': [AGG],
        'allocations': {
            USER: {'resources': {'VCPU': 2}, 'consumer_generation': 1}
        },
    }
    assert known.run(*words, '-f', 'json').data == data
    assert 'VCPU=total=8,reserved=0' in known.run(*words).out


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
    words = ('resource', 'provider', 'show', 'cn1', '--long', '-f', 'json')
    data = known.run(*words).data
    assert data['inventories']['VCPU']['used'] == 7
    assert len(data['allocations']) == 2
    assert data['generation'] == generation(known)


# --- lists --------------------------------------------------------------------


def test_inventories_are_listed_with_their_use(known):
    result = known.run(
        'resource', 'provider', 'inventory', 'list', 'cn1', '-f', 'json'
    )
    assert result.code == 0
    now = generation(known)
    assert result.line == f'compute-agent: cn1 ({NODE}) has generation {now}'
    memory, cpus = result.data
    assert memory['resource_class'] == 'MEMORY_MB'
    assert (memory['reserved'], memory['used']) == (48, 0)
    assert list(cpus.items()) == [
        ('resource_class', 'VCPU'),
        ('allocation_ratio', 4.0),
        ('min_unit', 1),
        ('max_unit', 2147483647),
        ('reserved', 0),
        ('step_size', 1),
        ('total', 8),
        ('used', 2),
    ]


def test_the_use_of_a_provider_is_listed(known):
    words = ('resource', 'provider', 'usage', 'show', 'cn1', '-f', 'json')
    result = known.run(*words)
    assert (result.code, result.err) == (0, '')
    assert result.data == [
        {'resource_class': 'MEMORY_MB', 'usage': 0},
        {'resource_class': 'VCPU', 'usage': 2},
    ]


@pytest.mark.parametrize('names', [['HW_CPU_X86_AVX2', 'CUSTOM_GOLD'], []])
def test_traits_are_printed_with_the_generation_for_the_next_change(
    known, names
):
    given = [word for name in names for word in ('--trait', name)]
    known.run(
        'resource', 'provider', 'trait', 'set', 'cn1', '--create', *given
    )
    shown = known.run(
        'resource', 'provider', 'trait', 'list', 'cn1', '-f', 'json'
    )
    assert [row['name'] for row in shown.data] == sorted(names)
    now = generation(known)
    assert shown.line == f'compute-agent: cn1 ({NODE}) has generation {now}'
    done = known.run(
        *('resource', 'provider', 'trait', 'add', 'cn1', 'HW_CPU_X86_SSE'),
        f'--generation={now}',
    )
    assert done.code == 0, done.err


def test_aggregates_are_printed_with_the_generation(known):
    words = ('resource', 'provider', 'aggregate', 'list', 'cn1', '-f', 'json')
    shown = known.run(*words)
    assert shown.data == [{'uuid': AGG}]
    assert shown.line.endswith(f'has generation {generation(known)}')


# --- what is taken back -------------------------------------------------------


def test_an_inventory_in_use_is_not_removed_and_its_consumer_is_named(known):
    words = (
        'resource',
        'provider',
        'inventory',
        'delete',
        'cn1',
        '--resource-class=VCPU',
        '--resource-class=MEMORY_MB',
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
            known.run('resource', 'provider', *SET, left.pop())
        return send(self, target, wanted, at)

    monkeypatch.setattr(provider_contents.ProviderContents, '_send', late)
    words = ('inventory', 'delete', 'cn1', '--resource-class', 'MEMORY_MB')
    assert known.run('resource', 'provider', *words).code == 0
    found = known.placement(f'/resource_providers/{NODE}/inventories')
    assert sorted(found['inventories']) == ['DISK_GB', 'VCPU']


# --- a generation -------------------------------------------------------------

CHANGES = [
    ('trait', 'set', 'cn1', '--trait', 'HW_CPU_X86_AVX'),
    ('trait', 'add', 'cn1', 'HW_CPU_X86_AVX'),
    ('trait', 'remove', 'cn1', 'HW_CPU_X86_AVX2'),
    ('trait', 'delete', 'cn1'),
    (*SET, 'VCPU=9'),
    ('inventory', 'class', 'set', 'cn1', 'VCPU', '--total', '9'),
    ('inventory', 'delete', 'cn1', '--resource-class', 'MEMORY_MB'),
    ('aggregate', 'set', 'cn1', '--aggregate', OTHER_AGG),
    ('aggregate', 'add', 'cn1', OTHER_AGG),
    ('aggregate', 'remove', 'cn1', AGG),
]


@pytest.mark.parametrize('words', CHANGES)
def test_a_change_is_written_under_the_generation_that_was_read(known, words):
    now = generation(known)
    result = known.run(
        'resource', 'provider', *words, '--generation', str(now)
    )
    assert result.code == 0, result.err
    said = result.err if 'set' in words else result.out
    assert said.endswith(f'; generation {now + 1}\n')
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
    words = ('trait', 'set', 'cn1', '--trait', 'HW_CPU_X86_AVX')
    result = known.run(
        'resource', 'provider', *words, '--generation', str(now)
    )
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
    words = ('trait', 'set', 'cn1', '--trait', 'CUSTOM_NEW', '--create')
    result = known.run(
        'resource', 'provider', *words, '--generation', str(now)
    )
    assert result.code == 0, result.err
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
