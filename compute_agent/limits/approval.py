# SPDX-License-Identifier: Apache-2.0
"""A person's approval of changes that a limit holds back.

A person approves each removal, and each first write to a provider, that was
shown. So an approval covers any subset of these and nothing else: the rest of
a mass, which waits for another reason, can follow later. An approval lasts
until its change was made. ``state/approvals.py`` keeps approvals.

An approval covers a removal only as it was shown: if a total falls to another
amount, that is another change. ``judgement.py`` asks for approvals;
``cycle/judging.py`` drops those of removals that were made.
"""

import dataclasses
import enum
import hashlib
import json
from collections.abc import Collection, Iterable, Iterator

from . import blast_radius

# A thing is described by texts, such as the uuid of a provider and a name.
Thing = tuple[str, ...]

LIFETIME = 86_400.0  # seconds; after a day, a person is asked again


class Kind(enum.StrEnum):
    """The kinds of changes that a person approves."""

    #: Deletions of providers of nodes that stay.
    DELETIONS = 'deletions'
    #: Deletions of the providers of nodes that departed.
    DEPARTURES = 'departures'
    #: Removals of names from providers that stay.
    NAMES = 'names'
    #: Losses of capacity.
    CAPACITY = 'capacity'
    #: First writes to providers that another writer created.
    FIRST_WRITE = 'first_write'
    #: Writes to the nodes that another compute-agent reports.
    SHARE = 'share'
    #: A reinstalled host takes the uuid under which placement has its name.
    ADOPTION = 'adoption'


#: The kinds of changes, in the words of messages.
WORDS = {
    Kind.FIRST_WRITE: "first writes to others' providers",
    Kind.SHARE: 'nodes that another compute-agent reports',
    Kind.ADOPTION: 'hosts that take a former uuid back',
    Kind.DELETIONS: 'deletions of providers',
    Kind.DEPARTURES: 'deletions of departed nodes',
    Kind.NAMES: 'removals of names',
    Kind.CAPACITY: 'losses of capacity',
}

#: The end of each message about a change that waits.
ADVICE = '"compute-agent approve" shows what waits, and allows it'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One change that a person can approve.

    :ivar digest: the digest of the change; see ``subject``
    """

    kind: Kind
    digest: str


def subject(kind: Kind, thing: Thing) -> Subject:
    """Return the subject of an approval of this change."""
    text = json.dumps(thing, separators=(',', ':'))
    digest = hashlib.sha256(text.encode('utf-8', 'backslashreplace'))
    return Subject(kind=kind, digest=digest.hexdigest())


def persons(every: Iterable[str]) -> str:
    """Return the persons who approved something, for a message."""
    return ' and '.join(sorted(set(every)))


def is_valid(
    given_at: float, now: float, *, by_another_clock: bool = False
) -> bool:
    """Return True if an approval given then holds now.

    An approval from the future was given before the clock was set back; it
    does not hold. If it was written by the clock of another machine, that one
    may be ahead by less than a day.

    :param by_another_clock: True if it may have been
    """
    earliest = -LIFETIME if by_another_clock else 0
    return earliest <= now - given_at < LIFETIME


def removal_subjects(
    removals: blast_radius.Removals, *, departed: bool
) -> Iterator[Subject]:
    """Yield the subjects of all these removals.

    :param departed: True for the removals of a departed node
    """
    yield from (deletion(uuid, departed=departed) for uuid in removals.deleted)
    yield from map(name_removal, removals.names)
    for total, (before, after) in removals.totals.items():
        if after < before:
            yield capacity_fall(total, after)


def of_provider(
    removals: blast_radius.Removals, uuid: str
) -> Iterator[Subject]:
    """Yield the removals of one provider's names and capacity."""
    for removed in removals.names:
        if removed[0] == uuid:
            yield name_removal(removed)
    for total, (before, after) in removals.totals.items():
        if total[0] == uuid and after < before:
            yield capacity_fall(total, after)


def without(
    removals: blast_radius.Removals,
    approved: Collection[Subject],
    *,
    departed: bool,
) -> blast_radius.Removals:
    """Return the removals that are not among these."""
    return blast_radius.Removals(
        deleted=frozenset(
            uuid
            for uuid in removals.deleted
            if deletion(uuid, departed=departed) not in approved
        ),
        names=frozenset(
            n for n in removals.names if name_removal(n) not in approved
        ),
        totals={
            total: (before, after)
            for total, (before, after) in removals.totals.items()
            if after >= before or capacity_fall(total, after) not in approved
        },
    )


def deletion(uuid: str, *, departed: bool) -> Subject:
    """Return the deletion of a provider as a subject."""
    kind = Kind.DEPARTURES if departed else Kind.DELETIONS
    return subject(kind, (uuid,))


def name_removal(removed: blast_radius.Name) -> Subject:
    """Return the removal of a name as a subject."""
    uuid, kind, text = removed
    return subject(Kind.NAMES, (uuid, kind.value, text))


def capacity_fall(total: blast_radius.Total, after: int) -> Subject:
    """Return the fall of a total to this amount as a subject."""
    return subject(Kind.CAPACITY, (*total, str(after)))
