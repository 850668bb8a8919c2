# SPDX-License-Identifier: Apache-2.0
"""Options of groups: any name that placement takes, and no other."""

import argparse

import pytest

from compute_agent import errors
from compute_agent.cmd.candidates import group_options
from report_client.api.values.provider_query import MemberOf
from report_client.candidates.values.query import Group, TraitQuery

A = 'aaaaaaaa-1111-4111-8111-111111111111'
B = 'bbbbbbbb-1111-4111-8111-111111111111'
LONG = 'x' * 64


def parser():
    return argparse.ArgumentParser(prog='asked', allow_abbrev=False)


def parsed(*words):
    asked = parser()
    asked.add_argument('--root-required')
    group_options.add(asked)
    return asked.parse_args(words)


def groups(*words):
    found = group_options.groups(
        parsed(*words), lambda name: f'{A[:-1]}{name}'
    )
    return list(found)


def required(name, *traits):
    return Group(name=name, traits=TraitQuery(required=traits))


@pytest.mark.parametrize(
    'name', ['1', '9', '10', '123', '01', '_NET', '-NET', 'net', LONG]
)
def test_an_option_belongs_to_the_group_before_it(name):
    assert groups(
        '--resource=VCPU=2',
        f'--group={name}',
        *('--required', 'CUSTOM_A', '--member-of', f'{A},{B}'),
        *('--not-member-of', A, '--in-tree=7', '--forbidden=CUSTOM_B'),
    ) == [
        Group(resources={'VCPU': 2}),
        required(name, 'CUSTOM_A'),
        Group(name=name, member_of=(MemberOf(aggregates=(A, B)),)),
        Group(
            name=name, member_of=(MemberOf(aggregates=(A,), forbidden=True),)
        ),
        Group(name=name, in_tree=f'{A[:-1]}7'),
        Group(name=name, traits=TraitQuery(forbidden=('CUSTOM_B',))),
    ]


def test_options_are_kept_in_their_order_and_others_left_alone():
    assert groups(
        *('--required=CUSTOM_D', '--group', '_B', '--required=CUSTOM_B'),
        *('--root-required', 'CUSTOM_C', '--group', '10'),
        '--required=CUSTOM_A',
    ) == [
        required('', 'CUSTOM_D'),
        required('_B', 'CUSTOM_B'),
        required('10', 'CUSTOM_A'),
    ]


def test_of_traits_with_commas_one_is_enough():
    (found,) = groups('--required', 'CUSTOM_A,CUSTOM_B')
    assert found.traits == TraitQuery(any_of=(('CUSTOM_A', 'CUSTOM_B'),))


def test_a_group_is_known_to_be_given():
    assert group_options.has_groups(parsed('--group', '1'))
    assert not group_options.has_groups(parsed('--required', 'CUSTOM_A'))


@pytest.mark.parametrize(
    'name', ['', '.NET', 'x' * 65, ' 1', 'ö', '_A:B', '1\n']
)
def test_a_group_that_placement_does_not_take_is_refused(name):
    with pytest.raises(errors.InvalidName, match='use 1 to 64 letters'):
        groups('--group', name)


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        (['--required', '!CUSTOM_A'], 'write --forbidden NAME'),
        (['--required', 'in:CUSTOM_A,CUSTOM_B'], 'leave "in:" out'),
        (['--forbidden', '!CUSTOM_A'], 'write --forbidden NAME'),
        (['--required', 'CUSTOM_A,'], 'a trait is missing'),
        (['--member-of', f'!{A}'], 'write --not-member-of'),
        (['--member-of', f'in:{A}'], 'leave "in:" out'),
        (['--member-of', f'{A},'], 'is not a uuid'),
        (['--resource', 'VCPU'], 'is not an amount'),
    ],
)
def test_the_marks_of_placement_have_options_of_their_own(words, said):
    with pytest.raises(errors.InvalidName, match=said):
        groups(*words)


@pytest.mark.parametrize(
    'option', ['--required1', '--memberof', '--resources']
)
def test_an_option_that_only_looks_like_one_is_unknown(option, capsys):
    with pytest.raises(SystemExit):
        groups(option, 'CUSTOM_A')
    assert f'unrecognized arguments: {option}' in capsys.readouterr().err
