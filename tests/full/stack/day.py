# SPDX-License-Identifier: Apache-2.0
"""The events of one day in a cloud, in an order of chance.

Each part is restarted, daemons are killed, stopped and told to reload, tokens
expire, the disk is full, the clocks step, nodes come, change and go, and other
writers change what the agents reported. A day ends when the clocks have gone
on by 24 hours.
"""

import random
import signal
import time
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import wanted

if TYPE_CHECKING:
    from whole_cloud import Stack

HOUR = 3600.0
SEEN = 2  # cycles after which both daemons have seen what is so now


class Part(Protocol):
    """A part of the cloud that ends, and starts again at its address."""

    def start(self) -> None:
        """Start it; return when it answers."""

    def stop(self) -> None:
        """End it."""


class Day:
    """One day of a stack.

    :param pause: the longest time between two events, in seconds
    """

    def __init__(self, stack: 'Stack', rng: random.Random, pause: float):
        self._stack = stack
        self._rng = rng
        self._pause = pause

    def pass_(self, *, daemons_end: bool) -> None:
        """Let everything happen once.

        Each daemon must see the last changes when all parts are there again.

        :param daemons_end: True if the daemons are killed and stopped, too
        """
        events = self._of_the_cloud()
        if daemons_end:
            events += [self.agents_are_killed, self.agents_are_stopped]
        self._rng.shuffle(events)
        for event in events:
            event()
            time.sleep(self._rng.uniform(0.0, self._pause))
        self._stack.end_day()
        self.node_changes()
        self._stack.remove_trait(self._stack.host_uuid, 'OWNER_NOVA')

    def _of_the_cloud(self) -> list[Callable[[], None]]:
        return [
            self.placement_restarts,
            self.postgresql_restarts,
            self.keystone_restarts,
            self.ironic_restarts,
            self.libvirtd_restarts,
            self.libvirtd_is_killed,
            self.agents_reload,
            self.tokens_are_revoked,
            self.disk_is_full,
            self.clocks_step,
            self.node_comes,
            self.node_changes,
            self.node_goes,
            self.others_write,
        ]

    def placement_restarts(self) -> None:
        """Placement is away for a while."""
        self._away(self._stack.servers.placement)

    def postgresql_restarts(self) -> None:
        """Placement's database is away for a while."""
        self._away(self._stack.servers.postgresql)

    def keystone_restarts(self) -> None:
        """Keystone is away for a while."""
        self._away(self._stack.servers.keystone)

    def ironic_restarts(self) -> None:
        """Ironic is away for a while."""
        self._away(self._stack.servers.ironic)

    def libvirtd_restarts(self) -> None:
        """Libvirtd is restarted."""
        self._stack.servers.libvirt.restart()

    def libvirtd_is_killed(self) -> None:
        """Libvirtd dies, and is started a while later."""
        self._stack.servers.libvirt.kill()
        self._stack.let_pass(SEEN)
        self._stack.servers.libvirt.restart()

    def agents_are_killed(self) -> None:
        """The daemons die in the middle of their work."""
        for agent in self._stack.agents.values():
            agent.end_one_life(signal.SIGKILL)

    def agents_are_stopped(self) -> None:
        """The daemons are stopped and started."""
        for agent in self._stack.agents.values():
            agent.end_one_life(signal.SIGTERM)

    def agents_reload(self) -> None:
        """Both daemons read their files again, and write their report."""
        for agent in self._stack.agents.values():
            agent.reload()
            agent.report()

    def tokens_are_revoked(self) -> None:
        """The tokens of the agents end before their time."""
        self._stack.revoke_tokens()
        self._stack.let_pass(SEEN)

    def disk_is_full(self) -> None:
        """The disk of the state directories has no byte left for a while."""
        self._stack.disk.fill()
        try:
            self.node_changes()
            self._stack.let_pass(SEEN)
        finally:
            self._stack.disk.free()

    def clocks_step(self) -> None:
        """The daemons' clocks step back by hours, then ahead, and are right.

        With a clock that is ahead, each request needs a new token.
        """
        back, ahead = self._rng.uniform(-6, -1), self._rng.uniform(0.2, 0.8)
        for hours in (back, ahead, 0):
            self._stack.set_clocks_wrong(hours * HOUR)
            self._stack.let_pass(1)

    def node_comes(self) -> None:
        """A node is enrolled."""
        self._stack.enrol(f'node-{uuid.uuid4().hex[:8]}')

    def node_changes(self) -> None:
        """A node gets another set of traits."""
        node = self._rng.choice(self._stack.nodes())
        number = self._rng.randrange(5)
        self._stack.operator.set_traits(
            node['uuid'], ['HW_CPU_X86_VMX', f'CUSTOM_RACK_{number}']
        )

    def node_goes(self) -> None:
        """A node is deleted, unless it is one of the last."""
        nodes = self._stack.nodes()
        if len(nodes) > self._stack.least_nodes:
            self._stack.delete(self._rng.choice(nodes)['uuid'])

    def others_write(self) -> None:
        """An operator and another program write to the agents' providers."""
        host = self._stack.host_uuid
        self._stack.add_trait(host, wanted.OPERATORS)
        self._stack.remove_trait(host, 'COMPUTE_NODE')
        node = self._rng.choice(self._stack.nodes())
        self._stack.remove_trait(node['uuid'], 'COMPUTE_NODE')

    def _away(self, part: Part) -> None:
        part.stop()
        self._stack.let_pass(SEEN)
        part.start()
