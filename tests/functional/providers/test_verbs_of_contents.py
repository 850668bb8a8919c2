# SPDX-License-Identifier: Apache-2.0
"""``provider trait``, ``aggregate`` and ``inventory``: the same verbs on each."""

import pytest

NODE = '11111111-1111-4111-8111-111111111111'
AGG1 = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
AGG2 = 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb'
AGG3 = 'cccccccc-cccc-4ccc-8ccc-cccccccccccc'
PATHS = {
    'trait': 'traits',
    'aggregate': 'aggregates',
    'inventory': 'inventories',
}
# The names that cn1 has of each kind.
HAS = {
    'trait': ['CUSTOM_GOLD', 'HW_CPU_X86_AVX2'],
    'aggregate': [AGG1, AGG2],
    'inventory': ['MEMORY_MB', 'VCPU'],
}
# A name that it does not have.
NEW = {'trait': 'HW_CPU_X86_AVX', 'aggregate': AGG3}
COLUMN = {'trait': 'name', 'aggregate': 'uuid'}
GENERATION = len(PATHS)

of_names = pytest.mark.parametrize('kind', NEW)
of_all = pytest.mark.parametrize('kind', PATHS)


@pytest.fixture
def known(cli):
    """A provider cn1 with two names of each kind."""
    cli.others.create(NODE, 'cn1')
    cli.others.add_traits(NODE, *HAS['trait'])
    cli.others.set_aggregates(NODE, *HAS['aggregate'])
    records = {rc: {'total': 8} for rc in HAS['inventory']}
    cli.others.set_inventories(NODE, records)
    return cli


@pytest.fixture
def run(known):
    """Run a command about the contents of a provider."""
    return lambda *words: known.run('resource', 'provider', *words)


def held(cli, kind='trait'):
    return sorted(getattr(cli.others, PATHS[kind])(NODE))


def removing(kind, *names):
    """Return the verb and the words that take names off a provider."""
    if kind == 'inventory':
        return ['delete', *(f'--resource-class={name}' for name in names)]
    return ['remove', *names]


def line(kind, change):
    return f'set {PATHS[kind]} of cn1 ({NODE}): {change}\n'


# --- the verbs ----------------------------------------------------------------


@pytest.mark.parametrize('word', ['cn1', NODE])
@of_names
def test_the_names_of_a_provider_are_listed(run, kind, word):
    result = run(kind, 'list', word, '-f', 'json')
    assert result.code == 0
    assert result.line == (
        f'compute-agent: cn1 ({NODE}) has generation {GENERATION}'
    )
    assert result.data == [{COLUMN[kind]: name} for name in HAS[kind]]


@of_names
def test_names_are_added_to_those_there(known, run, kind):
    result = run(kind, 'add', 'cn1', NEW[kind], HAS[kind][1].upper())
    assert (result.code, result.err) == (0, '')
    assert result.out == line(kind, f'+{NEW[kind]}')
    assert held(known, kind) == sorted([*HAS[kind], NEW[kind]])


@of_all
@pytest.mark.parametrize('word', ['cn1', NODE])
def test_names_are_removed_from_those_there(known, run, kind, word):
    gone, stays = HAS[kind]
    verb, *words = removing(kind, gone)
    result = run(kind, verb, word, *words)
    assert (result.code, result.err) == (0, '')
    assert result.out == line(kind, f'-{gone}')
    assert held(known, kind) == [stays]


def test_a_trait_that_is_removed_still_exists(known, run):
    run('trait', 'remove', 'cn1', 'CUSTOM_GOLD')
    assert known.run('trait', 'show', 'CUSTOM_GOLD').code == 0


@of_names
def test_names_are_replaced(known, run, kind):
    stays, gone = HAS[kind]
    given = [f'--{kind}={name}' for name in (NEW[kind], stays)]
    result = run(kind, 'set', 'cn1', *given, '-f', 'json')
    assert result.code == 0
    now = sorted([stays, NEW[kind]])
    assert result.data == [{COLUMN[kind]: name} for name in now]
    change = line(kind, f'+{NEW[kind]}, -{gone}')
    assert result.err == f'compute-agent: {change}'
    assert held(known, kind) == now


def test_traits_are_cleared(known, run):
    result = run('trait', 'delete', 'cn1', '-f', 'json')
    assert result.data == {
        'operation': 'set_traits',
        'provider': 'cn1',
        'uuid': NODE,
        'names': [],
        'added': [],
        'removed': HAS['trait'],
        'changed': True,
        'generation': GENERATION + 1,
    }
    assert held(known) == []


# --- nothing to do, and names that are wrong ------------------------------------


@pytest.mark.parametrize(
    ('kind', 'words'),
    [
        ('trait', ('add', 'cn1', 'CUSTOM_GOLD')),
        ('aggregate', ('add', 'cn1', AGG1)),
    ],
)
def test_what_is_so_already_is_said(run, kind, words):
    result = run(kind, *words)
    assert (result.code, result.err) == (0, '')
    assert result.out == line(kind, 'nothing to do')
    data = run(kind, *words, '-f', 'json').data
    about = {
        'operation': f'set_{PATHS[kind]}',
        'provider': 'cn1',
        'uuid': NODE,
        'added': [],
        'removed': [],
        'changed': False,
        'generation': GENERATION,
    }
    assert about.items() <= data.items()
    assert data['names'] == HAS[kind]


