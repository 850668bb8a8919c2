# SPDX-License-Identifier: Apache-2.0
"""This agent as the measured process, built as the command line builds it.

``python -m benchmarks.sync_cycles.ours CONFIG NODES TREE_SIZE``; ``agents.py``
starts it.
"""

import functools
import sys
import typing
from collections.abc import Callable

from compute_agent.cmd.app import configuration, main
from compute_agent.cmd.wiring.agent import Agent
from compute_agent.cmd.wiring.opening import open_agent
from compute_agent.cycle.node import node_result

from . import child, cloud, synthetic_driver


def serve(config: str, nodes: int, tree_size: int) -> None:
    """Run a cycle for each order."""
    options = main.GlobalOptions(
        config_files=[config], config_dirs=[], debug=False
    )
    conf = configuration.load(options)
    with open_agent(conf, read_only=False) as agent:
        driver = typing.cast(
            synthetic_driver.SyntheticDriver, agent.drivers.first
        )

        def prepare(order: child.Order) -> Callable[[], object]:
            driver.source = cloud.listing(nodes, tree_size, order.change)
            if order.is_stale:
                agent.client.invalidate()  # as if 300 s had passed
            return functools.partial(_cycle, agent)

        child.serve(prepare)


def _cycle(agent: Agent) -> None:
    """Run one cycle; a node that is not done ends the process."""
    for result in agent.tracker.sync():
        if result.status is not node_result.Status.DONE:
            raise SystemExit(f'{result.node}: {result.reason}')


if __name__ == '__main__':
    serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
