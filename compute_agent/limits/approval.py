# SPDX-License-Identifier: Apache-2.0
"""A person's approval of changes that a limit holds back.

Pure, except for the clock that ``Approvals`` is given. A person approves each removal,
and each first write to a provider, that was shown. So an approval covers any
subset of these and nothing else: the rest of a mass, which waits for another
reason, can follow later. An approval lasts until its change was made.
``state/approvals.py`` keeps approvals.
"""

import dataclasses
import enum
import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Protocol

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


class Store(Protocol):
    """The approvals of changes that were not made yet, over restarts."""

    def of(
        self, subjects: Collection[Subject], *, now: float
    ) -> Mapping[Subject, str]:
        """Return the approved ones of these changes, with the persons."""

    def drop(self, subjects: Collection[Subject]) -> None:
        """Forget the approvals of changes that were made."""


class NoApprovals:
    """A store in which nobody approved anything."""

    def of(
        self, _subjects: Collection[Subject], *, now: float
    ) -> Mapping[Subject, str]:
        """Return no approval."""
        del now
        return {}

    def drop(self, _subjects: Collection[Subject]) -> None:
        """Do nothing."""


class Approvals:
    """The approvals that hold now.

    :param clock: seconds since the epoch
    """

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock

    def of(self, subjects: Collection[Subject]) -> Mapping[Subject, str]:
        """Return the approved ones of these changes, with the persons."""
        return self._store.of(subjects, now=self._clock())

    def drop(self, subjects: Collection[Subject]) -> None:
        """Forget the approvals of changes that were made."""
        if subjects:
            self._store.drop(subjects)


NONE = Approvals(NoApprovals(), lambda: 0.0)


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
