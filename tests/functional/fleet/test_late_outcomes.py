# SPDX-License-Identifier: Apache-2.0
"""The outcomes of writes come to the shared database with the next commit."""

import pytest
from agents_of_share import AgentsOfShare, numbered

from compute_agent import errors


@pytest.fixture
def fleet(agent_factory):
    made = AgentsOfShare(agent_factory, numbered(20), max_removed_percent=None)
    yield made
    made.close()


@pytest.mark.catches('each outcome is a commit of its own')
def test_the_outcome_of_one_node_goes_with_the_intents_of_the_next(fleet):
    """Each new root has a commit of its own, which proves who created it."""
    holder = fleet.holder()
    holder.done()
    before = fleet.shared.commits
    fleet.wanted = ['CUSTOM_A', 'CUSTOM_B']
    holder.done()
    assert fleet.shared.commits - before <= len(fleet.nodes) + 2
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
    for node in fleet.nodes:
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
    holder.client.warm(holder.client.begin_warm([*fleet.nodes]), lambda: True)
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
    assert {'CUSTOM_A', 'CUSTOM_B'} & operator.traits(
        next(iter(fleet.nodes))
    ) == {'CUSTOM_B'}


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
