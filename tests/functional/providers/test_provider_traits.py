# SPDX-License-Identifier: Apache-2.0
"""Seed 000, ``/resource_providers/{uuid}/traits``: operations and codes.

Each test is named after the seed's line. Where placement does not answer as
the seed has it any more, the test shows both: what it says, and what the user
of this project gets.
"""

import pytest
from agents import NAME, NODE, meddle

from compute_agent import errors as agent_errors
from report_client import errors
from report_client.api import provider_contents

TRAITS = f'/resource_providers/{NODE}/traits'
RACE = 'Another thread concurrently updated the resource provider data'


@pytest.fixture
def node(operator, placement):
    """A provider with one standard and one custom trait."""
    operator.create(NODE, NAME)
    operator.add_traits('HW_CPU_X86_AVX', 'CUSTOM_TRAIT_1')


@pytest.fixture
def one(node, providers, placement):
    """The provider as it was found; the request is forgotten."""
    found = providers.find(NAME)
    placement.clear()
    return found


@pytest.fixture
def gone(one, operator):
    """A provider that is deleted after it was found."""
    operator.delete(NODE)
    return one


def lines(placement):
    short = '{uuid}/traits'
    return [
        f'{r.method} {r.path} {r.status}'.replace(TRAITS, short)
        for r in placement.requests
    ]


# --- GET ----------------------------------------------------------------------


def test_get_200_ok_if_query_is_successful(placement, providers, one):
    assert providers.traits(one) == {'HW_CPU_X86_AVX', 'CUSTOM_TRAIT_1'}
    assert lines(placement) == ['GET {uuid}/traits 200']


@pytest.mark.usefixtures('node')
def test_the_response_format_is_that_of_traits_with_a_generation(raw):
    body = raw('GET', TRAITS).json()
    assert set(body) == {'traits', 'resource_provider_generation'}
    assert isinstance(body['resource_provider_generation'], int)


def test_get_404_not_found_if_the_provider_is_not_found(
    placement, providers, gone
):
    with pytest.raises(errors.NotFound, match=r'\) is gone$'):
        providers.traits(gone)
    assert lines(placement) == ['GET {uuid}/traits 404']


# --- PUT ----------------------------------------------------------------------


def test_all_the_associated_traits_are_replaced_by_those_specified(
    placement, providers, one, operator
):
    done = providers.set_traits(one, ['HW_CPU_X86_AVX2', 'CUSTOM_TRAIT_1'])
    assert operator.traits() == {'HW_CPU_X86_AVX2', 'CUSTOM_TRAIT_1'}
    assert done.added == {'HW_CPU_X86_AVX2'}
    assert done.removed == {'HW_CPU_X86_AVX'}
    assert lines(placement) == [
        'GET {uuid}/traits 200',
        'PUT {uuid}/traits 200',
    ]


def test_put_200_ok_if_the_update_is_successful(
    placement, providers, one, operator
):
    done = providers.add_traits(one, ['HW_CPU_X86_AVX2'])
    assert done.added == {'HW_CPU_X86_AVX2'}
    have = {'HW_CPU_X86_AVX', 'HW_CPU_X86_AVX2', 'CUSTOM_TRAIT_1'}
    assert operator.traits() == have
    assert lines(placement)[-1] == 'PUT {uuid}/traits 200'
    (write,) = placement.writes
    assert write.body == {
        'traits': sorted(have),
        'resource_provider_generation': 1,
    }


def test_standard_traits_are_set_too_though_the_seeds_schema_has_custom_ones(
    raw, node
):
    body = {'traits': ['HW_CPU_X86_AVX2'], 'resource_provider_generation': 1}
    assert raw('PUT', TRAITS, body).status_code == 200


@pytest.mark.parametrize(
    ('act', 'left'),
    [
        ('add_traits', {'HW_CPU_X86_AVX', 'CUSTOM_TRAIT_1'}),
        ('set_traits', {'HW_CPU_X86_AVX', 'CUSTOM_TRAIT_1'}),
    ],
)
def test_what_is_so_already_is_not_written(
    placement, providers, one, operator, act, left
):
    generation = operator.generation(NODE)
    done = getattr(providers, act)(one, ['CUSTOM_TRAIT_1', 'HW_CPU_X86_AVX'])
    assert not done.is_change
    assert lines(placement) == ['GET {uuid}/traits 200']
    assert operator.traits() == left
    assert operator.generation(NODE) == generation


def test_to_remove_what_is_not_there_is_not_written(placement, providers, one):
    done = providers.remove_traits(one, ['HW_CPU_X86_AVX2'])
    assert not done.is_change
    assert placement.writes == []


