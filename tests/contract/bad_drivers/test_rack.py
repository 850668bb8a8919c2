# SPDX-License-Identifier: Apache-2.0
"""The driver that all bad drivers are made of keeps every rule."""

import lines
import pytest
import rack

from compute_agent import testing
from compute_agent.testing.contract import runner
from compute_agent.testing.contract.rules import catalogue
from compute_agent.virt.values import changes


class TestRack(testing.DriverContract):
    driver = rack.Rack
    capabilities = rack.CAPABILITIES

    @pytest.fixture
    def world(self):
        return rack.world()


class CountingRack(rack.Rack):
    """Its cards offer another class, which counts as that of the rack."""

    counts = True

    def add_card(self, tree, node, entry):
        super().add_card(tree, node, entry)
        tree.declare_inventory(
            self.card_name(node, entry['card']),
            {'CUSTOM_VGPU': {'total': self.functions(entry)}},
        )

    def move(self, tree, node, allocations):
        super().move(tree, node, allocations)
        if self.counts:
            tree.count_as('CUSTOM_VGPU', 'VGPU')
        for consumer in allocations.values():
            for given in consumer['allocations'].values():
                resources = given['resources']
                if 'VGPU' in resources:
                    resources['CUSTOM_VGPU'] = resources.pop('VGPU')


class SilentRack(CountingRack):
    """Says nothing of how the classes count."""

    counts = False


@pytest.mark.parametrize(
    ('driver_class', 'status'),
    [
        (CountingRack, runner.Status.PASSED),
        (SilentRack, runner.Status.FAILED),
    ],
)
def test_a_class_that_counts_as_another_may_take_its_amounts(
    driver_class, status
):
    outcome = runner.check(
        catalogue.BY_NUMBER['CA031'],
        driver_class,
        rack.world(),
        rack.CAPABILITIES,
    )
    assert outcome.status is status, outcome.reason


class DeafRack(rack.Rack):
    """Misses each change, and asks nothing to find one."""

    def changes(self, since):
        return changes.Changes(names=(), since=0)


class CoarseRack(rack.Rack):
    """Tells that something changed, and not on which rack."""

    def changes(self, since):
        end, _ = self.heard(since)
        if since not in {None, end}:
            return None
        return changes.Changes(names=(), since=end)


PASSED = runner.Status.PASSED


@pytest.mark.parametrize(
    ('driver_class', 'named', 'failed'),
    [
        (DeafRack, runner.Status.NOT_TRIED, runner.Status.SKIPPED),
        (CoarseRack, runner.Status.SKIPPED, PASSED),
    ],
)
def test_changes_may_miss_everything_and_may_be_coarse(
    driver_class, named, failed
):
    """What a driver leaves out comes with the next list."""
    found = {
        number: runner.check(
            catalogue.BY_NUMBER[number],
            driver_class,
            rack.world(),
            rack.CAPABILITIES,
        ).status
        for number in ('CA032', 'CA033', 'CA034', 'CA035', 'CA036')
    }
    assert [*found.values()] == [PASSED, named, PASSED, PASSED, failed]


class TestLines(testing.DriverContract):
    driver = lines.Lines

    @pytest.fixture
    def world(self):
        with lines.world() as made:
            yield made
