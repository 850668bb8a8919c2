# SPDX-License-Identifier: Apache-2.0
"""What a driver saw and what it makes of it: the evidence behind its traits.

Pure: no I/O, configuration, logging or clock. A driver that has an
``evidence`` method answers ``compute-agent probe``; the others do not.
"""

import dataclasses
import enum
import typing
from collections.abc import Sequence


class Found(enum.Enum):
    """What a driver can say of one trait."""

    PRESENT = 'present'
    ABSENT = 'absent'
    UNKNOWN = 'unknown'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One fact a driver saw, and what it makes of it.

    :ivar trait: the trait it decides, or None: a fact no trait stands for
    :ivar fact: the raw thing seen, as its source spells it (a CPU flag)
    :ivar sources: where it was seen
    :ivar reason: why it is not simply present, in words; may be empty
    """

    trait: str | None
    found: Found
    fact: str
    sources: tuple[str, ...] = ()
    reason: str = ''


@typing.runtime_checkable
class Evidence(typing.Protocol):
    """What a driver offers that can say why it reports what it reports."""

    def evidence(self, nodename: str) -> Sequence[Finding]:
        """Return the findings for one node, decided traits first."""
        ...
