# SPDX-License-Identifier: Apache-2.0
"""The allocations of a node's tree, for its driver to move.

Pure: no I/O, configuration, logging or clock. A consumer is one value with all
its allocations, those in other trees included. A driver edits a copy in nova's
form. This module reads the edited copy and refuses edits that a driver may not
make. It does not check the capacity of the target providers.
"""

import copy
import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from .. import error_text, errors

Resources = Mapping[str, int]
# A consumer's allocations: provider uuid → resource class → amount.
Parts = Mapping[str, Resources]

# The consumers of one provider, by resource class.
Consumers = Mapping[str, frozenset[str]]

_SHOWN = 4  # the number of problems that one message lists


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    """One consumer with all its allocations.

    :ivar consumer_type: empty if placement is too old to have types (1.38)
    """

    uuid: str
    project_id: str
    user_id: str
    generation: int
    allocations: Parts
    consumer_type: str = ''


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One consumer's present and wanted allocations."""

    consumer: Consumer
    allocations: Parts

    def changes(self) -> Iterator[tuple[str, str, int]]:
        """Yield provider uuid, resource class and the difference in amount."""
        old, new = self.consumer.allocations, self.allocations
        for uuid in sorted({*old, *new}):
            had, has = old.get(uuid, {}), new.get(uuid, {})
            for rc in sorted({*had, *has}):
                more = has.get(rc, 0) - had.get(rc, 0)
                if more:
                    yield uuid, rc, more


def providers(moves: tuple[Move, ...]) -> tuple[set[str], set[str]]:
    """Return the uuids of providers that lose or get amounts."""
    changes = [change for move in moves for change in move.changes()]
    return (
        {uuid for uuid, _, more in changes if more < 0},
        {uuid for uuid, _, more in changes if more > 0},
    )


def consumers_after(
    moves: tuple[Move, ...],
) -> dict[str, dict[str, frozenset[str]]]:
    """Return each provider's consumers after the moves, by class."""
    found: dict[str, dict[str, frozenset[str]]] = {}
    for move in moves:
        for uuid, resources in move.allocations.items():
            by_class = found.setdefault(uuid, {})
            for rc in resources:
                consumers = by_class.get(rc, frozenset())
                by_class[rc] = consumers | {move.consumer.uuid}
    return found


class Allocations:
    """The allocations of one node's tree.

    :ivar described: the allocations in nova's form, for a driver to edit
    """

    def __init__(
        self, consumers: Mapping[str, Consumer], generations: Mapping[str, int]
    ) -> None:
        self._consumers = consumers
        self._given = {
            uuid: _described(consumer, generations)
            for uuid, consumer in consumers.items()
        }
        self.described: dict[str, Any] = copy.deepcopy(self._given)

    def copy(self) -> 'Allocations':
        """Return the same allocations, to be edited alone."""
        made = copy.copy(self)
        made.described = copy.deepcopy(self.described)
        return made

    def moves(self) -> tuple[Move, ...]:
        """Return a move for each consumer, changed or not.

        :raises errors.DriverError: the driver changed more than amounts
        """
        problems = list(self._problems())
        if not problems:
            moves = [
                Move(
                    consumer=consumer,
                    allocations=_parts(self.described[uuid], uuid, problems),
                )
                for uuid, consumer in self._consumers.items()
            ]
        if problems:
            raise refusal(problems)
        return tuple(moves)

    def _problems(self) -> Iterator[str]:
        given, now = self._given, self.described
        for uuid in sorted(set(given) - set(now)):
            yield f'consumer {uuid} is missing'
        for uuid in sorted(set(now) - set(given), key=str):
            shown = error_text.excerpt(uuid)
            yield f'consumer {shown} has no allocations in this tree'
        for uuid in sorted(set(given) & set(now)):
            yield from _not_the_same(uuid, given[uuid], now[uuid])


def refusal(problems: list[str]) -> errors.DriverError:
    """Return the error that lists the problems of an edit."""
    more = len(problems) - _SHOWN
    shown = '; '.join(problems[:_SHOWN])
    return errors.DriverError(
        "the driver's edit of the allocations is not possible, so nothing is "
        f'written: {shown}{f"; and {more} more" if more > 0 else ""}'
    )


def _described(
    one: Consumer, generations: Mapping[str, int]
) -> dict[str, Any]:
    described: dict[str, Any] = {
        'allocations': {
            uuid: {
                'resources': dict(resources),
                'generation': generations[uuid],
            }
            for uuid, resources in one.allocations.items()
        },
        'project_id': one.project_id,
        'user_id': one.user_id,
        'consumer_generation': one.generation,
    }
    if one.consumer_type:
        described['consumer_type'] = one.consumer_type
    return described


def _not_the_same(
    uuid: str, given: Mapping[str, Any], now: object
) -> Iterator[str]:
    """Yield a problem for each change other than to the allocations."""
    if not isinstance(now, Mapping):
        yield f'consumer {uuid} is {error_text.excerpt(now)}'
        return
    for field in sorted({*given, *now} - {'allocations'}, key=str):
        if now.get(field) != given.get(field):
            yield (
                f'consumer {uuid}: {field} is '
                f'{error_text.excerpt(now.get(field))}, which was {error_text.excerpt(given.get(field))}'
            )


def _parts(
    described: Mapping[str, Any], consumer: str, problems: list[str]
) -> Parts:
    """Return one consumer's edited allocations, without empty ones."""
    found: dict[str, Resources] = {}
    where = f'consumer {consumer}'
    allocated = described.get('allocations')
    if not isinstance(allocated, Mapping):
        problems.append(
            f'{where}: allocations is {error_text.excerpt(allocated)}'
        )
        return found
    for uuid, part in allocated.items():
        resources = part.get('resources') if isinstance(part, Mapping) else 0
        if not isinstance(resources, Mapping) or not isinstance(uuid, str):
            problems.append(
                f'{where}: {error_text.excerpt(uuid)} is '
                f'{error_text.excerpt(part)}'
            )
            continue
        problems += [
            f'{where}: {error_text.excerpt(amount)} of '
            f'{error_text.excerpt(rc)} is not an amount'
            for rc, amount in resources.items()
            if not _is_amount(rc, amount)
        ]
        amounts = {rc: n for rc, n in resources.items() if n}
        if amounts:
            found[uuid] = amounts
    return found


def _is_amount(rc: object, value: object) -> bool:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return isinstance(rc, str) and whole and value >= 0  # type: ignore[operator]
