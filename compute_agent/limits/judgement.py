# SPDX-License-Identifier: Apache-2.0
"""The judgement of all removals of one cycle, before any of them is sent.

Pure: no I/O, configuration, logging or clock. Names, capacity, deletions of
providers and departures of nodes are judged apart, so that one never holds
another back. A limit is about a mass: it counts the nodes that take part. If
they are too many, these removals are *held* until a person approves them.
Approved removals go. The others stay held, however few are left: a node that
took part in a mass remembers how large it was. The rest of a node's plan is
sent in any case, except after an empty list of nodes, which changes nothing of
the nodes that it lacks.
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
from typing import Self

from . import approval, blast_radius
from .approval import Kind, Subject
from .blast_radius import Batch, Case, Mass, Removals

# Returns the removals among these that are approved.
Approved = Callable[[Collection[Subject]], Collection[Subject]]
# The mass in which a node took part: the kind of removals, the node's uuid.
Masses = Mapping[tuple[Kind, str], Mass]
# Kind → the uuids of the nodes with removals of this kind.
Lost = Mapping[Kind, Collection[str]]
NOTHING: Lost = {}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Removals of one kind that wait for a person.

    :ivar subjects: the removals of each node that takes part in them
    :ivar mass: the nodes that took part; those whose removals were approved
        count, too; None if the driver's list was empty
    :ivar is_whole: True if nothing at all of these nodes is changed
    """

    why: str
    kind: Kind
    subjects: Mapping[str, frozenset[Subject]]
    mass: Mass | None = None
    is_whole: bool = False

    def without(self, approved: frozenset[Subject]) -> Self:
        """Return the removals that are left if these are approved."""
        left = {u: each - approved for u, each in self.subjects.items()}
        some = {uuid: each for uuid, each in left.items() if each}
        return dataclasses.replace(self, subjects=some)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The verdicts; what is not held is applied.

    :ivar held: the removals that a person must approve
    :ivar approved: the removals that a person approved, by node
    :ivar departures: the departed nodes whose held deletions are all approved
    """

    held: Sequence[Held] = ()
    approved: Mapping[str, frozenset[Subject]] = dataclasses.field(
        default_factory=dict
    )
    departures: frozenset[str] = frozenset()

    def masses(self) -> dict[tuple[Kind, str], Mass]:
        """Return the mass in which each node with held removals takes part."""
        return {
            (one.kind, uuid): one.mass
            for one in self.held
            if one.mass is not None
            for uuid in one.subjects
        }


def judge(
    cases: Iterable[Case],
    nodes: int,
    limits: blast_radius.Limits,
    approved: Approved,
    masses: Masses,
    lost: Lost = NOTHING,
) -> Judgement:
    """Return the judgement of all plans of a cycle that remove something.

    :param nodes: the number of nodes that the drivers list
    :param masses: the masses of earlier cycles
    :param lost: the nodes that lost something shortly before; they count
    """
    found = _held_back(list(cases), nodes, limits, masses, lost)
    yes = frozenset(approved(_subjects(found))) if found else frozenset()
    left = [one.without(yes) for one in found]
    return Judgement(
        held=[one for one in left if one.subjects],
        approved={
            uuid: subjects & yes
            for one in found
            for uuid, subjects in one.subjects.items()
            if subjects & yes
        },
        departures=frozenset(
            uuid
            for one in found
            if one.kind is Kind.DEPARTURES
            for uuid, subjects in one.subjects.items()
            if subjects <= yes
        ),
    )


# --- one kind each ------------------------------------------------------------


def _held_back(
    cases: Sequence[Case],
    nodes: int,
    limits: blast_radius.Limits,
    masses: Masses,
    lost: Lost,
) -> list[Held]:
    listed = [case for case in cases if case.batch is None]
    departed = [case for case in cases if case.batch is not None]
    return [
        *_of_listed(listed, nodes, limits, masses, lost),
        *_departures(departed, nodes, limits, masses),
    ]


def _of_listed(
    cases: Sequence[Case],
    nodes: int,
    limits: blast_radius.Limits,
    masses: Masses,
    lost: Lost,
) -> Iterator[Held]:
    """Yield the kinds of removals that too many nodes have."""
    for kind, what in (
        (Kind.NAMES, 'would lose traits or aggregates'),
        (Kind.CAPACITY, 'would lose much of a resource class'),
        (Kind.DELETIONS, 'would lose providers'),
    ):
        subjects = {
            case.node_uuid: frozenset(_of_kind(kind, case.removals, limits))
            for case in cases
        }
        before = [u for u in lost.get(kind, ()) if not subjects.get(u)]
        mass = Mass(nodes=_taking_part(subjects) + len(before), of=nodes)
        yield from _held(
            _why(limits, what), kind, subjects, mass, limits, masses
        )


def lost(
    removals: Removals, limits: blast_radius.Limits, but: Collection[Subject]
) -> Iterator[Kind]:
    """Yield the kinds of removals that count for a node.

    :param but: the removals that do not count, because a person approved them
    """
    for kind in (Kind.NAMES, Kind.CAPACITY, Kind.DELETIONS):
        if not frozenset(_of_kind(kind, removals, limits)) <= frozenset(but):
            yield kind


def _of_kind(
    kind: Kind, removals: Removals, limits: blast_radius.Limits
) -> Iterator[Subject]:
    """Yield the removals of one kind that count for a node that stays."""
    if kind is Kind.NAMES:
        yield from map(approval.name_removal, removals.names)
    elif kind is Kind.DELETIONS:
        for uuid in removals.deleted:
            yield approval.deletion(uuid, departed=False)
    else:
        lost = limits.lost_classes(removals.totals)
        for (uuid, rc), (before, after) in removals.totals.items():
            if rc in lost and after < before:
                yield approval.capacity_fall((uuid, rc), after)


def _taking_part(subjects: Mapping[str, frozenset[Subject]]) -> int:
    """Return the number of nodes; a removal that several share counts once."""
    seen, count = set[Subject](), 0
    for each in subjects.values():
        count += not each <= seen
        seen |= each
    return count


def _departures(
    cases: Sequence[Case],
    nodes: int,
    limits: blast_radius.Limits,
    masses: Masses,
) -> Iterator[Held]:
    """Judge each batch; together if the list has no node of the agent's.

    It counts the nodes that the agent had, because some of them may have no
    case yet. If an agent has only one node, the node may be deleted.
    """
    by_batch: dict[Batch, list[Case]] = {}
    for case in cases:
        if case.batch is not None and (
            case.batch.agent_nodes or not limits.percent
        ):
            by_batch.setdefault(case.batch, []).append(case)
    lost = {batch for batch in by_batch if batch.is_all or not nodes}
    if any(batch.agent_nodes > 1 for batch in lost):
        held = _deletions_of(c for batch in lost for c in by_batch[batch])
        yield Held(
            why=_ALL_GONE,
            kind=Kind.DEPARTURES,
            subjects={uuid: each for uuid, each in held.items() if each},
            is_whole=True,
        )
        by_batch = {b: c for b, c in by_batch.items() if b not in lost}
    for batch, left in by_batch.items():
        going = sum(not case.removals.deleted for case in left)
        mass = Mass(nodes=len(batch.nodes) - going, of=batch.agent_nodes)
        why = _why(limits, 'departed together')
        held = _deletions_of(left)
        yield from _held(why, Kind.DEPARTURES, held, mass, limits, masses)


# --- inside -------------------------------------------------------------------

_ALL_GONE = (
    'waits for approval, because it is gone, and so is every other node that '
    'its driver listed: is that the right service? Nothing of them is changed'
)
# The messages have no numbers that change from cycle to cycle, because a
# message is logged again only if it differs.
_MASS = (
    'waits for approval, because more than {:g} % of the nodes {} (the limit: '
    '[compute_agent] max_removed_percent)'
)
_EACH = (
    'waits for approval, as each removal does ([compute_agent] '
    'max_removed_percent = 0)'
)


def _why(limits: blast_radius.Limits, what: str) -> str:
    return _MASS.format(limits.percent, what) if limits.percent else _EACH


def _held(
    why: str,
    kind: Kind,
    subjects: Mapping[str, frozenset[Subject]],
    mass: Mass,
    limits: blast_radius.Limits,
    masses: Masses,
) -> Iterator[Held]:
    """Yield the removals of a mass, and of nodes that took part in one.

    :param mass: these nodes
    """
    some = {uuid: each for uuid, each in subjects.items() if each}
    if limits.is_mass(mass.nodes, mass.of):
        if some:
            yield Held(why=why, kind=kind, subjects=some, mass=mass)
        return
    for uuid, each in some.items():
        was = masses.get((kind, uuid))
        if was is not None and limits.is_mass(was.nodes, was.of):
            yield Held(why=why, kind=kind, subjects={uuid: each}, mass=was)


def _deletions_of(cases: Iterable[Case]) -> dict[str, frozenset[Subject]]:
    """Return the deletions of departed nodes."""
    return {
        case.node_uuid: frozenset(
            approval.deletion(uuid, departed=True)
            for uuid in case.removals.deleted
        )
        for case in cases
    }


def _subjects(held: Iterable[Held]) -> frozenset[Subject]:
    every = (each for one in held for each in one.subjects.values())
    return frozenset[Subject]().union(*every)
