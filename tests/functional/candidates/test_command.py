# SPDX-License-Identifier: Apache-2.0
"""``compute-agent allocation candidate`` as a person runs it."""

import csv
import io
import json

import pytest
import yaml
from small_cloud import AGGREGATE, RACK, SHARES, Made, build, build_first, uuid

CN1, PF1, PF2, CN2, NFS = (uuid(number) for number in range(1, 6))
COLUMNS = [
    '#',
    'allocation',
    'resource provider',
    'inventory used/capacity',
    'traits',
]
WHY = ['requirement', 'nearest', 'why']


@pytest.fixture
def rack(cli, placement_server):
    """The rack of two compute nodes and a share."""
    build_first(cli.others, RACK, placement_server)


@pytest.fixture
def ask(cli, rack):
    """Run the command with extra specs and options."""
    return lambda *words, **verb: run(cli, *words, **verb)


def run(cli, *words, verb='list'):
    """Run the command; a lone KEY=VALUE is an extra spec."""
    lone = [not word.startswith('-') and '=' in word for word in words]
    some = [
        f'--property={word}' if is_lone else word
        for word, is_lone in zip(words, lone, strict=True)
    ]
    return cli.run('allocation', 'candidate', verb, *some)


def rows(result):
    """Return the rows of JSON; nothing is said beside them."""
    assert (result.code, result.err) == (0, '')
    return json.loads(result.out)


NAMES = {CN1: 'cn1', PF1: 'cn1_pf1', PF2: 'cn1_pf2', CN2: 'cn2', NFS: 'nfs'}


def named(result):
    """Return the names of the providers, each once."""
    found = {NAMES[row['resource provider']] for row in rows(result)}
    return sorted(found)


def test_what_a_candidate_allocates_is_a_row_for_each_provider(ask):
    result = ask('resources:VCPU=2', 'resources:DISK_GB=10', '-f', 'json')
    used = ['VCPU=0/8', 'MEMORY_MB=0/4096', 'DISK_GB=0/100']
    found = rows(result)
    for row in found:
        assert list(row) == COLUMNS
    own = next(row for row in found if 'VCPU' in row['allocation'])
    assert sorted(own['allocation'].split(',')) == ['DISK_GB=10', 'VCPU=2']
    assert own['resource provider'] == CN2
    assert sorted(own['inventory used/capacity'].split(',')) == sorted(used)
    assert own['traits'] == 'COMPUTE_NODE'
    assert result.err == ''


def test_the_rows_of_a_candidate_have_one_number(ask):
    words = ('--resource=VCPU=1', '--group=1', '--resource=SRIOV_NET_VF=1')
    found = rows(ask(*words, '-f', 'json'))
    for number in {row['#'] for row in found}:
        owners = [r['resource provider'] for r in found if r['#'] == number]
        assert len(owners) == 2
        assert CN1 in owners


def test_whole_trees_are_listed_on_demand(ask):
    words = ('resources:VCPU=1', 'resources:DISK_GB=10', '--long')
    found = rows(ask(*words, '-f', 'json'))
    assert found[0] == {
        'name': 'cn1',
        'uuid': CN1,
        'tree': 'cn1',
        'gives': ['VCPU'],
        'offers': {
            'MEMORY_MB': {'capacity': 3584, 'used': 0},
            'VCPU': {'capacity': 8, 'used': 7},
        },
        'traits': ['COMPUTE_NODE', 'CUSTOM_GOLD', 'HW_CPU_X86_AVX2'],
    }
    assert [(row['name'], row['gives']) for row in found] == [
        ('cn1', ['VCPU']),
        ('cn1_pf1', []),
        ('cn1_pf2', []),
        ('cn2', ['DISK_GB', 'VCPU']),
        ('nfs', ['DISK_GB']),
    ]


def test_every_format_has_the_same_columns(ask):
    words = ('resources:VCPU=2',)
    table = ask(*words)
    assert [c.strip() for c in table.out.splitlines()[1].split('|')[1:-1]] == (
        COLUMNS
    )
    assert list(yaml.safe_load(ask(*words, '-f', 'yaml').out)[0]) == COLUMNS
    header, row = csv.reader(io.StringIO(ask(*words, '-f', 'csv').out))
    assert header == COLUMNS
    assert row[:3] == ['1', 'VCPU=2', CN2]
    value = ask(*words, '-f', 'value', '-c', '#', '-c', 'allocation').out
    assert value == '1 VCPU=2\n'


def test_nothing_that_fits_is_an_empty_list_and_a_line(ask):
    result = ask('resources:VCPU=99', '-f', 'json')
    assert (result.code, json.loads(result.out)) == (0, [])
    assert result.line == (
        'compute-agent: no candidates; "allocation candidate why-not '
        'PROVIDER" prints the reasons'
    )


def test_a_limit_is_of_ways(ask):
    words = ('resources:VCPU=1', '-f', 'json')
    assert len(named(ask(*words))) == 2
    assert len(named(ask(*words, '--limit', '1'))) == 1


