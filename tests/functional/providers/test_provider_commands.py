# SPDX-License-Identifier: Apache-2.0
"""``compute-agent resource provider``: found, created, deleted, filled, told of."""

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
COLUMNS = [
    'uuid',
    'name',
    'generation',
    'root_provider_uuid',
    'parent_provider_uuid',
]


SET = ('resource', 'provider', 'inventory', 'set')


@pytest.fixture
def known(cli):
    """A provider cn1 with VCPU 8 and AVX2, its child numa0, and a cn2."""
    for uuid, name, parent in (
        (NODE, 'cn1', None),
        (CHILD, 'numa0', 'cn1'),
        (OTHER, 'cn2', None),
    ):
        above = ['--parent-provider', parent] if parent else []
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
    done = cli.run(*SET, 'cn1', '--resource=VCPU=8')
    assert done.code == 0
    done = cli.run(
        'resource', 'provider', 'trait', 'add', 'cn1', 'HW_CPU_X86_AVX2'
    )
    assert done.code == 0
    return cli


def names(result):
    assert (result.code, result.err) == (0, '')
    return [row['name'] for row in result.data]


# --- list ---------------------------------------------------------------------


def test_providers_are_listed_with_their_place_in_the_tree(known):
    result = known.run('resource', 'provider', 'list', '-f', 'json')
    assert list(result.data[0]) == COLUMNS
    assert [tuple(row.values()) for row in result.data] == [
        (NODE, 'cn1', 2, NODE, None),
        (OTHER, 'cn2', 0, OTHER, None),
        (CHILD, 'numa0', 0, NODE, NODE),
    ]


def test_a_list_is_printed_in_every_format_with_the_same_columns(known):
    def printed(form):
        words = ('--name', 'cn2', '-f', form)
        result = known.run('resource', 'provider', 'list', *words)
        assert (result.code, result.err) == (0, '')
        return result.out

    row = dict(zip(COLUMNS, (OTHER, 'cn2', 0, OTHER, None), strict=True))
    assert json.loads(printed('json')) == [row]
    assert yaml.safe_load(printed('yaml')) == [row]
    texts = {**row, 'generation': '0', 'parent_provider_uuid': ''}
    assert list(csv.DictReader(io.StringIO(printed('csv')))) == [texts]
    assert printed('value') == f'{OTHER} cn2 0 {OTHER} \n'
    head, line = printed('table').splitlines()[1:4:2]
    assert [part.strip() for part in head.strip('|').split('|')] == COLUMNS
    assert 'None' not in line


@pytest.mark.parametrize(
    ('options', 'found'),
    [
        (['--required', 'HW_CPU_X86_AVX2'], ['cn1']),
        (['--forbidden', 'HW_CPU_X86_AVX2'], ['cn2', 'numa0']),
        (['--required', 'HW_CPU_X86_AVX2,HW_CPU_X86_AVX'], ['cn1']),
        (['--required', 'HW_CPU_X86_AVX2', '--forbidden', 'COMPUTE_NODE'],
         ['cn1']),
        (['--resource', 'VCPU=8'], ['cn1']),
        (['--resource', 'VCPU=9'], []),
        (['--in-tree', 'numa0'], ['cn1', 'numa0']),
        (['--in-tree', CHILD], ['cn1', 'numa0']),
        (['--name', 'cn2'], ['cn2']),
        (['--uuid', OTHER], ['cn2']),
        (['--member-of', AGG1], []),
        (['--not-member-of', AGG1, '--in-tree', 'cn1'], ['cn1', 'numa0']),
        (['--not-member-of', f'{AGG1},{AGG2}', '--name', 'cn2'], ['cn2']),
    ],
)  # fmt: skip
def test_conditions_hold_together(known, options, found):
    listed = known.run('resource', 'provider', 'list', *options, '-f', 'json')
    assert names(listed) == found


