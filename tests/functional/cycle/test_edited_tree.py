# SPDX-License-Identifier: Apache-2.0
"""Seed 004: a report client takes an edited tree and makes placement match."""

import pytest
from agents import NAME, NODE

from compute_agent import errors


@pytest.fixture
def client(agent_factory):
    return agent_factory(lambda _tree, _node: None).client


def look(client):
    return client.observe([NODE])[NODE]


def edited(seen):
    tree = seen.tree()
    if not tree.exists(NODE):
        tree.new_root(NAME, NODE)
    tree.update_inventory(NODE, {'VCPU': {'total': 4}})
    tree.declare_traits(NODE, 'CUSTOM_GOLD')
    if not tree.exists('child'):
        tree.new_child('child', NODE)
    return tree


def test_an_edited_tree_becomes_what_placement_holds(client, operator):
    seen = look(client)
    outcome = client.update_from_provider_tree(edited(seen), seen)
    assert not outcome.refused
    assert operator.traits() == {'CUSTOM_GOLD'}
    assert {p.name for p in look(client).providers.values()} == {NAME, 'child'}


def test_the_same_tree_once_more_writes_nothing(client, placement):
    first = look(client)
    client.update_from_provider_tree(edited(first), first)
    again = look(client)
    done = len(placement.requests)
    outcome = client.update_from_provider_tree(edited(again), again)
    assert outcome.applied == ()
    assert {r.method for r in placement.requests[done:]} <= {'GET'}


def test_what_another_wrote_meanwhile_is_not_overwritten(client, operator):
    first = look(client)
    client.update_from_provider_tree(edited(first), first)
    seen = look(client)
    operator.add_traits('CUSTOM_OPERATOR')
    tree = edited(seen)
    tree.declare_traits(NODE, 'CUSTOM_SILVER')
    with pytest.raises(errors.Replan):
        client.update_from_provider_tree(tree, seen)
    assert operator.traits() == {'CUSTOM_GOLD', 'CUSTOM_OPERATOR'}
