# SPDX-License-Identifier: Apache-2.0
"""The settings of the operator that the plans of all nodes depend on.

``cmd`` makes them of the configuration, and ``node_planner.py`` reads them.
"""

import dataclasses
import time
from collections.abc import Callable, Mapping

from ...ownership import policy
from ...ownership.explanations import notes
from ...tree import host_inventory
from ...tree.inventory import Ratios
from ...tree.node import Node
from .. import report_client

# Returns the operator's orders for the names of a node.
OrdersOf = Callable[[Node], policy.Orders]


def _no_orders() -> OrdersOf:
    return lambda _node: policy.NO_ORDERS


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The operator's settings.

    :ivar reserved: the part of a host that is not for its guests
    :ivar uuid_files: called in each cycle; returns the host's uuid and the
        file that gives it
    :ivar mode: the agent's part for its nodes
    :ivar marker: tells if the nova-compute of this host reports it; for a
        reporter
    :ivar clock: seconds since the epoch
    :ivar nova: looks for a nova-compute on this host; None if the operator
        said who reports the nodes
    :ivar orders: called in each cycle; returns the orders for the nodes' names
    :ivar author: says who changed a name that is restored
    """

    ratios: Ratios = dataclasses.field(default_factory=Ratios)
    reserved: host_inventory.Reserved = dataclasses.field(
        default_factory=host_inventory.Reserved
    )
    orders: Callable[[], OrdersOf] = _no_orders
    uuid_files: Callable[[], Mapping[str, str]] = dict
    mode: policy.Mode = policy.Mode.OWNER
    marker: report_client.NovaMarker | None = None
    clock: Callable[[], float] = time.time
    nova: report_client.NovaCompute | None = None
    author: notes.Author = notes.unknown_author
