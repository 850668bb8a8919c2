# SPDX-License-Identifier: Apache-2.0
"""The conflicts in one node's cycle: count them, pause after each, log them.

A conflict means that another writer changed a provider after the plan was
made. What the plan does to other providers is done by then; for the rest the
agent plans the node again: a few times in a cycle, after pauses that grow and
that differ between agents.
``node_cycle.py`` keeps one ``Conflicts`` for each node's cycle.
"""

import logging
import random
import time
from collections.abc import Sequence

from ... import errors
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
        )
        self._subjects.clear()
