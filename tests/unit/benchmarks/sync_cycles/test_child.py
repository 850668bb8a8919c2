# SPDX-License-Identifier: Apache-2.0
"""The process of an agent that is measured, and its orders."""

import os
import pathlib
import subprocess
import sys

import pytest

from benchmarks.sync_cycles import agents, cloud, scenarios

# An agent of its own. A cycle takes 1 second by a clock that the agent moves,
# or 3 seconds and some work if what it remembers is stale.
AGENT = """
import time
now = 0.0
time.perf_counter = lambda: now
from benchmarks.sync_cycles import child

def cycle(seconds, work):
    global now
    now += seconds
    return sum(range(work))

def prepare(order):
    print('a word that is no answer')
    if order.change.value == 'allocations':
        raise SystemExit('placement said 500')
    return lambda: cycle(3, 10 ** 6) if order.is_stale else cycle(1, 0)

child.serve(prepare)
"""
ROOT = pathlib.Path(agents.__file__).parents[2]


@pytest.fixture
def agent(tmp_path):
    """A running agent."""
    said = tmp_path / 'said'
    with (
        said.open('w') as stderr,
        subprocess.Popen(
            [sys.executable, '-c', AGENT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env={**os.environ, 'PYTHONPATH': str(ROOT)},
            text=True,
        ) as process,
    ):
        yield agents.Agent(process, said)
        process.kill()


def test_each_order_is_answered_with_what_the_cycle_took(agent):
    quick, slow = agent.cycle(), agent.cycle(is_stale=True)
    assert (quick.wall, slow.wall) == (1, 3)
    assert slow.cpu > 0
    assert 1 < slow.peak_mib < 200


def test_an_agent_that_ends_leaves_its_last_words(agent):
    agent.cycle()
    with pytest.raises(agents.Failed, match='placement said 500'):
        agent.cycle(cloud.Change.ALLOCATIONS)
    with pytest.raises(agents.Failed):
        agent.cycle()


def test_ours_is_given_a_driver_that_counts_as_installed(tmp_path):
    (nova, ours) = scenarios.groups(
        ['sqlite'], [scenarios.Shape.NESTED], [], 1
    )
    for group, ending in ((ours, 'ours'), (nova, 'nova_peer')):
        words = agents.command(
            group, scenarios.STEADY, 'http://127.0.0.1:1', tmp_path
        )
        config = str(tmp_path / 'agent.conf')
        module = f'benchmarks.sync_cycles.{ending}'
        assert words[1:] == ['-m', module, config, '1', '50']
    points = tmp_path / 'synthetic_driver-1.dist-info' / 'entry_points.txt'
    assert 'synthetic = ' in points.read_text()


@pytest.mark.parametrize(
    ('scenario', 'seconds'),
    [(scenarios.SLOW_READ, 1), (scenarios.STEADY, 3600)],
)
def test_the_slow_read_is_due_only_where_it_is_measured(
    tmp_path, scenario, seconds
):
    _, ours = scenarios.groups(['sqlite'], [scenarios.Shape.NESTED], [], 1)
    agents.command(ours, scenario, 'http://127.0.0.1:1', tmp_path)
    config = (tmp_path / 'agent.conf').read_text()
    assert f'full_read_interval = {seconds}\n' in config
