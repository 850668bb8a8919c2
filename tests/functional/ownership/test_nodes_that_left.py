# SPDX-License-Identifier: Apache-2.0
"""Nodes that left their driver's list and exist elsewhere, or may exist.

An option that chooses nodes may have a typo, so they are counted everywhere for
as long as they are recorded.
"""

import prometheus_client
import pytest
from agents import Driver

from compute_agent.cmd.control import daemon_data
from compute_agent.cmd.control.node_states import NodeStates
from compute_agent.cmd.run.status import DaemonStatus
from compute_agent.cycle.node.node_result import Status
from compute_agent.monitoring import current
from compute_agent.monitoring.values import health
from compute_agent.virt import driver as virt

NODES = {
    f'{n}' * 8 + '-1111-4111-8111-111111111111': f'node-{n}' for n in '1234'
}


def describe(tree, node):
    tree.update_inventory(node, {'VCPU': {'total': 4}})


class Watched:
    """An agent, and everything that tells of its nodes."""

    def __init__(self, agent):
        self.agent = agent
        self.status, self.states = DaemonStatus(), NodeStates()
        self.metrics = current.Current(
            self.status,
            breaker_is_open=lambda: False,
            interval=lambda: 60.0,
            names=10,
        )

    def cycle(self):
        for listener in (self.status, self.states):
            listener.begin()
        results = self.agent.sync()
        for listener in (self.status, self.states):
            listener.end(results)
        self.metrics.end_cycle(results, 1.0)
        return results

    def told(self):
        """Return the counts of status, of the last cycle, and of the metrics."""
        data = daemon_data.of(self.status, self.states, str, ())
        registry = prometheus_client.CollectorRegistry()
        registry.register(self.metrics)
        scraped = {
            state.value: registry.get_sample_value(
                'compute_agent_nodes', {'state': state.value}
            )
            for state in Status
        }
        assert data['counts'] == data['cycle']['counts'] == scraped
        return {name: n for name, n in data['counts'].items() if n}

    @property
    def health(self):
        return health.judge(self.status, 60.0)


@pytest.fixture
def watched(agent_factory, operator):
    driver = Driver(describe, nodes=dict(NODES), missing=virt.Existence.YES)
    made = Watched(agent_factory(driver))
    made.cycle()
    assert made.told() == {'done': 4}
    return made


@pytest.mark.parametrize(
    'missing', [virt.Existence.YES, virt.Existence.UNKNOWN]
)
@pytest.mark.parametrize('kept', [0, 2])
@pytest.mark.catches('nodes that moved are told once')
def test_they_are_counted_in_every_cycle(watched, operator, missing, kept):
    driver = watched.agent.driver
    driver.missing = missing
    driver.nodes = dict(list(NODES.items())[:kept])
    before = operator.holdings()
    wanted = {'done': kept, 'left': 4 - kept} if kept else {'left': 4}
    for _ in range(3):
        results = watched.cycle()
        assert watched.told() == wanted
        left = [r for r in results if r.status is Status.LEFT]
        assert all(
            "left this driver's list" in f'{r.reason}{r.notes}' for r in left
        )
        assert {r.is_settled for r in left} == {missing is virt.Existence.YES}
    found = watched.health
    assert found.is_healthy == bool(kept)
    assert found.is_alive
    assert found.why == (
        f"{4 - kept} of 4 nodes left their driver's list and may exist "
        'elsewhere: check the options that choose nodes'
    )
    assert found.data()['last_cycle']['nodes']['left'] == 4 - kept
    assert operator.holdings() == before


def test_a_node_that_returns_or_whose_record_moved_is_counted_no_more(watched):
    driver = watched.agent.driver
    (_, first), (uuid, second), *_ = NODES.items()
    driver.nodes = {u: n for u, n in NODES.items() if n not in {first, second}}
    watched.cycle()
    assert watched.told() == {'done': 2, 'left': 2}
    driver.nodes = {u: n for u, n in NODES.items() if n != second}
    watched.cycle()
    assert watched.told() == {'done': 3, 'left': 1}
    watched.agent.state.handover.forget_with_record(uuid)
    watched.cycle()
    assert watched.told() == {'done': 3}
    assert watched.health.why == ''
