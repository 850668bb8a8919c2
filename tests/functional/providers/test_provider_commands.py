# SPDX-License-Identifier: Apache-2.0
"""``compute-agent provider``: found, created, deleted, filled, told of."""

import csv
import io
import json

import pytest
import yaml

NODE = '11111111-1111-4111-8111-111111111111'
CHILD = '33333333-3333-4333-8333-333333333333'
OTHER = '44444444-4444-4444-8444-444444444444'
AGG1 = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
AGG2 = 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb'
COLUMNS = ['Name', 'UUID', 'Generation', 'Parent', 'Root']


@pytest.fixture
def known(cli):
    """A provider cn1 with VCPU 8 and AVX2, its child numa0, and a cn2."""
    for uuid, name, parent in (
        (NODE, 'cn1', None),
        (CHILD, 'numa0', 'cn1'),
        (OTHER, 'cn2', None),
    ):
        above = ['--parent', parent] if parent else []
        words = (
            'resource',
            'provider',
            'create',
            name,
            '--uuid',
            uuid,
            *above,
        )
        assert cli.run(*words).code == 0
    done = cli.run('resource', 'provider', 'inventory', 'set', 'cn1', 'VCPU=8')
    assert done.code == 0
    done = cli.run(
        'resource', 'provider', 'trait', 'add', 'cn1', 'HW_CPU_X86_AVX2'
    )
    assert done.code == 0
    return cli


def names(result):
    assert (result.code, result.err) == (0, '')
    return [row['Name'] for row in result.data]


# --- list ---------------------------------------------------------------------


def test_providers_are_listed_with_their_place_in_the_tree(known):
    result = known.run('resource', 'provider', 'list', '-f', 'json')
    assert list(result.data[0]) == COLUMNS
    assert [tuple(row.values()) for row in result.data] == [
        ('cn1', NODE, 2, None, NODE),
        ('cn2', OTHER, 0, None, OTHER),
        ('numa0', CHILD, 0, NODE, NODE),
    ]


def test_a_list_is_printed_in_every_format_with_the_same_columns(known):
    def printed(form):
        words = ('--name', 'cn2', '-f', form)
        result = known.run('resource', 'provider', 'list', *words)
        assert (result.code, result.err) == (0, '')
        return result.out

    row = dict(zip(COLUMNS, ('cn2', OTHER, 0, None, OTHER), strict=True))
    assert json.loads(printed('json')) == [row]
    assert yaml.safe_load(printed('yaml')) == [row]
    texts = {**row, 'Generation': '0', 'Parent': ''}
    assert list(csv.DictReader(io.StringIO(printed('csv')))) == [texts]
    assert printed('value') == f'cn2 {OTHER} 0  {OTHER}\n'
    head, line = printed('table').splitlines()[1:4:2]
    assert [part.strip() for part in head.strip('|').split('|')] == COLUMNS
    assert 'None' not in line


@pytest.mark.parametrize(
    ('options', 'found'),
    [
        (['--required', 'HW_CPU_X86_AVX2'], ['cn1']),
        (['--required', '!HW_CPU_X86_AVX2'], ['cn2', 'numa0']),
        (['--required', 'in:HW_CPU_X86_AVX2,HW_CPU_X86_AVX'], ['cn1']),
        (['--required', 'HW_CPU_X86_AVX2', '--required', '!COMPUTE_NODE'],
         ['cn1']),
        (['--resources', 'VCPU:8'], ['cn1']),
        (['--resources', 'VCPU:9'], []),
        (['--in-tree', 'numa0'], ['cn1', 'numa0']),
        (['--in-tree', CHILD], ['cn1', 'numa0']),
        (['--name', 'cn2'], ['cn2']),
        (['--uuid', OTHER], ['cn2']),
        (['--member-of', AGG1], []),
        (['--member-of', f'!{AGG1}', '--in-tree', 'cn1'], ['cn1', 'numa0']),
        (['--member-of', f'!in:{AGG1},{AGG2}', '--name', 'cn2'], ['cn2']),
    ],
)  # fmt: skip
def test_conditions_hold_together(known, options, found):
    listed = known.run('resource', 'provider', 'list', *options, '-f', 'json')
    assert names(listed) == found


