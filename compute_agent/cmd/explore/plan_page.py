# SPDX-License-Identifier: Apache-2.0
"""The page of the next cycle's writes, as a diff, and of held changes."""

from . import slow
from .this_agent import Data, Planned, ThisAgent


class Plan:
    """The plan of this machine's agent; a driver may take long."""

    def __init__(self, agent: ThisAgent) -> None:
        self._agent = agent
        self._slow = slow.Slow[Planned](0.0)  # the agent keeps the plan

    def data(self) -> Data:
        """Return the plans of all nodes, as ``plan -f json`` has them.

        :raises slow.Pending: a driver takes long
        """
        found = self._slow.get('', self._agent.plan)
        return {
            'nodes': list(found.nodes),
            'lines': list(found.lines),
            'waiting': found.waiting,
            'problem': found.problem,
        }
