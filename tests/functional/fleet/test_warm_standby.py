# SPDX-License-Identifier: Apache-2.0
"""A standby reads what changes, so that its first cycle reads almost nothing."""

import uuid

import pytest
from agents import sent
from shared_in_memory import SharedInMemory

from compute_agent import errors
from compute_agent.state import state

LIST = 'GET /resource_providers'
ONE, NAME = str(uuid.UUID(int=1)), 'node-0'


class Fleet:
    """Agents of one share, on one placement.

    :ivar wanted: the traits of the first node
    """

    def __init__(self, factory, count):
        self._factory = factory
        self._shared = SharedInMemory()
        self.nodes = {
            str(uuid.UUID(int=n + 1)): f'node-{n}' for n in range(count)
        }
        self.wanted = ['CUSTOM_A']
        self.opened = []

    def member(self):
        """Return an agent that stands by."""
        opened = state.State.in_memory('test')
        self.opened.append(opened)
        agent = self._factory(
            self._describe, state=opened, nodes=self.nodes, workers=4
        )
        agent.replica = opened.replica(self._shared, 'db/share')
        agent.replica.catch_up()
        return agent

    def take_over(self, agent):
        """Let an agent report from now on."""
        agent.replica.take_over(self._shared.take())

    def stand_by(self, agent):
        """Do what a turn of a standby does."""
        agent.replica.catch_up()
        client = agent.client
        client.warm(client.begin_warm(list(self.nodes)), lambda: True)

    def commits(self):
        return self._shared.commits

    def _describe(self, tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 4}})
        tree.declare_traits(
            node, *(self.wanted if node == NAME else ['CUSTOM_A'])
        )


@pytest.fixture
def fleet(request, agent_factory):
    made = Fleet(agent_factory, getattr(request, 'param', 5))
    yield made
    for opened in made.opened:
        opened.close()


@pytest.fixture
def holder(fleet):
    agent = fleet.member()
    fleet.take_over(agent)
    agent.done()
    agent.replica.pay()
    return agent


@pytest.fixture
def standby(fleet, holder, placement):
    del holder
    agent = fleet.member()
    fleet.stand_by(agent)
    placement.clear()
    return agent


def reads(one):
    return [
        f'GET {one}/{part}' for part in ('traits', 'aggregates', 'inventories')
    ]


@pytest.mark.catches('the readings of a standby are not used')
@pytest.mark.parametrize('fleet', [300], indirect=True)
def test_the_first_cycle_after_a_take_over_is_one_request(
    fleet, standby, placement
):
    fleet.take_over(standby)
    assert len(standby.done()) == len(fleet.nodes)
    assert sent(placement) == [LIST]
    standby.done()
    assert sent(placement) == [LIST] * 2


def test_a_standby_reads_all_once_and_then_what_changed(
    fleet, holder, placement, operator
):
    agent = fleet.member()
    placement.clear()
    fleet.stand_by(agent)
    assert len(sent(placement)) == 1 + 3 * len(fleet.nodes)
    placement.clear()
    fleet.stand_by(agent)
    assert sent(placement) == [LIST]
    operator.add_traits('CUSTOM_OTHER', uuid=ONE)
    placement.clear()
    fleet.stand_by(agent)
    assert sent(placement) == [LIST, *reads(ONE)]


@pytest.mark.catches('a standby keeps its readings as a holder does')
def test_a_standby_writes_nothing(fleet, holder, operator, placement):
    operator.add_traits('CUSTOM_OTHER', uuid=ONE)
    agent, before = fleet.member(), fleet.commits()
    documents = agent.state.documents()
    placement.clear()
    fleet.stand_by(agent)
    assert {line.split()[0] for line in sent(placement)} == {'GET'}
    assert fleet.commits() == before
    assert agent.state.documents() == documents


def test_what_another_writer_removed_meanwhile_is_added_again(
    fleet, holder, standby, operator
):
    """The record learns of it in the first cycle, as from any reading."""
    operator.remove_traits('CUSTOM_A', uuid=ONE)
    fleet.stand_by(standby)
    fleet.take_over(standby)
    standby.done()
    assert 'CUSTOM_A' in operator.traits(ONE)
    fleet.wanted = []
    standby.done()
    assert 'CUSTOM_A' not in operator.traits(ONE)


def test_what_changed_since_the_standby_read_it_is_read_again(
    fleet, standby, placement, operator
):
    operator.add_traits('CUSTOM_OTHER', uuid=ONE)
    placement.clear()
    fleet.take_over(standby)
    standby.done()
    assert sent(placement) == [LIST, *reads(ONE)]


def test_a_write_after_a_warm_reading_reads_its_part_first(
    fleet, standby, placement
):
    fleet.wanted = ['CUSTOM_A', 'CUSTOM_B']
    fleet.take_over(standby)
    standby.done()
    lines = sent(placement)
    assert lines.count(f'GET {ONE}/traits') == 1
    assert lines.count(f'PUT {ONE}/traits') == 1
    assert lines.index(f'GET {ONE}/traits') < lines.index(f'PUT {ONE}/traits')


def test_it_stops_reading_once_it_may_not_go_on(fleet, holder, placement):
    agent = fleet.member()
    placement.clear()
    left = iter([True, True])
    agent.client.warm(
        agent.client.begin_warm(list(fleet.nodes)), lambda: next(left, False)
    )
    assert len(sent(placement)) == 1 + 3 * 2


def test_an_outage_is_told(fleet, holder, placement):
    agent = fleet.member()
    begun = agent.client.begin_warm(list(fleet.nodes))
    placement.fault('GET *', 503, times=None)
    with pytest.raises(errors.Unavailable):
        agent.client.warm(begun, lambda: True)
    with pytest.raises(errors.Unavailable):
        agent.client.begin_warm(list(fleet.nodes))
