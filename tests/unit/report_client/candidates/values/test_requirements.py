# SPDX-License-Identifier: Apache-2.0
"""A request is split into requirements, and rebuilt from some of them."""

import dataclasses

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from compute_agent import errors
from report_client.api.values.provider_query import MemberOf
from report_client.candidates.values import requirements
from report_client.candidates.values.query import (
    Group,
    Request,
    TraitQuery,
    merge_groups,
)
from report_client.candidates.values.requirements import Kind, Requirement

A, B = (f'{n * 8}-1111-4111-8111-111111111111' for n in 'ab')
WHOLE = Request(
    groups=merge_groups(
        [
            Group(
                resources={'VCPU': 2, 'MEMORY_MB': 512},
                traits=TraitQuery(
                    required=('CUSTOM_A',),
                    any_of=(('CUSTOM_B', 'CUSTOM_C'),),
                    forbidden=('CUSTOM_D',),
                ),
                member_of=(
                    MemberOf(aggregates=(A, B)),
                    MemberOf(aggregates=(A,), forbidden=True),
                ),
                in_tree=A,
            ),
            Group(
                name='1',
                resources={'VGPU': 1},
                traits=TraitQuery(required=('CUSTOM_A',)),
            ),
            Group(name='_ROOT', traits=TraitQuery(required=('CUSTOM_E',))),
        ]
    ),
    group_policy='isolate',
    root_required=TraitQuery(required=('CUSTOM_A',), forbidden=('CUSTOM_F',)),
    same_subtree=(('1', '_ROOT'),),
    limit=3,
)
EVERY = requirements.split(WHOLE)
(SUBTREE,) = (part for part in EVERY if part.kind is Kind.SAME_SUBTREE)


def amount(rc, n, group=''):
    return Requirement(kind=Kind.RESOURCE, names=(rc,), amount=n, group=group)


def test_each_requirement_says_itself():
    assert [part.text for part in EVERY] == [
        'MEMORY_MB: 512',
        'VCPU: 2',
        'VGPU: 1 (group 1)',
        'CUSTOM_A required',
        'one of CUSTOM_B, CUSTOM_C',
        'CUSTOM_D forbidden',
        f'in aggregate {A} or {B}',
        f'not in aggregate {A}',
        f'in the tree of {A}',
        'CUSTOM_A required (group 1)',
        'CUSTOM_E required (group _ROOT)',
        'CUSTOM_A required of the root',
        'CUSTOM_F forbidden to the root',
        'the groups 1, _ROOT in one subtree',
        'a provider for each of the groups 1, _ROOT',
    ]


def test_all_of_it_is_the_request_without_its_limit():
    unlimited = dataclasses.replace(WHOLE, limit=None)
    assert requirements.restricted_to(WHOLE, EVERY) == unlimited
    assert requirements.without(WHOLE, ()) == unlimited


def test_conditions_go_with_the_last_amount_of_their_group():
    of_cpus = {amount('VCPU', 2), amount('MEMORY_MB', 512)}
    rest = requirements.restricted_to(
        WHOLE, [p for p in EVERY if p not in of_cpus]
    )
    assert [group.name for group in rest.groups] == ['1', '_ROOT']


def test_a_group_of_a_subtree_needs_no_amounts():
    last = amount('VGPU', 1, '1')
    rest = requirements.restricted_to(WHOLE, [p for p in EVERY if p != last])
    assert [group.name for group in rest.groups] == ['', '1', '_ROOT']
    rest = requirements.without(WHOLE, [last])
    assert [group.name for group in rest.groups] == ['', '_ROOT']
    assert rest.same_subtree == (('_ROOT',),)


def test_conditions_are_left_out_with_the_first_amount_of_their_group():
    rest = requirements.without(WHOLE, [amount('VCPU', 2)])
    assert rest.groups[0] == Group(resources={'MEMORY_MB': 512})
    assert rest.groups[1:] == WHOLE.groups[1:]


def test_a_group_without_amounts_goes_with_its_subtree():
    rest = requirements.without(WHOLE, [SUBTREE])
    assert [group.name for group in rest.groups] == ['', '1']
    assert rest.same_subtree == ()


def test_groups_that_need_no_provider_of_their_own_may_have_one():
    rest = requirements.without(WHOLE, [EVERY[-1]])
    assert rest.group_policy == 'none'


@pytest.mark.parametrize(('policy', 'left'), [('none', 'none'), (None, None)])
def test_a_policy_that_asks_for_nothing_stays(policy, left):
    request = Request(
        groups=(Group(name='1', resources={'VGPU': 1, 'VCPU': 1}),),
        group_policy=policy,
    )
    rest = requirements.without(request, [amount('VGPU', 1, '1')])
    assert rest.group_policy == left


def test_without_amounts_nothing_is_asked_for():
    amounts = [part for part in EVERY if part.kind is Kind.RESOURCE]
    assert requirements.without(WHOLE, amounts) is None
    with pytest.raises(errors.ConfigError, match='asks for no resources'):
        requirements.restricted_to(WHOLE, ())


@given(some=st.sets(st.sampled_from(EVERY)))
def test_what_is_kept_is_a_request_that_asks_for_no_more(some):
    amounts = {part for part in some if part.kind is Kind.RESOURCE}
    assume(amounts)
    request = requirements.restricted_to(WHOLE, some)
    parts = set(requirements.split(request))
    assert amounts <= parts
    others = {
        p
        for p in parts - some
        if p.kind not in {Kind.SAME_SUBTREE, Kind.ISOLATE}
    }
    assert not others