GOLD_OR_B = 'CUSTOM_GOLD,CUSTOM_PHYSNET_B'
WAYS = [
    (['resources:VCPU=1', 'trait:CUSTOM_GOLD=required'], ['cn1']),
    (['resources:VCPU=1', 'trait:CUSTOM_GOLD=forbidden'], ['cn2']),
    (
        ['resources:VCPU=1', '--image-property=trait:CUSTOM_GOLD=required'],
        ['cn1'],
    ),
    (
        ['resources:VCPU=1', 'resources_NET:SRIOV_NET_VF=1',
         'trait_NET:CUSTOM_PHYSNET_B=required'],
        ['cn1', 'cn1_pf2'],
    ),
    (['--resource=VCPU=1', '--forbidden', 'CUSTOM_GOLD'], ['cn2']),
    (
        ['--resource=VCPU=1', '--required', GOLD_OR_B,
         '--required=COMPUTE_NODE'],
        ['cn1'],
    ),
    (
        ['--resource=VCPU=1', '--group', '1', '--resource=SRIOV_NET_VF=1',
         '--required', 'CUSTOM_PHYSNET_B'],
        ['cn1', 'cn1_pf2'],
    ),
    (
        ['--group=1', '--resource=SRIOV_NET_VF=1', '--group=2',
         '--resource=SRIOV_NET_VF=1'],
        ['cn1_pf2'],
    ),
    (
        ['--resource=VCPU=1', '--group=_NET', '--resource=SRIOV_NET_VF=1',
         '--forbidden=CUSTOM_PHYSNET_A', '--in-tree', 'cn1_pf1',
         '--group=10', '--resource=MEMORY_MB=1', '--member-of', uuid(99)],
        ['cn1', 'cn1_pf2'],
    ),
    (['--resource=VCPU=1', '--in-tree', 'cn1_pf1'], ['cn1']),
    (['--resource=VCPU=1', '--member-of', uuid(99)], ['cn1']),
    (['--resource=VCPU=1', '--not-member-of', uuid(99)], ['cn2']),
    (['--resource=VCPU=1', '--root-required=!CUSTOM_GOLD'], ['cn2']),
    (
        ['--group=1', '--resource=VCPU=1', '--group=2',
         '--resource=SRIOV_NET_VF=1', '--same-subtree=1,2'],
        ['cn1', 'cn1_pf2'],
    ),
]  # fmt: skip


def test_each_way_to_ask_is_understood(ask):
    for words, names in WAYS:
        assert named(ask(*words, '-f', 'json')) == names, words


def test_a_flavor_file_is_read_and_what_is_said_beside_it_wins(ask, tmp_path):
    flavor = tmp_path / 'flavor.yaml'
    flavor.write_text(
        'vcpus: 1\nram: 512\nextra_specs:\n  trait:CUSTOM_GOLD: required\n'
    )
    words = ('--flavor', str(flavor), '-f', 'json')
    assert named(ask(*words)) == ['cn1']
    assert named(ask(*words, 'trait:CUSTOM_GOLD=forbidden')) == ['cn2']
    assert named(ask(*words, 'resources:DISK_GB=50')) == ['cn1', 'nfs']


def test_a_key_that_nova_reads_otherwise_is_mentioned(ask):
    result = ask('resources:VCPU=2', 'hw:cpu_policy=dedicated', '-f', 'json')
    assert [row['resource provider'] for row in json.loads(result.out)] == [
        CN2
    ]
    assert result.line == (
        'compute-agent: hw:cpu_policy=dedicated is ignored: nova translates '
        'it, this command does not'
    )


# --- why not ------------------------------------------------------------------


def test_why_not_says_what_keeps_a_provider_out(ask):
    words = ('cn1', 'resources:VCPU=2', 'trait:CUSTOM_GOLD=forbidden')

    def asked(*options):
        return ask(*words, *options, verb='why-not')

    result = asked('-f', 'json')
    assert rows(result) == [
        {
            'requirement': 'VCPU: 2',
            'nearest': 'cn1',
            'why': (
                '2 asked, 1 of 8 free (total 8, reserved 0, used 7, ratio 1.0)'
            ),
        },
        {
            'requirement': 'CUSTOM_GOLD forbidden',
            'nearest': 'cn1',
            'why': 'it has this trait',
        },
    ]
    header, *lines = csv.reader(io.StringIO(asked('-f', 'csv').out))
    assert header == WHY
    assert len(lines) == 2
    assert '2 asked, 1 of 8 free' in asked().out
    value = asked('-f', 'value', '-c', 'requirement').out
    assert value == 'VCPU: 2\nCUSTOM_GOLD forbidden\n'


@pytest.mark.parametrize('name', ['cn2', CN2])
def test_of_a_candidate_it_lists_nothing(ask, name):
    result = ask('resources:VCPU=2', name, '-f', 'json', verb='why-not')
    assert (result.code, json.loads(result.out)) == (0, [])
    assert result.line == 'compute-agent: cn2 is a candidate'


