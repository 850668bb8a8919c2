# SPDX-License-Identifier: Apache-2.0
"""``state show``: the record to look at, beside a daemon at work."""

import contextlib

import pytest

from compute_agent.plan import intents
from compute_agent.state import state

ROOT = '11111111-1111-4111-8111-111111111111'
CHILD = '22222222-2222-4222-8222-222222222222'


@pytest.fixture
def synced(cli):
    """A node that another made with one trait, and one cycle of this agent."""
    cli.others.create(ROOT, 'cn1')
    cli.others.add_traits(ROOT, 'CUSTOM_GOLD')
    assert cli.run('sync').code == 0
    return cli


def rows(cli, *words):
    result = cli.run('state', 'show', *words, '-f', 'json')
    assert (result.code, result.err) == (0, '')
    return result.data


def test_each_name_is_there_with_whose_it_is_and_who_holds_it(synced):
    found = rows(synced, 'cn1')
    assert {row['Node'] for row in found} == {'cn1'}
    assert {row['UUID'] for row in found} == {ROOT}
    by_name = {row['Name']: row for row in found}
    assert by_name['']['Kind'] == 'provider'
    assert by_name['']['Created'] is False
    gold, flag = by_name['CUSTOM_GOLD'], by_name['HW_CPU_X86_AVX2']
    assert (gold['Kind'], gold['Ours'], gold['Claimed by']) == (
        'trait',
        False,
        ['driver'],
    )
    assert (flag['Ours'], flag['Unconfirmed']) == (True, False)
    assert by_name['COMPUTE_NODE']['Claimed by'] == ['agent']
    assert by_name['VCPU']['Kind'] == 'inventory'


def test_it_needs_neither_placement_nor_a_driver(synced):
    synced.stop_placement()
    synced.configure(compute_driver='none')
    assert len(rows(synced)) > 1


@pytest.mark.long
def test_it_works_beside_a_daemon_and_changes_nothing(synced, daemon):
    one = daemon(synced.config, '--show-tree')
    one.wait_for('in step with')
    before = rows(synced)
    assert rows(synced) == before


def test_what_is_not_confirmed_is_shown(synced):
    creation = intents.Intent(
        node_uuid=ROOT, uuid=CHILD, kind=None, generation=0
    )
    with contextlib.closing(state.State.open(synced.state_path)) as one:
        one.journal.begin(ROOT, [creation], {})
    found = [row for row in rows(synced) if row['UUID'] == CHILD]
    assert [(row['Node'], row['Unconfirmed']) for row in found] == [
        ('cn1', True)
    ]


def test_what_is_of_no_node_is_shown_without_one(synced):
    with contextlib.closing(state.State.open(synced.state_path)) as one:
        one.journal.adopt(CHILD, {CHILD: 9})
        found = {row['UUID']: row['Node'] for row in rows(synced)}
        assert found == {ROOT: 'cn1', CHILD: ''}
    assert {row['UUID'] for row in rows(synced, 'cn1')} == {ROOT}


def test_it_prints_in_every_format(synced):
    assert 'CUSTOM_GOLD' in synced.run('state', 'show').out
    for form in ('csv', 'value', 'yaml'):
        result = synced.run('state', 'show', '-f', form)
        assert 'CUSTOM_GOLD' in result.out


def test_nothing_recorded_and_a_node_that_is_none_are_said(cli):
    empty = cli.run('state', 'show')
    assert (empty.code, empty.out) == (0, '')
    assert f'the record in {cli.state_path} is empty' in empty.line
    assert not cli.state_path.exists()
    unknown = cli.run('state', 'show', 'cn9')
    assert unknown.code == 1
    assert 'nothing is recorded of node cn9' in unknown.line
