# SPDX-License-Identifier: Apache-2.0
"""The conflicts and the refused operations of one node's cycle.

A conflict means that another writer changed a provider after the plan was
made. What the plan does to other providers is done by then; for the rest the
agent plans the node again: a few times in a cycle, after pauses that grow and
that differ between agents. Operations that placement refused are reported, and
not sent again before their time: ``limits/backoff.py`` remembers them over the
cycles. ``node_cycle.py`` keeps one object of both classes for each node's
cycle.
"""

import logging
import random
import time
from collections.abc import Collection, Hashable, Mapping, Sequence

from ... import errors
from ...limits import backoff
from ...plan.plan import Conflict
from ...tree.node import Node

LOG = logging.getLogger(__name__)

PLANS = 5  # times a node is planned at most in a cycle
FIRST_PAUSE = 0.1  # seconds at most before it is planned again ...
LONGEST_PAUSE = 5.0  # ... doubled each time, up to this


class Conflicts:
    """The conflicts of one node's cycle.

    :ivar count: plans that another writer's change made useless
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._replans = 0
        self._missing = 0
        self.count = 0
        self._subjects: dict[str, None] = {}

    def allow_replan(self, met: Sequence[Conflict]) -> bool:
        """Note a plan's conflicts; return True if it may be planned again.

        If a provider or a name is missing, the node is planned again only
        once.
        """
        self._replans += 1
        self._missing += any(
            isinstance(one.error, errors.ReplanOnce) for one in met
        )
        others = [one.subject for one in met if one.error.is_conflict]
        self.count += bool(others)
        self._subjects |= dict.fromkeys(others)
        return self._replans < PLANS and self._missing <= 1

    def pause(self) -> None:
        """Wait for a random time, so that two writers do not collide again."""
        longest = min(FIRST_PAUSE * 2 ** (self._replans - 1), LONGEST_PAUSE)
        time.sleep(random.uniform(0, longest))  # noqa: S311 (no secret)

    def log_healed(self) -> None:
        """Log that this cycle's conflicts are resolved, if there were any."""
        if not self._subjects:
            return
        LOG.info(
            '%s: done, planned %d times because another writer changed %s',
            self._node,
            self.count + 1,
            ', '.join(self._subjects),
            extra={'node': self._node.uuid},
        )
        self._subjects.clear()


class Refusals:
    """One node's refused operations, by the line that reports each.

    :param back_off: remembers the refusals of all nodes
    """

    def __init__(self, node_uuid: str, back_off: backoff.Backoff) -> None:
        self._node_uuid = node_uuid
        self._back_off = back_off
        self._refused: dict[str, Hashable] = {}

    @property
    def lines(self) -> list[str]:
        """The lines that report the operations."""
        return list(self._refused)

    @property
    def operations(self) -> list[Hashable]:
        """The refused operations."""
        return list(self._refused.values())

    def note(self, refused: Mapping[str, Hashable]) -> None:
        """Note refused operations, by the line that reports each."""
        self._refused |= refused

    def delayed(self, planned: Sequence[Hashable]) -> backoff.Delayed | None:
        """Return the delay of a plan if all its operations are in backoff.

        If only some of them are, these are noted, and the others are sent.

        :param planned: the plan's operations
        """
        waiting = self._back_off.delayed(self._node_uuid, planned)
        if waiting is None:
            return None
        if frozenset(waiting.refusals.values()).issuperset(planned):
            return waiting
        self._refused |= waiting.refusals
        return None

    def keep_only(self, planned: Collection[Hashable]) -> None:
        """Forget the operations that the latest plan does not have."""
        wanted = frozenset(planned)
        self._refused = {
            line: op for line, op in self._refused.items() if op in wanted
        }

    def back_off(self, applied: Collection[Hashable]) -> float | None:
        """Remember the operations; return the seconds until a retry.

        Return None if no operation was refused.

        :param applied: the operations that were carried out in this cycle
        """
        if not self._refused:
            return None
        return self._back_off.record(self._node_uuid, self._refused, applied)

    def clear(self) -> None:
        """Have the node's next operations sent at once: none was refused."""
        self._back_off.clear(self._node_uuid)
