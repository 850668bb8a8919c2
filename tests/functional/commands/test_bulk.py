# SPDX-License-Identifier: Apache-2.0
"""Commands for each line of standard input: "-" in the place of its words."""

import io
import sys

import pytest
import requests

from compute_agent.cmd.app import bulk
from report_client.api import providers

pytestmark = pytest.mark.long

NODE = '11111111-1111-4111-8111-111111111111'
TWO = '22222222-2222-4222-8222-222222222222'
AGG = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
MANY = 30


@pytest.fixture
def typed(cli, monkeypatch):
    """Run a command with a text on standard input."""

    def run(text, *words):
        content = text if isinstance(text, bytes) else text.encode()
        stdin = io.TextIOWrapper(io.BytesIO(content))
        monkeypatch.setattr(sys, 'stdin', stdin)
        return cli.run(*words)

    return run


@pytest.fixture
def known(cli):
    """Two providers."""
    for name, uuid in (('cn1', NODE), ('cn 2', TWO)):
        cli.others.create(uuid, name)
    return cli


def written(sent):
    return [line for line in sent if not line.startswith('GET')]


def traits(cli, uuid):
    return sorted(cli.others.traits(uuid))


# --- what a line is -----------------------------------------------------------


def test_a_line_has_the_arguments_of_the_command_line(known, typed):
    result = typed(
        '# comments and empty lines do not count\n'
        '\n'
        'cn1 HW_CPU_X86_AVX HW_CPU_X86_AVX2\r\n'
        "'cn 2' CUSTOM_GOLD --create\n",
        *('resource', 'provider', 'trait', 'add', '-'),
    )
    assert (result.code, result.err) == (0, '')
    assert result.out == (
        f'set traits of cn1 ({NODE}): +HW_CPU_X86_AVX, +HW_CPU_X86_AVX2\n'
        f'set traits of cn 2 ({TWO}): +CUSTOM_GOLD\n'
    )
    assert traits(known, TWO) == ['CUSTOM_GOLD']


def test_arguments_beside_the_dash_are_those_of_each_line(known, typed):
    words = (
        'resource',
        'provider',
        'trait',
        'add',
        '-',
        'CUSTOM_GOLD',
        '--create',
    )
    result = typed(f'cn1\n{TWO}\n', *words, '-f', 'json')
    assert (result.code, result.err) == (0, '')
    assert [
        (row['line'], row['uuid'], row['added']) for row in result.data
    ] == [
        (1, NODE, ['CUSTOM_GOLD']),
        (2, TWO, ['CUSTOM_GOLD']),
    ]


@pytest.mark.parametrize('text', ['', '\n\n', '# nothing\n'])
@pytest.mark.parametrize(
    'words',
    [('resource', 'provider', 'delete', '-'), ('trait', 'create', '-')],
)
def test_empty_input_is_nothing_to_do(known, typed, text, words):
    result = typed(text, *words)
    assert (result.code, result.err) == (0, '')
    assert result.out == (
        'standard input has no lines: there is nothing to do\n'
    )


# --- every command that takes it ----------------------------------------------


def test_what_is_written_in_bulk_is_taken_back_in_bulk(known, typed):
    for text, words, said in (
        ('share\ndisk --parent-provider share\n', ('create', '-'),
         'created provider'),
        ('cn1 --resource VCPU=8\nshare --resource DISK_GB=9\n',
         ('inventory', 'set', '-'), 'set inventories of'),
        ('cn1 --resource-class VCPU\nshare --resource-class DISK_GB\n',
         ('inventory', 'delete', '-'), '-'),
        (f'cn1 {AGG}\nshare {AGG}\n', ('aggregate', 'add', '-'), f'+{AGG}'),
        (f'cn1 {AGG}\nshare {AGG}\n', ('aggregate', 'remove', '-'), f'-{AGG}'),
        ('cn1\nshare\n',
         ('trait', 'set', '-', '--trait', 'COMPUTE_NODE'), '+'),
        ('cn1\nshare\n', ('trait', 'delete', '-'), '-COMPUTE_NODE'),
        ('disk\nshare\n', ('delete', '-'), 'deleted provider'),
    ):  # fmt: skip
        result = typed(text, 'resource', 'provider', *words)
        assert (result.code, result.err) == (0, ''), words
        assert [said in line for line in result.out.splitlines()] == [True] * 2
    assert len(known.providers()) == 2


