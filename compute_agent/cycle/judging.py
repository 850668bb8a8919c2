# SPDX-License-Identifier: Apache-2.0
"""Judge the plans of a cycle that remove something, and tell their nodes.

``limits/judgement.py`` decides; this module collects what it decides on, asks
for a person's approvals, logs those that are used, and passes each verdict on
to the node's cycle. The resource tracker calls it between the two steps of
the nodes' cycles, and after the second to drop the approvals of what was done.
"""

import dataclasses
import logging
import time
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)

from ..limits import approval, blast_radius, effects, judgement
from ..state.approvals import Approvals
from ..tree import provider
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
_NOTHING_FOUND = judgement.Judgement(
    held=(), approved={}, departures=frozenset(), waiting=frozenset()
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Nodes:
    """The nodes of a cycle, for the judge.

    :ivar cycles: the cycles of the nodes, departed ones included
    :ivar batches: the batch of each departed node
    :ivar others: returns the providers of the listed nodes that are not
        processed, by node
    """

    cycles: Sequence[NodeCycle]
    batches: Mapping[str, blast_radius.Batch] = dataclasses.field(
        default_factory=dict
    )
    others: Callable[[], Mapping[str, provider.Snapshot]] = dict


class Judge:
    """Judges the removals of each cycle; remembers which ones wait.

    :ivar approvals: the changes that a person approved
    :param clock: seconds since the epoch
    """

    def __init__(
        self,
        approvals: Approvals,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.approvals = approvals
        self._clock = clock
        # When the deletions of a listed node began to wait, by its uuid.
        self._waiting: dict[str, float] = {}
        # The approved removals of the last cycle, which were logged.
        self._used = frozenset[approval.Subject]()

    def judge(
        self, nodes: Nodes, limits: blast_radius.Limits, *, writing: bool
    ) -> frozenset[str]:
        """Hold back or postpone what may not go now.

        Return the departed nodes whose deletion a person approved.

        :param writing: False in a cycle that only plans
        """
        judged = [cycle for cycle in nodes.cycles if cycle.awaits_judgement]
        persons: dict[approval.Subject, str] = {}
        found = _NOTHING_FOUND
        if judged:
            found = self._judgement(judged, nodes, limits, persons)
        for cycle in judged:
            self._tell(cycle, found, LATER.format(limits.deletions))
        self._note_approved(found, judged, persons, writing=writing)
        now = self._clock()
        self._waiting = {
            uuid: self._waiting.get(uuid, now) for uuid in found.waiting
        }
        return found.departures

    def end(self, cycles: Sequence[NodeCycle]) -> None:
        """Drop the approvals of removals that placement carried out.

        Also if they needed none any more: the rest of a mass may be small.
        """
        made = {
            subject
            for cycle in cycles
            for subject in approval.removal_subjects(
                cycle.removed(), departed=cycle.departed
            )
        }
        self.approvals.drop(self.approvals.approved(made))

    def _judgement(
        self,
        judged: Sequence[NodeCycle],
        nodes: Nodes,
        limits: blast_radius.Limits,
        persons: dict[approval.Subject, str],
    ) -> judgement.Judgement:
        """Return the judgement; note the persons who approved something."""

        def approved(
            subjects: Collection[approval.Subject],
        ) -> Collection[approval.Subject]:
            persons.update(self.approvals.approved(subjects))
            return persons.keys() & subjects

        cases = [self._case(cycle, nodes.batches) for cycle in judged]
        before = {
            c.node.uuid: c.before() for c in nodes.cycles if not c.departed
        }
        found = judgement.judge(cases, _seen(before), limits, approved)
        # Shares are of all nodes. The others are only read if they may decide.
        others = nodes.others() if found.held else {}
        if others:
            seen = _seen({**before, **others})
            found = judgement.judge(cases, seen, limits, approved)
        return found

    def _tell(
        self, cycle: NodeCycle, found: judgement.Judgement, later: str
    ) -> None:
        """Hold back or postpone the plan of a node if it may not go now."""
        uuid = cycle.node.uuid
        held = [one for one in found.held if uuid in one.subjects]
        if held:
            cycle.hold_back(held)
        elif uuid in found.waiting:
            cycle.postpone(later)

    def _note_approved(
        self,
        found: judgement.Judgement,
        judged: Sequence[NodeCycle],
        persons: Mapping[approval.Subject, str],
        *,
        writing: bool,
    ) -> None:
        """Say which removals a person approved: in the log, or in the plan."""
        if not writing:
            for cycle in judged:
                used = found.approved.get(cycle.node.uuid, ())
                for words, who in _by_words(used, persons):
                    cycle.note_approved(f'{words} are approved by {who}')
            return
        used = frozenset[approval.Subject]().union(*found.approved.values())
        for words, who in _by_words(used - self._used, persons):
            LOG.info('%s go on, as approved by %s', words, who)
        self._used = used

    def _case(
        self,
        cycle: NodeCycle,
        batches: Mapping[str, blast_radius.Batch],
    ) -> blast_radius.Case:
        uuid = cycle.node.uuid
        batch = batches.get(uuid) if cycle.departed else None
        return blast_radius.Case(
            node_uuid=uuid,
            removals=cycle.removals,
            since=batch.left_at
            if batch is not None
            else self._waiting.get(uuid, self._clock()),
            batch=batch,
        )


def _by_words(
    subjects: Iterable[approval.Subject],
    persons: Mapping[approval.Subject, str],
) -> Iterator[tuple[str, str]]:
    """Yield each kind of approved removals, with those who approved them."""
    by_kind: dict[approval.Kind, set[str]] = {}
    for subject in subjects:
        by_kind.setdefault(subject.kind, set()).add(persons[subject])
    for kind in sorted(by_kind):
        yield _WORDS[kind], approval.persons(by_kind[kind])


def _seen(before: Mapping[str, provider.Snapshot]) -> blast_radius.Seen:
    """Return what the listed nodes see in placement.

    :param before: the providers of each node
    """
    names, totals = dict[str, int](), dict[blast_radius.Total, int]()
    for uuid, providers in before.items():
        names |= blast_radius.name_counts(providers)
        home = provider.descendants(providers, uuid)
        totals |= effects.totals_of({u: providers[u] for u in home})
    return blast_radius.Seen(names=names, totals=totals, is_empty=not before)
