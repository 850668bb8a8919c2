# SPDX-License-Identifier: Apache-2.0
"""A node is recorded before anything is written for it, so none is forgotten."""

import sqlite3

import pytest
from agents import Driver

from compute_agent.cycle import resource_tracker
from compute_agent.state import state
from compute_agent.virt import driver as virt

Status = resource_tracker.Status
A = '11111111-1111-4111-8111-111111111111'
B = '22222222-2222-4222-8222-222222222222'


def describe(tree, node):
    tree.update_inventory(node, {'VCPU': {'total': 4}})


@pytest.fixture
def rack():
    """Two nodes; those that are not listed do not exist, unless told."""
    return Driver(describe, nodes={A: 'a', B: 'b'}, missing=virt.Existence.NO)


@pytest.mark.catches('a node is not recorded before its first write')
def test_a_node_done_in_a_cycle_that_was_cut_short_is_deleted_when_it_leaves(
    placement, agent_factory, operator, rack, tmp_path
):
    agent = agent_factory(rack, state=tmp_path)
    placement.fault('POST /resource_providers', 503, skip=1)
    results = agent.sync()
    assert [r.status for r in results] == [Status.DONE, Status.FAILED]
    assert set(operator.holdings()) == {'a'}

    rack.nodes.pop(A)
    after_restart = agent_factory(rack, state=tmp_path)
    results = after_restart.done()
    assert rack.asked == ['a', 'a']
    assert set(operator.holdings()) == {'b'}


@pytest.fixture
def forgotten(agent_factory, rack, tmp_path):
    """A state database that an earlier agent left, without node a."""
    opened = state.State.open(tmp_path, 'test')
    agent_factory(rack, state=opened).done()
    opened.close()
    with sqlite3.connect(tmp_path / 'state.sqlite') as db:
        db.execute('delete from node where uuid = ?', (A,))
    db.close()
    rack.nodes.pop(A)
    return tmp_path


def test_a_provider_of_an_unrecorded_node_counts_as_departed(
    agent_factory, operator, rack, forgotten
):
    agent = agent_factory(rack, state=forgotten)
    agent.done()
    assert rack.asked == ['a', 'a']
    assert set(operator.holdings()) == {'b'}
    agent.done()
    assert agent.state.nodes.unrecorded() == {}
    agent.done()
    assert rack.asked == ['a', 'a']


@pytest.mark.parametrize(
    'answer', [virt.Existence.YES, virt.Existence.UNKNOWN]
)
def test_an_unrecorded_node_that_exists_or_may_exist_is_left_alone(
    placement, agent_factory, operator, rack, forgotten, answer
):
    rack.missing = answer
    placement.clear()
    results = agent_factory(rack, state=forgotten).sync()
    assert {r.node.name for r in results} == {'a', 'b'}
    assert placement.writes == []
    assert set(operator.holdings()) == {'a', 'b'}


def test_an_unrecorded_node_that_is_listed_is_just_recorded(
    agent_factory, operator, rack, forgotten
):
    rack.nodes[A] = 'a'
    agent_factory(rack, state=forgotten).done()
    assert rack.asked == []
    assert set(operator.holdings()) == {'a', 'b'}


def test_another_driver_is_not_asked_about_an_unrecorded_node(
    agent_factory, operator, rack, forgotten
):
    class Other(Driver):
        """A driver that has no node of the first one."""

    other = Other(describe, missing=virt.Existence.NO)
    other.nodes.clear()
    agent_factory(other, state=forgotten).done()
    assert other.asked == []
    assert set(operator.holdings()) == {'a', 'b'}


def test_an_unrecorded_node_elsewhere_is_not_asked_about(
    agent_factory, rack, forgotten
):
    elsewhere = state.State.open(forgotten, 'elsewhere')
    agent_factory(rack, state=elsewhere).sync()
    elsewhere.close()
    assert rack.asked == []
