# SPDX-License-Identifier: Apache-2.0
"""The judgement of all removals of one cycle, before any of them is sent.

Pure: no I/O, configuration, logging or clock. Names, capacity, deletions of
providers and departures of nodes are judged apart, so that one never holds
another back. A sudden mass of one of them is *held* until a person approves
exactly that set; only the nodes that take part in it are held. All other
deletions spend a budget of ``max_deletions`` providers, oldest first; those
that find it spent *wait* for a later cycle.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence

from . import approval, blast_radius, capacity

Approved = Callable[[approval.Subject], bool]


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


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Removals that wait for a person.

    :ivar nodes: the nodes that take part in them
    """

    why: str
    subject: approval.Subject
    nodes: frozenset[str]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The verdicts; a plan that is in none of them is applied.

    :ivar held: the removals that a person must approve
    :ivar approved: those that a person approved
    :ivar waiting: the nodes whose deletions wait for a later cycle
    """

    held: Sequence[Held]
    approved: Sequence[Held]
    waiting: frozenset[str]


def judge(
    cases: Iterable[Case],
    seen: Seen,
    limits: blast_radius.Limits,
    approved: Approved,
) -> Judgement:
    """Return the judgement of all plans of a cycle that remove something.

    :param approved: tells if a person approved a set; asked once about each
    """
    every = list(cases)
    listed = [case for case in every if case.batch is None]
    found = [
        *_names(listed, seen, limits),
        *_capacity(listed, seen, limits),
        *_deletions(listed, seen, limits),
        *_departures([c for c in every if c.batch is not None], seen, limits),
    ]
    yes = [one for one in found if approved(one.subject)]
    held = [one for one in found if one not in yes]
    spared = _nodes(held) | {
        uuid
        for one in yes
        if one.subject.kind in _DELETING
        for uuid in one.nodes
    }
    return Judgement(
        held=held,
        approved=yes,
        waiting=_beyond_budget(
            (c for c in every if c.node_uuid not in spared), limits.deletions
        ),
    )


def _beyond_budget(cases: Iterable[Case], budget: int) -> frozenset[str]:
    """Return the nodes whose deletions the budget does not cover.

    A node's providers go together. A node that has more of them than the
    whole budget goes alone.
    """
    due = [case for case in cases if case.removals.deleted]
    due.sort(key=lambda c: (c.since, c.batch is not None, c.node_uuid))
    spent: set[str] = set()
    for number, case in enumerate(due):
        both = spent | case.removals.deleted
        if spent and len(both) > budget:
            return frozenset(c.node_uuid for c in due[number:])
        spent = both
    return frozenset()


# --- one kind each ------------------------------------------------------------


def _names(
    cases: Sequence[Case], seen: Seen, limits: blast_radius.Limits
) -> Iterable[Held]:
    names = frozenset[blast_radius.Name]().union(
        *(case.removals.names for case in cases)
    )
    if not blast_radius.too_many_names(len(names), seen.names, limits):
        return
    yield _held(
        f'remove more than {limits.percent:g} % of all names',
        'max_removed_percent',
        approval.Kind.NAMES,
        ((uuid, kind.value, name) for uuid, kind, name in names),
        (case for case in cases if case.removals.names),
    )


def _capacity(
    cases: Sequence[Case], seen: Seen, limits: blast_radius.Limits
) -> Iterable[Held]:
    percent = limits.capacity_percent
    before = {
        **seen.totals,
        **{t: b for c in cases for t, (b, _) in c.removals.totals.items()},
    }
    found = capacity.exceeded(
        (case.removals.totals for case in cases), before, percent
    )
    if not found:
        return
    part = [
        case
        for case in cases
        if found.keys() & capacity.losses(case.removals.totals).keys()
    ]
    yield _held(
        _taken(found, percent),
        'max_capacity_loss_percent',
        approval.Kind.CAPACITY,
        (
            (uuid, rc, str(after))
            for case in part
            for (uuid, rc), (old, after) in case.removals.totals.items()
            if rc in found and after < old
        ),
        part,
    )


def _deletions(
    cases: Sequence[Case], seen: Seen, limits: blast_radius.Limits
) -> Iterable[Held]:
    deleted = frozenset[str]().union(*(c.removals.deleted for c in cases))
    if _is_sudden(len(deleted), len(deleted), len(seen.names), limits):
        yield _held(
            _TOO_MANY.format(limits.deletions),
            'max_deletions',
            approval.Kind.DELETIONS,
            ((uuid,) for uuid in deleted),
            (case for case in cases if case.removals.deleted),
        )


def _departures(
    cases: Sequence[Case], seen: Seen, limits: blast_radius.Limits
) -> Iterable[Held]:
    """Judge each batch; all of them together if no node is left."""
    by_batch: dict[Batch, list[Case]] = {}
    for case in cases:
        if case.batch is not None and (case.batch.of or not limits.deletions):
            by_batch.setdefault(case.batch, []).append(case)
    every = [case for batch in by_batch.values() for case in batch]
    if seen.is_empty and len(every) > 1:
        yield Held(
            why=_ALL_GONE,
            subject=_deleting(approval.Kind.DEPARTURES, every),
            nodes=frozenset(case.node_uuid for case in every),
        )
        return
    for batch, left in by_batch.items():
        count = batch.unasked + sum(len(c.removals.deleted) for c in left)
        if _is_sudden(count, len(batch.nodes), batch.of, limits):
            yield _held(
                f'{_TOO_MANY.format(limits.deletions)} of nodes that departed '
                'together',
                'max_deletions',
                approval.Kind.DEPARTURES,
                ((uuid,) for case in left for uuid in case.removals.deleted),
                left,
            )


# --- inside -------------------------------------------------------------------

_DELETING = {approval.Kind.DELETIONS, approval.Kind.DEPARTURES}
_TOO_MANY = 'delete more than {} providers'
_ALL_GONE = (
    "it is gone, and so is every node of this driver's list: is that the right "
    'service? Nothing of them is touched; "compute-agent sync --yes" deletes '
    'them'
)
# The message has no numbers that change from cycle to cycle, because a message
# is logged again only if it differs.
_EXCEEDED = (
    'waits for confirmation, because the whole cycle would {} '
    '([compute_agent] {}): check "compute-agent plan", then confirm with '
    '"compute-agent sync --yes" or raise the limit'
)


def _held(
    what: str,
    option: str,
    kind: approval.Kind,
    things: Iterable[approval.Thing],
    cases: Iterable[Case],
) -> Held:
    return Held(
        why=_EXCEEDED.format(what, option),
        subject=approval.subject(kind, things),
        nodes=frozenset(case.node_uuid for case in cases),
    )


def _deleting(kind: approval.Kind, cases: Iterable[Case]) -> approval.Subject:
    return approval.subject(
        kind, ((uuid,) for case in cases for uuid in case.removals.deleted)
    )


def _is_sudden(
    providers: int, share: int, of: int, limits: blast_radius.Limits
) -> bool:
    """Return True if so many deletions at once need a person.

    A limit of 0 providers leaves every deletion to a person.
    """
    return providers > limits.deletions and (
        not limits.deletions or share * 100 > limits.percent * of
    )


def _taken(classes: Mapping[str, bool], percent: float) -> str:
    """Return what is taken away of each class, for a message."""
    gone = sorted(rc for rc, is_gone in classes.items() if is_gone)
    fallen = sorted(rc for rc, is_gone in classes.items() if not is_gone)
    return ' and '.join(
        [f'take away all {rc}' for rc in gone]
        + [f'take away more than {percent:g} % of all {rc}' for rc in fallen]
    )


def _nodes(held: Iterable[Held]) -> frozenset[str]:
    return frozenset[str]().union(*(one.nodes for one in held))
