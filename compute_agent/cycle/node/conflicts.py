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

from ... import errors
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

    def allow_replan(self, exc: errors.AgentError) -> bool:
        """Note an error; return True if the node may be planned again.

        If a provider or a name is missing, the node is planned again only
        once.
        """
        if not isinstance(exc, errors.Replan):
            return False
        self._replans += 1
        self._missing += isinstance(exc, errors.ReplanOnce)
        together = [one for one in (exc, *exc.others) if one.is_conflict]
        self.count += bool(together)
        for one in together:
            self._subjects[one.subject or str(self._node)] = None
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


def is_at_home(exc: errors.AgentError) -> bool:
    """Return True if the list of the node's own tree shows all that changed."""
    return isinstance(exc, errors.Replan) and all(
        one.is_at_home for one in (exc, *exc.others)
    )
