# SPDX-License-Identifier: Apache-2.0
"""The outcomes of writes come to the shared database with the next commit."""

import uuid

import pytest
from shared_in_memory import SharedInMemory

from compute_agent import errors
from compute_agent.state import state

NODES = {str(uuid.UUID(int=n + 1)): f'node-{n}' for n in range(20)}
ONE = str(uuid.UUID(int=1))


class Fleet:
    """Agents of one share, on one placement.

    :ivar wanted: the traits of each node
    """

    def __init__(self, factory):
        self._factory = factory
        self.shared = SharedInMemory()
        self.wanted = ['CUSTOM_A']
        self.opened = []

    def member(self):
        """Return an agent that stands by."""
        opened = state.State.in_memory('test')
        self.opened.append(opened)
        agent = self._factory(
            self._describe,
            state=opened,
            nodes=NODES,
            max_removed_percent=None,
        )
        agent.replica = opened.replica(self.shared, 'db/share')
        agent.replica.catch_up()
        return agent

    def documents(self):
        """Return the documents of the shared database."""
        found = self.shared.changed(0).documents
        return {key: text for key, text in found.items() if text is not None}

    def holder(self):
        """Return an agent that reports."""
        agent = self.member()
        agent.replica.take_over(self.shared.take())
        return agent

    def _describe(self, tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 4}})
        tree.declare_traits(node, *self.wanted)


@pytest.fixture
def fleet(agent_factory):
    made = Fleet(agent_factory)
    yield made
    for opened in made.opened:
        opened.close()


@pytest.mark.catches('each outcome is a commit of its own')
def test_the_outcome_of_one_node_goes_with_the_intents_of_the_next(fleet):
    """Each new root has a commit of its own, which proves who created it."""
    holder = fleet.holder()
    holder.done()
    before = fleet.shared.commits
    fleet.wanted = ['CUSTOM_A', 'CUSTOM_B']
    holder.done()
    assert fleet.shared.commits - before <= len(NODES) + 2
    holder.replica.pay()
    assert fleet.documents() == holder.state.documents()


def test_nothing_is_paid_twice(fleet):
    holder = fleet.holder()
    holder.done()
    holder.replica.pay()
    before = fleet.shared.commits
    holder.replica.pay()
    holder.done()
    holder.replica.pay()
    assert fleet.shared.commits == before


@pytest.mark.catches('a successor forgets the writes whose outcome it lacks')
def test_a_successor_without_the_last_outcome_settles_the_writes(
    fleet, operator
):
    holder = fleet.holder()
    holder.done()
    holder.replica.pay()
    fleet.wanted = ['CUSTOM_A', 'CUSTOM_B']
    holder.done()  # and dies
    successor = fleet.holder()
    assert successor.state.documents() != holder.state.documents()
    successor.done()
    fleet.wanted = ['CUSTOM_A']
    successor.done()
    for node in NODES:
        assert 'CUSTOM_B' not in operator.traits(node)
        assert 'CUSTOM_A' in operator.traits(node)


@pytest.mark.catches('a deposed agent keeps outcomes that nobody else has')
def test_a_deposed_agent_has_the_record_of_the_others(fleet, operator):
    holder = fleet.holder()
    holder.done()
    holder.replica.pay()
    fleet.wanted = ['CUSTOM_A', 'CUSTOM_B']
    holder.done()
    successor = fleet.holder()
    with pytest.raises(errors.Deposed):
        holder.replica.pay()
    holder.replica.stand_by()
    holder.replica.catch_up()
    assert holder.state.documents() == fleet.documents()
    successor.done()
    successor.replica.pay()
    holder.replica.catch_up()
    assert holder.state.documents() == fleet.documents()
    assert successor.state.documents() == fleet.documents()


def test_a_deposed_agent_goes_on_reading(fleet):
    holder = fleet.holder()
    holder.done()
    fleet.holder().done()
    holder.replica.stand_by()
    holder.replica.catch_up()
    holder.client.warm(holder.client.begin_warm([*NODES]), lambda: True)
    assert holder.state.documents() == fleet.documents()


def test_what_is_taken_back_has_its_outcomes_again(fleet, operator):
    """An agent rests, and reports again before another one did."""
    holder = fleet.holder()
    holder.done()
    fleet.wanted = ['CUSTOM_B']
    holder.done()
    holder.replica.take_over(fleet.shared.take())
    holder.done()
    holder.replica.pay()
    assert holder.state.documents() == fleet.documents()
    assert {'CUSTOM_A', 'CUSTOM_B'} & operator.traits(ONE) == {'CUSTOM_B'}


def test_a_failed_commit_loses_no_outcome(fleet):
    holder = fleet.holder()
    holder.done()
    holder.replica.pay()
    fleet.wanted = ['CUSTOM_B']
    holder.done()
    fleet.shared.away = True
    with pytest.raises(errors.Unavailable):
        holder.replica.pay()
    fleet.shared.away = False
    holder.replica.catch_up()
    holder.done()
    holder.replica.pay()
    assert holder.state.documents() == fleet.documents()
