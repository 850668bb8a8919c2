# SPDX-License-Identifier: Apache-2.0
"""The removals of a plan as changes that a person can approve.

Pure: no I/O, configuration, logging or clock. A removal is approved as it was
shown: a total that falls to another amount is another change. ``judgement.py``
asks for approvals; ``cycle/judging.py`` drops those of removals that were made.
"""

from collections.abc import Collection, Iterator

from . import approval, blast_radius, capacity
from .approval import Kind, Subject


def subjects(
    removals: blast_radius.Removals, *, departed: bool
) -> Iterator[Subject]:
    """Yield the subjects of all these removals.

    :param departed: True for the removals of a departed node
    """
    yield from (deletion(uuid, departed=departed) for uuid in removals.deleted)
    yield from map(name, removals.names)
    for total, (before, after) in removals.totals.items():
        if after < before:
            yield fall(total, after)


def without(
    removals: blast_radius.Removals,
    approved: Collection[Subject],
    *,
    departed: bool,
) -> blast_radius.Removals:
    """Return the removals that are not approved."""
    return blast_radius.Removals(
        deleted=frozenset(
            uuid
            for uuid in removals.deleted
            if deletion(uuid, departed=departed) not in approved
        ),
        names=frozenset(n for n in removals.names if name(n) not in approved),
        totals={
            total: (before, after)
            for total, (before, after) in removals.totals.items()
            if after > before or fall(total, after) not in approved
        },
    )


def deletion(uuid: str, *, departed: bool) -> Subject:
    """Return the deletion of a provider as a subject."""
    kind = Kind.DEPARTURES if departed else Kind.DELETIONS
    return approval.subject(kind, (uuid,))


def name(removed: blast_radius.Name) -> Subject:
    """Return the removal of a name as a subject."""
    uuid, kind, text = removed
    return approval.subject(Kind.NAMES, (uuid, kind.value, text))


def fall(total: capacity.Total, after: int) -> Subject:
    """Return the fall of a total to this amount as a subject."""
    return approval.subject(Kind.CAPACITY, (*total, str(after)))
