# SPDX-License-Identifier: Apache-2.0
"""The assertion of one source about one provider's names of one kind.

Pure: no I/O, configuration, logging or clock. The ProviderTree records
assertions while drivers edit it. ``ownership/resolve.py`` reads them to decide
which names are removed.
"""

import dataclasses
import enum
from collections.abc import Iterable, Mapping


class Kind(enum.StrEnum):
    """The kinds of names that a provider has."""

    TRAIT = 'trait'
    AGGREGATE = 'aggregate'
    INVENTORY = 'inventory'


# A provider's uuid and one kind of its names.
Key = tuple[str, Kind]
# The names that each source claims for one node.
Claims = Mapping[str, frozenset[str]]


# The sources of assertions: the driver, the agent itself, and "file:<path>"
# for each of the operator's files.
DRIVER = 'driver'
AGENT = 'agent'
FILE_PREFIX = 'file:'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """The result of a source's calls in one cycle, applied in their order.

    :ivar names: the names that the source claims
    :ivar removed: the names that it removed explicitly
    :ivar exclusive: it gave the complete list (an ``update_*`` call)
    :ivar keep: it cannot tell this time; its earlier claims stay
    """

    names: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    exclusive: bool = False
    keep: bool = False

    def adding(self, names: Iterable[str]) -> 'Assertion':
        """Return this assertion with these names claimed as well."""
        added = frozenset(names)
        return self._with(self.names | added, self.removed - added)

    def removing(self, names: Iterable[str]) -> 'Assertion':
        """Return this assertion with these names removed."""
        removed = frozenset(names)
        return self._with(self.names - removed, self.removed | removed)

    def setting(self, names: Iterable[str]) -> 'Assertion':
        """Return an exclusive assertion: these names and no others."""
        return Assertion(names=frozenset(names), exclusive=True)

    def keeping(self) -> 'Assertion':
        """Return this assertion with the source's earlier claims kept."""
        return dataclasses.replace(self, keep=True)

    def _with(
        self, names: frozenset[str], removed: frozenset[str]
    ) -> 'Assertion':
        return Assertion(
            names=names,
            removed=removed,
            exclusive=self.exclusive,
            keep=self.keep,
        )


NOTHING = Assertion()
