# SPDX-License-Identifier: Apache-2.0
"""The changes that mend findings, and the limits on them.

Pure: no I/O, configuration, logging or clock. Each repair holds the state that
was judged, generations included. So two audits plan the same repair only if
nothing that it rests on changed between them.
"""

import dataclasses
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

    :ivar providers: the providers on which the audit found some
    """

    consumer: str
    providers: tuple[str, ...]

    def __str__(self) -> str:
        on = ', '.join(self.providers)
        return f'delete allocations of consumer {self.consumer} (on {on})'


Repair: TypeAlias = DeleteTrait | DeleteProviders | DeleteAllocations


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The removals that need no ``--yes``.

    :ivar deletions: of providers, and of consumers' allocations
    :ivar percent: of the custom traits, if there are 50 or more
    """

    deletions: int
    percent: int


def too_much(
    planned: Sequence[Repair], limits: Limits, custom_traits: int
) -> list[str]:
    """Return a line for each limit that the repairs exceed.

    :param custom_traits: the number of custom traits that placement knows
    """
    providers = sum(
        len(one.providers)
        for one in planned
        if isinstance(one, DeleteProviders)
    )
    consumers = sum(isinstance(one, DeleteAllocations) for one in planned)
    traits = sum(isinstance(one, DeleteTrait) for one in planned)
    most = f'[compute_agent] max_deletions = {limits.deletions}'
    lines = [
        f'{count} {noun} would be deleted, more than {most}'
        for count, noun in (
            (providers, 'providers'),
            (consumers, "consumers' allocations"),
        )
        if count > limits.deletions
    ]
    if (
        traits >= _LEAST_TRAITS
        and traits * 100 > limits.percent * custom_traits
    ):
        lines.append(
            f'{traits} of {custom_traits} custom traits would be deleted, '
            f'more than [compute_agent] max_removed_percent = {limits.percent}'
        )
    return lines
