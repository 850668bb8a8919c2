# SPDX-License-Identifier: Apache-2.0
"""Allocation ratios are an operator's, unless configuration forces one."""

import pytest
from agents import NODE

from compute_agent.tree import inventory


def cores(total=8, **more):
    def describe(tree, node):
        tree.update_inventory(node, {'VCPU': {'total': total, **more}})

    return describe


def ratio(operator):
    return operator.inventories()['VCPU']['allocation_ratio']


INITIAL = inventory.Ratios(initial={'VCPU': 4.0})
FORCED = inventory.Ratios(forced={'VCPU': 2.0}, initial={'VCPU': 4.0})


def test_the_initial_ratio_is_where_a_class_starts(agent_factory, operator):
    agent_factory(cores(), ratios=INITIAL).done()
    assert ratio(operator) == 4.0


def test_without_any_configuration_it_is_one(agent_factory, operator):
    agent_factory(cores()).done()
    assert ratio(operator) == 1.0


@pytest.mark.catches('an omitted allocation ratio means 1.0')
def test_an_operators_ratio_survives_every_change(
    placement, agent_factory, operator
):
    agent = agent_factory(cores(), ratios=INITIAL)
    agent.done()
    operator.change_inventory('VCPU', allocation_ratio=16.0)
    placement.clear()
    agent.done()
    assert placement.writes == []
    agent.driver.describe = cores(total=9)
    agent.done()
    assert ratio(operator) == 16.0
    assert operator.inventories()['VCPU']['total'] == 9


def test_an_operators_ratio_survives_a_lost_database(agent_factory, operator):
    agent_factory(cores(), ratios=INITIAL).done()
    operator.change_inventory('VCPU', allocation_ratio=16.0)
    agent_factory(cores(total=9), ratios=INITIAL).done()
    assert ratio(operator) == 16.0


def test_a_forced_ratio_wins_every_cycle(agent_factory, operator):
    agent = agent_factory(cores(), ratios=FORCED)
    agent.done()
    assert ratio(operator) == 2.0
    operator.change_inventory('VCPU', allocation_ratio=16.0)
    agent.done()
    assert ratio(operator) == 2.0


def test_a_ratio_that_is_forced_no_more_stays_as_it_is(
    agent_factory, operator
):
    agent = agent_factory(cores(), ratios=FORCED)
    agent.done()
    agent_factory(cores(), ratios=INITIAL, state=agent.state).done()
    assert ratio(operator) == 2.0


def test_a_ratio_that_the_driver_gives_stands(agent_factory, operator):
    agent_factory(cores(allocation_ratio=1.5), ratios=INITIAL).done()
    assert ratio(operator) == 1.5


def test_a_forced_ratio_beats_what_the_driver_gives(agent_factory, operator):
    agent_factory(cores(allocation_ratio=1.5), ratios=FORCED).done()
    assert ratio(operator) == 2.0


def test_a_class_that_went_starts_anew(agent_factory, operator):
    agent = agent_factory(cores(), ratios=INITIAL)
    agent.done()
    operator.change_inventory('VCPU', allocation_ratio=16.0)
    agent.driver.describe = lambda tree, node: tree.update_inventory(node, {})
    agent.done()
    agent.driver.describe = cores()
    agent.done()
    assert ratio(operator) == 4.0


@pytest.mark.catches(
    'an allocation ratio rounded by the database is written again'
)
def test_a_ratio_that_a_database_rounded_is_no_change(
    placement, agent_factory, operator
):
    agent = agent_factory(cores(allocation_ratio=1 / 3))
    agent.done()
    operator.change_inventory('VCPU', allocation_ratio=0.333333)
    placement.clear()
    agent.done()
    assert placement.writes == []


@pytest.mark.catches(
    "an omitted inventory field differs from placement's default"
)
def test_a_record_with_defaults_written_out_is_no_change(
    placement, agent_factory
):
    agent = agent_factory(cores())
    agent.done()
    placement.clear()
    agent.driver.describe = cores(
        reserved=0, min_unit=1, max_unit=2147483647, step_size=1
    )
    agent.done()
    assert placement.writes == []
    assert NODE in placement.requests[0].path
