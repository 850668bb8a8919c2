# SPDX-License-Identifier: Apache-2.0
"""Seed 001, forbidden traits: of providers, and of allocation candidates.

Each test is named after the seed's line; ``in:`` and repetition came later
(1.39). ``GET /resource_providers`` and ``GET /allocation_candidates`` take the
same words, so most tests ask both.
"""

import itertools

import pytest
from agents import NODE
from examples import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_cloud import Made, build, uuid

from compute_agent import errors as agent_errors
from compute_agent import extra_specs
from report_client import errors
from report_client.api.values import provider_query, trait_query
from report_client.candidates import candidates
from report_client.candidates.values import flavor
from report_client.candidates.values.query import Group, Request

NAMES = ('CUSTOM_A', 'CUSTOM_B', 'CUSTOM_C')
SETS = [
    frozenset(some)
    for count in range(len(NAMES) + 1)
    for some in itertools.combinations(NAMES, count)
]
CANDIDATES = '/allocation_candidates?resources=VCPU:1&required='
PROVIDERS = '/resource_providers?required='
AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
OTHER = 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb'


def called(some):
    return ''.join(sorted(name[-1] for name in some)) or 'none'


@pytest.fixture
def every(placement):
    """A provider for each set of three traits, called like that set."""
    cloud = [
        Made(
            name=called(some),
            uuid=uuid(number),
            inventories={'VCPU': 8},
            traits=some,
        )
        for number, some in enumerate(SETS)
    ]
    build(placement.others, cloud)
    placement.clear()
    return cloud


def listed(providers, *texts, **more):
    query = provider_query.ProviderQuery(
        traits=trait_query.TraitQuery.parse(texts), **more
    )
    return [row.name for row in providers.list_providers(query)]


@pytest.fixture
def candidates_of(service, placement):
    """Return who is a candidate for what is asked."""

    def ask(*texts, rc='VCPU', group=''):
        one = Group(
            name=group,
            resources={rc: 1},
            traits=trait_query.TraitQuery.parse(texts),
        )
        answer = candidates.Candidates(service).ask(Request.of(one))
        given = answer.classes_by_provider()
        rows = placement.get('/resource_providers')['resource_providers']
        return sorted(row['name'] for row in rows if row['uuid'] in given)

    return ask


@pytest.fixture(params=['providers', 'candidates'])
def found(request, providers, candidates_of):
    """Return who is found for what is asked, by one of the two requests."""
    if request.param == 'candidates':
        return candidates_of
    return lambda *texts: listed(providers, *texts)


@pytest.fixture
def storage(placement):
    """Three disks: a fast one, one of the golden kind, a slow one."""
    traits = {
        'fast': ['STORAGE_DISK_SSD'],
        'golden': ['STORAGE_DISK_SSD', 'CUSTOM_GOLDEN_RAID'],
        'slow': ['STORAGE_DISK_HDD'],
    }
    cloud = [
        Made(
            name=name,
            uuid=uuid(number),
            inventories={'DISK_GB': 100},
            traits=frozenset(some),
        )
        for number, (name, some) in enumerate(traits.items())
    ]
    build(placement.others, cloud)
    placement.clear()


@pytest.mark.usefixtures('storage')
def test_we_require_storage_disk_ssd_and_not_custom_golden_raid(
    placement, providers, candidates_of
):
    asked = 'STORAGE_DISK_SSD,!CUSTOM_GOLDEN_RAID'
    assert listed(providers, asked, resources={'DISK_GB': 5}) == ['fast']
    assert candidates_of(asked, rc='DISK_GB') == ['fast']
    assert [request.path for request in placement.requests] == [
        f'/resource_providers?required={asked}&resources=DISK_GB:5',
        f'/allocation_candidates?resources=DISK_GB:1&required={asked}',
    ]


@pytest.mark.usefixtures('every')
def test_the_prefixed_trait_is_required_to_be_not_present(found):
    assert found('!CUSTOM_A') == ['B', 'BC', 'C', 'none']
    assert found('!CUSTOM_A', '!CUSTOM_B') == ['C', 'none']
    assert found('CUSTOM_A,!CUSTOM_B') == ['A', 'AC']


