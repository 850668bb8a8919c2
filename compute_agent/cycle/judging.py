# SPDX-License-Identifier: Apache-2.0
"""Judge the plans of a cycle that remove something, and tell their nodes.

``limits/judgement.py`` decides; this module collects what it decides on, asks
for a person's approvals, logs those that are used, and passes each verdict on
to the node's cycle. The resource tracker calls it between the two steps of
the nodes' cycles.
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..limits import approval, blast_radius, judgement
from .node.node_cycle import NodeCycle

LOG = logging.getLogger(__name__)

LATER = (
    'its providers are deleted in a later cycle, because one cycle deletes no '
    'more than {} providers ([compute_agent] max_deletions)'
)
_WORDS = {
    approval.Kind.DELETIONS: 'deletions of providers',
    approval.Kind.DEPARTURES: 'deletions of departed nodes',
    approval.Kind.NAMES: 'removals of names',
    approval.Kind.CAPACITY: 'losses of capacity',
}


class Judge:
    """Judges the removals of each cycle; remembers which ones wait.

    :ivar take_approval: returns who approved a set, once
    :param clock: seconds since the epoch
    """

    def __init__(
        self,
        take_approval: approval.Take = approval.nobody,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.take_approval = take_approval
        self._clock = clock
        # When the deletions of a listed node began to wait, by its uuid.
        self._waiting: dict[str, float] = {}

    def judge(
        self,
        cycles: Sequence[NodeCycle[Any]],
        batches: Mapping[str, judgement.Batch],
        limits: blast_radius.Limits,
        *,
        may_take: bool,
    ) -> frozenset[str]:
        """Hold back or postpone what may not go now.

        Return the departed nodes whose deletion a person approved.

        :param cycles: those of all nodes, departed ones included
        :param batches: the batch of each departed node
        :param may_take: False in a cycle that only plans, or that an outage
            cut short: approvals are left for a later cycle
        """
        judged = [cycle for cycle in cycles if cycle.awaits_judgement]
        if not judged:
            self._waiting = {}
            return frozenset()
        found = judgement.judge(
            [self._case(cycle, batches) for cycle in judged],
            _seen([cycle for cycle in cycles if not cycle.departed]),
            limits,
            self._is_approved if may_take else lambda _subject: False,
        )
        for cycle in judged:
            held = [h for h in found.held if cycle.node.uuid in h.nodes]
            if held:
                cycle.hold_back(held)
            elif cycle.node.uuid in found.waiting:
                cycle.postpone(LATER.format(limits.deletions))
        now = self._clock()
        self._waiting = {
            uuid: self._waiting.get(uuid, now) for uuid in found.waiting
        }
        return frozenset(
            uuid
            for one in found.approved
            if one.subject.kind is approval.Kind.DEPARTURES
            for uuid in one.nodes
        )

    def _case(
        self,
        cycle: NodeCycle[Any],
        batches: Mapping[str, judgement.Batch],
    ) -> judgement.Case:
        uuid = cycle.node.uuid
        batch = batches.get(uuid) if cycle.departed else None
        return judgement.Case(
            node_uuid=uuid,
            removals=cycle.removals,
            since=batch.left_at
            if batch is not None
            else self._waiting.get(uuid, self._clock()),
            batch=batch,
        )

    def _is_approved(self, subject: approval.Subject) -> bool:
        who = self.take_approval(subject)
        if who is None:
            return False
        LOG.info('%s go on, as approved by %s', _WORDS[subject.kind], who)
        return True


def _seen(listed: Sequence[NodeCycle[Any]]) -> judgement.Seen:
    """Return what the listed nodes see in placement."""
    return judgement.Seen(
        names={k: v for c in listed for k, v in c.seen_names().items()},
        totals={k: v for c in listed for k, v in c.seen_totals().items()},
        is_empty=not listed,
    )
