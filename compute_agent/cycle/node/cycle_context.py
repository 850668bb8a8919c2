# SPDX-License-Identifier: Apache-2.0
"""The part of a cycle that the cycles of all nodes share.

The resource tracker makes one for each cycle; ``node_cycle.py`` uses it, from
several threads.
"""

import dataclasses
from collections.abc import Callable, Collection

from ... import errors
from ...limits import backoff, blast_radius, contention
from ...state.approvals import Approvals
from ...tree.node import Node
from .. import report_client
from ..planning.node_planner import NodePlanner


@dataclasses.dataclass(slots=True, kw_only=True)
class CycleContext:
    """The collaborators of one cycle, and what its nodes learn together.

    :ivar writing: False in a cycle that only plans
    :ivar judged: True if removals wait until those of all nodes are judged
    :ivar confirm_departure: asks the driver again about a node that left;
        raises ``UnknownState`` unless it is gone
    :ivar contended: the items that this cycle leaves as they are
    :ivar approvals: the changes that a person approved
    :ivar outage: the error of the first node that found the service away
    :ivar removals: what each node's plan removes, to be judged together
    """

    client: report_client.ReportClient
    planner: NodePlanner
    confirm_departure: Callable[[Node], None]
    back_off: backoff.Backoff
    contended: Collection[contention.Item]
    writing: bool
    judged: bool
    approvals: Approvals
    outage: errors.Unavailable | None = None
    removals: dict[str, blast_radius.Removals] = dataclasses.field(
        default_factory=dict
    )
