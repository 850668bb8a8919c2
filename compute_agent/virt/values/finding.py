# SPDX-License-Identifier: Apache-2.0
"""The evidence behind a driver's traits, as ``compute-agent probe`` shows it.

Pure: no I/O, configuration, logging or clock. This part of the contract is
optional: ``probe`` works with drivers that have an ``evidence`` method, and
``probe --raw`` with those that have ``raw_evidence``.
"""

import dataclasses
import enum
import typing
from collections.abc import Mapping, Sequence


class Found(enum.Enum):
    """A driver's decision about one trait."""

    PRESENT = 'present'
    ABSENT = 'absent'
    UNKNOWN = 'unknown'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One fact that a driver detected, and the decision that follows.

    :ivar trait: the trait that it decides; None if no trait stands for it
    :ivar fact: the raw fact, as its source spells it (for example a CPU flag)
    :ivar sources: the sources that show the fact
    :ivar reason: why the decision is not plainly "present"; may be empty
    :ivar provider: the name of the child provider that the trait is for;
        empty for the node's own provider
    """

    trait: str | None
    found: Found
    fact: str
    sources: tuple[str, ...] = ()
    reason: str = ''
    provider: str = ''


@typing.runtime_checkable
class Evidence(typing.Protocol):
    """The method of a driver that can show its evidence."""

    def evidence(self, nodename: str) -> Sequence[Finding]:
        """Return the findings of one node, decided traits first."""
        ...


@typing.runtime_checkable
class RawEvidence(typing.Protocol):
    """The method of a driver that can show the texts behind its evidence."""

    def raw_evidence(self, nodename: str) -> Mapping[str, str]:
        """Return path → text of everything that the driver read of a node.

        Serial numbers, addresses and names are replaced: the result is made to
        be sent to others.
        """
        ...