@pytest.mark.parametrize(
    ('options', 'said'),
    [
        (['--required', 'COMPUTE_NODE', '--forbidden', 'COMPUTE_NODE'],
         'COMPUTE_NODE cannot be required and forbidden at once'),
        (['--required', '!COMPUTE_NODE'], 'write --forbidden NAME'),
        (['--required', 'in:COMPUTE_NODE'], 'leave "in:" out'),
        (['--member-of', f'!{AGG1}'], 'write --not-member-of'),
        (['--member-of', f'in:{AGG1}'], 'leave "in:" out'),
        (['--required', 'CUSTOM_NONE'], 'knows no trait CUSTOM_NONE'),
        (['--required', 'hw_cpu_x86_avx2'], 'did you mean HW_CPU_X86_AVX2?'),
        (['--resource', 'VCPU'], "'VCPU' is not an amount"),
        (['--resource', 'CPU=1'], 'knows no resource class CPU'),
        (['--member-of', 'rack'], "aggregate 'rack' is not a uuid"),
        (['--in-tree', 'cn9'], 'no provider is called cn9'),
        (['--uuid', 'cn1'], "provider 'cn1' is not a uuid"),
        (['-c', 'Nmae'], "no column 'Nmae'; the columns are uuid, name"),
    ],
)  # fmt: skip
def test_a_condition_that_is_wrong_is_one_line(known, options, said):
    result = known.run('resource', 'provider', 'list', *options)
    assert (result.code, result.out) == (1, '')
    assert said in result.line


def test_groups_are_candidates_alone_as_placement_has_them(known):
    result = known.run('resource', 'provider', 'list', '--group', '1')
    assert (result.code, result.out) == (1, '')
    assert 'unrecognized arguments: --group 1' in result.line
    wrong = known.run('resource', 'provider', 'list', '--require', 'X').line
    assert '--require X; did you mean --required?' in wrong
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
    result = cli.run('resource', 'provider', 'list', '--required', 'A,B')
    assert result.code == 1
    assert f'placement at {cli.url} has API version 1.38' in result.line
    assert 'needs 1.39 or newer' in result.line


# --- create, delete -----------------------------------------------------------


def test_a_provider_is_created_and_shown(cli):
    words = ('resource', 'provider', 'create', 'share', '--uuid', OTHER)
    words += ('--aggregate', AGG1, '--aggregate', AGG2)
    result = cli.run(*words, '-f', 'json')
    assert (result.code, result.err) == (0, '')
    assert list(result.data.items()) == [
        ('uuid', OTHER),
        ('name', 'share'),
        ('generation', 1),
        ('root_provider_uuid', OTHER),
        ('parent_provider_uuid', None),
    ]
    assert cli.others.aggregates(OTHER) == {AGG1, AGG2}


def test_a_child_is_created_below_its_parent(known):
    words = ('resource', 'provider', 'create', 'disk', '--uuid', AGG1)
    words += ('--parent-provider', 'numa0')
    made = known.run(*words, '-f', 'value', '-c', 'parent_provider_uuid')
    assert (made.code, made.out) == (0, f'{CHILD}\n')


def test_a_provider_gets_another_name_and_another_parent(known):
    words = ('resource', 'provider', 'set', 'numa0', '-f', 'json')
    renamed = known.run(*words, '--name', 'numa1')
    assert (renamed.code, renamed.err) == (0, '')
    assert renamed.data['name'] == 'numa1'
    assert renamed.data['parent_provider_uuid'] == NODE
    words = ('resource', 'provider', 'set', CHILD, '-f', 'json')
    moved = known.run(*words, '--parent-provider', 'cn2')
    assert moved.data['name'] == 'numa1'
    assert moved.data['root_provider_uuid'] == OTHER
    assert known.run(*words, '--name', 'numa1').data == moved.data


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        ([], 'there is nothing to set: add --name or --parent-provider'),
        (['--name', 'cn2'], f'the name cn2 is taken: provider cn2 ({OTHER})'),
        (['--parent-provider', 'cn9'], 'no provider is called cn9'),
        (['--name', ''], "provider name '' is not one placement takes"),
    ],
)
def test_what_a_provider_cannot_be_is_one_line(known, words, said):
    result = known.run('resource', 'provider', 'set', 'cn1', *words)
    assert (result.code, result.out) == (1, '')
    assert said in result.line


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        (['cn1'], f'the name cn1 is taken: provider cn1 ({NODE}) has it'),
        (['x', '--uuid', NODE], f'the uuid {NODE} is taken'),
        (['x', '--uuid', 'cn1'], "provider 'cn1' is not a uuid"),
        (['x', '--parent-provider', 'cn9'], 'no provider is called cn9'),
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


def rows(result):
    """Return resource class → fields of a listing of inventories."""
    assert result.code == 0, result.err
    found = yaml.safe_load(result.out)
    return {row.pop('resource_class'): row for row in found}


