# SPDX-License-Identifier: Apache-2.0
"""The record as rows: nothing recorded is left out, nothing is made up."""

from compute_agent.ownership import record
from compute_agent.ownership.explanations import record_rows
from compute_agent.plan import intents
from compute_agent.tree.assertion import Kind

ROOT = '00000000-0000-0000-0000-000000000001'
CHILD = '00000000-0000-0000-0000-000000000002'
FILE = 'file:/etc/nova/provider_config/a.yaml'


def rows(providers=(ROOT,), intents=None, **some):
    account = record_rows.Account(
        node='cn1',
        providers=providers,
        names={ROOT: 'cn1'},
        record=record.Record(**some),
        intents=intents or {},
    )
    return list(record_rows.rows(account))


def row(kind='provider', name='', ours=None, **some):
    fields = {
        'node': 'cn1',
        'provider': 'cn1',
        'uuid': ROOT,
        'created': False,
        'claimed_by': (),
        'unconfirmed': False,
    }
    return record_rows.Row(
        kind=kind, name=name, ours=ours, **{**fields, **some}
    )


def test_a_provider_of_which_nothing_is_recorded_has_a_row_of_its_own():
    assert rows() == [row()]


def test_one_that_was_created_says_so_on_each_row():
    found = rows(
        created=frozenset({ROOT}), ours={(ROOT, Kind.TRAIT): frozenset('A')}
    )
    assert found == [
        row(created=True),
        row('trait', 'A', ours=True, created=True),
    ]


def test_what_is_held_is_there_with_its_sources_whoever_added_it():
    found = rows(
        ours={(ROOT, Kind.TRAIT): frozenset('A')},
        claims={
            (ROOT, Kind.TRAIT): {
                FILE: frozenset('AB'),
                'driver': frozenset('A'),
            }
        },
    )
    assert found[1:] == [
        row('trait', 'A', ours=True, claimed_by=('driver', FILE)),
        row('trait', 'B', ours=False, claimed_by=(FILE,)),
    ]


def test_what_is_held_for_another_node_says_for_which():
    key = (ROOT, Kind.TRAIT)
    found = rows(
        claims={key: {'driver': frozenset('A')}},
        others={key: {('driver', CHILD): frozenset('AB')}},
    )
    assert [one.claimed_by for one in found[1:]] == [
        ('driver', f'driver of {CHILD}'),
        (f'driver of {CHILD}',),
    ]


def test_the_kinds_do_not_mix():
    found = rows(
        claims={
            (ROOT, Kind.INVENTORY): {'driver': frozenset({'VCPU'})},
            (ROOT, Kind.AGGREGATE): {'driver': frozenset({CHILD})},
        }
    )
    assert [(one.kind, one.name) for one in found[1:]] == [
        ('aggregate', CHILD),
        ('inventory', 'VCPU'),
    ]


def test_what_was_sent_and_not_confirmed_is_marked():
    creation = intents.Intent(
        node_uuid='node', uuid=CHILD, kind=None, generation=0
    )
    setting = intents.Intent(
        node_uuid='node',
        uuid=CHILD,
        kind=Kind.TRAIT,
        generation=1,
        names=frozenset('AB'),
        added=frozenset('B'),
    )
    found = rows(
        providers=(CHILD,),
        intents={CHILD: [creation, setting]},
        claims={(CHILD, Kind.TRAIT): {'driver': frozenset('AB')}},
    )
    assert [(one.name, one.unconfirmed) for one in found] == [
        ('', True),
        ('A', False),
        ('B', True),
    ]
    assert {one.provider for one in found} == {''}
