# SPDX-License-Identifier: Apache-2.0
"""``compute-agent resource class``: list, create and delete custom classes."""

import io
import sys

import pytest

pytestmark = pytest.mark.long

NODE = '11111111-1111-4111-8111-111111111111'


def run(cli, *words):
    return cli.run('resource', 'class', *words)


def custom(cli):
    result = run(cli, 'list', '--custom', '-f', 'value')
    assert (result.code, result.err) == (0, '')
    return result.out.split()


def test_a_class_is_created_listed_and_removed(cli):
    assert run(cli, 'create', 'CUSTOM_A').out == 'created CUSTOM_A\n'
    assert run(cli, 'create', 'CUSTOM_A').out == 'CUSTOM_A already exists\n'
    assert custom(cli) == ['CUSTOM_A']
    every = run(cli, 'list', '-f', 'value').out.split()
    assert {'CUSTOM_A', 'VCPU'} < set(every)
    assert run(cli, 'delete', 'CUSTOM_A').out == 'deleted CUSTOM_A\n'
    assert custom(cli) == []


def test_classes_are_created_and_removed_by_lines(cli, monkeypatch):
    for verb, left in (('create', ['CUSTOM_A', 'CUSTOM_B']), ('delete', [])):
        stdin = io.TextIOWrapper(io.BytesIO(b'CUSTOM_A\nCUSTOM_B\n'))
        monkeypatch.setattr(sys, 'stdin', stdin)
        assert run(cli, verb, '-').code == 0
        assert custom(cli) == left


def test_a_class_that_a_provider_has_is_not_removed(cli):
    cli.run('resource', 'provider', 'create', 'cn1', '--uuid', NODE)
    words = ('inventory', 'set', 'cn1', '--resource=CUSTOM_A=1', '--create')
    assert cli.run('resource', 'provider', *words).code == 0
    result = run(cli, 'delete', 'CUSTOM_A')
    assert (result.code, result.out) == (1, '')
    assert result.line == (
        'compute-agent: resource class CUSTOM_A was not deleted: cn1 '
        f'({NODE}) has inventory of it; remove that first'
    )
    assert custom(cli) == ['CUSTOM_A']


@pytest.mark.parametrize(
    ('name', 'said'),
    [
        ('VCPU', 'cannot delete VCPU: standard classes come with placement'),
        ('custom', "resource class 'custom' is not a name"),
        (
            'CUSTOM_GOLDD',
            'no resource class CUSTOM_GOLDD; did you mean CUSTOM_G',
        ),
    ],
)
def test_a_class_that_cannot_be_removed_is_one_line(cli, name, said):
    run(cli, 'create', 'CUSTOM_GOLD')
    result = run(cli, 'delete', name)
    assert (result.code, result.out) == (1, '')
    assert said in result.line
