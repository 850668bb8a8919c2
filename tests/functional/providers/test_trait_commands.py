# SPDX-License-Identifier: Apache-2.0
"""``compute-agent trait``: what a person types, and what they are told."""

import csv
import io
import json
import pathlib
import subprocess
import sys

import os_traits
import pytest
import requests_mock as requests_mock_api
import yaml

NODE = '11111111-1111-4111-8111-111111111111'


@pytest.fixture
def known(cli):
    """CUSTOM_GOLD is a provider's, CUSTOM_OLD and CUSTOM_SPARE nobody's."""
    for name in ('CUSTOM_OLD', 'CUSTOM_SPARE'):
        cli.placement(f'/traits/{name}', 'PUT')
    cli.others.create(NODE, 'cn1')
    cli.others.add_traits(NODE, 'CUSTOM_GOLD')
    return cli


def custom(cli):
    return cli.placement('/traits?name=startswith:CUSTOM')['traits']


def values(result):
    assert result.code == 0, result.err
    return result.out.split()


# --- list ---------------------------------------------------------------------


def test_every_trait_is_listed(known):
    found = values(known.run('trait', 'list', '-f', 'value'))
    customs = ['CUSTOM_GOLD', 'CUSTOM_OLD', 'CUSTOM_SPARE']
    assert found == sorted([*os_traits.get_traits(), *customs])


@pytest.mark.parametrize(
    ('options', 'found'),
    [
        (['--name', 'startswith:CUSTOM_O'], ['CUSTOM_OLD']),
        (['--name', 'in:CUSTOM_OLD,HW_CPU_X86_AVX2,HW_NOPE'],
         ['CUSTOM_OLD', 'HW_CPU_X86_AVX2']),
        (['--name', 'in:CUSTOM_OLD', '--name', 'in: CUSTOM_GOLD '],
         ['CUSTOM_GOLD', 'CUSTOM_OLD']),
        (['--associated'], ['CUSTOM_GOLD']),
        (['--not-associated', '--name', 'startswith:CUSTOM'],
         ['CUSTOM_OLD', 'CUSTOM_SPARE']),
        (['--name', 'startswith:CUSTOM', '--name',
          'in:CUSTOM_OLD,COMPUTE_NODE'], ['CUSTOM_OLD']),
        (['--name', 'startswith:CUSTOM_NO'], []),
        (['--name', 'startswith:CUSTOM', '--limit', '1'], ['CUSTOM_GOLD']),
    ],
)  # fmt: skip
def test_conditions_hold_together(known, options, found):
    assert values(known.run('trait', 'list', *options, '-f', 'value')) == found


def test_a_list_is_one_request(cli, requests_mock):
    requests_mock.get(f'{cli.url}/traits', json={'traits': ['CUSTOM_A']})
    assert values(cli.run('trait', 'list', '-f', 'value')) == ['CUSTOM_A']
    assert len(requests_mock.request_history) == 1


def test_a_list_is_printed_in_every_format_with_the_same_column(known):
    def printed(form):
        words = ('--name', 'startswith:CUSTOM_O', '-f', form)
        result = known.run('trait', 'list', *words)
        assert (result.code, result.err) == (0, '')
        return result.out

    rows = [{'name': 'CUSTOM_OLD'}]
    assert json.loads(printed('json')) == rows
    assert yaml.safe_load(printed('yaml')) == rows
    assert list(csv.DictReader(io.StringIO(printed('csv')))) == rows
    assert printed('value') == 'CUSTOM_OLD\n'
    assert printed('table').splitlines()[1:4:2] == [
        '| name       |',
        '| CUSTOM_OLD |',
    ]


def test_a_column_that_is_none_is_refused_before_a_request(cli, requests_mock):
    result = cli.run('trait', 'list', '-c', 'Nam')
    assert result.code == 1
    assert result.line.endswith("no column 'Nam'; the columns are name")
    assert requests_mock.request_history == []


@pytest.mark.parametrize(
    'options',
    [
        ['--name', 'startswith:custom'],
        ['--name', 'in:A,,B'],
        ['--name', 'in:'],
    ],
)
def test_what_is_no_name_is_one_line(cli, options):
    result = cli.run('trait', 'list', *options)
    assert result.code == 1
    assert 'A-Z, 0-9 and _' in result.line


