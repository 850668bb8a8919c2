# SPDX-License-Identifier: Apache-2.0
"""Judge the removals in the plans of a cycle, and tell the nodes' cycles.

``limits/judgement.py`` decides; this module collects what it decides on, asks
for a person's approvals, logs those that are used, and passes each verdict on
to the node's cycle. The resource tracker calls it between the two steps of
the nodes' cycles, and after the second to drop the approvals of what was done.
"""

import contextlib
import dataclasses
import logging
from collections.abc import (
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)

from .. import error_text, errors
from ..limits import approval, blast_radius, judgement
from ..state.approvals import Approvals, Masses
from ..tree import alike
from ..tree.node import Node
from .node.node_cycle import NodeCycle

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Nodes:
    """The nodes of a cycle, for the judge.

    :ivar cycles: the cycles of the nodes, departed ones included
    :ivar unchanged: the nodes that need no cycle
    :ivar batches: the batch of each departed node
    :ivar listed: the number of nodes that the drivers list
    :ivar is_part: True if only the nodes that changed have a cycle; what they
        lost since the last cycle of all nodes is judged with it
    """

    cycles: Sequence[NodeCycle]
    unchanged: Collection[str] = ()
    batches: Mapping[str, blast_radius.Batch] = dataclasses.field(
        default_factory=dict
    )
    listed: int
    is_part: bool = False


class Judge:
    """Judges the removals of each cycle.

    :ivar approvals: the changes that a person approved
    :param masses: the removals that were held as a mass and wait
    """

    def __init__(self, approvals: Approvals, masses: Masses) -> None:
        self.approvals = approvals
        self._masses = masses
        # The approved removals of the last cycle, which were logged.
        self._used = frozenset[approval.Subject]()
        # The nodes that lost something since the last cycle of all nodes.
        self._lost: dict[approval.Kind, set[str]] = {}

    def judge(
        self, nodes: Nodes, limits: blast_radius.Limits, *, writing: bool
    ) -> frozenset[str]:
        """Hold back the removals that may not be sent now.

        Return the departed nodes whose deletion a person approved.

        :param writing: False in a cycle that only plans
        """
        judged = [cycle for cycle in nodes.cycles if cycle.awaits_judgement]
        persons: dict[approval.Subject, str] = {}
        found, known = judgement.Judgement(), self._masses.all()
        if judged:
            found = self._judgement(judged, nodes, limits, persons, known)
        for cycle in judged:
            uuid = cycle.node.uuid
            held = [one for one in found.held if uuid in one.subjects]
            if held:
                cycle.hold_back(held)
        if not nodes.is_part:
            self._lost = {}
        self._note_approved(found, judged, persons, writing=writing)
        if writing:
            # If the database cannot be written now, nothing is sent either.
            with contextlib.suppress(errors.Unavailable):
                self._masses.keep(
                    {**_unplanned(known, nodes), **found.masses()}
                )
        return found.departures

    def end(
        self,
        cycles: Sequence[NodeCycle],
        limits: blast_radius.Limits | None,
        *,
        is_part: bool,
    ) -> None:
        """Log what nodes lost; drop the approvals of what was carried out.

        An approval that is no longer needed, because the limit was raised, is
        dropped too.

        :param limits: None if a person confirmed all removals
        :param is_part: as for ``Nodes``
        """
        made, lost = set[approval.Subject](), list[tuple[Node, str]]()
        for cycle in cycles:
            removed = cycle.removed()
            made.update(
                approval.removal_subjects(removed, departed=cycle.departed)
            )
            if limits is not None and not cycle.departed:
                lost += _lost(cycle, removed, limits)
        for line in alike.lines(lost):
            LOG.warning('%s', line)
        approved = self.approvals.approved(made)
        if is_part and limits is not None:
            for cycle in cycles:
                for kind in judgement.lost(cycle.removed(), limits, approved):
                    self._lost.setdefault(kind, set()).add(cycle.node.uuid)
        self.approvals.drop(approved)

    def _judgement(
        self,
        judged: Sequence[NodeCycle],
        nodes: Nodes,
        limits: blast_radius.Limits,
        persons: dict[approval.Subject, str],
        masses: judgement.Masses,
    ) -> judgement.Judgement:
        """Return the judgement; note the persons who approved something."""

        def approved(
            subjects: Collection[approval.Subject],
        ) -> Collection[approval.Subject]:
            persons.update(self.approvals.approved(subjects))
            return persons.keys() & subjects

        cases = [
            blast_radius.Case(
                node_uuid=cycle.node.uuid,
                removals=cycle.removals,
                batch=nodes.batches.get(cycle.node.uuid)
                if cycle.departed
                else None,
            )
            for cycle in judged
        ]
        return judgement.judge(
            cases, nodes.listed, limits, approved, masses, self._lost
        )

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


def _lost(
    cycle: NodeCycle,
    removed: blast_radius.Removals,
    limits: blast_radius.Limits,
) -> Iterator[tuple[Node, str]]:
    """Yield a node that stays and lost capacity or providers, and a text."""
    lost = limits.lost_classes(removed.totals)
    lines = [f'{rc} {lost[rc][0]}→{lost[rc][1]}' for rc in sorted(lost)]
    before = cycle.before()
    gone = [str(before[uuid]) for uuid in removed.deleted if uuid in before]
    if gone:
        lines.append(f'without {error_text.listed(gone)}')
    if lines:
        yield (
            cycle.node,
            (
                'it offers less now, as its driver describes it: '
                f'{", ".join(lines)}; if that is wrong, ask the driver with '
                '"compute-agent probe"'
            ),
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
        yield approval.WORDS[kind], approval.persons(by_kind[kind])


def _unplanned(masses: judgement.Masses, nodes: Nodes) -> judgement.Masses:
    """Return the masses of nodes that this cycle could not plan."""
    if not masses:
        return masses
    planned = {c.node.uuid for c in nodes.cycles if c.result.plan is not None}
    planned.update(nodes.unchanged)
    return {key: m for key, m in masses.items() if key[1] not in planned}