def test_the_inventory_of_one_class_is_set_and_shown(known):
    given = {
        'allocation_ratio': 1.5,
        'min_unit': 50,
        'max_unit': 10000,
        'reserved': 1000,
        'step_size': 10,
        'total': 100000,
    }
    result = known.run(
        *('resource', 'provider', 'inventory', 'class', 'set', 'cn1'),
        *('DISK_GB', '-f', 'json'),
        *(f'--{name}={value}' for name, value in given.items()),
    )
    assert result.code == 0
    assert list(result.data.items()) == list(given.items())
    assert result.line == (
        f'compute-agent: set inventories of cn1 ({NODE}): +DISK_GB 100000 '
        'reserved=1000 min_unit=50 max_unit=10000 step_size=10 '
        'allocation_ratio=1.5'
    )
    assert inventories(known) == {
        'DISK_GB': given,
        'VCPU': {**inventories(known)['VCPU'], 'total': 8},
    }
    words = ('resource', 'provider', 'inventory', 'show', 'cn1')
    shown = known.run(*words, 'DISK_GB', '-f', 'json')
    assert (shown.code, shown.err) == (0, '')
    assert shown.data == {**given, 'used': 0}
    none = known.run(*words, 'MEMORY_MB')
    assert 'cn1' in none.line
    assert none.line.endswith('has no inventory of MEMORY_MB')


@pytest.mark.catches('inventories that are set as a whole keep other classes')
def test_inventories_are_replaced_as_a_whole(known):
    result = known.run(
        *SET, 'cn1', '--resource=DISK_GB=9', '--resource=DISK_GB:reserved=1',
        '-f', 'json',
    )  # fmt: skip
    assert result.line.endswith('+DISK_GB 9 reserved=1, -VCPU')
    (row,) = result.data
    assert list(row.items()) == [
        ('resource_class', 'DISK_GB'),
        ('allocation_ratio', 1.0),
        ('min_unit', 1),
        ('max_unit', 2147483647),
        ('reserved', 1),
        ('step_size', 1),
        ('total', 9),
    ]
    assert list(inventories(known)) == ['DISK_GB']


def test_with_amend_the_rest_stays(known):
    result = known.run(
        *(*SET, 'cn1', '--amend', '-f', 'json'),
        *('--resource=MEMORY_MB=512', '--resource=VCPU:reserved=1'),
    )
    assert result.line == (
        f'compute-agent: set inventories of cn1 ({NODE}): +MEMORY_MB 512, '
        '~VCPU reserved=0→1'
    )
    found = rows(result)
    assert found['VCPU']['total'] == 8
    assert found['VCPU']['reserved'] == 1
    assert found['MEMORY_MB']['total'] == 512
    assert inventories(known).keys() == {'MEMORY_MB', 'VCPU'}


@pytest.mark.catches('a dry run is written')
def test_a_dry_run_lists_what_would_be_and_writes_nothing(known, sent):
    words = (*SET, 'cn1', '--amend', '--dry-run', '--resource=VCPU=9')
    result = known.run(*words, '-f', 'json')
    assert rows(result)['VCPU']['total'] == 9
    assert result.line == (
        'compute-agent: not written (--dry-run): set inventories of cn1 '
        f'({NODE}): ~VCPU total=8→9'
    )
    assert not [line for line in sent if not line.startswith('GET')]


def test_the_providers_of_an_aggregate_are_set_together(known):
    for name in ('cn1', 'cn2'):
        known.others.set_aggregates({'cn1': NODE, 'cn2': OTHER}[name], AGG1)
    words = (*SET, AGG1, '--aggregate', '--amend', '-f', 'json')
    result = known.run(*words, '--resource=VCPU=4')
    assert [
        (row['resource_provider'], row['resource_class'], row['total'])
        for row in result.data
    ] == [(NODE, 'VCPU', 4), (OTHER, 'VCPU', 4)]
    assert inventories(known)['VCPU']['total'] == 4
    assert inventories(known, OTHER)['VCPU']['total'] == 4
    none = known.run(*SET, AGG2, '--aggregate', '--resource=VCPU=4')
    assert none.line.endswith(f'no provider is in aggregate {AGG2}')