def test_a_condition_without_its_operator_is_one_line(cli):
    result = cli.run('trait', 'list', '--name', 'CUSTOM_OLD')
    assert result.code == 1
    assert 'write startswith:PREFIX or in:NAME,NAME' in result.line


# --- show ---------------------------------------------------------------------


def test_a_trait_is_shown_with_the_providers_that_have_it(known):
    result = known.run('trait', 'show', 'CUSTOM_GOLD', '--long', '-f', 'json')
    assert (result.code, result.err) == (0, '')
    assert result.data == {
        'name': 'CUSTOM_GOLD',
        'kind': 'custom',
        'providers': [f'cn1 ({NODE})'],
    }


def test_a_trait_is_shown_as_data(known):
    words = ('trait', 'show', 'HW_CPU_X86_AVX2', '-f', 'json')
    assert known.run(*words).data == {'name': 'HW_CPU_X86_AVX2'}
    assert known.run(*words, '--long').data == {
        'name': 'HW_CPU_X86_AVX2',
        'kind': 'standard',
        'providers': [],
    }


def test_a_trait_that_is_not_there_is_an_error_that_names_it(known):
    result = known.run('trait', 'show', 'CUSTOM_GOLDEN')
    assert result.code == 1
    assert 'placement knows no trait CUSTOM_GOLDEN' in result.line
    assert 'did you mean CUSTOM_GOLD?' in result.line


def test_a_standard_trait_of_another_os_traits_is_shown_as_such(
    cli, requests_mock
):
    requests_mock.get(f'{cli.url}/traits/HW_NEW', status_code=204)
    requests_mock.get(
        f'{cli.url}/resource_providers', json={'resource_providers': []}
    )
    shown = cli.run('trait', 'show', 'HW_NEW')
    assert shown.code == 0
    assert (
        'standard trait that the os-traits library installed here does not'
        in shown.line
    )


# --- add ----------------------------------------------------------------------


def test_what_is_added_and_what_was_there_are_told_apart(known):
    result = known.run('trait', 'create', 'CUSTOM_NEW', 'CUSTOM_OLD')
    assert (result.code, result.err) == (0, '')
    assert result.out == 'created CUSTOM_NEW\nCUSTOM_OLD already exists\n'
    again = known.run(
        'trait', 'create', 'CUSTOM_NEW', 'CUSTOM_NEW', '-f', 'json'
    )
    assert again.data == [{'name': 'CUSTOM_NEW', 'created': False}]


@pytest.mark.parametrize('verb', ['create', 'delete'])
@pytest.mark.parametrize(
    ('name', 'said'),
    [
        ('HW_CPU_X86_AVX2', 'HW_CPU_X86_AVX2: it is a standard trait'),
        ('HW_CPU_X86_AVX22', 'did you mean HW_CPU_X86_AVX2?'),
        ('custom_gold', 'did you mean CUSTOM_GOLD?'),
        ('GOLD', 'custom traits begin with CUSTOM_'),
        ('HW_NEW', "and standard ones come with placement's os-traits"),
    ],
)
def test_of_several_names_one_that_is_none_stops_all(known, verb, name, said):
    before = custom(known)
    result = known.run('trait', verb, 'CUSTOM_OLD', 'CUSTOM_NEW', name)
    assert (result.code, result.out) == (1, '')
    assert said in result.line
    assert custom(known) == before


# --- remove -------------------------------------------------------------------


def test_traits_are_removed(known):
    result = known.run('trait', 'delete', 'CUSTOM_OLD', 'CUSTOM_SPARE')
    assert (result.code, result.err) == (0, '')
    assert result.out == 'deleted CUSTOM_OLD\ndeleted CUSTOM_SPARE\n'
    assert custom(known) == ['CUSTOM_GOLD']