@pytest.mark.parametrize(
    'texts',
    [
        ('CUSTOM_A,!CUSTOM_A',),
        ('CUSTOM_A', '!CUSTOM_A'),
        ('!CUSTOM_A,CUSTOM_B,CUSTOM_A',),
        ('in:CUSTOM_A', '!CUSTOM_A'),
    ],
)
@pytest.mark.usefixtures('every')
def test_a_duplicate_of_a_trait_listed_elsewhere_is_an_error(
    placement, found, texts
):
    with pytest.raises(agent_errors.InvalidName, match='at once'):
        found(*texts)
    assert placement.requests == []


@pytest.mark.usefixtures('every')
def test_where_placement_gives_no_400_for_it_any_more(raw):
    # Of providers placement lists none, and says nothing.
    answer = raw('GET', f'{PROVIDERS}CUSTOM_A,!CUSTOM_A')
    assert answer.status_code == 200
    assert answer.json() == {'resource_providers': []}


@pytest.mark.parametrize('path', [PROVIDERS, CANDIDATES])
@pytest.mark.usefixtures('every')
def test_no_whitespace_is_allowed_between_the_mark_and_the_trait(raw, path):
    assert raw('GET', f'{path}!%20CUSTOM_A').status_code == 400


@pytest.mark.usefixtures('every')
def test_such_whitespace_is_refused_before_a_request(placement, found):
    with pytest.raises(agent_errors.InvalidName, match='a space after "!"'):
        found('! CUSTOM_A')
    assert placement.requests == []


@pytest.mark.usefixtures('every')
def test_whitespace_before_or_after_the_phrase_is_allowed_and_stripped(
    placement, found
):
    assert found(' CUSTOM_A , !CUSTOM_B ') == ['A', 'AC']
    (request,) = placement.requests
    assert request.path.partition('required=')[2] == 'CUSTOM_A,!CUSTOM_B'


@pytest.mark.parametrize('term', ['custom_a', '!', '', 'A-B', '!!CUSTOM_A'])
@pytest.mark.usefixtures('every')
def test_a_malformed_trait_is_an_error(placement, found, term):
    with pytest.raises(agent_errors.InvalidName):
        found(f'CUSTOM_B,{term}')
    assert placement.requests == []


@pytest.mark.parametrize('term', ['CUSTOM_D', '!CUSTOM_D', 'in:CUSTOM_D'])
@pytest.mark.usefixtures('every')
def test_a_trait_that_does_not_exist_is_an_error_that_names_it(
    placement, found, term
):
    with pytest.raises(errors.DoesNotExist) as raised:
        found(term)
    assert 'placement knows no trait CUSTOM_D' in str(raised.value)
    assert placement.requests[0].status == 400


@pytest.mark.usefixtures('every')
def test_a_standard_trait_that_is_nearly_meant_is_named(found):
    with pytest.raises(errors.DoesNotExist) as raised:
        found('!HW_CPU_X86_AVX3')
    assert str(raised.value) == (
        'placement knows no trait HW_CPU_X86_AVX3; did you mean '
        'HW_CPU_X86_AVX?'
    )


@pytest.mark.usefixtures('every')
def test_any_of_some_traits_since_1_39(found):
    one = ('in:CUSTOM_A,CUSTOM_B', '!CUSTOM_C')
    assert found(*one) == ['A', 'AB', 'B']
    several = ('in:CUSTOM_A,CUSTOM_B', 'in:CUSTOM_B,CUSTOM_C')
    assert found(*several) == ['AB', 'ABC', 'AC', 'B', 'BC']


