# SPDX-License-Identifier: Apache-2.0
"""What moves no generation is read again now and then, but not all at once."""

import collections

import agents
import pytest
from gauntlet import AGGREGATE, NODE, verdict

MANY = {f'{n:08}-1111-4111-8111-111111111111': f'node-{n}' for n in range(8)}


def host(tree, node):
    tree.update_inventory(node, {'VCPU': {'total': 8}})


INTERVAL = 3600


@pytest.mark.catches('all providers are due at the same moment')
def test_the_slow_read_does_not_come_for_all_at_once(bench):
    """Nodes that started together must not stay together for ever."""
    clock = agents.Clock()
    agent = bench.agent(
        host, nodes=MANY, clock=clock, full_read_interval=INTERVAL
    )
    agent.done()
    read = collections.Counter()
    for step in range(1, 21):
        clock.now += INTERVAL / 20
        bench.placement.clear()
        agent.done()
        read[step] = sum(
            str(r).endswith('/traits') and str(r) != 'GET /traits'
            for r in bench.placement.requests
        )
        if sum(read.values()) >= len(MANY):
            break
    assert sum(read.values()) == len(MANY)
    with verdict():
        assert max(read.values()) < len(MANY)


@pytest.mark.catches('a clock that is set back stops the slow read')
def test_a_clock_that_is_set_back_stops_no_healing(bench):
    """What moves no generation must be seen although "now" was earlier."""
    clock = agents.Clock()
    agent = bench.agent(
        lambda tree, node: tree.update_aggregates(node, [AGGREGATE]),
        clock=clock,
        full_read_interval=INTERVAL,
    )
    agent.done()
    bench.placement.put(
        f'/resource_providers/{NODE}/aggregates', [], microversion='1.18'
    )
    clock.now -= 365 * 86400
    agent.done()
    clock.now += 2 * INTERVAL
    agent.done()
    with verdict():
        assert bench.operator.aggregates() == {AGGREGATE}
