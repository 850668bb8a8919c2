# SPDX-License-Identifier: Apache-2.0
"""The results of an audit as values.

Pure: no I/O, configuration, logging or clock.
"""

import dataclasses
import enum

from . import repairs


class Level(enum.Enum):
    """The weight of a result.

    Only findings decide the exit code. Something unknown says what could not
    be judged, and a note is not wrong by itself.
    """

    FINDING = 'finding'
    UNKNOWN = 'unknown'
    NOTE = 'note'


class Kind(enum.Enum):
    """The subject of a check, as programs read it."""

    DEAD_HOST = 'dead-host'
    NO_HOST = 'no-host'
    REINSTALLED = 'reinstalled-host'
    RENAMED = 'renamed-host'
    UNREPORTED = 'unreported-host'
    SIMILAR_NAMES = 'similar-names'
    ORPHANED_CHILD = 'orphaned-child'
    UNRECORDED_CHILD = 'unrecorded-child'
    EMPTY_PROVIDER = 'empty-provider'
    ORPHANED_ALLOCATIONS = 'orphaned-allocations'
    NODE_WITHOUT_INSTANCE = 'node-without-instance'
    OVER_CAPACITY = 'over-capacity'
    FULLY_RESERVED = 'fully-reserved'
    UNUSED_TRAIT = 'unused-trait'
    WANTED_TRAIT = 'wanted-trait'
    UNUSED_CLASS = 'unused-class'
    MISSING_TRAIT = 'missing-trait'
    CHANGING = 'changing-provider'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One result of one check.

    :ivar subject: a provider as ``name (uuid)``, a consumer, or a name
    :ivar why: the evidence; equal results have equal texts, so that they can
        be shown together
    :ivar advice: the next step, if there is one
    :ivar repair: the change that mends it; None if a person must decide
    """

    kind: Kind
    subject: str
    why: str
    level: Level = Level.FINDING
    advice: str = ''
    repair: repairs.Repair | None = None
