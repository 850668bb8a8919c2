# SPDX-License-Identifier: Apache-2.0
"""``compute-agent allocation candidate`` as a person runs it."""

import csv
import io
import json

import pytest
import yaml
from small_cloud import AGGREGATE, RACK, SHARES, Made, build, build_first, uuid

CN1, PF1, PF2, CN2, NFS = (uuid(number) for number in range(1, 6))
COLUMNS = ['Name', 'UUID', 'Tree', 'Gives', 'Offers', 'Traits']
WHY = ['Requirement', 'Nearest', 'Why']


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


def named(result):
    return [row['Name'] for row in rows(result)]


def test_who_would_give_what_is_listed_tree_by_tree(ask):
    result = ask('resources:VCPU=1', 'resources:DISK_GB=10', '-f', 'json')
    assert rows(result) == [
        {
            'Name': 'cn1',
            'UUID': CN1,
            'Tree': 'cn1',
            'Gives': ['VCPU'],
            'Offers': {
                'MEMORY_MB': {'capacity': 3584, 'used': 0},
                'VCPU': {'capacity': 8, 'used': 7},
            },
            'Traits': ['COMPUTE_NODE', 'CUSTOM_GOLD', 'HW_CPU_X86_AVX2'],
        },
        {
            'Name': 'cn2',
            'UUID': CN2,
            'Tree': 'cn2',
            'Gives': ['DISK_GB', 'VCPU'],
            'Offers': {
                'DISK_GB': {'capacity': 100, 'used': 0},
                'MEMORY_MB': {'capacity': 4096, 'used': 0},
                'VCPU': {'capacity': 8, 'used': 0},
            },
            'Traits': ['COMPUTE_NODE'],
        },
        {
            'Name': 'nfs',
            'UUID': NFS,
            'Tree': 'nfs',
            'Gives': ['DISK_GB'],
            'Offers': {'DISK_GB': {'capacity': 100, 'used': 0}},
            'Traits': ['MISC_SHARES_VIA_AGGREGATE', 'STORAGE_DISK_SSD'],
        },
    ]


def test_whole_trees_are_listed_on_demand(ask):
    result = ask('resources:VCPU=1', '--long', '-f', 'json')
    assert named(result) == ['cn1', 'cn1_pf1', 'cn1_pf2', 'cn2']
    assert [row['Gives'] for row in rows(result)] == [
        ['VCPU'],
        [],
        [],
        ['VCPU'],
    ]


def test_every_format_has_the_same_columns(ask):
    words = ('resources:VCPU=2',)
    table = ask(*words)
    assert [c.strip() for c in table.out.splitlines()[1].split('|')[1:-1]] == (
        COLUMNS
    )
    assert 'VCPU: 8 of 8 free' in table.out
    assert list(yaml.safe_load(ask(*words, '-f', 'yaml').out)[0]) == COLUMNS
    assert list(json.loads(ask(*words, '-f', 'json').out)[0]) == COLUMNS
    header, row = csv.reader(io.StringIO(ask(*words, '-f', 'csv').out))
    assert header == COLUMNS
    assert row == [
        'cn2',
        CN2,
        'cn2',
        'VCPU',
        (
            'DISK_GB: 100 of 100 free,MEMORY_MB: 4096 of 4096 free,VCPU: 8 of '
            '8 free'
        ),
        'COMPUTE_NODE',
    ]
    value = ask(*words, '-f', 'value', '-c', 'Name', '-c', 'Tree').out
    assert value == 'cn2 cn2\n'


def test_a_table_of_many_traits_has_those_that_matter(cli, ask):
    traits = sorted(cli.placement('/traits?name=startswith:HW_CPU')['traits'])
    cli.others.add_traits(CN2, *traits)
    words = ('resources:VCPU=2', 'trait:HW_CPU_X86_AVX2=required')
    short = ask(*words).out
    assert 'HW_CPU_X86_AVX2 ' in short
    assert f'and {len(traits)} more (--long)' in short
    assert traits[-1] not in short
    assert traits[-1] in ask(*words, '--long').out
    assert traits[-1] in ask(*words, '-f', 'json').out


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


