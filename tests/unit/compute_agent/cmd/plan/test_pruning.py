# SPDX-License-Identifier: Apache-2.0
"""What is said of names that were to go and went nowhere."""

import pytest

from compute_agent.cmd.plan import pruning
from compute_agent.cycle.node import node_result
from compute_agent.ownership.policy import Prune
from compute_agent.plan.operations import operations
from compute_agent.plan.plan import Plan
from compute_agent.tree.node import Node

NODE = Node(uuid='11111111-1111-4111-8111-111111111111', name='cn1')
OTHER = Node(uuid='22222222-2222-4222-8222-222222222222', name='cn2')
GOLD = Prune(names=frozenset({'CUSTOM_GOLD'}))
GOES = operations.SetTraits(
    uuid=NODE.uuid,
    name=NODE.name,
    before=frozenset({'CUSTOM_GOLD'}),
    names=frozenset(),
)


def result(node=NODE, status=node_result.Status.DONE, **what):
    return node_result.NodeResult(node=node, status=status, **what)


def planned(*operations):
    return Plan(node_uuid=NODE.uuid, operations=operations, before={})


def test_nothing_is_said_of_a_name_that_went():
    assert pruning.unmet(GOLD, [result(applied=[GOES])]) == []


def test_nothing_is_said_of_a_name_that_would_go():
    waiting = result(status=node_result.Status.WAITING, plan=planned(GOES))
    assert pruning.unmet(GOLD, [waiting, result(OTHER)]) == []


def test_where_every_node_is_done_no_provider_can_spare_it():
    assert pruning.unmet(GOLD, [result(plan=planned()), result(OTHER)]) == [
        'CUSTOM_GOLD is removed from no provider: no provider has it, or a source claims it'
    ]


@pytest.mark.parametrize(
    'status', [node_result.Status.FAILED, node_result.Status.WAITING]
)
def test_of_a_node_that_is_not_done_nobody_knows(status):
    assert pruning.unmet(GOLD, [result(status=status), result(OTHER)]) == [
        'CUSTOM_GOLD is removed from no provider: 1 of 2 nodes are not done'
    ]


def test_the_trouble_of_a_node_that_was_not_chosen_is_not_its_own():
    chosen = Prune(names=GOLD.names, node='cn2')
    failed = result(status=node_result.Status.FAILED, applied=[GOES])
    assert pruning.unmet(chosen, [failed, result(OTHER)]) == [
        'CUSTOM_GOLD is removed from no provider: no provider has it, or a source claims it'
    ]
