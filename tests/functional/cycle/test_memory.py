# SPDX-License-Identifier: Apache-2.0
"""The memory of an agent is bounded by what is there, not by what was.

The tests count the objects that the agent's parts keep, so they look into
private parts.
"""

import contextlib
import gc

import looking
import pytest
import reachable
from agents import Driver

from compute_agent.virt import driver as virt

PER_ROUND = 250
PER_FEW = 8


class Rack(Driver):
    """A driver whose nodes all go, and are replaced by others."""

    def __init__(self):
        super().__init__(_describe, missing=virt.Existence.NO)
        self._made = 0

    def replace(self, number):
        self.nodes.clear()
        for _ in range(number):
            self._made += 1
            uuid = f'{self._made:08}-1111-4111-8111-111111111111'
            self.nodes[uuid] = f'node-{self._made}'


def _describe(tree, node):
    child = f'{node}-child'
    if not tree.exists(child):
        tree.new_child(child, node)
    for name in (node, child):
        tree.update_inventory(name, {'VCPU': {'total': 4}})
        tree.add_traits(name, 'CUSTOM_RACK')


@pytest.mark.parametrize(
    'nodes', [750, pytest.param(10_000, marks=pytest.mark.long)]
)
def test_thousands_of_nodes_that_came_and_went_leave_nothing(nodes):
    with contextlib.closing(looking.Station()) as station:
        counts = []
        for number in range(nodes // PER_ROUND):
            names = [f'{number:04}-{node:04}' for node in range(PER_ROUND)]
            station.cloud.there.clear()
            for name in names:
                station.cloud.put(name, traits={'CUSTOM_A'})
            station.look(*names)
            station.look(*names)
            for uuid in names:
                station.state.records.record([uuid], uuid)
                station.observer.watch_provider(uuid, uuid)
            station.observer.forget_except(names)
            station.cloud.take()
            gc.collect()
            kept = [station.observer, station.state]
            counts.append(reachable.count(kept, [station.cloud, station]))
    # Less than one object for each node of one round: some values, such as
    # small numbers, are shared or not.
    assert max(counts) - min(counts) < PER_ROUND, counts


def test_an_agent_whose_nodes_all_went_keeps_nothing_of_them(
    placement, agent_factory
):
    rack = Rack()
    agent = agent_factory(rack, max_removed_percent=None)
    counts = []
    for _ in range(6):
        rack.replace(PER_FEW)
        for _ in range(3):
            agent.done()
        placement.clear()
        gc.collect()
        kept = [agent.tracker, agent.state]
        counts.append(reachable.count(kept, [placement, rack]))
    # Less than one object for each node: a cycle in which nodes go keeps
    # other things than the cycle before.
    assert max(counts[-2:]) - max(counts[2:4]) < 2 * PER_FEW, counts
