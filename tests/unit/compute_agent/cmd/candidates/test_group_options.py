# SPDX-License-Identifier: Apache-2.0
"""Options of groups: any name that placement takes, and no other."""

import argparse

import pytest

from compute_agent import errors
from compute_agent.cmd.candidates import group_options
from report_client.api.values.provider_query import MemberOf
from report_client.candidates.query import Group, TraitQuery

A = 'aaaaaaaa-1111-4111-8111-111111111111'
LONG = 'x' * 64


def parser():
    return argparse.ArgumentParser(prog='asked', allow_abbrev=False)


def groups(*words):
    asked = parser()
    asked.add_argument('--root-required')
    group_options.add(asked)
    parsed = asked.parse_args(words)
    return list(group_options.groups(parsed, lambda name: f'{A[:-1]}{name}'))


def required(name, trait):
    return Group(name=name, traits=TraitQuery(required=(trait,)))


@pytest.mark.parametrize(
    'name', ['', '1', '9', '10', '123', '01', '_NET', '-NET', 'net', LONG]
)
def test_an_option_takes_any_group_that_placement_takes(name):
    assert groups(
        f'--resources{name}=VCPU:2',
        f'--required{name}',
        'CUSTOM_A',
        f'--member-of{name}',
        f'!{A}',
        f'--in-tree{name}=7',
        f'--required{name}=CUSTOM_B',
    ) == [
        Group(name=name, resources={'VCPU': 2}),
        required(name, 'CUSTOM_A'),
        Group(
            name=name, member_of=(MemberOf(aggregates=(A,), forbidden=True),)
        ),
        Group(name=name, in_tree=f'{A[:-1]}7'),
        required(name, 'CUSTOM_B'),
    ]


def test_options_are_kept_in_their_order_and_others_left_alone():
    assert groups(
        '--required_B=CUSTOM_B',
        '--root-required',
        'CUSTOM_C',
        '--required10=CUSTOM_A',
        '--required=CUSTOM_D',
    ) == [
        required('_B', 'CUSTOM_B'),
        required('10', 'CUSTOM_A'),
        required('', 'CUSTOM_D'),
    ]


@pytest.mark.parametrize('name', ['.NET', 'x' * 65, ' 1', 'ö', '_A:B', '1\n'])
@pytest.mark.parametrize('option', ['resources', 'required', 'member-of'])
def test_a_group_that_placement_does_not_take_is_refused(option, name):
    with pytest.raises(errors.InvalidName, match='use 1 to 64 letters'):
        groups(f'--{option}{name}', 'whatever')


def test_an_option_of_a_group_needs_its_text(capsys):
    with pytest.raises(SystemExit):
        groups('--required_NET')
    said = capsys.readouterr().err
    assert 'argument --required_NET: expected one argument' in said


@pytest.mark.parametrize(
    'option', ['--require1', '--memberof1', '--resource1']
)
def test_an_option_that_only_looks_like_one_is_unknown(option, capsys):
    with pytest.raises(SystemExit):
        groups(option, 'CUSTOM_A')
    assert f'unrecognized arguments: {option}' in capsys.readouterr().err


def test_the_words_of_the_program_are_read_without_others(monkeypatch):
    monkeypatch.setattr('sys.argv', ['asked', '--required_A', 'CUSTOM_A'])
    asked = parser()
    group_options.add(asked)
    parsed = asked.parse_args()
    assert list(group_options.groups(parsed, str)) == [
        required('_A', 'CUSTOM_A')
    ]


@pytest.mark.parametrize('option', ['--required1', '--in-tree_X'])
def test_a_command_without_groups_says_who_has_them(option, capsys):
    asked = parser()
    asked.add_argument('--required')
    group_options.refuse(asked, 'compute-agent allocation candidate list')
    assert asked.parse_args(['--required', 'A']).required == 'A'
    with pytest.raises(SystemExit):
        asked.parse_args([f'{option}=A'])
    assert capsys.readouterr().err.endswith(
        f'asked: error: {option}: this command has no groups, each condition '
        'applies to a single provider; use "compute-agent allocation '
        'candidate list" for groups\n'
    )