def test_one_provider_of_an_aggregate_that_fails_does_not_stop_others(known):
    for uuid in (NODE, OTHER):
        known.others.set_aggregates(uuid, AGG1)
    known.others.allocate(NODE, AGG2, {'VCPU': 1})
    words = (*SET, AGG1, '--aggregate', '--resource=DISK_GB=4', '-f', 'json')
    result = known.run(*words)
    assert result.code == 1
    assert [row['resource_provider'] for row in result.data] == [OTHER]
    assert f'VCPU is allocated to {AGG2}' in result.err
    assert result.err.endswith('1 of 2 providers failed\n')


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        (['VCPU'], "'VCPU' is not a field of an inventory"),
        (['VCPU=' + '9' * 5000], 'is longer than any whole number'),
        (['VCPU=' + '9' * 10], 'must be a whole number from 1 to 2147483647'),
        (['VCPU=8', 'VCPU:total=9'], 'VCPU:total is given twice'),
        (['VCPU=many'], "VCPU: total 'many' is not a whole number"),
        (['VCPU=0'], 'VCPU: total 0 must be a whole number from 1'),
        (['VCPU:reserved=9'], 'VCPU: reserved 9 is more than total 8'),
        (['DISK_GB:reserved=9'], 'DISK_GB: an inventory record needs a total'),
        (['CUSTOM_X=1'], 'no resource class CUSTOM_X; --create creates it'),
        (['DISK=1'], 'placement knows no resource class DISK'),
    ],
)
def test_what_is_no_inventory_is_one_line(known, words, said):
    given = [f'--resource={word}' for word in words]
    result = known.run(*SET, 'cn1', '--amend', *given)
    assert (result.code, result.out) == (1, '')
    assert said in result.line
    assert list(inventories(known)) == ['VCPU']


@pytest.mark.parametrize(
    'words',
    [
        ('cn1', '--create', '--resource=CUSTOM_X=1'),
        ('--create', '--resource', 'CUSTOM_X=1', 'cn1'),
        ('--resource', 'CUSTOM_X=1', '--create', '--', 'cn1'),
    ],
)
def test_options_may_stand_anywhere(known, words):
    result = known.run(*SET, '--amend', *words)
    assert result.code == 0, result.err
    assert {rc: one['total'] for rc, one in inventories(known).items()} == {
        'CUSTOM_X': 1,
        'VCPU': 8,
    }


def test_what_is_no_option_is_not_taken_for_a_word(known):
    words = ('cn1', '--resource=VCPU=1', '--spare=1')
    result = known.run(*SET, *words)
    assert (result.code, result.out) == (1, '')
    assert 'unrecognized arguments' in result.err
    assert '--spare=1' in result.err
    assert inventories(known)['VCPU']['total'] == 8


def test_a_provider_whose_name_looks_like_an_option_is_named_so(known):
    words = ('resource', 'provider', 'create', '--uuid', AGG2, '--', '--odd')
    assert known.run(*words).code == 0
    words = (*SET, '--resource=VCPU=1', '--', '--odd')
    assert known.run(*words).code == 0
    assert inventories(known, AGG2)['VCPU']['total'] == 1


# --- names that move the cursor -----------------------------------------------


@pytest.mark.parametrize(
    ('name', 'shown'),
    [('nl\nname', r'nl\nname'), ('esc\x1b[31m', r'esc\x1b[31m'), ('Ω', 'Ω')],
)
def test_a_name_is_shown_on_one_line_and_kept_as_it_is(cli, name, shown):
    made = cli.run('resource', 'provider', 'create', name, '--uuid', NODE)
    assert (made.code, made.err) == (0, '')
    assert shown in made.out
    for form in ('table', 'value', 'csv'):
        listed = cli.run(
            'resource', 'provider', 'list', '-c', 'name', '-f', form
        ).out
        # CSV doubles the backslash.
        assert shown in listed.replace('\\\\', '\\')
        assert name == shown or name not in listed
    for form, read in (('json', json.loads), ('yaml', yaml.safe_load)):
        listed = cli.run(
            'resource', 'provider', 'list', '-c', 'name', '-f', form
        ).out
        assert read(listed) == [{'name': name}]
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
    ('set', 'cn1', '--name', 'cn3'),
    ('inventory', 'set', 'cn1', '--resource', 'VCPU=1'),
    ('inventory', 'class', 'set', 'cn1', 'VCPU', '--total', '1'),
    ('inventory', 'show', 'cn1', 'VCPU'),
    ('inventory', 'delete', 'cn1', '--resource-class', 'VCPU'),
    ('usage', 'show', 'cn1'),
    ('aggregate', 'list', 'cn1'),
    ('aggregate', 'set', 'cn1', '--aggregate', AGG1),
    ('aggregate', 'add', 'cn1', AGG1),
    ('aggregate', 'remove', 'cn1', AGG1),
    ('trait', 'list', 'cn1'),
    ('trait', 'add', 'cn1', 'COMPUTE_NODE'),
    ('trait', 'remove', 'cn1', 'COMPUTE_NODE'),
    ('trait', 'set', 'cn1', '--trait', 'COMPUTE_NODE'),
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
