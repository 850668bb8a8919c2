# SPDX-License-Identifier: Apache-2.0
"""A request for candidates is written as placement takes it, or refused."""

import pytest

from compute_agent import errors
from report_client.api.values.provider_query import MemberOf
from report_client.candidates.values.query import (
    Group,
    Request,
    TraitQuery,
    check_class,
    merge_groups,
)

A, B = (f'{n * 8}-1111-4111-8111-111111111111' for n in 'ab')
VCPU = Group(resources={'VCPU': 1})


def amounts(name='', **resources):
    return Group(name=name, resources=resources or {'VCPU': 1})


def required(*names, name=''):
    return Group(name=name, traits=TraitQuery(required=names))


def request(*groups, **more):
    return Request(groups=merge_groups(groups), **more)


def test_every_parameter_stands_in_the_query():
    whole = request(
        Group(
            resources={'VCPU': 2, 'DISK_GB': 10},
            traits=TraitQuery(
                required=('CUSTOM_A',),
                any_of=(('CUSTOM_B', 'CUSTOM_C'),),
                forbidden=('CUSTOM_D',),
            ),
            member_of=(
                MemberOf(aggregates=(A, B)),
                MemberOf(aggregates=(B,), forbidden=True),
            ),
            in_tree=A.upper(),
        ),
        amounts('1', VGPU=1),
        required('CUSTOM_A', name='_ROOT'),
        group_policy='isolate',
        root_required=TraitQuery(
            required=('COMPUTE_NODE',), forbidden=('COMPUTE_STATUS_DISABLED',)
        ),
        same_subtree=(('1', '_ROOT'),),
        limit=7,
    )
    assert whole.path().partition('?')[2].split('&') == [
        'resources=DISK_GB:10,VCPU:2',
        'required=CUSTOM_A,!CUSTOM_D',
        'required=in:CUSTOM_B,CUSTOM_C',
        f'member_of=in:{A},{B}',
        f'member_of=!{B}',
        f'in_tree={A}',
        'resources1=VGPU:1',
        'required_ROOT=CUSTOM_A',
        'group_policy=isolate',
        'root_required=COMPUTE_NODE,!COMPUTE_STATUS_DISABLED',
        'same_subtree=1,_ROOT',
        'limit=7',
    ]


@pytest.mark.parametrize(
    ('asked', 'version'),
    [
        (request(VCPU), (1, 30)),
        (request(VCPU, required('CUSTOM_A')), (1, 30)),
        (
            request(VCPU, Group(traits=TraitQuery(any_of=(('CUSTOM_A',),)))),
            (1, 39),
        ),
        (request(VCPU, Group(in_tree=A)), (1, 31)),
        (
            request(VCPU, Group(member_of=(MemberOf(aggregates=(A,)),))),
            (1, 30),
        ),
        (
            request(
                VCPU,
                Group(member_of=(MemberOf(aggregates=(A,), forbidden=True),)),
            ),
            (1, 32),
        ),
        (request(amounts('12')), (1, 30)),
        (request(amounts('012')), (1, 33)),
        (request(amounts('_NET')), (1, 33)),
        (
            request(VCPU, root_required=TraitQuery(required=('CUSTOM_A',))),
            (1, 35),
        ),
        (request(amounts('1'), same_subtree=(('1',),)), (1, 36)),
    ],
)
def test_it_knows_the_microversion_it_needs(asked, version):
    assert asked.least_version == version


def test_groups_of_one_name_ask_together():
    (one,) = merge_groups(
        [
            amounts('1', VCPU=1),
            required('CUSTOM_A', name='1'),
            Group(name='1', member_of=(MemberOf(aggregates=(A,)),)),
            Group(name='1', in_tree=A),
            Group(name='1', in_tree=A),
            amounts('1', VCPU=1, DISK_GB=5),
            required('CUSTOM_B', 'CUSTOM_A', name='1'),
        ]
    )
    assert one == Group(
        name='1',
        resources={'VCPU': 1, 'DISK_GB': 5},
        traits=TraitQuery(required=('CUSTOM_A', 'CUSTOM_B')),
        member_of=(MemberOf(aggregates=(A,)),),
        in_tree=A,
    )