@pytest.mark.parametrize(
    ('options', 'said'),
    [
        (['--required', 'COMPUTE_NODE,!COMPUTE_NODE'],
         'COMPUTE_NODE cannot be required and forbidden at once'),
        (['--required', 'COMPUTE_NODE', '--required', '!COMPUTE_NODE'],
         'COMPUTE_NODE cannot be required and forbidden at once'),
        (['--required', 'CUSTOM_NONE'], 'knows no trait CUSTOM_NONE'),
        (['--required', 'hw_cpu_x86_avx2'], 'did you mean HW_CPU_X86_AVX2?'),
        (['--resources', 'VCPU'], "'VCPU' is not an amount"),
        (['--resources', 'CPU:1'], 'knows no resource class CPU'),
        (['--member-of', 'rack'], "aggregate 'rack' is not a uuid"),
        (['--in-tree', 'cn9'], 'no provider is called cn9'),
        (['--uuid', 'cn1'], "provider 'cn1' is not a uuid"),
        (['-c', 'Nmae'], "no column 'Nmae'; the columns are Name, UUID"),
    ],
)  # fmt: skip
def test_a_condition_that_is_wrong_is_one_line(known, options, said):
    result = known.run('resource', 'provider', 'list', *options)
    assert (result.code, result.out) == (1, '')
    assert said in result.line


def test_groups_are_candidates_alone_as_placement_has_them(known):
    result = known.run(
        'resource', 'provider', 'list', '--required1', 'COMPUTE_NODE'
    )
    assert result.code == 1
    assert '--required1: this command has no groups' in result.err
    told = known.run('resource', 'provider', 'list', '--help').out
    assert 'candidates: use "allocation candidate list"' in ' '.join(
        told.split()
    )


def test_any_of_on_an_older_placement_is_one_line(cli, requests_mock):
    refusal = {'status': 406, 'max_version': '1.38', 'min_version': '1.0'}
    requests_mock.get(
        f'{cli.url}/resource_providers',
        status_code=406,
        json={'errors': [refusal]},
    )
    result = cli.run('resource', 'provider', 'list', '--required', 'in:A,B')
    assert result.code == 1
    assert f'placement at {cli.url} has API version 1.38' in result.line
    assert 'needs 1.39 or newer' in result.line


# --- create, delete -----------------------------------------------------------


def test_a_provider_is_created_and_what_it_is_is_said(cli):
    words = ('resource', 'provider', 'create', 'share', '--uuid', OTHER)
    result = cli.run(*words, '--aggregate', AGG1, '--aggregate-uuid', AGG2)
    assert (result.code, result.err) == (0, '')
    assert result.out == (
        f'created provider share ({OTHER}), in aggregate {AGG1}, {AGG2}\n'
    )
    assert cli.others.aggregates(OTHER) == {AGG1, AGG2}


def test_what_was_created_is_data(known):
    words = (
        'resource',
        'provider',
        'create',
        'disk',
        '--uuid',
        AGG1,
        '--parent',
        'numa0',
    )
    assert known.run(*words, '-f', 'json').data == {
        'name': 'disk',
        'uuid': AGG1,
        'parent': CHILD,
        'root': NODE,
        'aggregates': [],
    }


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        (['cn1'], f'the name cn1 is taken: provider cn1 ({NODE}) has it'),
        (['x', '--uuid', NODE], f'the uuid {NODE} is taken'),
        (['x', '--uuid', 'cn1'], "provider 'cn1' is not a uuid"),
        (['x', '--parent', 'cn9'], 'no provider is called cn9'),
        (['x', '--aggregate', 'rack'], "aggregate 'rack' is not a uuid"),
        ([''], "provider name '' is not one placement takes"),
    ],
)
def test_what_cannot_be_created_is_one_line(known, words, said):
    result = known.run('resource', 'provider', 'create', *words)
    assert (result.code, result.out) == (1, '')
    assert said in result.line
    assert len(known.providers()) == 3


def test_a_provider_is_deleted_by_name_or_uuid(known):
    result = known.run('resource', 'provider', 'delete', 'cn2')
    assert (result.code, result.err) == (0, '')
    assert result.out == f'deleted provider cn2 ({OTHER})\n'
    again = known.run('resource', 'provider', 'delete', OTHER)
    assert again.code == 1
    assert f'no provider is called {OTHER}' in again.line


def test_what_stands_against_a_deletion_is_one_line(known):
    result = known.run('resource', 'provider', 'delete', 'cn1')
    assert (result.code, result.out) == (1, '')
    assert f'delete its children first: numa0 ({CHILD})' in result.line
    known.others.allocate(NODE, AGG1, {'VCPU': 1})
    assert known.run('resource', 'provider', 'delete', 'numa0').code == 0
    result = known.run('resource', 'provider', 'delete', 'cn1')
    assert f'its VCPU is allocated to {AGG1}' in result.line


