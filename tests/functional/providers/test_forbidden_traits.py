# SPDX-License-Identifier: Apache-2.0
"""Seed 001, forbidden traits, on ``GET /resource_providers``.

Each test is named after the seed's line; ``in:`` and repetition came later
(1.39). The same rules for allocation candidates are tested beside this.
"""

import itertools

import pytest
from agents import NODE
from examples import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compute_agent import errors as agent_errors
from report_client import errors
from report_client.api import provider_query, trait_query

NAMES = ('CUSTOM_A', 'CUSTOM_B', 'CUSTOM_C')
AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
OTHER = 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb'


@pytest.fixture
def every(operator):
    """A provider for each set of three traits, called like that set."""
    sets = [
        frozenset(some)
        for count in range(len(NAMES) + 1)
        for some in itertools.combinations(NAMES, count)
    ]
    for number, some in enumerate(sets):
        uuid = f'11111111-1111-4111-8111-11111111111{number}'
        operator.create(uuid, called(some))
        operator.add_traits(*some, uuid=uuid)
    return sets


def called(some):
    return ''.join(sorted(name[-1] for name in some)) or 'none'


def asked(*texts, **more):
    return provider_query.ProviderQuery(
        traits=trait_query.TraitQuery.parse(texts), **more
    )


def listed(providers, *texts, **more):
    return [
        row.name for row in providers.list_providers(asked(*texts, **more))
    ]


@pytest.fixture
def storage(operator):
    """Three disks: a fast one, one of the golden kind, a slow one."""
    for number, (name, traits) in enumerate(
        {
            'fast': ['STORAGE_DISK_SSD'],
            'golden': ['STORAGE_DISK_SSD', 'CUSTOM_GOLDEN_RAID'],
            'slow': ['STORAGE_DISK_HDD'],
        }.items()
    ):
        uuid = f'22222222-2222-4222-8222-22222222222{number}'
        operator.create(uuid, name)
        operator.add_traits(*traits, uuid=uuid)
        operator.change_inventory('DISK_GB', uuid=uuid, total=100)


@pytest.mark.usefixtures('storage')
def test_we_require_storage_disk_ssd_and_not_custom_golden_raid(
    placement, providers
):
    found = listed(
        providers,
        'STORAGE_DISK_SSD,!CUSTOM_GOLDEN_RAID',
        resources={'DISK_GB': 5},
    )
    assert found == ['fast']
    (request,) = placement.requests
    assert request.path == (
        '/resource_providers?required=STORAGE_DISK_SSD,!CUSTOM_GOLDEN_RAID'
        '&resources=DISK_GB:5'
    )


@pytest.mark.usefixtures('every')
def test_the_prefixed_trait_is_required_to_be_not_present(providers):
    assert listed(providers, '!CUSTOM_A') == ['B', 'BC', 'C', 'none']
    assert listed(providers, '!CUSTOM_A', '!CUSTOM_B') == ['C', 'none']
    assert listed(providers, 'CUSTOM_A,!CUSTOM_B') == ['A', 'AC']


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
    placement, providers, texts
):
    with pytest.raises(agent_errors.InvalidName, match='at once'):
        listed(providers, *texts)
    assert placement.requests == []


@pytest.mark.usefixtures('every')
def test_where_placement_gives_no_400_for_it_any_more(raw):
    # Of providers placement lists none, and says nothing.
    answer = raw('GET', '/resource_providers?required=CUSTOM_A,!CUSTOM_A')
    assert answer.status_code == 200
    assert answer.json() == {'resource_providers': []}


@pytest.mark.usefixtures('every')
def test_no_whitespace_is_allowed_between_the_mark_and_the_trait(
    placement, providers, raw
):
    answer = raw('GET', '/resource_providers?required=!%20CUSTOM_A')
    assert answer.status_code == 400
    placement.clear()
    with pytest.raises(agent_errors.InvalidName, match='a space after "!"'):
        listed(providers, '! CUSTOM_A')
    assert placement.requests == []


@pytest.mark.usefixtures('every')
def test_whitespace_before_or_after_the_phrase_is_allowed_and_stripped(
    placement, providers
):
    assert listed(providers, ' CUSTOM_A , !CUSTOM_B ') == ['A', 'AC']
    (request,) = placement.requests
    assert request.path.endswith('?required=CUSTOM_A,!CUSTOM_B')


@pytest.mark.parametrize('term', ['custom_a', '!', '', 'A-B', '!!CUSTOM_A'])
@pytest.mark.usefixtures('every')
def test_a_malformed_trait_is_an_error(placement, providers, term):
    with pytest.raises(agent_errors.InvalidName):
        listed(providers, f'CUSTOM_B,{term}')
    assert placement.requests == []


@pytest.mark.parametrize('term', ['CUSTOM_D', '!CUSTOM_D', 'in:CUSTOM_D'])
@pytest.mark.usefixtures('every')
def test_a_trait_that_does_not_exist_is_an_error_that_names_it(
    placement, providers, term
):
    with pytest.raises(errors.DoesNotExist) as raised:
        listed(providers, term)
    assert 'placement knows no trait CUSTOM_D' in str(raised.value)
    assert placement.requests[0].status == 400


@pytest.mark.usefixtures('every')
def test_any_of_some_traits_since_1_39(providers):
    assert listed(providers, 'in:CUSTOM_A,CUSTOM_B', '!CUSTOM_C') == [
        'A',
        'AB',
        'B',
    ]
    assert listed(
        providers, 'in:CUSTOM_A,CUSTOM_B', 'in:CUSTOM_B,CUSTOM_C'
    ) == ['AB', 'ABC', 'AC', 'B', 'BC']


def queries():
    some = st.lists(st.sampled_from(NAMES), max_size=2)
    groups = st.lists(st.lists(st.sampled_from(NAMES), min_size=1), max_size=2)
    return st.tuples(some, groups, some)


@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(queries())
def test_who_is_listed_is_who_meets_the_words_of_the_query(
    every, providers, query
):
    required, groups, forbidden = query
    texts = [
        *required,
        *(f'in:{",".join(group)}' for group in groups),
        *(f'!{name}' for name in forbidden),
    ]
    wanted = [{name} for name in required] + [set(group) for group in groups]
    if any(group <= set(forbidden) for group in wanted):
        with pytest.raises(agent_errors.InvalidName):
            listed(providers, *texts)
        return
    meets = [
        called(some)
        for some in every
        if all(group & some for group in wanted) and not some & set(forbidden)
    ]
    assert listed(providers, *texts) == sorted(meets)


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
