# SPDX-License-Identifier: Apache-2.0
"""Two agents with drivers and records of their own, at one provider.

In the shared form each has its own names there, and nothing of the other's;
``tests/churn`` does the same with processes, for long.
"""

import pytest
from agents import NAME, NODE, meddle

from compute_agent.cycle.resource_tracker import Control, Status
from compute_agent.limits import blast_radius

OWN = {'COMPUTE_NODE', 'OWNER_NOVA'}
AGGREGATES = (
    'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa',
    'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb',
)
FIGHT = 24  # cycles of each


# One agent's total is half of the other's.
NO_LIMIT_ON_CAPACITY = blast_radius.Limits(percent=100)


class Said:
    """What a driver says of the node, in the shared form."""

    def __init__(self, *traits, aggregates=(), total=None):
        self.traits = traits
        self.aggregates = aggregates
        self.total = total

    def __call__(self, tree, node):
        tree.declare_traits(node, *self.traits)
        tree.declare_aggregates(node, *self.aggregates)
        if self.total:
            tree.update_inventory(node, {'VCPU': {'total': self.total}})


@pytest.fixture
def first(agent_factory):
    """The agent whose driver counts, after its first cycle."""
    agent = agent_factory(
        Said('HW_CPU_X86_AVX', 'CUSTOM_A', aggregates=AGGREGATES[:1], total=8),
        control=Control(limits=lambda: NO_LIMIT_ON_CAPACITY),
    )
    agent.done()
    return agent


@pytest.fixture
def second(first, agent_factory):
    """The agent that came later."""
    agent = agent_factory(
        Said('HW_NIC_SRIOV', 'CUSTOM_B', aggregates=AGGREGATES[1:]),
        control=Control(limits=lambda: NO_LIMIT_ON_CAPACITY),
    )
    agent.done()
    return agent


def rest(placement, *agents):
    """Make sure that nothing is left to do for anybody."""
    placement.clear()
    for _ in range(3):
        for agent in agents:
            agent.done()
    assert placement.writes == []


def test_both_have_what_they_say_and_come_to_rest(
    placement, operator, first, second
):
    assert operator.traits() == {
        *OWN,
        *first.driver.describe.traits,
        *second.driver.describe.traits,
    }
    assert operator.aggregates() == set(AGGREGATES)
    assert operator.inventories()['VCPU']['total'] == 8
    rest(placement, first, second)


@pytest.mark.parametrize('who', [0, 1], ids=['the first', 'the second'])
def test_what_one_lets_go_is_its_own_and_no_more(
    placement, operator, first, second, who
):
    agents = first, second
    agents[who].driver.describe.traits = ()
    agents[who].driver.describe.aggregates = ()
    for agent in agents:
        agent.done()
    other = agents[1 - who].driver.describe
    assert operator.traits() == {*OWN, *other.traits}
    assert operator.aggregates() == set(other.aggregates)
    rest(placement, *agents)


def test_what_the_other_added_first_stays_when_one_lets_it_go(
    placement, operator, first, second
):
    second.driver.describe.traits += ('CUSTOM_A',)
    second.done()
    second.driver.describe.traits = ('HW_NIC_SRIOV', 'CUSTOM_B')
    second.done()
    assert 'CUSTOM_A' in operator.traits()
    rest(placement, first, second)


def test_what_both_say_is_there_again_after_its_author_let_it_go(
    placement, operator, first, second
):
    second.driver.describe.traits += ('CUSTOM_A',)
    second.done()
    first.driver.describe.traits = ('HW_CPU_X86_AVX',)
    first.done()
    second.done()
    assert 'CUSTOM_A' in operator.traits()
    rest(placement, first, second)


def test_a_write_of_the_other_in_between_is_kept(
    placement, operator, first, second
):
    first.driver.describe.traits += ('CUSTOM_MORE_A',)
    second.driver.describe.traits += ('CUSTOM_MORE_B',)
    second.driver.describe.aggregates = ()
    meddle(placement, second.done)
    first.done()
    assert {'CUSTOM_MORE_A', 'CUSTOM_MORE_B'} <= operator.traits()
    assert operator.aggregates() == {AGGREGATES[0]}
    rest(placement, first, second)


def test_what_the_other_takes_in_between_is_not_put_back(
    placement, operator, first, second
):
    first.driver.describe.traits += ('CUSTOM_MORE_A',)
    second.driver.describe.traits = ('HW_NIC_SRIOV',)
    meddle(placement, second.done)
    first.done()
    assert 'CUSTOM_B' not in operator.traits()
    rest(placement, first, second)


def test_both_may_create_the_node_and_its_names(
    placement, agent_factory, operator
):
    one = agent_factory(Said('CUSTOM_NEW', total=8))
    two = agent_factory(Said('CUSTOM_NEW', 'CUSTOM_B'))
    meddle(placement, two.done, 'POST *')
    one.done()
    assert set(operator.holdings()) == {NAME}
    assert operator.traits(NODE) == {*OWN, 'CUSTOM_NEW', 'CUSTOM_B'}
    rest(placement, one, two)


def test_the_records_survive_restarts_of_both(
    placement, agent_factory, operator, first, second
):
    again = [
        agent_factory(agent.driver, state=agent.state)
        for agent in (first, second)
    ]
    rest(placement, *again)
    first.driver.describe.traits = ()
    for agent in again:
        agent.done()
    assert operator.traits() == {*OWN, *second.driver.describe.traits}


def test_two_that_both_say_the_whole_inventory_say_so_and_let_it_be(
    placement, operator, first, second
):
    """One class has one total: what is not shared is not fought over."""
    second.driver.describe.total = 4
    placement.clear()
    statuses, reasons = set(), set()
    for _ in range(FIGHT):
        for agent in (first, second):
            result = agent.cycle()
            statuses.add(result.status)
            reasons.add(result.reason)
    assert statuses == {Status.DONE, Status.WAITING}
    assert any('inventory VCPU' in r and 'contended' in r for r in reasons)
    assert len(placement.writes) < FIGHT / 2
    assert operator.traits() >= {'CUSTOM_A', 'CUSTOM_B'}
