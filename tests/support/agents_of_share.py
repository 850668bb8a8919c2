# SPDX-License-Identifier: Apache-2.0
"""The agents of one share whose database is in memory, on one placement."""

import typing
import uuid
from collections.abc import Mapping

from agents import AgentFactory
from shared_in_memory import SharedInMemory

from compute_agent.state import state


def numbered(count: int) -> dict[str, str]:
    """Return so many nodes: uuid → name."""
    return {str(uuid.UUID(int=n + 1)): f'node-{n}' for n in range(count)}


class AgentsOfShare:
    """Agents that describe the same nodes, each with a state of its own.

    :param how: options of each agent
    :ivar nodes: uuid → name
    :ivar wanted: the traits of each node, or of the first one if it ``is_alone``
    """

    def __init__(
        self,
        factory: AgentFactory,
        nodes: Mapping[str, str],
        **how: typing.Any,
    ) -> None:
        self._factory = factory
        self._how = how
        self._opened: list[state.State] = []
        self.shared = SharedInMemory()
        self.nodes = nodes
        self._first = next(iter(nodes.values()))
        self.wanted = ['CUSTOM_A']
        self.is_alone = False

    def standby(self) -> typing.Any:
        """Return an agent that stands by, with its ``replica``."""
        opened = state.State.in_memory('test')
        self._opened.append(opened)
        one: typing.Any = self._factory(
            self._describe, state=opened, nodes=self.nodes, **self._how
        )
        one.replica = opened.replica(self.shared, 'db/share')
        one.replica.catch_up()
        return one

    def holder(self) -> typing.Any:
        """Return an agent that has taken the share over."""
        one = self.standby()
        self.take_over(one)
        return one

    def take_over(self, one: typing.Any) -> None:
        """Let an agent report from now on."""
        one.replica.take_over(self.shared.take())

    def documents(self) -> dict[str, str]:
        """Return the documents of the shared database."""
        found = self.shared.changed(0).documents
        return {key: text for key, text in found.items() if text is not None}

    def close(self) -> None:
        """Close the states of all agents."""
        for opened in self._opened:
            opened.close()

    def _describe(self, tree: typing.Any, node: str) -> None:
        is_changed = not self.is_alone or node == self._first
        tree.update_inventory(node, {'VCPU': {'total': 4}})
        tree.declare_traits(
            node, *(self.wanted if is_changed else ['CUSTOM_A'])
        )