def test_each_that_cannot_be_removed_is_a_line_and_the_others_go(known):
    names = ('CUSTOM_GOLD', 'CUSTOM_GONE', 'CUSTOM_OLD')
    result = known.run('trait', 'delete', *names)
    assert result.code == 1
    assert result.out == 'deleted CUSTOM_OLD\n'
    in_use, missing = result.err.splitlines()
    assert f'CUSTOM_GOLD was not deleted: cn1 ({NODE}) has it' in in_use
    assert 'placement knows no trait CUSTOM_GONE' in missing


def test_what_was_removed_and_what_was_not_is_data(known):
    words = ('CUSTOM_GOLD', 'CUSTOM_OLD', '-f', 'yaml')
    result = known.run('trait', 'delete', *words)
    data = yaml.safe_load(result.out)
    assert data['deleted'] == ['CUSTOM_OLD']
    assert list(data['kept']) == ['CUSTOM_GOLD']


def test_options_may_stand_among_the_names(known):
    words = ('CUSTOM_OLD', '-f', 'json', 'CUSTOM_SPARE')
    result = known.run('trait', 'delete', *words)
    assert result.data['deleted'] == ['CUSTOM_OLD', 'CUSTOM_SPARE']


def test_two_dashes_end_the_options(known):
    words = ('CUSTOM_OLD', '-f', 'json', '--', 'CUSTOM_SPARE')
    result = known.run('trait', 'delete', *words)
    assert result.data['deleted'] == ['CUSTOM_OLD', 'CUSTOM_SPARE']


def answer(cli, requests_mock, answers):
    """Let ``METHOD NAME`` answer a status instead of placement."""
    requests_mock.register_uri(
        requests_mock_api.ANY, requests_mock_api.ANY, real_http=True
    )
    for what, status in answers.items():
        method, name = what.split()
        refusal = {'status': status, 'detail': 'says the test'}
        requests_mock.register_uri(
            method,
            f'{cli.url}/traits/{name}',
            status_code=status,
            json={'errors': [refusal]},
        )


def test_an_error_of_one_does_not_stop_the_others(known, requests_mock):
    answer(known, requests_mock, {'DELETE CUSTOM_GOLD': 500})
    result = known.run('trait', 'delete', 'CUSTOM_GOLD', 'CUSTOM_OLD')
    assert (result.code, result.out) == (1, 'deleted CUSTOM_OLD\n')
    assert 'CUSTOM_GOLD: ' in result.line
    assert 'HTTP 500: says the test' in result.line


def test_what_was_done_before_placement_went_away_is_said(
    known, requests_mock
):
    answer(known, requests_mock, {'DELETE CUSTOM_SPARE': 503})
    names = ('CUSTOM_OLD', 'CUSTOM_SPARE', 'CUSTOM_GOLD')
    result = known.run('trait', 'delete', *names)
    assert (result.code, result.out) == (1, 'deleted CUSTOM_OLD\n')
    away, untried = result.err.splitlines()
    assert 'CUSTOM_SPARE: ' in away
    assert 'HTTP 503' in away
    assert untried == 'compute-agent: CUSTOM_GOLD: not tried'


def test_what_was_added_before_placement_went_away_is_said(
    known, requests_mock
):
    answer(known, requests_mock, {'PUT CUSTOM_B': 503})
    names = ('CUSTOM_A', 'CUSTOM_B', 'CUSTOM_C')
    result = known.run('trait', 'create', *names)
    assert (result.code, result.out) == (1, 'created CUSTOM_A\n')
    assert len(result.err.splitlines()) == 2
    result = known.run('trait', 'create', *names, '-f', 'json')
    first, second, third = result.data
    assert first == {'name': 'CUSTOM_A', 'created': False}
    assert second['created'] is third['created'] is None
    assert third['error'] == 'CUSTOM_C: not tried'
    assert 'CUSTOM_C' not in custom(known)


def test_prune_says_what_it_did_before_placement_went_away(
    known, requests_mock
):
    answer(known, requests_mock, {'DELETE CUSTOM_SPARE': 503})
    result = known.run('trait', 'prune', '--yes')
    assert (result.code, result.out) == (1, 'deleted CUSTOM_OLD\n')
    assert 'CUSTOM_SPARE: ' in result.line


