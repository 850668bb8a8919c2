# SPDX-License-Identifier: Apache-2.0
"""Seed 000, ``/traits``: every operation and response code it lists.

Each test is named after the seed's line. Where placement does not answer as
the seed has it any more, the test shows both: what it says, and what the user
of this project gets.
"""

import os_traits
import placement_api
import pytest

from compute_agent import errors as agent_errors
from report_client import errors

PROVIDER = '/resource_providers/11111111-1111-4111-8111-111111111111'


@pytest.fixture
def custom(operator):
    """One provider with CUSTOM_TRAIT_1; CUSTOM_TRAIT_2 is nobody's."""
    operator.create('11111111-1111-4111-8111-111111111111', 'cn1')
    operator.add_traits('CUSTOM_TRAIT_1', 'HW_CPU_X86_AVX')


@pytest.fixture
def two(placement, custom):
    placement.put('/traits/CUSTOM_TRAIT_2')


def lines(placement):
    return [f'{request} {request.status}' for request in placement.requests]


# --- GET /traits --------------------------------------------------------------


@pytest.mark.usefixtures('two')
def test_the_default_action_is_to_query_all_the_standard_and_custom_traits(
    placement, traits
):
    everything = {*os_traits.get_traits(), 'CUSTOM_TRAIT_1', 'CUSTOM_TRAIT_2'}
    assert traits.names() == sorted(everything)
    assert lines(placement) == ['GET /traits 200']


def test_the_body_of_the_response_is_an_object_with_traits_alone(raw):
    answer = raw('GET', '/traits')
    assert answer.status_code == 200
    assert answer.headers['Content-Type'] == 'application/json'
    assert list(answer.json()) == ['traits']
    assert all(isinstance(one, str) for one in answer.json()['traits'])


@pytest.mark.usefixtures('two')
def test_name_starts_with_prefix_queries_the_traits_that_begin_with_it(
    placement, traits, raw
):
    both = ['CUSTOM_TRAIT_1', 'CUSTOM_TRAIT_2']
    assert traits.names(starts_with='CUSTOM') == both
    assert lines(placement) == ['GET /traits?name=startswith:CUSTOM 200']
    # The seed's operator is no error today: it is ignored, all come.
    seeds_own = raw('GET', '/traits?name=starts_with:CUSTOM')
    assert seeds_own.status_code == 200
    assert len(seeds_own.json()['traits']) > len(both)


def test_a_prefix_is_meant_to_the_letter(placement, traits, raw):
    for name in ('CUSTOM_A_B', 'CUSTOM_AXB', 'CUSTOM_A'):
        placement.put(f'/traits/{name}')
    assert traits.names(starts_with='CUSTOM_A_') == ['CUSTOM_A_B']
    # Placement compares by LIKE, where _ is any character.
    asked = raw('GET', '/traits?name=startswith:CUSTOM_A_').json()['traits']
    assert sorted(asked) == ['CUSTOM_AXB', 'CUSTOM_A_B']


@pytest.mark.usefixtures('two')
def test_associated_queries_the_traits_of_at_least_one_provider(
    placement, traits
):
    assert traits.names(associated=True) == [
        'CUSTOM_TRAIT_1',
        'HW_CPU_X86_AVX',
    ]
    unused = traits.names(associated=False)
    assert 'CUSTOM_TRAIT_2' in unused
    assert not {'CUSTOM_TRAIT_1', 'HW_CPU_X86_AVX'} & set(unused)
    assert lines(placement) == [
        'GET /traits?associated=true 200',
        'GET /traits?associated=false 200',
    ]


def test_associated_is_true_or_false_and_anything_else_is_400(raw):
    for spelling in ('True', 'False', 'true', 'false'):
        answer = raw('GET', f'/traits?associated={spelling}')
        assert answer.status_code == 200
    assert raw('GET', '/traits?associated=maybe').status_code == 400


@pytest.mark.usefixtures('two')
def test_name_in_returns_the_listed_traits_that_exist_in_this_cloud(
    placement, traits
):
    listed = ['HW_CPU_X86_AVX', 'HW_CPU_X86_INVALID_FEATURE', 'HW_CPU_X86_SSE']
    assert traits.names(name_in=listed) == ['HW_CPU_X86_AVX', 'HW_CPU_X86_SSE']
    assert lines(placement) == [f'GET /traits?name=in:{",".join(listed)} 200']


