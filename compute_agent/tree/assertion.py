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
# A name of a provider: the provider's uuid, the kind and the name.
Named = tuple[str, Kind, str]
# The names that each source claims for one node.
Claims = Mapping[str, frozenset[str]]


# The sources of assertions: the driver ("driver:<name>" for each of several),
# the agent itself, and "file:<path>" for each of the operator's files.
DRIVER = 'driver'
DRIVER_PREFIX = 'driver:'
AGENT = 'agent'
FILE_PREFIX = 'file:'


def is_driver(source: str) -> bool:
    """Return True if the source is a driver."""
    return source == DRIVER or source.startswith(DRIVER_PREFIX)


def is_file(source: str) -> bool:
    """Return True if the source is one of the operator's files."""
    return source.startswith(FILE_PREFIX)


def title(source: str) -> str:
    """Return a source in the words of messages."""
    if source in {DRIVER, AGENT}:
        return f'the {source}'
    if is_driver(source):
        return f'driver {source.removeprefix(DRIVER_PREFIX)}'
    return source


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """The result of a source's calls in one cycle, applied in their order.

    Without ``declared`` and ``exclusive``, it concerns only the names in it.

    :ivar names: the names that the source asserts
    :ivar removed: the names that it removed explicitly
    :ivar declared: these are all names of this source (``declare_*``)
    :ivar exclusive: these are all names of the provider (``update_*``)
    :ivar keep: True if the source cannot tell now; its earlier claims stay
    :ivar disputed: the names that another driver reports differently; they
        stay as placement has them
    """

    names: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    declared: bool = False
    exclusive: bool = False
    keep: bool = False
    disputed: frozenset[str] = frozenset()

    @property
    def ends_claims(self) -> bool:
        """True if the source's earlier claims on other names end."""
        return (self.declared or self.exclusive) and not self.keep

    def adding(self, names: Iterable[str]) -> 'Assertion':
        """Return this assertion with these names asserted as well."""
        added = frozenset(names)
        return self._with(self.names | added, self.removed - added)

    def removing(self, names: Iterable[str]) -> 'Assertion':
        """Return this assertion with these names removed."""
        removed = frozenset(names)
        return self._with(self.names - removed, self.removed | removed)

    def declaring(self, names: Iterable[str]) -> 'Assertion':
        """Return the assertion that these are all names of the source.

        Names that it removed before and does not name now stay removed.
        """
        declared = frozenset(names)
        return Assertion(
            names=declared, removed=self.removed - declared, declared=True
        )

    def setting(self, names: Iterable[str]) -> 'Assertion':
        """Return the assertion that these are all names of the provider.

        Names that it removed before and does not name now stay removed.
        """
        complete = frozenset(names)
        return Assertion(
            names=complete, removed=self.removed - complete, exclusive=True
        )

    def keeping(self) -> 'Assertion':
        """Return this assertion with the source's earlier claims kept."""
        return dataclasses.replace(self, keep=True)

    def disputing(self, names: frozenset[str]) -> 'Assertion':
        """Return this assertion without an opinion about these names."""
        return dataclasses.replace(
            self,
            names=self.names - names,
            removed=self.removed - names,
            disputed=self.disputed | names,
        )

    def _with(
        self, names: frozenset[str], removed: frozenset[str]
    ) -> 'Assertion':
        return dataclasses.replace(self, names=names, removed=removed)


NOTHING = Assertion()
