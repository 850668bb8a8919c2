# SPDX-License-Identifier: Apache-2.0
"""The values that ``judgement.py`` judges: plans that remove something.

Pure: no I/O, configuration, logging or clock.
"""

import dataclasses
from collections.abc import Mapping

from . import blast_radius, capacity


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Nodes that left the driver's list in the same cycle.

    :ivar left_at: when they left, in seconds since the epoch
    :ivar nodes: those that are not back and that the driver does not confirm
        to exist
    :ivar unasked: the number of these that the driver does not deny either
    :ivar of: the number of nodes that the agent had then; 0 if a person
        approved the departures
    """

    left_at: float
    nodes: frozenset[str]
    unasked: int = 0
    of: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A node's plan that removes something.

    :ivar since: when the removals were first due, in seconds since the epoch
    :ivar batch: the nodes that left with it; None if the node did not leave
    """

    node_uuid: str
    removals: blast_radius.Removals
    since: float
    batch: Batch | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The contents of placement that the cycle's listed nodes see.

    :ivar names: the number of names of each provider
    :ivar totals: the totals of the nodes' own providers
    :ivar is_empty: True if the driver lists no node any more
    """

    names: Mapping[str, int] = dataclasses.field(default_factory=dict)
    totals: capacity.Totals = dataclasses.field(default_factory=dict)
    is_empty: bool = False