def test_nova_can_thus_be_aware_of_invalid_traits(traits):
    listed = ['HW_CPU_X86_AVX', 'HW_CPU_X86_INVALID_FEATURE']
    assert traits.missing(listed) == ['HW_CPU_X86_INVALID_FEATURE']


@pytest.mark.usefixtures('two')
def test_the_parameters_are_combined(placement, traits):
    some = ['CUSTOM_TRAIT_1', 'CUSTOM_TRAIT_2', 'HW_CPU_X86_AVX']
    assert traits.names('CUSTOM', some, associated=True) == ['CUSTOM_TRAIT_1']
    assert traits.names('CUSTOM', some) == some[:2]
    assert traits.names('HW', associated=True) == ['HW_CPU_X86_AVX']
    assert traits.names('HW', some, associated=False) == []
    assert len(placement.requests) == 4


def test_a_long_list_is_split_and_a_short_one_is_one_request(
    placement, traits
):
    some = [f'CUSTOM_{"A" * 200}{number}' for number in range(30)]
    for name in some[::2]:
        placement.put(f'/traits/{name}')
    assert traits.names(name_in=some) == sorted(some[::2])
    assert len(placement.requests) == 4
    assert all(len(r.path) < 2500 for r in placement.requests)


def test_of_no_names_none_exist_and_nothing_is_asked(placement, traits):
    assert traits.names(name_in=[]) == []
    assert placement.requests == []


@pytest.mark.parametrize(
    'wrong',
    [
        {'starts_with': 'custom'},
        {'starts_with': '%'},
        {'starts_with': ''},
        {'name_in': ['HW_CPU_X86_AVX', 'hw']},
        {'name_in': ['A,B']},
    ],
)
def test_trait_strings_are_of_the_pattern_a_z_0_9_and_underscore(
    placement, traits, wrong
):
    with pytest.raises(agent_errors.InvalidName, match='A-Z, 0-9 and _'):
        traits.names(**wrong)
    assert placement.requests == []


# --- GET /traits/{trait_name} -------------------------------------------------


@pytest.mark.usefixtures('two')
def test_get_trait_204_no_content_if_the_trait_name_exists(placement, traits):
    assert traits.exists('CUSTOM_TRAIT_2') is True
    assert traits.exists('HW_CPU_X86_AVX') is True
    assert lines(placement) == [
        'GET /traits/CUSTOM_TRAIT_2 204',
        'GET /traits/HW_CPU_X86_AVX 204',
    ]


def test_get_trait_404_not_found_if_the_trait_name_does_not_exist(
    placement, traits
):
    assert traits.exists('CUSTOM_TRAIT_2') is False
    assert lines(placement) == ['GET /traits/CUSTOM_TRAIT_2 404']


@pytest.mark.parametrize('body', ['', '<html>Not Found</html>', '{}'])
def test_a_404_of_something_else_is_no_trait_that_does_not_exist(
    placement, traits, body
):
    placement.fault('GET /traits/*', (404, body))
    with pytest.raises(errors.Unreachable, match=r'is no placement \(HTTP'):
        traits.exists('CUSTOM_TRAIT_2')


# --- PUT /traits/{trait_name} -------------------------------------------------


def test_put_trait_201_created_if_the_insertion_is_successful(
    placement, traits
):
    assert traits.add('CUSTOM_TRAIT_1') is True
    assert lines(placement) == ['PUT /traits/CUSTOM_TRAIT_1 201']
    assert traits.exists('CUSTOM_TRAIT_1')


def test_its_response_includes_the_new_traits_url_in_the_location_header(raw):
    answer = raw('PUT', '/traits/CUSTOM_TRAIT_1')
    assert answer.status_code == 201
    # An absolute URL by now.
    assert answer.headers['Location'].endswith('/traits/CUSTOM_TRAIT_1')


def test_put_trait_204_no_content_if_the_trait_already_exists(
    placement, traits
):
    traits.add('CUSTOM_TRAIT_1')
    assert traits.add('CUSTOM_TRAIT_1') is False
    assert lines(placement)[-1] == 'PUT /traits/CUSTOM_TRAIT_1 204'


@pytest.mark.parametrize('name', ['TRAIT_1', 'CUSTOM_', 'CUSTOM_a', 'CUSTOM'])
def test_put_trait_400_bad_request_if_the_name_is_not_custom(
    placement, traits, raw, name
):
    assert raw('PUT', f'/traits/{name}').status_code == 400
    placement.clear()
    with pytest.raises(agent_errors.InvalidName):
        traits.add(name)
    assert placement.requests == []


