# SPDX-License-Identifier: Apache-2.0
"""A sharing provider that several nodes of one driver speak of.

A source is the driver, or a file, for one node. What it holds for one node
does not go because it says something else for another.
"""

import pytest
from agents import NODE

from compute_agent.state.values import node_record
from compute_agent.tree import assertion
from compute_agent.virt import driver as virt

OTHER = '22222222-2222-4222-8222-222222222222'
SHARED = '33333333-3333-4333-8333-333333333333'
AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
SHARES = 'MISC_SHARES_VIA_AGGREGATE'
TRAIT = assertion.Kind.TRAIT
NODES = {NODE: 'node-1', OTHER: 'node-2'}


class Said:
    """What the driver says of the shared provider, for each node."""

    def __init__(self) -> None:
        self.first = self.full
        self.second = lambda tree: tree.declare_traits(SHARED, 'CUSTOM_RED')

    def __call__(self, tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 8}})
        tree.declare_aggregates(node, AGGREGATE)
        if node == 'node-1':
            if not tree.exists(SHARED):
                tree.new_root('shared', SHARED)
            self.first(tree)
        elif tree.exists(SHARED):
            self.second(tree)

    @staticmethod
    def full(tree):
        tree.update_inventory(SHARED, {'DISK_GB': {'total': 100}})
        tree.declare_traits(SHARED, SHARES)
        tree.declare_aggregates(SHARED, AGGREGATE)


@pytest.fixture
def said():
    return Said()


@pytest.fixture
def agent(agent_factory, said):
    """An agent that has both nodes, and has said all."""
    made = agent_factory(said, nodes=NODES)
    made.done()
    made.done()
    return made


def applied(results):
    return [operation for result in results for operation in result.applied]


def test_each_node_holds_what_it_says_and_nothing_more_is_written(
    agent, operator
):
    assert operator.traits(SHARED) == {SHARES, 'CUSTOM_RED'}
    assert applied(agent.done()) == []


def test_what_one_node_no_longer_says_goes_and_the_other_s_stays(
    agent, operator, said
):
    said.second = lambda tree: tree.declare_traits(SHARED)
    agent.done()
    assert operator.traits(SHARED) == {SHARES}
    assert applied(agent.done()) == []


def test_what_both_say_stays_until_neither_does(agent, operator, said):
    def both(tree):
        tree.declare_traits(SHARED, SHARES, 'CUSTOM_RED')

    said.second = both
    agent.done()
    said.first = lambda tree: tree.declare_traits(SHARED)
    agent.done()
    assert operator.traits(SHARED) == {SHARES, 'CUSTOM_RED'}
    said.second = lambda tree: tree.declare_traits(SHARED)
    agent.done()
    assert operator.traits(SHARED) == set()


def test_a_whole_set_for_one_node_leaves_what_is_held_for_the_other(
    agent, operator, said
):
    def whole(tree):
        tree.update_traits(SHARED, ['CUSTOM_BLUE'])
        tree.update_inventory(SHARED, {'SRIOV_NET_VF': {'total': 4}})

    said.second = whole
    agent.done()
    assert operator.traits(SHARED) == {SHARES, 'CUSTOM_BLUE'}
    assert set(operator.inventories(SHARED)) == {'DISK_GB', 'SRIOV_NET_VF'}
    assert applied(agent.done()) == []


def test_a_whole_set_leaves_what_this_agent_never_held(agent, operator, said):
    operator.add_traits('CUSTOM_HAND', uuid=SHARED)
    said.second = lambda tree: tree.update_traits(SHARED, [])
    agent.done()
    assert operator.traits(SHARED) == {SHARES, 'CUSTOM_HAND'}


def test_what_was_held_for_a_node_that_is_gone_is_held_no_more(
    agent, operator
):
    del agent.driver.nodes[OTHER]
    agent.driver.missing = virt.Existence.NO
    for _ in ('its providers go', 'it is forgotten', 'what it held goes'):
        agent.done()
    assert operator.traits(SHARED) == {SHARES}
    assert agent.state.records.record([SHARED], NODE).others == {}


def test_what_was_held_for_a_node_handed_over_stays_for_its_new_agent(
    agent, operator
):
    agent.state.handover.forget_with_record(OTHER)
    del agent.driver.nodes[OTHER]
    (result,) = agent.done()
    assert operator.traits(SHARED) == {SHARES, 'CUSTOM_RED'}
    assert any(f'node-2 ({OTHER})' in note for note in result.notes)
    assert applied(agent.done()) == []


def test_a_handed_over_node_takes_its_own_holds_along_only(agent):
    node = node_record.find(agent.state.nodes.all(), NODE)
    record = agent.state.handover.export_record(node).record
    assert record.claims[SHARED, TRAIT] == {'driver': {SHARES}}
    assert record.others == {}


def test_a_restart_changes_nothing_of_who_holds_what(
    agent_factory, agent, operator, said
):
    again = agent_factory(said, nodes=NODES, state=agent.state)
    assert applied(again.done()) == []
    assert operator.traits(SHARED) == {SHARES, 'CUSTOM_RED'}