@pytest.mark.parametrize(
    ('groups', 'words'),
    [
        (
            [amounts(VCPU=1), amounts(VCPU=2)],
            'VCPU in the unnamed group is asked for as 1 and as 2: keep one',
        ),
        (
            [Group(name='1', in_tree=A), Group(name='1', in_tree=B)],
            f'the tree of group 1 is asked for as {A} and as {B}: keep one',
        ),
        (
            [
                required('CUSTOM_A'),
                Group(traits=TraitQuery(forbidden=('CUSTOM_A',))),
            ],
            'CUSTOM_A cannot be required and forbidden at once',
        ),
    ],
)
def test_groups_of_one_name_may_not_contradict_each_other(groups, words):
    with pytest.raises(errors.AgentError) as refused:
        merge_groups(groups)
    assert str(refused.value) == words


@pytest.mark.parametrize(
    ('groups', 'more', 'words'),
    [
        ([], {}, 'the request asks for no resources'),
        ([required('CUSTOM_A')], {}, 'the request asks for no resources'),
        (
            [VCPU, required('CUSTOM_A', name='1')],
            {},
            (
                'group 1 asks for no resources, only for required1=CUSTOM_A: add '
                'resources1:RC=AMOUNT'
            ),
        ),
        (
            [VCPU, Group(name='1')],
            {},
            'group 1 asks for no resources: add resources1:RC=AMOUNT',
        ),
        ([VCPU], {'limit': 0}, 'limit 0: ask for 1 or more'),
        (
            [VCPU],
            {'root_required': TraitQuery(any_of=(('CUSTOM_A',),))},
            'placement takes no "in:" for the root',
        ),
        (
            [VCPU],
            {'same_subtree': (('',),)},
            'the unnamed group cannot be in same_subtree',
        ),
        (
            [VCPU, amounts('1')],
            {'same_subtree': (('1', '2'),)},
            'same_subtree names group 2, which asks for nothing',
        ),
        (
            [VCPU],
            {'group_policy': 'any'},
            'group_policy=any: write none or isolate after the "="',
        ),
        (
            [amounts('1'), amounts('2')],
            {},
            'the groups 1, 2 have no policy: add group_policy=none if',
        ),
    ],
)
def test_what_placement_would_refuse_is_not_sent(groups, more, words):
    with pytest.raises(errors.ConfigError) as refused:
        request(*groups, **more)
    assert str(refused.value).startswith(words)


@pytest.mark.parametrize(
    ('field', 'value', 'words'),
    [
        ('name', 'a b', "group 'a b' is not one placement takes"),
        ('name', 'x' * 65, 'group '),
        ('resources', {'VCPU': 0}, 'VCPU: 0 is not a valid amount'),
        ('resources', {'VCPU': 2**31}, 'VCPU: 2147483648 is not a valid'),
        ('resources', {'vcpu': 1}, "resource class 'vcpu' is not a name"),
        ('in_tree', 'cn1', "tree 'cn1' is not a uuid"),
    ],
)
def test_a_group_takes_what_placement_takes(field, value, words):
    with pytest.raises(errors.InvalidName) as refused:
        Group(**{field: value})
    assert str(refused.value).startswith(words)


def test_a_class_without_a_likely_meaning_gets_no_hint():
    with pytest.raises(errors.InvalidName) as refused:
        check_class('???')
    assert 'did you mean' not in str(refused.value)


def test_a_request_is_made_of_groups_alone():
    assert Request.of(VCPU, required('CUSTOM_A')) == request(
        VCPU, required('CUSTOM_A')
    )


def test_the_amounts_are_those_of_the_groups():
    asked = request(VCPU, amounts('1', VGPU=2))
    assert asked.amounts == {'': {'VCPU': 1}, '1': {'VGPU': 2}}
