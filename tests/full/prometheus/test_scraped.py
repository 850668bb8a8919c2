# SPDX-License-Identifier: Apache-2.0
"""What agents in trouble give to Prometheus lets the alerts fire.

Each agent runs a cycle a minute on a clock of the test, against the real
placement. All of its series go to promtool, which looks at all alerts.
"""

import promtool
import pytest
from agents import Clock
from keystoneauth1 import exceptions
from monitored import Monitored
from scrapes import Scrapes

from compute_agent import errors

MINUTES = 20


class World:
    """What the driver describes: a test changes it."""

    def __init__(self):
        self.total = 8
        self.trait = 'HW_CPU_X86_AVX'
        self.fails = False

    def describe(self, tree, node):
        if self.fails:
            raise errors.DriverError('the driver is away')
        tree.update_inventory(node, {'VCPU': {'total': self.total}})
        tree.update_traits(node, {self.trait})


@pytest.fixture
def world():
    return World()


@pytest.fixture
def clock():
    return Clock(60.0)  # the time of the second scrape


@pytest.fixture
def one(placement, agent_factory, world, clock):
    """An agent of one node, measured."""
    agent = agent_factory(
        world.describe, clock=clock, max_capacity_loss_percent=20
    )
    with Monitored.of(agent, placement, clock) as made:
        yield made


def scraped(one, clock, minutes=MINUTES):
    """Run a cycle a minute; return the series for promtool."""
    scrapes = Scrapes(clock)
    scrapes.cycles(one, minutes)
    return scrapes.series()


def fires(series, tmp_path, firing):
    """Fail unless these alerts fire at these minutes, and no other."""
    promtool.judge(series, tmp_path, alerts='.+', firing=firing)


def test_a_healthy_agent_fires_nothing(one, clock, tmp_path):
    fires(scraped(one, clock), tmp_path, {'5m': [], '20m': []})


def test_no_good_cycle(one, clock, placement, tmp_path):
    placement.fault('*', exceptions.ConnectFailure('refused'), times=None)
    fires(
        scraped(one, clock),
        tmp_path,
        {
            '5m': [],
            '11m': ['ComputeAgentManyOutages'],
            '12m': [
                'ComputeAgentManyOutages',
                'ComputeAgentNoGoodCycle',
                'ComputeAgentRequestsFail',
            ],
        },
    )


def test_a_node_fails(one, clock, world, tmp_path):
    one.cycle()
    world.fails = True
    fires(
        scraped(one, clock),
        tmp_path,
        {'15m': [], '16m': ['ComputeAgentNodesFailing']},
    )


def test_changes_are_held(one, clock, world, tmp_path):
    one.cycle()
    world.total = 1
    fires(
        scraped(one, clock),
        tmp_path,
        {'5m': [], '6m': ['ComputeAgentHeldChanges']},
    )


def test_a_write_is_refused(one, clock, placement, world, tmp_path):
    one.cycle()
    world.trait = 'HW_CPU_X86_AVX2'
    placement.fault('PUT */traits', 400, times=None)
    fires(
        scraped(one, clock, minutes=32),
        tmp_path,
        {
            '30m': ['ComputeAgentNodesFailing'],
            '31m': ['ComputeAgentNodesFailing', 'ComputeAgentRefusedWrites'],
        },
    )
    placement.mend()


def test_promtool_finds_the_metrics_well_formed(one):
    one.cycle()
    promtool.run('check', 'metrics', given=one.text())
