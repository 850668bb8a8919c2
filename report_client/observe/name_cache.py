# SPDX-License-Identifier: Apache-2.0
"""Remember the traits and resource classes that placement knows.

This module writes nothing to placement. ``observer.py`` owns the cache;
``client.py`` asks it for names, ``apply/executor.py`` also adds and drops them.
"""

import dataclasses
import threading
from collections.abc import Callable

from compute_agent.tree import names

from . import reader, store


class NameCache:
    """The traits and classes that one placement service knows, read seldom.

    They are kept in the store. They are read again with the slow full read,
    and after the service was unavailable, because it may have been upgraded.
    The plans of several nodes are made in several threads.

    :param is_overdue: returns True if a reading of that time is too old
    """

    def __init__(
        self,
        read: reader.Reader,
        state: store.State,
        is_overdue: Callable[[float], bool],
    ) -> None:
        self._reader = read
        self._store = state
        self._is_overdue = is_overdue
        self._is_outdated = False
        self._lock = threading.Lock()

    def known(self) -> names.KnownNames:
        """Return the traits and classes that placement knows."""
        with self._lock:  # one thread reads for all others
            known = self.remembered()
            if (
                known is None
                or self._is_outdated
                or self._is_overdue(known.read_at)
            ):
                known = self._reader.known_names()
                self._store.site.save_known_names(known)
                self._is_outdated = False
        return known

    def remembered(self) -> names.KnownNames | None:
        """Return the cached traits and classes; None if nothing is cached."""
        return self._store.site.known_names()

    def learn(
        self, traits: frozenset[str], resource_classes: frozenset[str]
    ) -> None:
        """Add created names to the cached ones."""
        known = self.remembered()
        if known is not None:
            self._store.site.save_known_names(
                dataclasses.replace(
                    known,
                    traits=known.traits | traits,
                    resource_classes=known.resource_classes | resource_classes,
                )
            )

    def mark_outdated(self) -> None:
        """Have the names read again when all of them are needed next."""
        self._is_outdated = True

    def forget(self) -> None:
        """Drop the cached names; they are read when they are needed next."""
        self._store.site.save_known_names(None)