GOLD_OR_B = 'in:CUSTOM_GOLD,CUSTOM_PHYSNET_B'
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
    (['--resources', 'VCPU:1', '--required', '!CUSTOM_GOLD'], ['cn2']),
    (
        ['--resources=VCPU:1', '--required', GOLD_OR_B,
         '--required=COMPUTE_NODE'],
        ['cn1'],
    ),
    (
        ['--resources=VCPU:1', '--resources1', 'SRIOV_NET_VF:1',
         '--required1', 'CUSTOM_PHYSNET_B'],
        ['cn1', 'cn1_pf2'],
    ),
    (
        ['--resources1=SRIOV_NET_VF:1', '--resources2=SRIOV_NET_VF:1',
         '--group-policy=none'],
        ['cn1_pf2'],
    ),
    (
        ['--resources=VCPU:1', '--resources_NET', 'SRIOV_NET_VF:1',
         '--required_NET=!CUSTOM_PHYSNET_A', '--in-tree_NET', 'cn1_pf1',
         '--resources10=MEMORY_MB:1', '--member-of10', uuid(99),
         '--group-policy=none'],
        ['cn1', 'cn1_pf2'],
    ),
    (['--resources=VCPU:1', '--in-tree', 'cn1_pf1'], ['cn1']),
    (['--resources=VCPU:1', '--member-of', uuid(99)], ['cn1']),
    (['--resources=VCPU:1', '--member-of', f'!{uuid(99)}'], ['cn2']),
    (['--resources=VCPU:1', '--root-required=!CUSTOM_GOLD'], ['cn2']),
    (
        ['--resources1=VCPU:1', '--resources2=SRIOV_NET_VF:1',
         '--same-subtree=1,2', '--group-policy=none'],
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
    assert [row['Name'] for row in json.loads(result.out)] == ['cn2']
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
            'Requirement': 'VCPU: 2',
            'Nearest': 'cn1',
            'Why': (
                '2 asked, 1 of 8 free (total 8, reserved 0, used 7, ratio 1.0)'
            ),
        },
        {
            'Requirement': 'CUSTOM_GOLD forbidden',
            'Nearest': 'cn1',
            'Why': 'it has this trait',
        },
    ]
    header, *lines = csv.reader(io.StringIO(asked('-f', 'csv').out))
    assert header == WHY
    assert len(lines) == 2
    assert '2 asked, 1 of 8 free' in asked().out
    value = asked('-f', 'value', '-c', 'Requirement').out
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
    words = ('--resources=VCPU:99,DISK_GB:10', '--root-required=CUSTOM_GOLD')
    result = run(cli, *words, 'a', '-f', 'json', verb='why-not')
    assert result.code == 0
    assert [row['Requirement'] for row in result.data] == ['VCPU: 99']
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
            ['resources:VCPU=1', '--required', 'CUSTOM_GOLD,!CUSTOM_GOLD'],
            'CUSTOM_GOLD cannot be required and forbidden at once',
        ),
        (
            ['resources:VCPU=1', 'trait:HW_CPU_X86_AVX3=required'],
            'knows no trait HW_CPU_X86_AVX3; did you mean HW_CPU_X86_AVX?',
        ),
        (['resources:VCPU=x'], 'resources:VCPU=x: write a whole number'),
        (
            ['--resources', 'VCPU'],
            "'VCPU' is not an amount of a resource class",
        ),
        (
            ['--resources1=VCPU:1', '--resources2=VCPU:1'],
            'add group_policy=no',
        ),
        (
            ['--resources.NET=VCPU:1'],
            "group '.NET' is not one placement takes: use 1 to 64 letters",
        ),
        (
            ['resources:VCPU=1', '--required_NET=CUSTOM_GOLD'],
            'group _NET asks for no resources, only for required_NET=CUSTOM_G',
        ),
        (
            [
                'resources:VCPU=1',
                '--member-of',
                uuid(99),
                '--member-of',
                f'!{uuid(99)}',
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
            "there is no column 'Nmae'; the columns are Name",
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
            "there is no column 'Name'; the columns are Requirement, Nearest",
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
        words = ('allocation', 'candidate', *verb, '--resources', 'VCPU:1')
        result = cli.run(*words)
        assert (result.code, result.out) == (1, '')
        assert 'cannot be reached' in result.line


def test_debug_shows_the_requests_and_never_a_token(cli):
    cli.configure({'token': 'admin:my-secret-token'})
    result = run(cli, '--resources', 'VCPU:1', '--debug')
    assert result.code == 0
    assert '/allocation_candidates?resources=VCPU:1' in result.err
    assert 'my-secret-token' not in result.err + result.out


def test_help_says_how_to_ask(cli):
    result = run(cli, '--help')
    assert result.code == 0
    for words in (
        '--property',
        '--flavor',
        '--required1',
        '--required_NET',
        '!COMPUTE_STATUS_DISABLED',
    ):
        assert words in result.out
    assert '--required9' not in result.out


def test_a_list_of_providers_says_that_it_has_no_groups(cli):
    result = cli.run(
        'resource', 'provider', 'list', '--required_NET', 'CUSTOM_GOLD'
    )
    assert (result.code, result.out) == (1, '')
    assert result.line == (
        'compute-agent: --required_NET: this command has no groups, each '
        'condition applies to a single provider; use "compute-agent '
        'allocation candidate list" for groups; "compute-agent resource '
        'provider list --help" shows the usage'
    )


def test_a_list_of_providers_refuses_a_contradiction_too(cli):
    words = ('--member-of', uuid(99), '--member-of', f'!{uuid(99)}')
    result = cli.run('resource', 'provider', 'list', *words)
    assert (result.code, result.out) == (1, '')
    assert 'cannot be asked for and forbidden at once' in result.line