# --- inventory ----------------------------------------------------------------


def inventories(cli, uuid=NODE):
    return cli.others.inventories(uuid)


def test_an_inventory_is_set_by_options_as_the_seed_has_them(known):
    result = known.run(
        *('resource', 'provider', 'inventory', 'set', 'cn2'),
        *('--resource-class=DISK_GB', '--total=100000', '--reserved=1000'),
        *('--min-unit=50', '--max-unit=10000', '--step-size=10'),
        '--allocation-ratio=1.5',
    )
    assert (result.code, result.err) == (0, '')
    assert result.out == (
        f'set inventories of cn2 ({OTHER}): +DISK_GB 100000 reserved=1000 '
        'min_unit=50 max_unit=10000 step_size=10 allocation_ratio=1.5\n'
    )
    assert inventories(known, OTHER) == {
        'DISK_GB': {
            'total': 100000,
            'reserved': 1000,
            'min_unit': 50,
            'max_unit': 10000,
            'step_size': 10,
            'allocation_ratio': 1.5,
        }
    }


def test_several_inventories_are_set_at_once_and_the_rest_stays(known):
    words = ('resource', 'provider', 'inventory', 'set', 'cn1')
    result = known.run(
        *words, 'MEMORY_MB=512', 'VCPU:reserved=1', 'MEMORY_MB:reserved=64'
    )
    assert (result.code, result.err) == (0, '')
    assert result.out == (
        f'set inventories of cn1 ({NODE}): +MEMORY_MB 512 reserved=64, '
        '~VCPU reserved=0→1\n'
    )
    both = known.run(*words, 'DISK_GB=1', '--resource-class', 'VCPU',
                     '--total', '9', '-f', 'json')  # fmt: skip
    assert both.data['added'] == ['DISK_GB']
    assert both.data['changed'] is True
    found = inventories(known)
    assert found['VCPU']['total'] == 9
    assert found['VCPU']['reserved'] == 1
    assert found['MEMORY_MB']['total'] == 512


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        ([], 'there is nothing to set: add RC=TOTAL'),
        (['--total', '4'], '--total needs a resource class: add --resource-class RC'),
        (['--max-unit', '4'], '--max-unit needs a resource class'),
        (['--resource-class', 'VCPU'], 'there is nothing to set'),
        (['--resource-class', 'DISK_GB', 'VCPU=8'],
         '--resource-class DISK_GB needs a field: add --total N'),
        (['VCPU=' + '9' * 5000], 'is longer than any whole number'),
        (['VCPU=' + '9' * 10], 'must be a whole number from 1 to 2147483647'),
        (['VCPU=8', '--resource-class', 'VCPU', '--total', '9'],
         'VCPU:total is given twice'),
        (['VCPU=many'], "VCPU: total 'many' is not a whole number"),
        (['VCPU=0'], 'VCPU: total 0 must be a whole number from 1'),
        (['VCPU:reserved=9'], 'VCPU: reserved 9 is more than total 8'),
        (['DISK_GB:reserved=9'], 'DISK_GB: an inventory record needs a total'),
        (['CUSTOM_X=1'], 'no resource class CUSTOM_X; --create creates it'),
        (['DISK=1'], 'placement knows no resource class DISK'),
    ],
)  # fmt: skip
def test_what_is_no_inventory_is_one_line(known, words, said):
    result = known.run(
        'resource', 'provider', 'inventory', 'set', 'cn1', *words
    )
    assert (result.code, result.out) == (1, '')
    assert said in result.line
    assert list(inventories(known)) == ['VCPU']


@pytest.mark.parametrize(
    'words',
    [
        ('cn1', '--create', 'CUSTOM_X=1'),
        ('--create', 'cn1', 'CUSTOM_X=1'),
        ('cn1', 'CUSTOM_X=1', '--create', 'VCPU=8'),
        ('cn1', '-f', 'json', 'CUSTOM_X=1', '--create'),
        ('cn1', '--create', '--', 'CUSTOM_X=1'),
        ('--create', '--', 'cn1', 'CUSTOM_X=1'),
        ('cn1', 'VCPU=8', '--create', '--', 'CUSTOM_X=1'),
        ('cn1', '--resource-class', 'VCPU', 'CUSTOM_X=1', '--total=8',
         '--create'),
    ],
)  # fmt: skip
def test_options_may_stand_anywhere(known, words):
    result = known.run('resource', 'provider', 'inventory', 'set', *words)
    assert (result.code, result.err) == (0, '')
    assert {rc: one['total'] for rc, one in inventories(known).items()} == {
        'CUSTOM_X': 1,
        'VCPU': 8,
    }


