# SPDX-License-Identifier: Apache-2.0
"""The facts that a driver knows of a host, as ``compute-agent facts`` lists them.

Pure: no I/O, configuration, logging or clock. This part of the contract is
optional: ``facts`` works with drivers that have the method ``host_facts``.
"""

import dataclasses
import typing
from collections.abc import Mapping

#: Plain data, as in JSON; a sequence is a tuple.
Value: typing.TypeAlias = (
    bool
    | int
    | float
    | str
    | tuple['Value', ...]
    | Mapping[str, 'Value']
    | None
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One fact of a host or of one of its devices.

    :ivar name: for example ``cpu.flags`` or ``pci.0000:03:00.0.vendor``
    :ivar value: the value; None if it is unknown
    :ivar source: the path, or what else it was read from
    :ivar unknown: why the value is unknown; empty if it is known
    """

    name: str
    value: Value
    source: str
    unknown: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The facts of a host.

    :ivar rows: the facts, by name
    :ivar faults: a line for each source, and each file of rules, that was
        refused
    """

    rows: tuple[Row, ...]
    faults: tuple[str, ...]


@typing.runtime_checkable
class HostFacts(typing.Protocol):
    """The method of a driver that knows facts of its host."""

    def host_facts(self) -> Listing:
        """Return what the driver knows now."""
        ...