@pytest.mark.parametrize(
    ('kind', 'words'),
    [
        ('trait', [f'--trait={name}' for name in HAS['trait']]),
        ('aggregate', [f'--aggregate={name}' for name in HAS['aggregate']]),
        ('inventory', ['--amend', '--resource=VCPU=8']),
    ],
)
def test_a_set_that_is_so_already_writes_nothing(run, sent, kind, words):
    result = run(kind, 'set', 'cn1', *words)
    assert result.code == 0
    nothing = line(kind, 'nothing to do')
    assert result.err == f'compute-agent: {nothing}'
    assert not [one for one in sent if not one.startswith('GET')]


@pytest.mark.parametrize(
    ('kind', 'name', 'said'),
    [
        ('trait', 'HW_CPU_X86_AVX22',
         'no trait HW_CPU_X86_AVX22; did you mean HW_CPU_X86_AVX2?'),
        ('trait', 'STORAGE_DISK_SSD', 'has no trait STORAGE_DISK_SSD'),
        ('inventory', 'DISK_GB', 'has no inventory of DISK_GB'),
        ('inventory', 'MEMORY_MD',
         'no inventory of MEMORY_MD; did you mean MEMORY_MB?'),
        ('aggregate', AGG3, ''),
    ],
)  # fmt: skip
def test_what_is_not_there_to_be_removed_is_said(run, kind, name, said):
    verb, *words = removing(kind, name)
    result = run(kind, verb, 'cn1', *words)
    assert result.code == 0
    assert result.out == line(kind, 'nothing to do')
    assert result.err.rstrip().endswith(said)
    assert bool(result.err) is bool(said)


@pytest.mark.parametrize(
    ('kind', 'verbs', 'wrong', 'said'),
    [
        ('trait', ('add', 'remove'), ['custom-gold'],
         'did you mean CUSTOM_GOLD?'),
        ('trait', ('set',), ['--trait=custom-gold'],
         'did you mean CUSTOM_GOLD?'),
        ('aggregate', ('add', 'remove'), [AGG1, 'rack'],
         "aggregate 'rack' is not a uuid"),
        ('aggregate', ('set',), ['--aggregate=rack'],
         "aggregate 'rack' is not a uuid"),
        ('inventory', ('delete',), ['--resource-class=memory'], "'memory'"),
    ],
)  # fmt: skip
def test_a_name_outside_the_grammar_is_refused_before_a_request(
    cli, requests_mock, kind, verbs, wrong, said
):
    for verb in verbs:
        result = cli.run('resource', 'provider', kind, verb, 'cn1', *wrong)
        assert (result.code, result.out) == (1, '')
        assert said in result.line
    assert requests_mock.request_history == []


@pytest.mark.parametrize(
    ('words', 'name', 'noun'),
    [
        (('trait', 'add'), 'CUSTOM_NEW', 'trait'),
        (('trait', 'set'), 'CUSTOM_NEW', 'trait'),
        (('inventory', 'set'), 'CUSTOM_X', 'resource class'),
    ],
)
def test_a_missing_custom_name_is_created_only_with_create(
    known, run, words, name, noun
):
    kind, before = words[0], held(known, words[0])
    given = {
        ('trait', 'add'): ['CUSTOM_GOLD', name],
        ('trait', 'set'): ['--trait=CUSTOM_GOLD', f'--trait={name}'],
        ('inventory', 'set'): ['--amend', f'--resource={name}=1'],
    }[words]
    result = run(*words, 'cn1', *given)
    assert (result.code, result.out) == (1, '')
    assert f'placement knows no {noun} {name}' in result.line
    assert result.line.endswith('--create creates it')
    assert held(known, kind) == before
    assert run(*words, 'cn1', *given, '--create').code == 0
    assert name in held(known, kind)


def test_a_standard_trait_that_placement_lacks_is_never_created(known, run):
    result = run('trait', 'add', 'cn1', 'STORAGE_SSD', '--create')
    assert result.code == 1
    assert (
        'no trait STORAGE_SSD; did you mean STORAGE_DISK_SSD?' in result.line
    )


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
        f'{cli.url}/resource_providers/{NODE}/traits', status_code=404,
        json={'errors': [{'status': 404, 'detail': 'No resource provider'}]},
    )  # fmt: skip
    result = cli.run(
        'resource', 'provider', 'trait', 'add', 'cn1', 'COMPUTE_NODE'
    )
    assert (result.code, result.out) == (1, '')
    assert result.line == f'compute-agent: cn1 ({NODE}) is gone'


def test_options_may_stand_among_the_traits(known):
    result = known.run('resource', 'provider', 'trait', 'add', 'cn1', 'COMPUTE_NODE',
                       '--create', 'CUSTOM_NEW', '-f', 'json')  # fmt: skip
    assert result.data['added'] == ['COMPUTE_NODE', 'CUSTOM_NEW']


def test_two_dashes_end_the_options(known):
    words = ('cn1', '--create', '-f', 'json', '--', 'CUSTOM_NEW')
    result = known.run('resource', 'provider', 'trait', 'add', *words)
    assert result.data['added'] == ['CUSTOM_NEW']


def test_of_names_that_are_not_there_those_to_be_created_are_said(known):
    words = (
        'resource',
        'provider',
        'trait',
        'add',
        'cn1',
        'CUSTOM_NEW',
        'STORAGE_SSD',
    )
    result = known.run(*words)
    assert (
        'placement knows no traits CUSTOM_NEW, STORAGE_SSD; --create creates '
        'CUSTOM_NEW'
    ) in result.line
    result = known.run(*words, '--create')
    assert 'no trait STORAGE_SSD; did you mean STORAGE_DISK' in result.line
    assert 'CUSTOM_NEW' not in result.line