def test_what_is_no_option_is_not_taken_for_a_word(known):
    words = ('cn1', '--create', 'CUSTOM_X=1', '--spare=1')
    result = known.run('resource', 'provider', 'inventory', 'set', *words)
    assert (result.code, result.out) == (1, '')
    assert 'unrecognized arguments' in result.err
    assert '--spare=1' in result.err
    assert list(inventories(known)) == ['VCPU']


def test_behind_two_dashes_nothing_is_an_option(known):
    words = ('cn1', 'CUSTOM_X=1', '-f', 'json', '--', '--create')
    result = known.run('resource', 'provider', 'inventory', 'set', *words)
    assert (result.code, result.out) == (1, '')
    assert "'--create' is not a field of an inventory" in result.line


def test_a_provider_whose_name_looks_like_an_option_is_named_so(known):
    words = ('resource', 'provider', 'create', '--uuid', AGG2, '--', '--odd')
    assert known.run(*words).code == 0
    words = (
        'resource',
        'provider',
        'inventory',
        'set',
        '--',
        '--odd',
        'VCPU=1',
    )
    assert known.run(*words).code == 0
    assert inventories(known, AGG2)['VCPU']['total'] == 1


def test_which_classes_changed_is_data(known):
    words = ('resource', 'provider', 'inventory', 'set', 'cn1', '-f', 'json')
    data = known.run(*words, 'VCPU=9', 'DISK_GB=1').data
    assert data['changed'] is True
    assert data['changed_classes'] == ['VCPU']
    assert data['added'] == ['DISK_GB']


# --- names that move the cursor -----------------------------------------------


@pytest.mark.parametrize(
    ('name', 'shown'),
    [('nl\nname', r'nl\nname'), ('esc\x1b[31m', r'esc\x1b[31m'), ('Ω', 'Ω')],
)
def test_a_name_is_shown_on_one_line_and_kept_as_it_is(cli, name, shown):
    made = cli.run('resource', 'provider', 'create', name, '--uuid', NODE)
    assert made.out == f'created provider {shown} ({NODE})\n'
    for form in ('table', 'value', 'csv'):
        listed = cli.run(
            'resource', 'provider', 'list', '-c', 'Name', '-f', form
        ).out
        # CSV doubles the backslash.
        assert shown in listed.replace('\\\\', '\\')
        assert name == shown or name not in listed
    for form, read in (('json', json.loads), ('yaml', yaml.safe_load)):
        listed = cli.run(
            'resource', 'provider', 'list', '-c', 'Name', '-f', form
        ).out
        assert read(listed) == [{'Name': name}]
    unknown = cli.run('resource', 'provider', 'delete', f'{name}x')
    assert '\x1b' not in unknown.line
    gone = cli.run('resource', 'provider', 'delete', name)
    assert gone.out == f'deleted provider {shown} ({NODE})\n'


# --- what every one of them does ----------------------------------------------

COMMANDS = [
    ('list',),
    ('create', 'share'),
    ('delete', 'cn1'),
    ('show', 'cn1'),
    ('inventory', 'list', 'cn1'),
    ('inventory', 'set', 'cn1', 'VCPU=1'),
    ('inventory', 'delete', 'cn1', 'VCPU'),
    ('aggregate', 'list', 'cn1'),
    ('aggregate', 'set', 'cn1', AGG1),
    ('aggregate', 'add', 'cn1', AGG1),
    ('aggregate', 'remove', 'cn1', AGG1),
    ('trait', 'list', 'cn1'),
    ('trait', 'add', 'cn1', 'COMPUTE_NODE'),
    ('trait', 'remove', 'cn1', 'COMPUTE_NODE'),
    ('trait', 'set', 'cn1', 'COMPUTE_NODE'),
    ('trait', 'delete', 'cn1'),
]


@pytest.mark.parametrize('words', COMMANDS)
def test_a_placement_that_is_away_is_one_line(cli, unused_port, words):
    cli.configure({'endpoint': f'http://127.0.0.1:{unused_port}'})
    result = cli.run('resource', 'provider', *words)
    assert (result.code, result.out) == (1, '')
    assert 'cannot be reached' in result.line


@pytest.mark.parametrize('words', COMMANDS[2:])
def test_a_provider_that_is_not_there_is_one_line(cli, words):
    result = cli.run('resource', 'provider', *words)
    assert (result.code, result.out) == (1, '')
    assert 'no provider is called cn1' in result.line