def test_traits_are_created_and_removed_in_bulk(known, typed):
    added = typed('CUSTOM_A CUSTOM_B\nCUSTOM_C\n', 'trait', 'create', '-')
    assert (
        added.out == 'created CUSTOM_A\ncreated CUSTOM_B\ncreated CUSTOM_C\n'
    )
    known.run('resource', 'provider', 'trait', 'add', 'cn1', 'CUSTOM_B')
    removed = typed('CUSTOM_A\nCUSTOM_B\nCUSTOM_C\n', 'trait', 'delete', '-')
    assert removed.code == 1
    assert removed.out == 'deleted CUSTOM_A\ndeleted CUSTOM_C\n'
    assert 'compute-agent: line 2: trait CUSTOM_B was not del' in removed.line


# --- mistakes: nothing is written ---------------------------------------------


@pytest.mark.parametrize(
    ('words', 'line', 'said'),
    [
        ('resource provider trait add -', 'cn9 COMPUTE_NODE', 'no provider is called cn9'),
        ('resource provider trait add -', f'{AGG} COMPUTE_NODE',
         f'no provider is called {AGG}'),
        ('resource provider trait add -', 'cn1', 'required: TRAIT'),
        ('resource provider trait add -', 'provider,trait',
         'write blanks between the words of a line, not commas'),
        ('resource provider trait add -', 'cn1 hw_cpu_x86_avx',
         'did you mean HW_CPU_X86_AVX?'),
        ('resource provider trait add -', 'cn1 HW_CPU_X86_AVX22',
         'knows no trait HW_CPU_X86_AVX22; did you mean HW_CPU_X86_AVX2?'),
        ('resource provider trait add -', 'cn1 CUSTOM_NEW', '--create creates it'),
        ('resource provider trait set -', 'cn1 --trait COMPUTE_NODE --generation new',
         'a generation is a whole number'),
        ('resource provider trait add -', 'cn1 COMPUTE_NODE -f json',
         'unrecognized arguments: -f'),
        ('resource provider trait add -', "'cn1 COMPUTE_NODE", 'a quotation mark'),
        ('resource provider inventory set -', 'cn1 --resource VCPUS=8',
         'knows no resource class VCPUS; did you mean VCPU?'),
        ('resource provider inventory set -', 'cn1 --resource VCPU=many', 'is not a whole number'),
        ('resource provider inventory set -', 'cn1 VCPU=8', 'unrecognized arguments: VCPU=8'),
        ('resource provider aggregate add -', 'cn1 rack', "'rack' is not a uuid"),
        ('resource provider delete -', 'Name', 'no provider is called Name'),
        ('resource provider delete -', 'cn1', 'is in an earlier line already'),
        ('resource provider create -', 'cn1', 'cn1 is taken'),
        ('resource provider create -', 'x --parent-provider cn9', 'no provider is called cn9'),
        ('trait create -', 'CUSTOM_' + 'A' * 70_000, 'it has 70007 characters'),
        ('resource provider delete -', 'cn1\0', 'it has a NUL character'),
        ('trait create -', 'custom', "'custom' is not a name placement takes"),
        ('trait create -', 'CUSTOM_A,CUSTOM_B', "'CUSTOM_A,CUSTOM_B'"),
    ],
)  # fmt: skip
def test_a_broken_line_is_named_and_no_line_is_carried_out(
    known, typed, sent, words, line, said
):
    first = {
        'resource provider inventory set -': 'cn1 --resource VCPU=1',
        'resource provider aggregate add -': f'cn1 {AGG}',
        'resource provider delete -': 'cn1',
        'resource provider create -': 'new',
        'resource provider trait set -': 'cn1',
        'trait create -': 'CUSTOM_FIRST',
    }.get(words, 'cn1 COMPUTE_NODE')
    result = typed(f'{first}\n{line}\n', *words.split())
    assert (result.code, result.out) == (1, '')
    mistake, last = result.err.splitlines()
    assert mistake.startswith('compute-agent: line 2: ')
    assert said in mistake
    assert last == 'compute-agent: nothing was written; correct the input'
    assert written(sent) == []


def test_many_broken_lines_are_counted(known, typed):
    result = typed('x,y\n' * 50, 'resource', 'provider', 'trait', 'add', '-')
    lines = result.err.splitlines()
    assert len(lines) == 21
    assert lines[-1].startswith('compute-agent: 30 more lines are wrong; ')