def test_what_is_removed_is_gone_and_the_rest_stays(providers, one, operator):
    done = providers.remove_traits(one, ['HW_CPU_X86_AVX', 'HW_CPU_X86_AVX2'])
    assert done.removed == {'HW_CPU_X86_AVX'}
    assert operator.traits() == {'CUSTOM_TRAIT_1'}


def test_put_400_bad_request_if_any_of_the_traits_are_not_valid(
    placement, providers, one, operator
):
    with pytest.raises(errors.DoesNotExist) as raised:
        providers.add_traits(one, ['CUSTOM_NEW', 'HW_CPU_X86_AVX2'])
    assert lines(placement) == [
        'GET {uuid}/traits 200',
        'PUT {uuid}/traits 400',
        'GET /traits?name=in:CUSTOM_NEW,HW_CPU_X86_AVX2 200',
        'GET /traits?name=startswith:CUSTOM_ 200',
    ]
    assert str(raised.value) == 'placement knows no trait CUSTOM_NEW'
    assert raised.value.missing == ('CUSTOM_NEW',)
    assert operator.traits() == {'HW_CPU_X86_AVX', 'CUSTOM_TRAIT_1'}


def test_of_several_that_are_not_valid_all_are_named(providers, one):
    with pytest.raises(errors.DoesNotExist) as raised:
        providers.add_traits(one, ['CUSTOM_NEW', 'CUSTOM_OLD'])
    assert str(raised.value).endswith('no traits CUSTOM_NEW, CUSTOM_OLD')


def test_a_standard_trait_that_placement_lacks_is_not_created(
    placement, providers, one
):
    with pytest.raises(errors.DoesNotExist) as raised:
        providers.add_traits(one, ['STORAGE_SSD', 'CUSTOM_NEW'], create=True)
    assert 'STORAGE_SSD; did you mean STORAGE_DISK_SSD?' in str(raised.value)
    assert [r.path for r in placement.writes] == [TRAITS]


def test_a_standard_trait_of_a_newer_os_traits_says_so(
    placement, providers, one
):
    unknown = {'status': 400, 'detail': 'No such trait HW_CPU_X86_AVX2'}
    placement.fault('PUT *', (400, {'errors': [unknown]}))
    placement.fault('GET /traits?*', (200, {'traits': []}))
    with pytest.raises(errors.DoesNotExist, match='os-traits is older than'):
        providers.add_traits(one, ['HW_CPU_X86_AVX2'])


def test_missing_custom_traits_are_created_where_that_is_wanted(
    placement, providers, one, operator
):
    done = providers.add_traits(
        one, ['CUSTOM_NEW', 'HW_CPU_X86_AVX2'], create=True
    )
    assert done.added == {'CUSTOM_NEW', 'HW_CPU_X86_AVX2'}
    assert operator.traits() >= done.added
    assert lines(placement) == [
        'GET {uuid}/traits 200',
        'PUT {uuid}/traits 400',
        'GET /traits?name=in:CUSTOM_NEW,HW_CPU_X86_AVX2 200',
        'PUT /traits/CUSTOM_NEW 201',
        'GET {uuid}/traits 200',
        'PUT {uuid}/traits 200',
    ]


def test_a_trait_that_goes_before_it_is_given_is_created_again(
    placement, providers, one, operator
):
    placement.put('/traits/CUSTOM_NEW')
    meddle(placement, lambda: placement.delete('/traits/CUSTOM_NEW'))
    providers.add_traits(one, ['CUSTOM_NEW'], create=True)
    assert 'CUSTOM_NEW' in operator.traits()


@pytest.mark.parametrize('act', ['add_traits', 'remove_traits', 'set_traits'])
def test_a_name_outside_the_grammar_is_refused_before_a_request(
    placement, providers, one, act
):
    with pytest.raises(agent_errors.InvalidName, match='did you mean'):
        getattr(providers, act)(one, ['hw_cpu_x86_avx2'])
    assert placement.requests == []


def test_put_404_not_found_if_the_provider_is_not_found(
    placement, providers, one, operator
):
    meddle(placement, lambda: operator.delete(NODE))
    with pytest.raises(errors.NotFound, match=r'\) is gone$'):
        providers.add_traits(one, ['HW_CPU_X86_AVX2'])
    assert lines(placement)[-1] == 'PUT {uuid}/traits 404'


