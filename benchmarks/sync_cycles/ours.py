# SPDX-License-Identifier: Apache-2.0
"""This agent as a process that is measured, wired as its command line does.

``python -m benchmarks.sync_cycles.ours CONFIG NODES TREE_SIZE``; ``agents.py``
starts it.
"""

import functools
import sys
import typing
from collections.abc import Callable

from compute_agent.cmd.app import configuration, main
from compute_agent.cmd.wiring import agent as wiring
from compute_agent.cycle import node_result

from . import child, cloud, synthetic_driver


def serve(config: str, nodes: int, tree_size: int) -> None:
    """Do the cycles that are ordered."""
    options = main.GlobalOptions(
        config_files=[config], config_dirs=[], debug=False
    )
    conf = configuration.load(options)
    with wiring.agent(conf, looking=False) as agent:
        driver = typing.cast(synthetic_driver.SyntheticDriver, agent.driver)

        def prepare(order: child.Order) -> Callable[[], object]:
            driver.source = cloud.listing(nodes, tree_size, order.change)
            if order.is_stale:
                agent.client.invalidate()  # 300 s on
            return functools.partial(_cycle, agent)

        child.serve(prepare)


def _cycle(agent: wiring.Agent) -> None:
    """Do one cycle; a node that is not done ends the process."""
    for result in agent.tracker.sync():
        if result.status is not node_result.Status.DONE:
            raise SystemExit(f'{result.node}: {result.reason}')


if __name__ == '__main__':
    serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
