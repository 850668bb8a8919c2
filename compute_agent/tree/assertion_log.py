# SPDX-License-Identifier: Apache-2.0
"""The assertions that a ProviderTree records while it is edited.

Pure: no I/O, configuration, logging or clock. Only ``provider_tree.py`` uses
it: each edit of names adds to the assertion of the source that is current.
"""

from collections.abc import Iterable

from . import assertion

Assertions = dict[assertion.Key, dict[str, assertion.Assertion]]

_NO_NAMES = frozenset[str]()


class AssertionLog:
    """The assertions of each source, by provider and kind of name.

    :ivar by_key: (provider uuid, kind) → source → assertion
    :ivar current_source: the source whose edits are recorded now
    """

    def __init__(self) -> None:
        self.by_key: Assertions = {}
        self.current_source = assertion.DRIVER

    def copy(self) -> 'AssertionLog':
        """Return a log of the same assertions, to record others in."""
        made = AssertionLog()
        made.by_key = self.by_key.copy()
        made.current_source = self.current_source
        return made

    def add(
        self, uuid: str, kind: assertion.Kind, names: Iterable[str]
    ) -> None:
        """Record that the source asserts these names as well."""
        self._record(uuid, kind, self._current(uuid, kind).adding(names))

    def remove(
        self, uuid: str, kind: assertion.Kind, names: Iterable[str]
    ) -> None:
        """Record that the source removes these names."""
        self._record(uuid, kind, self._current(uuid, kind).removing(names))

    def declare(
        self, uuid: str, kind: assertion.Kind, names: Iterable[str]
    ) -> None:
        """Record that these are all names of the source."""
        self._record(uuid, kind, self._current(uuid, kind).declaring(names))

    def replace(
        self, uuid: str, kind: assertion.Kind, names: Iterable[str]
    ) -> None:
        """Record that these are all names of the provider."""
        self._record(uuid, kind, self._current(uuid, kind).setting(names))

    def keep(self, uuid: str, kind: assertion.Kind) -> None:
        """Record that the source cannot tell in this cycle."""
        self._record(uuid, kind, self._current(uuid, kind).keeping())

    def keep_only(self, uuid: str, kind: assertion.Kind) -> None:
        """Record that the source says nothing else of this kind."""
        self._record(uuid, kind, assertion.NOTHING.keeping())

    def dispute(
        self, uuid: str, kind: assertion.Kind, names: frozenset[str]
    ) -> None:
        """Take back what the source says of these names."""
        self._record(uuid, kind, self._current(uuid, kind).disputing(names))

    def put(
        self,
        uuid: str,
        kind: assertion.Kind,
        source: str,
        asserted: assertion.Assertion,
    ) -> None:
        """Put an assertion in the place of a source's; copies keep theirs."""
        others = self.by_key.get((uuid, kind), {})
        self.by_key[uuid, kind] = {**others, source: asserted}

    def names(self, uuid: str, kind: assertion.Kind) -> frozenset[str]:
        """Return the names that the source asserted in this cycle."""
        return self._current(uuid, kind).names

    def names_of_others(
        self, uuid: str, kind: assertion.Kind
    ) -> frozenset[str]:
        """Return the names that the other sources asserted in this cycle."""
        by_source = self.by_key.get((uuid, kind), {})
        others = by_source.keys() - {self.current_source}
        return _NO_NAMES.union(*(by_source[o].names for o in others))

    def forget(self, uuid: str) -> None:
        """Drop all assertions about a provider, of every source."""
        for kind in assertion.Kind:
            self.by_key.pop((uuid, kind), None)

    def _current(self, uuid: str, kind: assertion.Kind) -> assertion.Assertion:
        by_source = self.by_key.get((uuid, kind), {})
        return by_source.get(self.current_source, assertion.NOTHING)

    def _record(
        self, uuid: str, kind: assertion.Kind, asserted: assertion.Assertion
    ) -> None:
        self.put(uuid, kind, self.current_source, asserted)
