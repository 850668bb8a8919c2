# SPDX-License-Identifier: Apache-2.0
"""A node is named by its uuid or by its name in Ironic, in each command.

The fake driver stands for Ironic: its nodes are called by their uuids, and
have titles.
"""

import io
import sys

import pytest
import yaml

from compute_agent import errors
from drivers.fake import driver as fake

pytestmark = pytest.mark.long

ONE = '11111111-1111-4111-8111-111111111111'
TWO = '22222222-2222-4222-8222-222222222222'
OTHER = '44444444-4444-4444-8444-444444444444'


@pytest.fixture
def titles(monkeypatch):
    """The names of the nodes, by uuid."""
    found = {ONE: 'rack1-node01', TWO: 'rack1-node02'}
    monkeypatch.setattr(fake.FakeDriver, 'get_titles', lambda _: found)
    return found


@pytest.fixture
def known(cli, titles):
    """Two nodes that the agent has written to placement."""
    nodes = [
        {
            'name': uuid,
            'uuid': uuid,
            'inventories': {'CUSTOM_GOLD': 1},
            'traits': ['HW_CPU_X86_AVX2'],
        }
        for uuid in titles
    ]
    cli.fake_file.write_text(yaml.safe_dump({'nodes': nodes}))
    cli.configure(host=None)
    assert cli.run('sync').code == 0
    return cli


@pytest.mark.parametrize(
    'words',
    [
        ('plan', 'NODE'),
        ('sync', 'NODE'),
        ('tree', 'show', 'NODE'),
        ('explain', 'HW_CPU_X86_AVX2', '--node', 'NODE'),
        ('state', 'show', 'NODE'),
        ('state', 'export', 'NODE'),
        ('resource', 'provider', 'show', 'NODE'),
        ('resource', 'provider', 'trait', 'list', 'NODE'),
        ('resource', 'provider', 'inventory', 'list', 'NODE'),
        ('resource', 'provider', 'list', '--in-tree', 'NODE'),
        (
            'resource',
            'provider',
            'inventory',
            'set',
            'NODE',
            '--amend',
            '--resource=CUSTOM_GOLD:reserved=1',
        ),
        (
            'allocation',
            'candidate',
            'list',
            '--resource',
            'CUSTOM_GOLD:1',
            '--in-tree',
            'NODE',
        ),
        (
            'allocation',
            'candidate',
            'why-not',
            '--resource',
            'CUSTOM_GOLD:9',
            'NODE',
        ),
    ],
)
def test_a_name_means_the_same_as_the_uuid(known, words):
    def run(node):
        return known.run(*(node if word == 'NODE' else word for word in words))

    by_uuid, by_name = run(TWO), run('rack1-node02')
    if 'set' in words:  # the second one finds it so
        assert by_name.err.endswith('nothing to do\n')
    else:
        assert by_name == by_uuid
    assert by_name.code in {0, 2} or 'sync' in words
    assert ONE not in by_name.out


def test_lines_of_standard_input_may_have_names(known, monkeypatch):
    stdin = io.TextIOWrapper(io.BytesIO(b'rack1-node01\nrack1-node02\n'))
    monkeypatch.setattr(sys, 'stdin', stdin)
    words = (
        'resource',
        'provider',
        'trait',
        'add',
        '-',
        'HW_CPU_X86_AVX',
        '-f',
        'json',
    )
    assert [row['uuid'] for row in known.run(*words).data] == [ONE, TWO]


def test_leave_takes_a_name(known):
    assert known.run('leave', 'rack1-node02', '--yes').code == 0
    assert list(known.providers().values()) == [ONE]


def test_the_driver_is_asked_where_no_state_has_the_name(known, tmp_path):
    known.configure(host=None, state_path=tmp_path / 'another')
    data = known.run(
        'resource', 'provider', 'show', 'rack1-node02', '-f', 'json'
    ).data
    assert data['uuid'] == TWO


def test_a_driver_that_does_not_answer_is_said(known, tmp_path, monkeypatch):
    known.configure(host=None, state_path=tmp_path / 'another')

    def away(_):
        raise errors.Unavailable('Ironic is away')

    monkeypatch.setattr(fake.FakeDriver, 'get_titles', away)
    result = known.run('resource', 'provider', 'show', 'rack1-node02')
    assert result.code == 1
    assert 'no provider is called rack1-node02; ' in result.line
    assert 'could not be asked' in result.line
    assert 'Ironic is away' in result.line


def test_a_name_of_a_node_and_of_another_provider_is_ambiguous(known):
    known.others.create(OTHER, 'rack1-node02')
    for words in (('resource', 'provider', 'delete'), ('tree', 'show')):
        result = known.run(*words, 'rack1-node02')
        assert (result.code, result.out) == (1, '')
        assert result.line.endswith(
            'rack1-node02 is the name of several providers and nodes: give '
            f'the uuid of one, {TWO} or {OTHER}'
        )
    assert (
        len(known.placement('/resource_providers')['resource_providers']) == 3
    )
    assert known.run('resource', 'provider', 'show', OTHER).code == 0


@pytest.mark.parametrize(
    'words',
    [
        ('plan',),
        ('sync',),
        ('leave', '--yes'),
        ('resource', 'provider', 'show'),
    ],
)
def test_a_name_of_two_nodes_is_ambiguous(known, titles, words):
    titles[ONE] = titles[TWO] = 'twin'
    known.run('sync')
    result = known.run(*words, 'twin')
    assert (result.code, result.out) == (1, '')
    assert 'give the uuid of one' in result.line
    assert f'{ONE} or {TWO}' in result.line


def test_the_node_of_a_name_that_is_not_in_placement_is_said(known):
    assert known.run('resource', 'provider', 'delete', TWO).code == 0
    result = known.run('resource', 'provider', 'show', 'rack1-node02')
    assert result.code == 1
    assert result.line.endswith(
        f'node rack1-node02 ({TWO}) has no provider in placement yet'
    )
    assert 'not in placement yet' in known.run('tree', 'show', TWO).out


# --- tree show ----------------------------------------------------------------


def test_the_tree_of_any_provider_is_shown_from_any_of_its_providers(cli):
    cli.configure(compute_driver='none_is_installed')
    for words in (
        ('host', '--uuid', OTHER),
        ('numa0', '--parent-provider', 'host'),
        ('pf0', '--uuid', TWO, '--parent-provider', 'numa0'),
        ('alone',),
    ):
        assert cli.run('resource', 'provider', 'create', *words).code == 0
    shown = [
        cli.run('tree', 'show', word) for word in ('host', 'pf0', TWO, OTHER)
    ]
    assert {result.code for result in shown} == {0}
    assert len({result.out for result in shown}) == 1
    assert 'alone' not in shown[0].out
    (tree,) = cli.run('tree', 'show', 'pf0', '-f', 'json').data
    assert (tree['node'], tree['uuid']) == ('host', OTHER)
    names = [row['name'] for row in tree['providers']]
    assert names == ['host', 'numa0', 'pf0']


def test_a_word_for_no_provider_and_no_node_is_one_line(cli):
    result = cli.run('tree', 'show', 'cn9')
    assert (result.code, result.out) == (1, '')
    assert result.line == (
        'compute-agent: no provider is called cn9, and no node cn9 is among '
        'those of the driver; did you mean cn1?'
    )
