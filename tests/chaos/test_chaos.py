# SPDX-License-Identifier: Apache-2.0
"""Some seconds of chaos on an embedded placement, and a judge that sees.

The daemon is a process that is killed, behind a proxy that strikes requests.
``make chaos`` runs it for long on PostgreSQL.
"""

import pathlib
import sys

import chaos
import cloud
import pytest
import verdict

PLANTED = pathlib.Path(__file__).parents[1] / 'mutation/planted_daemon.py'
SHORT = {
    'seconds': 12,
    'nodes': 4,
    'rates': (0.05, 0.15),
    'turn': 3,
    'change': 1.5,
    'kill': 4,
    'kills': 0.7,
    'least': 8,
}
UUID = cloud.derived('n')


@pytest.mark.long
def test_what_is_wanted_is_there_after_churn_faults_and_kills(
    placement_server, tmp_path
):
    plan = chaos.Plan(**SHORT)
    outcome = chaos.run(tmp_path, placement_server.url, plan)
    sys.stdout.write(f'{outcome}')
    assert outcome.problems() == []
    assert outcome.lives > 1
    assert outcome.struck


@pytest.mark.long
def test_a_daemon_that_forgets_nodes_is_noticed(placement_server, tmp_path):
    defect = (str(PLANTED), 'a node is not recorded before its first write')
    plan = chaos.Plan(**{**SHORT, 'seed': 2, 'program': defect})
    outcome = chaos.run(tmp_path, placement_server.url, plan)
    assert any('nobody wants it' in line for line in outcome.problems())


def wanted(**how):
    fields = {
        'name': 'n',
        'parent': None,
        'totals': {'VCPU': 1},
        'traits': {'CUSTOM_RED'},
        'aggregates': set(),
    }
    return cloud.Wanted(**{**fields, **how})


def found(**how):
    fields = {
        'name': 'n',
        'parent': None,
        'totals': {'VCPU': 1},
        'traits': cloud.AGENTS_OWN | {'CUSTOM_RED'},
        'aggregates': frozenset(),
    }
    return verdict.Found(**{**fields, **how})


@pytest.mark.parametrize(
    ('there', 'line'),
    [
        ({}, 'n is missing'),
        (
            {UUID: found(), 'other': found(name='m')},
            'm is in placement and nobody wants it',
        ),
        ({UUID: found(name='m')}, 'n is m below None'),
        ({UUID: found(totals={})}, "n has {}, not {'VCPU': 1}"),
        (
            {UUID: found(traits=cloud.AGENTS_OWN | {'CUSTOM_GOLD'})},
            "n: traits +['CUSTOM_GOLD'] -['CUSTOM_RED']",
        ),
        ({UUID: found(aggregates=frozenset({'a'}))}, "n: aggregates ['a']"),
    ],
)
def test_each_difference_is_told(there, line):
    assert verdict.differences({UUID: wanted()}, there, {}) == [line]


def test_what_others_added_must_still_be_there():
    theirs = {UUID: frozenset({'CUSTOM_GOLD'})}
    as_wanted = {UUID: found()}
    (line,) = verdict.differences({UUID: wanted()}, as_wanted, theirs)
    assert "-['CUSTOM_GOLD']" in line
    held = found(traits=as_wanted[UUID].traits | {'CUSTOM_GOLD'})
    assert verdict.differences({UUID: wanted()}, {UUID: held}, theirs) == []


def test_growth_is_told_once_it_is_warm():
    start = [50_000 + 1_000 * n for n in range(10)]
    assert verdict.growth([*start, *[60_000] * 30]) == 0
    grown = verdict.growth([*start, *range(60_000, 90_000, 1_000)])
    assert grown > verdict.GROWTH
    assert verdict.growth([50_000] * 5) is None


def test_a_difference_may_be_explained_by_its_node_s_trouble():
    lines = [
        'node-1 is in placement and nobody wants it',
        'node-1-numa0 is missing',
        "node-12: aggregates ['a']",
        'node-12-numa1 has {}, not {}',
    ]
    assert verdict.unexplained(lines, {'node-1'}) == lines[2:]
    assert verdict.unexplained(lines, {'node-12'}) == lines[:2]
    assert verdict.unexplained(lines, ()) == lines
