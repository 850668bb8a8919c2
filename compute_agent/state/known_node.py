# SPDX-License-Identifier: Apache-2.0
"""A node as the state database keeps it.

Pure: no I/O, configuration, logging or clock.
"""

import dataclasses

from ..tree.node import Node
from ..virt import driver as virt


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class KnownNode:
    """A node that a driver lists, or once listed.

    :ivar drivers: the classes of the drivers that list it, or once listed it,
        each as ``module:Class``
    :ivar answer: the driver's last answer whether the node exists; None while
        the driver lists it
    :ivar asked_at: when the driver answered, in seconds since the epoch
    :ivar left_at: when the node was first missing, in seconds since the epoch;
        None while the driver lists it or confirms that it exists. Nodes that
        left in the same cycle have the same value, other nodes another.
    :ivar left_of: the number of nodes that the agent had then; 0 if a person
        approved the departure
    """

    name: str
    title: str = ''
    drivers: frozenset[str] = frozenset()
    answer: virt.Existence | None = None
    asked_at: float = 0.0
    left_at: float | None = None
    left_of: int = 0

    def node(self, uuid: str) -> Node:
        """Return the node with this uuid."""
        return Node(uuid=uuid, name=self.name, title=self.title)
