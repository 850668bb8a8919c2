# SPDX-License-Identifier: Apache-2.0
"""The judgement of all removals of one cycle, before any of them is sent.

Pure: no I/O, configuration, logging or clock. Names, capacity, deletions of
providers and departures of nodes are judged apart, so that one never holds
another back. A sudden mass of one of them is *held* until a person approves
it; only the nodes that take part in it are held. Approved removals go, and the
others are judged without them. All other deletions spend a budget of
``max_deletions`` providers, oldest first; those that find it spent *wait* for
a later cycle.
"""

import dataclasses
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)

from . import approval, blast_radius
from .approval import Kind, Subject
from .blast_radius import Batch, Case, Seen

# Returns the approved ones of these removals.
Approved = Callable[[Collection[Subject]], Collection[Subject]]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Removals of one kind that wait for a person.

    :ivar subjects: the removals of each node that takes part in them
    """

    why: str
    kind: Kind
    subjects: Mapping[str, frozenset[Subject]]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The verdicts; a plan that is in none of them is applied.

    :ivar held: the removals that a person must approve
    :ivar approved: those that a person approved, by node
    :ivar departures: the nodes all of whose held deletions are approved
    :ivar waiting: the nodes whose deletions wait for a later cycle
    """

    held: Sequence[Held]
    approved: Mapping[str, frozenset[Subject]]
    departures: frozenset[str]
    waiting: frozenset[str]


def judge(
    cases: Iterable[Case],
    seen: Seen,
    limits: blast_radius.Limits,
    approved: Approved,
) -> Judgement:
    """Return the judgement of all plans of a cycle that remove something."""
    every = list(cases)
    totals = {
        **seen.totals,
        **{t: b for c in every for t, (b, _) in c.removals.totals.items()},
    }
    seen = dataclasses.replace(seen, totals=totals)
    found = held = _held_back(every, seen, limits)
    yes = frozenset(approved(_subjects(found))) if found else frozenset()
    if yes:
        every = [_without(case, yes) for case in every]
        held = _held_back(every, seen, limits)
    stays = frozenset(uuid for one in held for uuid in one.subjects)
    return Judgement(
        held=held,
        approved={
            uuid: subjects & yes
            for one in found
            for uuid, subjects in one.subjects.items()
            if uuid not in stays and subjects & yes
        },
        departures=frozenset(
            uuid
            for one in found
            if one.kind is Kind.DEPARTURES
            for uuid, subjects in one.subjects.items()
            if subjects <= yes
        ),
        waiting=_beyond_budget(
            (c for c in every if c.node_uuid not in stays), limits.deletions
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


def _held_back(
    cases: Sequence[Case], seen: Seen, limits: blast_radius.Limits
) -> list[Held]:
    listed = [case for case in cases if case.batch is None]
    departed = [case for case in cases if case.batch is not None]
    return [
        *_names(listed, seen, limits),
        *_capacity(listed, seen, limits),
        *_deletions(listed, seen, limits),
        *_departures(departed, seen, limits),
    ]


def _names(
    cases: Sequence[Case], seen: Seen, limits: blast_radius.Limits
) -> Iterator[Held]:
    names = frozenset[blast_radius.Name]().union(
        *(case.removals.names for case in cases)
    )
    if blast_radius.too_many_names(len(names), seen.names, limits):
        what = f'remove more than {limits.percent:g} % of all names'
        yield from _held(
            _EXCEEDED.format(what, 'max_removed_percent'),
            Kind.NAMES,
            {
                c.node_uuid: map(approval.name_removal, c.removals.names)
                for c in cases
            },
        )


def _capacity(
    cases: Sequence[Case], seen: Seen, limits: blast_radius.Limits
) -> Iterator[Held]:
    percent = limits.capacity_percent
    changes = [case.removals.totals for case in cases]
    found = blast_radius.exceeded_classes(changes, seen.totals, percent)
    if found:
        yield from _held(
            _EXCEEDED.format(
                _taken(found, percent), 'max_capacity_loss_percent'
            ),
            Kind.CAPACITY,
            {c.node_uuid: _falls(c.removals.totals, found) for c in cases},
        )


def _falls(
    changes: blast_radius.Changes, classes: Collection[str]
) -> Iterator[Subject]:
    """Yield the totals that fall, of the classes that the node loses."""
    lost = blast_radius.losses(changes).keys() & classes
    for (uuid, rc), (before, after) in changes.items():
        if rc in lost and after < before:
            yield approval.capacity_fall((uuid, rc), after)


def _deletions(
    cases: Sequence[Case], seen: Seen, limits: blast_radius.Limits
) -> Iterator[Held]:
    deleted = frozenset[str]().union(*(c.removals.deleted for c in cases))
    if _is_sudden(len(deleted), len(deleted), len(seen.names), limits):
        what = _TOO_MANY.format(limits.deletions)
        why = _EXCEEDED.format(what, 'max_deletions')
        yield from _held(why, Kind.DELETIONS, _deletions_of(cases))


def _departures(
    cases: Sequence[Case], seen: Seen, limits: blast_radius.Limits
) -> Iterator[Held]:
    """Judge each batch; all of them together if no node is left."""
    by_batch: dict[Batch, list[Case]] = {}
    for case in cases:
        if case.batch is not None and (
            case.batch.agent_nodes or not limits.deletions
        ):
            by_batch.setdefault(case.batch, []).append(case)
    every = [case for batch in by_batch.values() for case in batch]
    if seen.is_empty and len(every) > 1:
        held = _deletions_of(every, departed=True)
        yield from _held(_ALL_GONE, Kind.DEPARTURES, held)
        return
    too_many = _TOO_MANY.format(limits.deletions)
    for batch, left in by_batch.items():
        held = _deletions_of(left, departed=True)
        going = sum(not case.removals.deleted for case in left)
        count = batch.unasked + sum(len(c.removals.deleted) for c in left)
        if _is_sudden(
            count, len(batch.nodes) - going, batch.agent_nodes, limits
        ):
            what = f'{too_many} of nodes that departed together'
            why = _EXCEEDED.format(what, 'max_deletions')
            yield from _held(why, Kind.DEPARTURES, held)


# --- inside -------------------------------------------------------------------

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
    why: str, kind: Kind, subjects: Mapping[str, Iterable[Subject]]
) -> Iterator[Held]:
    """Yield what is held back, if a person did not approve all of it."""
    by_node = {uuid: frozenset(each) for uuid, each in subjects.items()}
    taking_part = {uuid: each for uuid, each in by_node.items() if each}
    if taking_part:
        yield Held(why=why, kind=kind, subjects=taking_part)


def _deletions_of(
    cases: Iterable[Case], *, departed: bool = False
) -> dict[str, list[Subject]]:
    return {
        case.node_uuid: [
            approval.deletion(uuid, departed=departed)
            for uuid in case.removals.deleted
        ]
        for case in cases
    }


def _without(case: Case, approved: Collection[Subject]) -> Case:
    """Return a case without the removals that a person approved."""
    rest = approval.without_approved(
        case.removals, approved, departed=case.batch is not None
    )
    return dataclasses.replace(case, removals=rest)


def _subjects(held: Iterable[Held]) -> frozenset[Subject]:
    every = (each for one in held for each in one.subjects.values())
    return frozenset[Subject]().union(*every)


def _is_sudden(
    providers: int, share: int, of: int, limits: blast_radius.Limits
) -> bool:
    """Return True if a person must approve this many deletions at once.

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
