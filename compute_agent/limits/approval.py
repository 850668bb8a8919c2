# SPDX-License-Identifier: Apache-2.0
"""A person's approval of changes that a limit holds back.

Pure: no I/O, configuration, logging or clock. An approval covers one set of
things, which a person was shown: the removals of a cycle, or the providers
that are written to for the first time. It is identified by the digest of that
set, so it covers no other set. ``state/approvals.py`` keeps approvals until
the agent applies them.
"""

import dataclasses
import enum
import hashlib
import json
from collections.abc import Callable, Iterable

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


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A set of things that can be approved, as a whole only.

    :ivar digest: the digest of the set; see ``subject``
    """

    kind: Kind
    digest: str


# Returns who approved exactly this set, and forgets it; None if nobody did.
Take = Callable[[Subject], str | None]


def nobody(_subject: Subject) -> None:
    """Approve nothing."""


def subject(kind: Kind, things: Iterable[Thing]) -> Subject:
    """Return the subject of an approval of exactly these things.

    The order of the things does not matter, nor does a thing that is there
    twice.
    """
    text = json.dumps(sorted(set(things)), separators=(',', ':'))
    digest = hashlib.sha256(text.encode('utf-8', 'backslashreplace'))
    return Subject(kind=kind, digest=digest.hexdigest())


def is_valid(given_at: float, now: float) -> bool:
    """Return True if an approval given then holds now.

    An approval from the future was given before the clock was set back; it
    does not hold.
    """
    return 0 <= now - given_at < LIFETIME
