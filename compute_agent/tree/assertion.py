# SPDX-License-Identifier: Apache-2.0
"""What one source said in one cycle of one provider's names of one kind.

Pure: no I/O, configuration, logging or clock. The ProviderTree records these
while drivers edit it; ``ownership/resolve.py`` reads them to tell what may go.
"""

import dataclasses
import enum
from collections.abc import Iterable, Mapping


class Kind(enum.StrEnum):
    """The kinds of names a provider carries."""

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
    """The sum of a source's calls, in their order.

    :ivar names: what the source holds
    :ivar removed: what it removed by name
    :ivar exclusive: it gave the whole set (an ``update_*`` call)
    :ivar keep: it cannot tell this time; what it held, it still holds
    """

    names: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    exclusive: bool = False
    keep: bool = False

    def adding(self, names: Iterable[str]) -> 'Assertion':
        """Return this with the names held as well."""
        added = frozenset(names)
        return self._with(self.names | added, self.removed - added)

    def removing(self, names: Iterable[str]) -> 'Assertion':
        """Return this with the names removed explicitly."""
        gone = frozenset(names)
        return self._with(self.names - gone, self.removed | gone)

    def setting(self, names: Iterable[str]) -> 'Assertion':
        """Return the exclusive form: these names and no others."""
        return Assertion(names=frozenset(names), exclusive=True)

    def keeping(self) -> 'Assertion':
        """Return this, and whatever the source held before."""
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
