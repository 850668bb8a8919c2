# SPDX-License-Identifier: Apache-2.0
"""Plans that had nothing to do, and what they rested on.

Pure: no I/O, configuration, logging or clock. Most nodes are in most cycles as
they were in the last one: observed as the very same value, described alike,
recorded as the same. Then so is the plan, and is not made again. ``planner.py``
keeps one; from threads too, each of which has a node of its own.
"""

import dataclasses

from compute_agent.ownership.policy import Policy
from compute_agent.ownership.record import Record
from compute_agent.tree import provider_tree

from ..observe import observation
from . import diff


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """All that decides what a plan is, but what it asks placement for.

    :ivar uuids: the providers that the record is of
    :ivar said: the tree that was described, as a value
    """

    seen: observation.Observation
    uuids: frozenset[str]
    record: Record
    policy: Policy
    said: provider_tree.Said

    def are(self, other: 'Grounds') -> bool:
        """Whether these are the other's: seen and recorded the very same."""
        return (
            self.seen is other.seen
            and self.record is other.record
            and self.policy == other.policy
            and self.said == other.said
        )


class Quiet:
    """The last plan of each node, if there was nothing to do."""

    def __init__(self) -> None:
        self._plans: dict[str, tuple[Grounds, diff.Plan]] = {}

    def recall(self, grounds: Grounds) -> diff.Plan | None:
        """Return the plan that rests on these grounds, None for no memory."""
        known = self._plans.get(grounds.seen.node_uuid)
        if known is None or not grounds.are(known[0]):
            return None
        return known[1]

    def last(self, node_uuid: str) -> Grounds | None:
        """Return what the remembered plan rests on, None for no memory."""
        known = self._plans.get(node_uuid)
        return None if known is None else known[0]

    def keep(self, grounds: Grounds, made: diff.Plan) -> None:
        """Remember a plan of nothing."""
        self._plans[made.node_uuid] = grounds, made

    def drop(self, node_uuid: str) -> None:
        """Forget a node's plan: something is done for it."""
        self._plans.pop(node_uuid, None)
