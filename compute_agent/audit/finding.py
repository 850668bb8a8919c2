# SPDX-License-Identifier: Apache-2.0
"""The results of an audit as values.

Pure: no I/O, configuration, logging or clock.

Each repair of a finding holds the state that was judged, generations included.
So two audits plan the same repair only if its evidence did not change between
them. ``too_much`` applies the limits on repairs.
"""

import dataclasses
import enum
from collections.abc import Sequence
from typing import TypeAlias

from . import cloud

_LEAST_TRAITS = 50  # a limit in percent makes no sense for fewer


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DeleteTrait:
    """Delete a custom trait that no provider has."""

    name: str

    def __str__(self) -> str:
        return f'delete trait {self.name}'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DeleteClass:
    """Delete a custom resource class of which no provider has inventory."""

    name: str

    def __str__(self) -> str:
        return f'delete resource class {self.name}'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DeleteProviders:
    """Delete a tree without allocations, or a part of it.

    :ivar providers: each after its children
    """

    providers: tuple[cloud.ListedProvider, ...]

    def __str__(self) -> str:
        top = self.providers[-1]
        below = len(self.providers) - 1
        more = f' and {below} below it' if below else ''
        return f'delete provider {top}{more}'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DeleteAllocations:
    """Delete all allocations of a consumer that no service knows.

    :ivar providers: the providers on which the audit found allocations
    """

    consumer: str
    providers: tuple[str, ...]

    def __str__(self) -> str:
        on = ', '.join(self.providers)
        return f'delete allocations of consumer {self.consumer} (on {on})'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LeaveHost:
    """Take a server's allocations off a host from which it was evacuated.

    :ivar host: the root of that host
    :ivar providers: the providers of its tree on which the audit found some
    """

    consumer: str
    host: cloud.ListedProvider
    providers: tuple[str, ...]

    def __str__(self) -> str:
        return f'take the allocations of {self.consumer} off {self.host}'


Repair: TypeAlias = (
    DeleteTrait | DeleteClass | DeleteProviders | DeleteAllocations | LeaveHost
)


# Repairs of so many providers, consumers or classes need no ``--yes``.
FEW = 10


def too_much(
    planned: Sequence[Repair], percent: int, custom_traits: int
) -> list[str]:
    """Return a line for each limit that the repairs exceed.

    :param percent: the part of the custom traits that needs no ``--yes``, if
        they are 50 or more; 0 if every repair needs it
    :param custom_traits: the number of custom traits that placement knows
    """
    providers = sum(
        len(one.providers)
        for one in planned
        if isinstance(one, DeleteProviders)
    )
    consumers = sum(
        isinstance(one, DeleteAllocations | LeaveHost) for one in planned
    )
    classes = sum(isinstance(one, DeleteClass) for one in planned)
    traits = sum(isinstance(one, DeleteTrait) for one in planned)
    few = FEW if percent else 0
    lines = [
        f'{count} {noun} would be deleted, more than {few}'
        for count, noun in (
            (providers, 'providers'),
            (consumers, "consumers' allocations"),
            (classes, 'resource classes'),
        )
        if count > few
    ]
    if traits >= _LEAST_TRAITS and traits * 100 > percent * custom_traits:
        lines.append(
            f'{traits} of {custom_traits} custom traits would be deleted, '
            f'more than [compute_agent] max_removed_percent = {percent}'
        )
    return lines


class Level(enum.Enum):
    """The weight of a result.

    Only findings decide the exit code. An unknown result says what could not
    be judged, and a note reports no fault.
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
    DIVIDED_SHARE = 'divided-share'
    ORPHANED_CHILD = 'orphaned-child'
    UNRECORDED_CHILD = 'unrecorded-child'
    EMPTY_PROVIDER = 'empty-provider'
    ORPHANED_ALLOCATIONS = 'orphaned-allocations'
    NODE_WITHOUT_INSTANCE = 'node-without-instance'
    LEFT_ALLOCATIONS = 'left-allocations'
    OVER_CAPACITY = 'over-capacity'
    FULLY_RESERVED = 'fully-reserved'
    UNUSED_TRAIT = 'unused-trait'
    WANTED_TRAIT = 'wanted-trait'
    UNUSED_CLASS = 'unused-class'
    WANTED_CLASS = 'wanted-class'
    MISSING_TRAIT = 'missing-trait'
    UNLIKE_PEERS = 'unlike-peers'
    EQUAL_CHILDREN = 'equal-children'
    CARVED_CARD = 'carved-card'
    CHANGING = 'changing-provider'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One result of one check.

    :ivar subject: a provider as ``name (uuid)``, a consumer, or a name
    :ivar why: the evidence; equal results have equal texts, so that they can
        be shown together
    :ivar advice: the next step; empty if the operator need not act
    :ivar repair: the change that mends it; None if a person must decide
    """

    kind: Kind
    subject: str
    why: str
    level: Level = Level.FINDING
    advice: str = ''
    repair: Repair | None = None