def test_input_that_is_no_text_is_one_line(known, typed):
    result = typed(b'cn1\n\xff\xfe\n', 'resource', 'provider', 'delete', '-')
    assert (result.code, result.out) == (1, '')
    assert 'standard input is not UTF-8 text' in result.line


def test_input_without_an_end_is_one_line(known, typed, sent):
    result = typed(
        b'#\n' * 2**25 + b'#', 'resource', 'provider', 'delete', '-'
    )
    assert (result.code, result.out) == (1, '')
    assert 'standard input has more than 64 MiB' in result.line
    assert sent == []


def test_a_closed_standard_input_is_one_line(known, monkeypatch):
    monkeypatch.setattr(sys, 'stdin', None)
    result = known.run('resource', 'provider', 'delete', '-')
    assert (result.code, result.out) == (1, '')
    assert 'standard input is closed' in result.line


# --- failures: the others are done --------------------------------------------


def test_a_line_that_fails_is_named_and_the_others_are_done(known, typed):
    known.run(
        'resource', 'provider', 'create', 'child', '--parent-provider', 'cn1'
    )
    known.run('resource', 'provider', 'create', 'last')
    words = ('resource', 'provider', 'delete', '-')
    result = typed("cn1\n\n'cn 2'\nlast\n", *words, '-f', 'json')
    assert result.code == 1
    assert result.line.startswith(
        f'compute-agent: line 1: cn1 ({NODE}) was not deleted: delete its '
        'children first'
    )
    failed, *done = result.data
    assert (failed['line'], set(failed)) == (1, {'line', 'error'})
    assert [(row['line'], row['name']) for row in done] == [
        (3, 'cn 2'),
        (4, 'last'),
    ]


def test_where_placement_goes_away_the_rest_is_not_tried(
    known, typed, monkeypatch
):
    send = requests.adapters.HTTPAdapter.send

    def away(self, request, **kwargs):
        if request.method == 'DELETE':
            raise requests.ConnectionError('away')
        return send(self, request, **kwargs)

    monkeypatch.setattr(requests.adapters.HTTPAdapter, 'send', away)
    result = typed(f'{TWO}\ncn1\n', 'resource', 'provider', 'delete', '-')
    assert (result.code, result.out) == (1, '')
    failed, rest = result.err.splitlines()
    assert failed.startswith('compute-agent: line 1: ')
    assert rest == 'compute-agent: line 2 was not tried'


def test_a_remark_about_a_line_has_its_number(known, typed):
    text = "cn1 COMPUTE_NODE\n'cn 2' COMPUTE_NODE\n"
    known.run('resource', 'provider', 'trait', 'add', 'cn1', 'COMPUTE_NODE')
    result = typed(text, 'resource', 'provider', 'trait', 'remove', '-')
    assert result.code == 0
    assert result.line == (
        'compute-agent: line 2: cn 2 has no trait COMPUTE_NODE'
    )


# --- many ---------------------------------------------------------------------


def test_many_lines_read_the_list_of_providers_once(cli, typed, sent):
    names = [f'cn{number}' for number in range(MANY)]
    assert MANY > providers.FEW
    assert (
        typed('\n'.join(names), 'resource', 'provider', 'create', '-').code
        == 0
    )
    assert sent.count('GET /resource_providers') == 1
    assert len(sent) == 1 + MANY
    sent.clear()
    words = ('resource', 'provider', 'trait', 'add', '-', 'HW_CPU_X86_AVX')
    assert typed('\n'.join(names), *words).code == 0
    lists = [line for line in sent if '/resource_providers?' in line]
    assert lists == []
    assert sent.count('GET /resource_providers') == 1
    assert sent.count('GET /traits?name=in:HW_CPU_X86_AVX') == 1
    assert len(sent) == 2 + 2 * MANY


def test_a_progress_bar_is_advanced_for_each_line(known, typed, monkeypatch):
    seen = []

    class Bar:
        def __init__(self, out, title):
            seen.append(title)

        def __enter__(self):
            return seen.append

        def __exit__(self, *_):
            seen.append('gone')

    monkeypatch.setattr(bulk.progress, 'bar', Bar)
    assert (
        typed(f'cn1\n{TWO}\n', 'resource', 'provider', 'delete', '-').code == 0
    )
    assert seen == ['resource provider delete', 2, 2, 'gone']
