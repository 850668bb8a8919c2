# SPDX-License-Identifier: Apache-2.0
"""A fleet of bare-metal nodes that several agents may report, for tests."""

import collections.abc
import dataclasses
import typing

import agents

from compute_agent.cmd.plan import waiting
from compute_agent.tree import provider_tree
from compute_agent.virt import driver as virt

NODES = {f'{n:08}-1111-4111-8111-111111111111': f'node-{n}' for n in range(5)}
GOLD = 'CUSTOM_GOLD'


@dataclasses.dataclass(slots=True)
class World:
    """The nodes as an Ironic tells them to each agent.

    :ivar nodes: uuid → name
    :ivar maintenance: the names of the nodes that are out of service
    """

    nodes: dict[str, str] = dataclasses.field(
        default_factory=lambda: dict(NODES)
    )
    maintenance: set[str] = dataclasses.field(default_factory=set)


class Fleet(agents.Driver):
    """Describes the nodes of a world, as the ironic driver does."""

    def __init__(self, world: World) -> None:
        super().__init__(self._describe, missing=virt.Existence.NO)
        self.nodes = world.nodes
        self.node_filter = {'shard': 'rack1'}
        self._world = world

    def _describe(self, tree: provider_tree.ProviderTree, name: str) -> None:
        reserved = int(name in self._world.maintenance)
        tree.update_inventory(name, {GOLD: {'total': 1, 'reserved': reserved}})
        tree.update_traits(name, ['CUSTOM_RACK'])


def waits(agent: agents.Agent) -> collections.abc.Sequence[waiting.Waiting]:
    """Return what waits for a person beside this agent."""
    return waiting.of(agent.plan())


def allow(agent: agents.Agent) -> dict[str, typing.Any]:
    """Approve the only item of the list by its digest; return the item."""
    every = waits(agent)
    (kind,) = waiting.data(every)['kinds']
    (item,) = kind['alike']
    some = waiting.chosen(every, [item['digest']])
    agent.state.approvals.grant(waiting.subjects(some), 'a person')
    return typing.cast(dict[str, typing.Any], item)