@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    terms=st.dictionaries(st.sampled_from(NAMES), st.sampled_from('+-±')),
    several=st.lists(st.lists(st.sampled_from(NAMES), min_size=1), max_size=2),
    group=st.sampled_from(('', '1')),
)
@pytest.mark.usefixtures('every')
def test_who_is_found_is_who_meets_the_words_of_the_query(
    providers, candidates_of, terms, several, group
):
    required = {name for name, sign in terms.items() if sign in '+±'}
    forbidden = {name for name, sign in terms.items() if sign in '-±'}
    texts = [
        *required,
        *(f'!{name}' for name in forbidden),
        *(f'in:{",".join(some)}' for some in several),
    ]
    wanted = [{name} for name in required] + [set(some) for some in several]
    if any(some <= forbidden for some in wanted):
        for ask in (candidates_of, lambda *texts: listed(providers, *texts)):
            with pytest.raises(agent_errors.InvalidName):
                ask(*texts)
        return
    meets = sorted(
        called(some)
        for some in SETS
        if not forbidden & some and all(some & one for one in wanted)
    )
    assert candidates_of(*texts, group=group) == meets
    assert listed(providers, *texts) == meets


# --- candidates only ----------------------------------------------------------


def test_to_preserve_my_expensive_gpu_loaded_hardware(placement, service):
    rc = 'CUSTOM_BAREMETAL'
    cloud = [
        Made(name='plain', uuid=uuid(1), inventories={rc: 1}),
        Made(
            name='gpu',
            uuid=uuid(2),
            inventories={rc: 1},
            traits=frozenset({'CUSTOM_MASSIVE_GPU'}),
        ),
    ]
    build(placement.others, cloud)
    given = {}
    for need in ('forbidden', 'required'):
        # The format is the seed's: trait:$TRAIT_NAME=forbidden.
        wanted = extra_specs.parse(
            [
                (f'resources:{rc}', '1'),
                ('trait:CUSTOM_MASSIVE_GPU', need),
            ]
        )
        request = Request(groups=flavor.groups(wanted))
        answer = candidates.Candidates(service).ask(request)
        given[need] = set(answer.summaries)
    assert given == {'forbidden': {uuid(1)}, 'required': {uuid(2)}}


@pytest.mark.parametrize('group', ['', '1'])
def test_a_branch_of_a_tree_is_not_that_group(placement, candidates_of, group):
    cloud = [
        Made(name='cn1', uuid=uuid(1)),
        Made(
            name='numa0',
            uuid=uuid(2),
            parent='cn1',
            inventories={'VCPU': 8},
            traits=frozenset({'CUSTOM_PURPOSE'}),
        ),
        Made(
            name='numa1', uuid=uuid(3), parent='cn1', inventories={'VCPU': 8}
        ),
    ]
    build(placement.others, cloud)
    assert candidates_of(group=group) == ['numa0', 'numa1']
    assert candidates_of('!CUSTOM_PURPOSE', group=group) == ['numa1']
    assert candidates_of('CUSTOM_PURPOSE', group=group) == ['numa0']


@pytest.mark.usefixtures('every')
def test_a_new_microversion_accepts_the_prefix(raw):
    path = f'{CANDIDATES}!CUSTOM_A'
    assert raw('GET', path, microversion='1.21').status_code == 400
    assert raw('GET', path, microversion='1.22').status_code == 200
    path = f'{CANDIDATES}in:CUSTOM_A'
    assert raw('GET', path, microversion='1.38').status_code == 400


@pytest.mark.usefixtures('every')
def test_placement_answers_400_for_it_as_the_seed_says(raw):
    for query in ('required=CUSTOM_A,!CUSTOM_A', 'root_required=!X,X'):
        answer = raw('GET', f'/allocation_candidates?resources=VCPU:1&{query}')
        assert answer.status_code == 400
        assert 'Conflicting required and forbidden' in answer.text


@pytest.mark.usefixtures('every')
def test_a_duplicate_in_the_extra_specs_is_an_error_too():
    with pytest.raises(agent_errors.ConfigError, match='keep one'):
        extra_specs.parse(
            [('trait:CUSTOM_A', 'required'), ('trait:CUSTOM_A', 'forbidden')]
        )


# --- older servers ------------------------------------------------------------


@pytest.mark.usefixtures('every')
def test_on_an_older_placement_forbidden_traits_work(
    placement, providers, newest
):
    newest('1.30')
    assert listed(providers, 'CUSTOM_A', '!CUSTOM_B') == ['A', 'AC']
    assert [r.microversion for r in placement.requests] == ['1.39', '1.30']