def test_put_trait_409_conflict_if_the_name_conflicts_with_a_standard_one(
    placement, traits, raw
):
    # Placement gives no 409 here any more: 400, as for any other name.
    assert raw('PUT', '/traits/HW_CPU_X86_AVX').status_code == 400
    placement.clear()
    with pytest.raises(agent_errors.InvalidName, match='is a standard trait'):
        traits.add('HW_CPU_X86_AVX')
    assert placement.requests == []


# --- DELETE /traits/{trait_name} ----------------------------------------------


@pytest.mark.usefixtures('two')
def test_delete_trait_204_no_content_if_the_removal_is_successful(
    placement, traits
):
    traits.remove('CUSTOM_TRAIT_2')
    assert lines(placement) == ['DELETE /traits/CUSTOM_TRAIT_2 204']
    assert not traits.exists('CUSTOM_TRAIT_2')


def test_delete_trait_400_bad_request_if_the_name_is_a_standard_trait(
    placement, traits, raw
):
    assert raw('DELETE', '/traits/HW_CPU_X86_AVX').status_code == 400
    placement.clear()
    with pytest.raises(agent_errors.InvalidName, match='is a standard trait'):
        traits.remove('HW_CPU_X86_AVX')
    assert placement.requests == []


@pytest.mark.usefixtures('two')
def test_delete_trait_404_not_found_if_no_such_trait_exists(placement, traits):
    with pytest.raises(errors.DoesNotExist) as raised:
        traits.remove('CUSTOM_TRAIT_3')
    assert lines(placement)[0] == 'DELETE /traits/CUSTOM_TRAIT_3 404'
    said = str(raised.value)
    assert 'placement knows no trait CUSTOM_TRAIT_3; did you mean' in said


@pytest.mark.usefixtures('two')
def test_delete_trait_409_conflict_if_it_has_associations_with_any_provider(
    placement, traits
):
    with pytest.raises(errors.InUse) as raised:
        traits.remove('CUSTOM_TRAIT_1')
    assert lines(placement) == [
        'DELETE /traits/CUSTOM_TRAIT_1 409',
        'GET /resource_providers?required=CUSTOM_TRAIT_1 200',
    ]
    said = str(raised.value)
    assert 'trait CUSTOM_TRAIT_1 was not deleted' in said
    assert 'cn1 (11111111-1111-4111-8111-111111111111) has it' in said
    assert traits.exists('CUSTOM_TRAIT_1')


def test_of_many_providers_with_a_trait_five_are_named(
    placement, traits, operator
):
    for number in range(7):
        uuid = f'11111111-1111-4111-8111-11111111111{number}'
        operator.create(uuid, f'cn{number}')
        operator.add_traits('CUSTOM_TRAIT_1', uuid=uuid)
    with pytest.raises(errors.InUse, match=r'cn4 \(.*\), 2 more have it'):
        traits.remove('CUSTOM_TRAIT_1')


@pytest.mark.usefixtures('two')
def test_a_trait_given_away_and_taken_back_in_between_is_still_in_use(
    placement, traits, operator
):
    def take_back(request):
        if request.method == 'GET':
            operator.remove_traits('CUSTOM_TRAIT_1')
            placement.delete('/traits/CUSTOM_TRAIT_1')

    placement.before_request(take_back)
    with pytest.raises(errors.InUse, match='a provider had it a moment ago'):
        traits.remove('CUSTOM_TRAIT_1')


# --- who may ------------------------------------------------------------------


def test_traits_can_be_read_by_all_users_and_modified_by_admin_users(
    placement, raw
):
    # Reading, too, needs the role admin or service now.
    assert raw('GET', '/traits', token='somebody').status_code == 403
    somebody = placement_api.service_of(placement, 'somebody')
    reading = placement_api.traits_api.Traits(somebody)
    for act in (reading.names, lambda: reading.add('CUSTOM_TRAIT_1')):
        with pytest.raises(errors.NotAuthorised, match='admin or service'):
            act()


def test_an_answer_of_another_shape_is_unknown_not_empty(placement, traits):
    placement.fault('GET /traits', (200, {'traits': None}))
    with pytest.raises(errors.MalformedAnswer):
        traits.names()
