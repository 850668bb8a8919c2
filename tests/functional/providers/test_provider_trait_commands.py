# SPDX-License-Identifier: Apache-2.0
"""``compute-agent provider trait``: one provider's traits by command line."""

import pytest

NODE = '11111111-1111-4111-8111-111111111111'
PATH = f'/resource_providers/{NODE}/traits'
WHO = f'set traits of cn1 ({NODE})'


@pytest.fixture
def known(cli):
    """A provider cn1 with AVX2 and CUSTOM_GOLD."""
    cli.others.create(NODE, 'cn1')
    cli.others.add_traits(NODE, 'CUSTOM_GOLD', 'HW_CPU_X86_AVX2')
    return cli


@pytest.fixture
def run(known):
    """Run a command about the traits of a provider."""
    return lambda *words: known.run('provider', 'trait', *words)


def held(cli):
    return sorted(cli.others.traits(NODE))


@pytest.mark.parametrize('word', ['cn1', NODE])
def test_the_traits_of_a_provider_are_listed(run, word):
    result = run('list', word, '-f', 'json')
    assert result.code == 0
    assert result.line == f'compute-agent: cn1 ({NODE}) has generation 1'
    assert result.data == [
        {'Name': 'CUSTOM_GOLD'},
        {'Name': 'HW_CPU_X86_AVX2'},
    ]


def test_traits_are_added_to_those_there(known, run):
    result = run('add', 'cn1', 'HW_CPU_X86_AVX', 'HW_CPU_X86_AVX2')
    assert (result.code, result.err) == (0, '')
    assert result.out == f'{WHO}: +HW_CPU_X86_AVX\n'
    assert held(known) == ['CUSTOM_GOLD', 'HW_CPU_X86_AVX', 'HW_CPU_X86_AVX2']


def test_traits_are_removed_from_those_there(known, run):
    result = run('remove', 'cn1', 'CUSTOM_GOLD')
    assert (result.code, result.err) == (0, '')
    assert result.out == f'{WHO}: -CUSTOM_GOLD\n'
    assert held(known) == ['HW_CPU_X86_AVX2']
    # The name itself stays.
    assert known.run('trait', 'show', 'CUSTOM_GOLD').code == 0


def test_traits_are_replaced(known, run):
    result = run('set', 'cn1', 'HW_CPU_X86_AVX', 'CUSTOM_GOLD')
    assert result.out == f'{WHO}: +HW_CPU_X86_AVX, -HW_CPU_X86_AVX2\n'
    assert held(known) == ['CUSTOM_GOLD', 'HW_CPU_X86_AVX']


def test_traits_are_cleared(known, run):
    result = run('clear', 'cn1', '-f', 'json')
    assert result.data == {
        'operation': 'set_traits',
        'provider': 'cn1',
        'uuid': NODE,
        'names': [],
        'added': [],
        'removed': ['CUSTOM_GOLD', 'HW_CPU_X86_AVX2'],
        'changed': True,
        'generation': 2,
    }
    assert held(known) == []


@pytest.mark.parametrize(
    'words',
    [
        ('add', 'cn1', 'CUSTOM_GOLD'),
        ('set', 'cn1', 'CUSTOM_GOLD', 'HW_CPU_X86_AVX2'),
    ],
)
def test_what_is_so_already_is_said(run, words):
    result = run(*words)
    assert (result.code, result.err) == (0, '')
    assert result.out == f'{WHO}: nothing to do\n'


def test_what_is_not_there_to_be_removed_is_said(known, run):
    result = run('remove', 'cn1', 'HW_CPU_X86_AVX22')
    assert result.code == 0
    assert result.out == f'{WHO}: nothing to do\n'
    said = 'cn1 has no trait HW_CPU_X86_AVX22; did you mean HW_CPU_X86_AVX2?'
    assert result.line.endswith(said)
    assert run('remove', 'cn1', 'STORAGE_DISK_SSD').line.endswith('DISK_SSD')


@pytest.mark.parametrize('verb', ['add', 'set'])
def test_a_missing_custom_trait_is_created_only_with_create(known, run, verb):
    words = (verb, 'cn1', 'CUSTOM_GOLD', 'CUSTOM_NEW')
    result = run(*words)
    assert (result.code, result.out) == (1, '')
    assert 'placement knows no trait CUSTOM_NEW' in result.line
    assert result.line.endswith('--create creates it')
    assert held(known) == ['CUSTOM_GOLD', 'HW_CPU_X86_AVX2']
    assert run(*words, '--create').code == 0
    assert 'CUSTOM_NEW' in held(known)


def test_a_standard_trait_that_placement_lacks_is_never_created(known, run):
    result = run('add', 'cn1', 'STORAGE_SSD', '--create')
    assert result.code == 1
    assert (
        'no trait STORAGE_SSD; did you mean STORAGE_DISK_SSD?' in result.line
    )


@pytest.mark.parametrize('verb', ['add', 'remove', 'set'])
def test_a_name_outside_the_grammar_is_refused_before_a_request(
    cli, requests_mock, verb
):
    result = cli.run('provider', 'trait', verb, 'cn1', 'custom-gold')
    assert result.code == 1
    assert 'did you mean CUSTOM_GOLD?' in result.line
    assert requests_mock.request_history == []


def test_a_provider_that_goes_meanwhile_is_one_line(cli, requests_mock):
    row = {
        'uuid': NODE,
        'name': 'cn1',
        'generation': 0,
        'parent_provider_uuid': None,
        'root_provider_uuid': NODE,
    }
    requests_mock.get(
        f'{cli.url}/resource_providers', json={'resource_providers': [row]}
    )
    requests_mock.get(
        f'{cli.url}{PATH}', status_code=404,
        json={'errors': [{'status': 404, 'detail': 'No resource provider'}]},
    )  # fmt: skip
    result = cli.run('provider', 'trait', 'add', 'cn1', 'COMPUTE_NODE')
    assert (result.code, result.out) == (1, '')
    assert result.line == f'compute-agent: cn1 ({NODE}) is gone'


def test_options_may_stand_among_the_traits(known):
    result = known.run('provider', 'trait', 'add', 'cn1', 'COMPUTE_NODE',
                       '--create', 'CUSTOM_NEW', '-f', 'json')  # fmt: skip
    assert result.data['added'] == ['COMPUTE_NODE', 'CUSTOM_NEW']


def test_two_dashes_end_the_options(known):
    words = ('cn1', '--create', '-f', 'json', '--', 'CUSTOM_NEW')
    result = known.run('provider', 'trait', 'add', *words)
    assert result.data['added'] == ['CUSTOM_NEW']


def test_of_names_that_are_not_there_those_to_be_created_are_said(known):
    words = ('provider', 'trait', 'add', 'cn1', 'CUSTOM_NEW', 'STORAGE_SSD')
    result = known.run(*words)
    assert (
        'placement knows no traits CUSTOM_NEW, STORAGE_SSD; --create creates '
        'CUSTOM_NEW'
    ) in result.line
    result = known.run(*words, '--create')
    assert 'no trait STORAGE_SSD; did you mean STORAGE_DISK' in result.line
    assert 'CUSTOM_NEW' not in result.line