@pytest.mark.usefixtures('every')
def test_on_an_older_placement_any_of_is_refused_before_it_misleads(
    placement, providers, newest
):
    newest('1.38')
    for _ in range(2):
        with pytest.raises(errors.TooOld) as raised:
            listed(providers, 'in:CUSTOM_A,CUSTOM_B')
        said = str(raised.value)
        assert 'has API version 1.38' in said
        assert 'needs 1.39 or newer: upgrade placement' in said
    assert [r.microversion for r in placement.requests] == ['1.39']


@pytest.mark.usefixtures('every')
def test_on_an_older_placement_forbidden_aggregates_are_refused(
    placement, providers, newest
):
    newest('1.31')
    member = provider_query.MemberOf.parse
    with pytest.raises(errors.TooOld, match='needs 1.32 or newer'):
        listed(providers, member_of=(member(f'!{AGGREGATE}'),))
    assert len(listed(providers, member_of=(member(AGGREGATE),))) == 0


# --- the other conditions -----------------------------------------------------


@pytest.fixture
def racks(operator):
    """Two roots in two aggregates, and a child of the first."""
    operator.create(NODE, 'rack1')
    operator.create(OTHER, 'rack2')
    operator.create('33333333-3333-4333-8333-333333333333', 'shelf', NODE)
    operator.set_aggregates(AGGREGATE, uuid=NODE)
    operator.set_aggregates(AGGREGATE, OTHER, uuid=OTHER)
    operator.change_inventory('VCPU', uuid=NODE, total=4)
    operator.change_inventory('VCPU', uuid=OTHER, total=8)


@pytest.mark.parametrize(
    ('condition', 'found'),
    [
        ({}, ['rack1', 'rack2', 'shelf']),
        ({'resources': {'VCPU': 4}}, ['rack1', 'rack2']),
        ({'resources': {'VCPU': 5}}, ['rack2']),
        ({'in_tree': NODE}, ['rack1', 'shelf']),
        ({'in_tree': '33333333-3333-4333-8333-333333333333'},
         ['rack1', 'shelf']),
        ({'name': 'rack2'}, ['rack2']),
        ({'uuid': NODE}, ['rack1']),
        ({'name': 'rack2', 'uuid': NODE}, []),
    ],
)  # fmt: skip
@pytest.mark.usefixtures('racks')
def test_each_condition_holds(providers, condition, found):
    assert listed(providers, **condition) == found


@pytest.mark.parametrize(
    ('texts', 'found'),
    [
        ([AGGREGATE], ['rack1', 'rack2']),
        ([OTHER], ['rack2']),
        ([AGGREGATE, OTHER], ['rack2']),
        ([f'in:{AGGREGATE},{OTHER}'], ['rack1', 'rack2']),
        ([f'!{OTHER}'], ['rack1', 'shelf']),
        ([AGGREGATE, f'!{OTHER}'], ['rack1']),
        ([f'!in:{AGGREGATE},{OTHER}'], ['shelf']),
    ],
)
@pytest.mark.usefixtures('racks')
def test_aggregates_are_required_or_forbidden(providers, texts, found):
    member_of = tuple(map(provider_query.MemberOf.parse, texts))
    assert listed(providers, member_of=member_of) == found


@pytest.mark.usefixtures('racks')
def test_a_class_that_does_not_exist_is_named(providers):
    with pytest.raises(errors.DoesNotExist) as raised:
        listed(providers, resources={'VCPUS': 1})
    said = str(raised.value)
    assert (
        said == 'placement knows no resource class VCPUS; did you mean VCPU?'
    )


def test_a_name_that_vanished_again_is_said_in_placement_s_words(
    placement, providers
):
    unknown = {'status': 400, 'detail': 'No such trait(s): CUSTOM_A.'}
    placement.put('/traits/CUSTOM_A')
    placement.fault('GET /resource_providers*', (400, {'errors': [unknown]}))
    with pytest.raises(
        errors.DoesNotExist, match=r'No such trait\(s\): CUSTOM_A'
    ):
        listed(providers, 'CUSTOM_A')
