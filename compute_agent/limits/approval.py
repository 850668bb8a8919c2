# SPDX-License-Identifier: Apache-2.0
"""A person's approval of changes that a limit holds back.

A person approves each removal, and each first write to a provider, that was
shown. So an approval covers any subset of these and nothing else: the rest of
a mass, which waits for another reason, can follow later. An approval lasts
until its change was made.
``state/approvals.py`` keeps approvals.
"""

import dataclasses
import enum
import hashlib
import json
from collections.abc import Iterable

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


def is_valid(given_at: float, now: float) -> bool:
    """Return True if an approval given then holds now.

    An approval from the future was given before the clock was set back; it
    does not hold.
    """
    return 0 <= now - given_at < LIFETIME
