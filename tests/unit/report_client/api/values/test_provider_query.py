# SPDX-License-Identifier: Apache-2.0
"""Queries for providers: read from options, checked, written as a path."""

import pytest

from compute_agent import errors
from report_client.api.values import provider_query, trait_query
from report_client.candidates.values import query

A = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
B = 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb'
ProviderQuery = provider_query.ProviderQuery
MemberOf = provider_query.MemberOf


def traits(*texts):
    return trait_query.TraitQuery.parse(texts)


@pytest.mark.parametrize(
    ('query', 'said'),
    [
        (ProviderQuery(), ''),
        (ProviderQuery(traits=traits('A,!B')), '?required=A,!B'),
        (
            ProviderQuery(traits=traits('in:A,B', 'C')),
            '?required=C&required=in:A,B',
        ),
        (
            ProviderQuery(resources={'VCPU': 2, 'MEMORY_MB': 512}),
            '?resources=VCPU:2,MEMORY_MB:512',
        ),
        (
            ProviderQuery(
                member_of=(MemberOf.parse(A), MemberOf.parse(f'!{B}'))
            ),
            f'?member_of={A}&member_of=!{B}',
        ),
        (
            ProviderQuery(in_tree=A.upper(), uuid=B),
            f'?in_tree={A}&uuid={B}',
        ),
        (
            ProviderQuery(name='/mnt/a & b?#=ö'),
            '?name=/mnt/a+%26+b%3F%23%3D%C3%B6',
        ),
    ],
)
def test_a_query_is_one_path(query, said):
    assert query.path() == f'/resource_providers{said}'


@pytest.mark.parametrize(
    ('text', 'aggregates', 'forbidden', 'back'),
    [
        (A, (A,), False, A),
        (f' {A.upper()} ', (A,), False, A),
        (f'in:{A},{B}', (A, B), False, f'in:{A},{B}'),
        (f'in:{A}, {B} ,{A}', (A, B), False, f'in:{A},{B}'),
        (f'in:{A}', (A,), False, A),
        (f'!{A}', (A,), True, f'!{A}'),
        (f'!in:{A},{B}', (A, B), True, f'!in:{A},{B}'),
    ],
)
def test_aggregates_are_read_and_written(text, aggregates, forbidden, back):
    one = MemberOf.parse(text)
    assert one == MemberOf(aggregates=aggregates, forbidden=forbidden)
    assert str(one) == back


@pytest.mark.parametrize(
    ('text', 'said'),
    [
        (f'{A},{B}', 'write in: before them'),
        ('rack', "aggregate 'rack' is not a uuid"),
        ('', "aggregate '' is not a uuid"),
        (f'in:{A},', "aggregate '' is not a uuid"),
        (f'! {A}', 'is not a uuid'),
        (f'in:!{A}', 'is not a uuid'),
    ],
)
def test_what_names_no_aggregate_is_refused(text, said):
    with pytest.raises(errors.InvalidName, match=said):
        MemberOf.parse(text)


@pytest.mark.parametrize(
    ('texts', 'resources'),
    [
        (['VCPU:2'], {'VCPU': 2}),
        (['VCPU=2'], {'VCPU': 2}),
        (['VCPU:2, MEMORY_MB:512', 'DISK_GB:1'],
         {'VCPU': 2, 'MEMORY_MB': 512, 'DISK_GB': 1}),
        (['VCPU:2147483647'], {'VCPU': 2147483647}),
        (['VCPU:' + '0' * 5000 + '2'], {'VCPU': 2}),
        ([], {}),
    ],
)  # fmt: skip
def test_resources_are_read(texts, resources):
    assert provider_query.parse_resources(texts) == resources


@pytest.mark.parametrize(
    ('texts', 'said'),
    [
        (['VCPU'], "'VCPU' is not an amount of a resource class"),
        (['VCPU:'], 'not an amount'),
        (['VCPU:two'], 'not an amount'),
        (['VCPU:-2'], 'not an amount'),
        (['VCPU:1.5'], 'not an amount'),
        (['VCPU:²'], 'not an amount'),
        ([''], 'not an amount'),
        (['VCPU:1,VCPU:2'], 'VCPU is asked for twice'),
        (['VCPU:٣'], 'not an amount'),
        (['VCPU:1_000'], 'not an amount'),
        (['VCPU:' + '9' * 20], 'VCPU: the amount is too large'),
        (['VCPU:' + '9' * 5000], 'VCPU: the amount is too large'),
        (['V' * 5000], 'not an amount'),
        ('VCPU:1', 'is one string where'),
    ],
)
def test_what_is_no_amount_is_refused(texts, said):
    with pytest.raises(errors.InvalidName, match=said) as raised:
        provider_query.parse_resources(texts)
    assert len(str(raised.value)) < 150


@pytest.mark.parametrize(
    'wrong',
    [
        {'resources': {'VCPU': 0}},
        {'resources': {'vcpu': 1}},
        {'resources': {'VCPU': 2147483648}},
        {'resources': {'VCPU': 10**5000}},
        {'in_tree': 'cn1'},
        {'uuid': 'cn1'},
        {'name': ''},
        {'name': 'n' * 201},
    ],
)
def test_a_value_that_placement_refuses_is_refused_here(wrong):
    with pytest.raises(errors.InvalidName):
        ProviderQuery(**wrong)


@pytest.mark.parametrize(
    ('query', 'version'),
    [
        (ProviderQuery(), (1, 30)),
        (ProviderQuery(traits=traits('A,!B')), (1, 30)),
        (ProviderQuery(member_of=(MemberOf.parse(A),)), (1, 30)),
        (ProviderQuery(member_of=(MemberOf.parse(f'!{A}'),)), (1, 32)),
        (ProviderQuery(traits=traits('in:A,B')), (1, 39)),
        (
            ProviderQuery(
                traits=traits('in:A,B'), member_of=(MemberOf.parse(f'!{A}'),)
            ),
            (1, 39),
        ),
    ],
)
def test_a_query_says_what_it_needs(query, version):
    assert query.least_version == version


@pytest.mark.parametrize(
    ('texts', 'named'),
    [
        ([A, f'!{A}'], A),
        ([f'!{A.upper()}', A], A),
        ([f'in:{A},{B}', f'!in:{B},{A}'], f'{A} and {B}'),
        ([f'in:{A},{B}', f'!{A}', f'!{B}'], f'{A} and {B}'),
    ],
)
def test_aggregates_that_are_asked_for_and_forbidden_are_refused(texts, named):
    some = tuple(map(MemberOf.parse, texts))
    words = f'aggregate {named} cannot be asked for and forbidden at once'
    with pytest.raises(errors.InvalidName, match=words):
        ProviderQuery(member_of=some)
    with pytest.raises(errors.InvalidName, match=words):
        query.Group(member_of=some)


@pytest.mark.parametrize(
    'texts', [[A, f'!{B}'], [f'in:{A},{B}', f'!{A}'], [A, B], [f'!{A}']]
)
def test_aggregates_that_leave_one_to_be_in_are_asked_for(texts):
    some = tuple(map(MemberOf.parse, texts))
    assert ProviderQuery(member_of=some).path().count('member_of') == len(
        texts
    )


@pytest.mark.parametrize('wrong', [5, None, b'VCPU:1', ['VCPU:1']])
def test_what_is_no_text_is_said_in_one_line(wrong):
    with pytest.raises(errors.InvalidName, match='is not a string: give each'):
        provider_query.parse_resources([wrong])
    with pytest.raises(errors.InvalidName, match='is not a string: give each'):
        provider_query.MemberOf.parse(wrong)
