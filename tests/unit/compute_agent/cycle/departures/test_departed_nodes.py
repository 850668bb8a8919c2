# SPDX-License-Identifier: Apache-2.0
"""The nodes of a list are recorded whenever the record lacks them."""

import contextlib

import pytest

from compute_agent.cycle import node_list
from compute_agent.cycle.departures import departed_nodes
from compute_agent.state import state as state_module
from compute_agent.state.nodes import KnownNode
from compute_agent.tree.node import Node
from compute_agent.virt import driver as virt
from compute_agent.virt.drivers import Drivers

A = Node(uuid='11111111-1111-4111-8111-111111111111', name='cn1')
B = Node(uuid='22222222-2222-4222-8222-222222222222', name='cn2')


class Driver(virt.ComputeDriver):
    @classmethod
    def from_conf(cls, conf):
        raise AssertionError

    def get_available_nodes(self):
        return [A.name, B.name]


@pytest.fixture
def state():
    with contextlib.closing(state_module.State.in_memory('here')) as opened:
        yield opened


@pytest.fixture
def departures(state):
    every = Drivers.only(Driver())
    return departed_nodes.Departures(
        every,
        node_list.NodeList(every, lambda *_: [A, B]),
        state.records,
        state.nodes,
        clock=lambda: 1.0,
        interval=1,
    )


def recorded(state):
    return {node.uuid for node in state.nodes.all()}


def test_a_node_that_the_record_lost_is_recorded_again(state, departures):
    """The list is the same object as in the last cycle, in which all was."""
    nodes = [A, B]
    departures.record(nodes)
    departures.record(nodes)
    state.nodes.forget([A.uuid])
    departures.record(nodes)
    assert recorded(state) == {A.uuid, B.uuid}


def test_a_new_name_of_a_recorded_node_is_recorded_over(state, departures):
    nodes = [A, B]
    departures.record(nodes)
    departures.record(nodes)
    other = KnownNode(name='other', drivers=frozenset(['rack:Rack']))
    state.nodes.keep({A.uuid: other})
    departures.record(nodes)
    assert [node.name for node in state.nodes.all()] == ['cn1', 'cn2']


def test_a_node_that_came_is_recorded_beside_the_others(state, departures):
    departures.record([A])
    departures.record([A, B])
    assert recorded(state) == {A.uuid, B.uuid}