def test_put_409_conflict_if_the_generation_does_not_match(
    placement, providers, one, operator, waits
):
    meddle(placement, lambda: operator.add_traits('HW_CPU_X86_SSE'))
    providers.add_traits(one, ['HW_CPU_X86_AVX2'])
    assert lines(placement) == [
        'GET {uuid}/traits 200',
        'PUT {uuid}/traits 409',
        'GET {uuid}/traits 200',
        'PUT {uuid}/traits 200',
    ]
    assert len(waits) == 1
    # Neither change is lost.
    assert {'HW_CPU_X86_SSE', 'HW_CPU_X86_AVX2'} <= operator.traits()


def test_what_another_removes_meanwhile_does_not_come_back(
    placement, providers, one, operator
):
    meddle(placement, lambda: operator.remove_traits('CUSTOM_TRAIT_1'))
    providers.add_traits(one, ['HW_CPU_X86_AVX2'])
    assert operator.traits() == {'HW_CPU_X86_AVX', 'HW_CPU_X86_AVX2'}


def test_what_another_adds_meanwhile_is_not_removed_with_the_rest(
    placement, providers, one, operator
):
    meddle(placement, lambda: operator.add_traits('HW_CPU_X86_SSE'))
    providers.remove_traits(one, ['CUSTOM_TRAIT_1'])
    assert operator.traits() == {'HW_CPU_X86_AVX', 'HW_CPU_X86_SSE'}


def test_what_another_has_done_meanwhile_is_not_done_again(
    placement, providers, one, operator
):
    meddle(placement, lambda: operator.add_traits('HW_CPU_X86_AVX2'))
    done = providers.add_traits(one, ['HW_CPU_X86_AVX2'])
    assert not done.is_change
    assert lines(placement)[-2:] == [
        'PUT {uuid}/traits 409',
        'GET {uuid}/traits 200',
    ]


def test_the_500_that_placement_gives_for_a_race_is_a_conflict_too(
    placement, providers, one, operator
):
    body = {'errors': [{'status': 500, 'detail': RACE}]}
    placement.fault('PUT *', (500, body))
    providers.add_traits(one, ['HW_CPU_X86_AVX2'])
    assert 'HW_CPU_X86_AVX2' in operator.traits()


def test_others_who_never_stop_end_it_in_one_line(
    placement, providers, one, operator, waits
):
    def interfere(request):
        if request.method == 'PUT':
            operator.set_aggregates()  # which moves the generation

    placement.before_request(interfere)
    with pytest.raises(errors.Conflict) as raised:
        providers.add_traits(one, ['HW_CPU_X86_AVX2'])
    said = str(raised.value)
    assert (
        f'other writers changed it during each of {provider_contents.ATTEMPTS}'
        in said
    )
    assert NAME in said
    assert len(placement.writes) == provider_contents.ATTEMPTS
    assert len(waits) == provider_contents.ATTEMPTS - 1
    assert max(waits) <= provider_contents.LONGEST_WAIT
    assert operator.traits() == {'HW_CPU_X86_AVX', 'CUSTOM_TRAIT_1'}


# --- DELETE -------------------------------------------------------------------


def test_to_dissociate_all_the_traits_is_a_guarded_put_of_none(
    placement, providers, one, operator
):
    done = providers.clear_traits(one)
    assert done.removed == {'HW_CPU_X86_AVX', 'CUSTOM_TRAIT_1'}
    assert operator.traits() == set()
    (write,) = placement.writes
    assert write.method == 'PUT'
    assert write.body == {'traits': [], 'resource_provider_generation': 1}


@pytest.mark.usefixtures('node')
def test_delete_204_no_content_if_the_delete_is_successful(raw, operator):
    # Placement still has it. It asks for no generation and takes away what
    # came in between, so nothing of ours sends it.
    assert raw('DELETE', TRAITS).status_code == 204
    assert operator.traits() == set()


def test_delete_404_not_found_if_the_provider_is_not_found(
    raw, placement, providers, gone
):
    assert raw('DELETE', TRAITS).status_code == 404
    with pytest.raises(errors.NotFound, match=r'\) is gone$'):
        providers.clear_traits(gone)


def test_what_comes_while_all_is_cleared_is_seen_and_cleared_as_well(
    placement, providers, one, operator
):
    meddle(placement, lambda: operator.add_traits('HW_CPU_X86_SSE'))
    done = providers.clear_traits(one)
    assert 'HW_CPU_X86_SSE' in done.removed
    assert operator.traits() == set()


def test_to_clear_a_provider_without_traits_writes_nothing(
    placement, providers, one
):
    providers.clear_traits(one)
    placement.clear()
    assert not providers.clear_traits(one).is_change
    assert placement.writes == []