def test_what_is_not_known_is_a_line_beside_the_rows(cli):
    gold, share = frozenset({'CUSTOM_GOLD'}), frozenset({SHARES})
    near = {'aggregates': frozenset({AGGREGATE})}
    cloud = [
        Made(name='a', uuid=CN1, inventories={'VCPU': 8}, traits=gold, **near),
        Made(name='b', uuid=CN2),
        Made(
            name='b_disks',
            uuid=NFS,
            parent='b',
            inventories={'DISK_GB': 100},
            traits=share,
            **near,
        ),
    ]
    build(cli.others, cloud)
    words = (
        '--resource=VCPU=99',
        '--resource=DISK_GB=10',
        '--root-required=CUSTOM_GOLD',
    )
    result = run(cli, *words, 'a', '-f', 'json', verb='why-not')
    assert result.code == 0
    assert [row['requirement'] for row in result.data] == ['VCPU: 99']
    # Placement, in this process, says more of it.
    assert (
        'compute-agent: there may be more reasons: placement cannot be asked '
        'for a part of the request, because of a bug of the server: placement '
        'failed inside (HTTP 500)'
    ) in result.err


# --- one line for what is wrong -----------------------------------------------


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        ([], 'the request asks for no resources'),
        (['trait:CUSTOM_GOLD=required'], 'the request asks for no resources'),
        (
            ['resources:VCPU=1', '--in-tree', 'cn9'],
            'no provider is called cn9',
        ),
        (
            [
                'resources:VCPU=1',
                '--required=CUSTOM_GOLD',
                '--forbidden=CUSTOM_GOLD',
            ],
            'CUSTOM_GOLD cannot be required and forbidden at once',
        ),
        (
            ['resources:VCPU=1', 'trait:HW_CPU_X86_AVX3=required'],
            'knows no trait HW_CPU_X86_AVX3; did you mean HW_CPU_X86_AVX?',
        ),
        (['resources:VCPU=x'], 'resources:VCPU=x: write a whole number'),
        (
            ['--resource', 'VCPU'],
            "'VCPU' is not an amount of a resource class",
        ),
        (
            ['resources1:VCPU=1', 'resources2:VCPU=1'],
            'add group_policy=no',
        ),
        (
            ['--group=.NET', '--resource=VCPU=1'],
            "group '.NET' is not one placement takes: use 1 to 64 letters",
        ),
        (
            ['resources:VCPU=1', '--group=_NET', '--required=CUSTOM_GOLD'],
            'group _NET asks for no resources, only for required_NET=CUSTOM_G',
        ),
        (
            [
                'resources:VCPU=1',
                '--member-of',
                uuid(99),
                '--not-member-of',
                uuid(99),
            ],
            'cannot be asked for and forbidden at once',
        ),
        (['--property', 'x'], "--property 'x': write KEY=VALUE"),
        (
            ['--flavor', '/nowhere.yaml'],
            '/nowhere.yaml:1: the file does not e',
        ),
        (['resources:VCPU=1', '--limit', '0'], 'limit 0: ask for 1 or more'),
        (
            ['resources:VCPU=1', '-c', 'Nmae'],
            "there is no column 'Nmae'; the columns are #, allocation",
        ),
    ],
)
def test_what_is_wrong_is_one_line(cli, words, said):
    result = run(cli, *words)
    assert (result.code, result.out) == (1, '')
    assert said in result.line


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        (['cn9', 'resources:VCPU=1'], 'no provider is called cn9'),
        (
            ['cn1', 'resources:VCPU=1', '-c', 'Name'],
            "there is no column 'Name'; the columns are requirement, nearest",
        ),
        (['cn1'], 'the request asks for no resources'),
    ],
)
def test_what_is_wrong_about_why_not_is_one_line(cli, words, said):
    result = run(cli, *words, verb='why-not')
    assert (result.code, result.out) == (1, '')
    assert said in result.line


def test_a_placement_that_is_away_is_one_line(cli, unused_port):
    cli.configure({'endpoint': f'http://127.0.0.1:{unused_port}'})
    for verb in (['list'], ['why-not', 'cn1']):
        words = ('allocation', 'candidate', *verb, '--resource=VCPU=1')
        result = cli.run(*words)
        assert (result.code, result.out) == (1, '')
        assert 'cannot be reached' in result.line


def test_debug_shows_the_requests_and_never_a_token(cli):
    cli.configure({'token': 'admin:my-secret-token'})
    result = run(cli, '--resource=VCPU=1', '--debug')
    assert result.code == 0
    assert '/allocation_candidates?resources=VCPU:1' in result.err
    assert 'my-secret-token' not in result.err + result.out


def test_help_says_how_to_ask(cli):
    result = run(cli, '--help')
    assert result.code == 0
    for words in (
        '--property',
        '--flavor',
        '--group NAME',
        '--forbidden TRAIT',
        '!COMPUTE_STATUS_DISABLED',
    ):
        assert words in result.out


def test_a_list_of_providers_refuses_a_contradiction_too(cli):
    words = ('--member-of', uuid(99), '--not-member-of', uuid(99))
    result = cli.run('resource', 'provider', 'list', *words)
    assert (result.code, result.out) == (1, '')
    assert 'cannot be asked for and forbidden at once' in result.line
