# SPDX-License-Identifier: Apache-2.0
"""A place for agents in trouble: their world, their clock and their scrapes."""

import contextlib
import dataclasses
import pathlib
from collections.abc import Callable, Mapping

import agents
import pytest
from agents import Clock
from monitored import Monitored
from scrapes import Scrapes

from compute_agent import errors
from compute_agent.monitoring import current
from compute_agent.testing import Placement
from compute_agent.tree import provider_tree

OWN = 'HW_CPU_X86_AVX'


@dataclasses.dataclass(slots=True)
class World:
    """What the driver describes: a cause changes it.

    :ivar before: is called before each description
    """

    total: int = 8
    traits: set[str] = dataclasses.field(default_factory=lambda: {OWN})
    fails: bool = False
    before: Callable[[], object] = lambda: None

    def describe(self, tree: provider_tree.ProviderTree, node: str) -> None:
        """Describe a node, as a driver does."""
        self.before()
        if self.fails:
            raise errors.DriverError('the driver is away')
        tree.update_inventory(node, {'VCPU': {'total': self.total}})
        tree.update_traits(node, self.traits)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """All that a cause may change.

    :ivar open: the contexts that end with the test
    """

    placement: Placement
    make: agents.AgentFactory
    operator: agents.Operator
    directory: pathlib.Path
    monkeypatch: pytest.MonkeyPatch
    open: contextlib.ExitStack
    clock: Clock
    scrapes: Scrapes
    world: World

    def agent(self, nodes: Mapping[str, str] | None = None) -> Monitored:
        """Return a measured agent that has reported its nodes once."""
        made = self.make(
            self.world.describe,
            nodes=nodes,
            clock=self.clock,
        )
        one = self.measured(made)
        one.cycle()
        return one

    def measured(
        self, agent: agents.Agent, lease: current.Lease | None = None
    ) -> Monitored:
        """Return an agent with metrics that begin now."""
        self.open.close()  # those of the daemon before
        return self.open.enter_context(
            Monitored.of(agent, self.placement, self.clock, lease=lease)
        )