@pytest.mark.parametrize(
    ('words', 'method', 'status'),
    [
        (('create', 'CUSTOM_A'), 'PUT', 200),
        (('delete', 'CUSTOM_A'), 'DELETE', 202),
        (('show', 'CUSTOM_A'), 'GET', 200),
    ],
)
def test_a_success_that_placement_does_not_have_is_none(
    cli, requests_mock, words, method, status
):
    answer(cli, requests_mock, {f'{method} CUSTOM_A': status})
    result = cli.run('trait', *words)
    assert (result.code, result.out) == (1, '')
    assert f'HTTP {status}, which placement never answers' in result.line


# --- prune --------------------------------------------------------------------


PRUNED = [
    'CUSTOM_OLD: no provider has it; delete it',
    'CUSTOM_SPARE: no provider has it; delete it',
]


def test_prune_without_a_terminal_shows_and_removes_nothing(known):
    result = known.run('trait', 'prune')
    assert result.code == 1
    assert result.out.splitlines() == PRUNED
    assert result.line.endswith(
        'nothing was changed: there is no terminal to ask at; add --yes to go on'
    )
    assert len(custom(known)) == 3


def test_prune_with_stdin_closed_removes_nothing(known, monkeypatch):
    monkeypatch.setattr('sys.stdin', None)
    result = known.run('trait', 'prune')
    assert (result.code, len(custom(known))) == (1, 3)
    assert result.line.endswith(
        'nothing was changed: there is no terminal to ask at; add --yes to go on'
    )


def test_prune_with_yes_removes_what_no_provider_has(known):
    result = known.run('trait', 'prune', '--yes')
    assert (result.code, result.err) == (0, '')
    assert result.out == 'deleted CUSTOM_OLD\ndeleted CUSTOM_SPARE\n'
    assert custom(known) == ['CUSTOM_GOLD']
    again = known.run('trait', 'prune')
    assert (again.code, again.err) == (0, '')
    assert again.out == 'every custom trait is in use\n'


@pytest.mark.parametrize(
    ('typed', 'left'),
    [('y\n', 1), ('YES\n', 1), ('n\n', 3), ('\n', 3), ('', 3)],
)
def test_prune_at_a_terminal_asks(known, answers, typed, left):
    answers(typed)
    result = known.run('trait', 'prune')
    assert result.code == 0
    assert result.err.splitlines() == [*PRUNED, 'go on? [y/N] ']
    assert len(custom(known)) == left
    assert ('nothing was changed' in result.out) is (left == 3)


def test_prune_keeps_what_a_provider_was_given_in_between(
    known, requests_mock
):
    requests_mock.register_uri('DELETE', f'{known.url}/traits/CUSTOM_OLD',
        status_code=409, json={'errors': [{'status': 409}]})  # fmt: skip
    requests_mock.get(f'{known.url}/traits',
        json={'traits': ['CUSTOM_OLD']})  # fmt: skip
    requests_mock.get(
        f'{known.url}/resource_providers', json={'resource_providers': []}
    )
    result = known.run('trait', 'prune', '--yes', '-f', 'json')
    assert (result.code, result.err) == (0, '')
    assert result.data['unused'] == ['CUSTOM_OLD']
    assert result.data['deleted'] == []
    assert 'was not deleted' in result.data['kept']['CUSTOM_OLD']


# --- sync-check ---------------------------------------------------------------


def test_sync_check_of_the_same_os_traits_finds_no_difference(known):
    result = known.run('trait', 'sync-check', '-f', 'json')
    assert (result.code, result.data) == (0, [])
    count = len(os_traits.get_traits())
    assert (
        f'here has {count} standard traits, placement {count}' in result.line
    )
    assert result.line.endswith('no differences')


def test_sync_check_shows_both_sides_and_exits_2(cli, requests_mock):
    there = {*os_traits.get_traits(), 'HW_NEW', 'CUSTOM_A'} - {'COMPUTE_NODE'}
    requests_mock.get(f'{cli.url}/traits', json={'traits': sorted(there)})
    result = cli.run('trait', 'sync-check', '-f', 'json')
    assert result.code == 2
    assert result.data == [
        {'name': 'COMPUTE_NODE', 'missing_in': 'placement'},
        {'name': 'HW_NEW', 'missing_in': 'os-traits here'},
    ]
    assert result.line.endswith('2 differences')


