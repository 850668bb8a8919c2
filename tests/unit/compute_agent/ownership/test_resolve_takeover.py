# SPDX-License-Identifier: Apache-2.0
"""A provider that was there before: what stays on it is said, once."""

import pytest

from compute_agent.ownership import resolve
from compute_agent.ownership.policy import Policy
from compute_agent.ownership.record import Record
from compute_agent.tree import provider, provider_tree
from compute_agent.tree.assertion import Kind

ROOT = '00000000-0000-0000-0000-000000000001'
TRAITS = frozenset({'CUSTOM_A', 'CUSTOM_B', 'COMPUTE_STATUS_DISABLED'})


def notes(describe, record=None, authority=(), traits=TRAITS):
    """Return the notes of a cycle on a provider that is there already."""
    one = provider.Provider(uuid=ROOT, name='root', traits=traits)
    tree = provider_tree.ProviderTree.from_providers([one])
    describe(tree)
    return resolve.resolve(
        tree,
        ROOT,
        record or Record(),
        Policy(authority={'driver': authority}),
    ).notes


def add(tree):
    tree.declare_traits(ROOT, 'CUSTOM_B')


def test_what_was_there_and_stays_is_named():
    (note,) = notes(add)
    assert f'root ({ROOT}): existed before this agent' in note
    assert 'keeps CUSTOM_A:' in note
    assert 'state import' in note


@pytest.mark.parametrize(
    'record',
    [
        Record(created=frozenset({ROOT})),
        Record(claims={(ROOT, Kind.TRAIT): {'driver': frozenset()}}),
    ],
)
def test_it_is_not_said_of_a_provider_that_the_agent_knows(record):
    assert notes(add, record) == ()


@pytest.mark.parametrize(
    'describe',
    [
        lambda tree: None,
        lambda tree: tree.declare_traits(ROOT, 'CUSTOM_A', 'CUSTOM_B'),
        lambda tree: tree.update_traits(ROOT, ['CUSTOM_B']),
        lambda tree: tree.declare_aggregates(ROOT, ROOT),
    ],
)
def test_nothing_is_said_where_nothing_is_left_behind(describe):
    assert notes(describe) == ()


def test_what_the_driver_decides_is_not_left_behind():
    assert notes(add, authority=['CUSTOM_A']) == ()


def test_what_the_driver_drops_and_the_agent_did_not_add_is_named():
    held = {
        (ROOT, Kind.TRAIT): {'driver': frozenset({'CUSTOM_A', 'CUSTOM_B'})}
    }
    (note,) = notes(add, Record(claims=held))
    assert 'keeps CUSTOM_A, which the driver no longer reports' in note


@pytest.mark.parametrize(
    'record',
    [
        Record(
            claims={(ROOT, Kind.TRAIT): {'driver': frozenset({'CUSTOM_A'})}},
            ours={(ROOT, Kind.TRAIT): frozenset({'CUSTOM_A'})},
        ),
        Record(
            claims={(ROOT, Kind.TRAIT): {'driver': frozenset({'CUSTOM_C'})}}
        ),
    ],
)
def test_what_goes_or_is_gone_is_not(record):
    assert notes(add, record) == ()
