# SPDX-License-Identifier: Apache-2.0
"""Seed 001, forbidden traits, on ``GET /allocation_candidates``.

Each test is named after the seed's line; ``in:`` and repetition came later
(1.39). The same rules for providers are tested beside this.
"""

import itertools

import pytest
from examples import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_cloud import Made, build, uuid

from compute_agent import errors as agent_errors
from compute_agent import extra_specs
from report_client import errors
from report_client.candidates import candidates, flavor
from report_client.candidates.query import Group, Request, TraitQuery

NAMES = ('CUSTOM_A', 'CUSTOM_B', 'CUSTOM_C')
SETS = [
    frozenset(some)
    for count in range(len(NAMES) + 1)
    for some in itertools.combinations(NAMES, count)
]


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
    build(placement.operate, cloud)
    placement.clear()
    return cloud


@pytest.fixture
def found(service, placement):
    """Return who is found for what is asked."""

    def ask(*texts, rc='VCPU', group=''):
        one = Group(
            name=group,
            resources={rc: 1},
            traits=TraitQuery.parse(texts),
        )
        answer = candidates.Candidates(service).ask(Request.of(one))
        given = answer.classes_by_provider()
        rows = placement.get('/resource_providers')['resource_providers']
        return sorted(row['name'] for row in rows if row['uuid'] in given)

    return ask


def test_we_require_storage_disk_ssd_and_not_custom_golden_raid(
    placement, found
):
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
    build(placement.operate, cloud)
    asked = 'STORAGE_DISK_SSD,!CUSTOM_GOLDEN_RAID'
    assert found(asked, rc='DISK_GB') == ['fast']
    (request,) = placement.requests
    assert request.path == (
        '/allocation_candidates?resources=DISK_GB:1&required=STORAGE_DISK_SSD,'
        '!CUSTOM_GOLDEN_RAID'
    )


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
    build(placement.operate, cloud)
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
def test_a_branch_of_a_tree_is_not_that_group(placement, found, group):
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
    build(placement.operate, cloud)
    assert found(group=group) == ['numa0', 'numa1']
    assert found('!CUSTOM_PURPOSE', group=group) == ['numa1']
    assert found('CUSTOM_PURPOSE', group=group) == ['numa0']


@pytest.mark.usefixtures('every')
def test_the_prefixed_trait_is_required_to_be_not_present(found):
    assert found('!CUSTOM_A') == ['B', 'BC', 'C', 'none']
    assert found('!CUSTOM_A', '!CUSTOM_B') == ['C', 'none']
    assert found('CUSTOM_A,!CUSTOM_B') == ['A', 'AC']


@pytest.mark.usefixtures('every')
def test_a_new_microversion_accepts_the_prefix(raw):
    path = '/allocation_candidates?resources=VCPU:1&required=!CUSTOM_A'
    assert raw('GET', path, microversion='1.21').status_code == 400
    assert raw('GET', path, microversion='1.22').status_code == 200


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


@pytest.mark.usefixtures('every')
def test_no_whitespace_is_allowed_between_the_mark_and_the_trait(
    placement, found, raw
):
    path = '/allocation_candidates?resources=VCPU:1&required=!%20CUSTOM_A'
    assert raw('GET', path).status_code == 400
    placement.clear()
    with pytest.raises(agent_errors.InvalidName, match='a space after "!"'):
        found('! CUSTOM_A')
    assert placement.requests == []


@pytest.mark.usefixtures('every')
def test_whitespace_before_or_after_the_phrase_is_allowed_and_stripped(
    placement, found
):
    assert found(' CUSTOM_A , !CUSTOM_B ') == ['A', 'AC']
    (request,) = placement.requests
    assert request.path.endswith('&required=CUSTOM_A,!CUSTOM_B')


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
def test_any_of_some_traits_since_1_39(found, raw):
    asked = ('in:CUSTOM_A,CUSTOM_B', '!CUSTOM_C')
    assert found(*asked) == ['A', 'AB', 'B']
    several = ('in:CUSTOM_A,CUSTOM_B', 'in:CUSTOM_B,CUSTOM_C')
    assert found(*several) == ['AB', 'ABC', 'AC', 'B', 'BC']
    path = '/allocation_candidates?resources=VCPU:1&required=in:CUSTOM_A'
    assert raw('GET', path, microversion='1.38').status_code == 400


@settings(
    max_examples=examples(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    terms=st.dictionaries(st.sampled_from(NAMES), st.booleans()),
    several=st.lists(st.lists(st.sampled_from(NAMES), min_size=1), max_size=2),
    group=st.sampled_from(('', '1')),
)
@pytest.mark.usefixtures('every')
def test_who_is_found_is_who_meets_the_words_of_the_query(
    found, terms, several, group
):
    required = {name for name, wanted in terms.items() if wanted}
    forbidden = set(terms) - required
    texts = [
        *required,
        *(f'!{name}' for name in forbidden),
        *(f'in:{",".join(some)}' for some in several),
    ]
    if any(set(some) <= forbidden for some in several):
        with pytest.raises(agent_errors.InvalidName):
            found(*texts, group=group)
        return
    meets = [
        called(some)
        for some in SETS
        if required <= some
        and not forbidden & some
        and all(some & set(one) for one in several)
    ]
    assert found(*texts, group=group) == sorted(meets)