# --- what every one of them does ----------------------------------------------

COMMANDS = [
    ('list',),
    ('show', 'CUSTOM_A'),
    ('create', 'CUSTOM_A'),
    ('delete', 'CUSTOM_A'),
    ('prune', '--yes'),
    ('sync-check',),
]


@pytest.mark.parametrize('words', COMMANDS)
def test_a_placement_that_is_away_is_one_line(cli, unused_port, words):
    cli.configure({'endpoint': f'http://127.0.0.1:{unused_port}'})
    result = cli.run('trait', *words)
    assert (result.code, result.out) == (1, '')
    assert 'cannot be reached' in result.line


@pytest.mark.parametrize('words', COMMANDS)
def test_a_user_without_rights_is_one_line(cli, words):
    cli.configure({'token': 'somebody'})
    result = cli.run('trait', *words)
    assert (result.code, result.out) == (1, '')
    assert 'role admin or service' in result.line


def test_debug_shows_the_requests_and_never_a_token(cli):
    cli.configure({'token': 'admin:my-secret-token'})
    result = cli.run('trait', 'list', '--name', 'startswith:CUSTOM', '--debug')
    assert result.code == 0
    assert 'GET' in result.err
    assert '/traits?name=startswith:CUSTOM' in result.err
    assert 'my-secret-token' not in result.err + result.out


def test_debug_shows_no_password_and_no_token_of_keystone(cli, requests_mock):
    auth = 'http://keystone.test/v3'
    cli.configure(
        {
            'auth_type': 'password',
            'auth_url': auth,
            'username': 'agent',
            'password': 'my-secret-password',
            'project_name': 'service',
            'user_domain_id': 'default',
            'project_domain_id': 'default',
            'endpoint': None,
            'endpoint_override': cli.url,
            'token': None,
        }
    )
    requests_mock.get(
        auth, json={'version': {'id': 'v3.14', 'status': 'stable',
        'links': [{'rel': 'self', 'href': auth}]}},
    )  # fmt: skip
    requests_mock.post(
        f'{auth}/auth/tokens',
        headers={'X-Subject-Token': 'my-secret-token'},
        json={
            'token': {
                'methods': ['password'],
                'expires_at': '2999-01-01T00:00:00.000000Z',
                'issued_at': '2020-01-01T00:00:00.000000Z',
                'user': {'id': 'u', 'name': 'agent', 'domain': {'id': 'd'}},
                'catalog': [],
            }
        },
    )
    requests_mock.get(f'{cli.url}/traits', json={'traits': ['CUSTOM_A']})
    result = cli.run('trait', 'list', '-f', 'value', '--debug')
    assert (result.code, result.out) == (0, 'CUSTOM_A\n'), result.err
    last = requests_mock.request_history[-1]
    assert last.headers['X-Auth-Token'] == 'my-secret-token'
    assert f'{cli.url}/traits' in result.err
    assert 'my-secret' not in result.err


def test_completion_knows_the_commands_and_their_options(cli):
    result = cli.run('complete')
    assert result.code == 0
    assert 'sync-check' in result.out
    assert '--not-associated' in result.out
    for words in (
        'resource provider show',
        'resource provider inventory delete',
        '--generation',
    ):
        assert words in result.out


@pytest.mark.parametrize(
    'words', [('trait', 'list'), ('trait', 'create', 'CUSTOM_A')]
)
@pytest.mark.parametrize(
    'form', ['json', pytest.param('yaml', marks=pytest.mark.long)]
)
def test_a_full_disk_is_one_line(cli, words, form):
    with pathlib.Path('/dev/full').open('w') as full:
        ended = subprocess.run(
            [sys.executable, '-m', 'compute_agent.cmd.app.main', '--config-file',
             str(cli.config), *words, '-f', form],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
            timeout=60,
        )  # fmt: skip
    assert ended.returncode == 1
    said = 'compute-agent: cannot write: No space left on device\n'
    assert ended.stderr == said
