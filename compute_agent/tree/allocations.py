# SPDX-License-Identifier: Apache-2.0
"""What consumers have of a node's tree, for its driver to move, and moved.

Pure: no I/O, configuration, logging or clock. A consumer is one value, with all
it has, in other trees too; a driver edits a copy in nova's form. What came of
that is read back here and held to what an edit may be; whether it can be had
is ``plan/moves.py``'s question. Made by ``observe/verify.py``, carried by ``client.py``.
"""

import copy
import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from .. import error_text, errors

Resources = Mapping[str, int]
# What a consumer has: provider uuid → resource class → amount.
Parts = Mapping[str, Resources]

# The consumers of one provider, by resource class.
Consumers = Mapping[str, frozenset[str]]

_SAID = 4  # lines of what is wrong that are worth reading


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    """One consumer with everything that is allocated to it.

    :ivar consumer_type: empty where placement is too old to have types (1.38)
    """

    uuid: str
    project_id: str
    user_id: str
    generation: int
    allocations: Parts
    consumer_type: str = ''


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One consumer's allocations, as they are and as they should be."""

    consumer: Consumer
    allocations: Parts

    def changes(self) -> Iterator[tuple[str, str, int]]:
        """Yield provider, class and how much more or less it will be."""
        old, new = self.consumer.allocations, self.allocations
        for uuid in sorted({*old, *new}):
            had, has = old.get(uuid, {}), new.get(uuid, {})
            for rc in sorted({*had, *has}):
                more = has.get(rc, 0) - had.get(rc, 0)
                if more:
                    yield uuid, rc, more


def providers(moves: tuple[Move, ...]) -> tuple[set[str], set[str]]:
    """Return the providers that give something, and those that take it."""
    changes = [change for move in moves for change in move.changes()]
    return (
        {uuid for uuid, _, more in changes if more < 0},
        {uuid for uuid, _, more in changes if more > 0},
    )


def consumers_after(
    moves: tuple[Move, ...],
) -> dict[str, dict[str, frozenset[str]]]:
    """Return the consumers that each provider has after the moves, by class."""
    found: dict[str, dict[str, frozenset[str]]] = {}
    for move in moves:
        for uuid, resources in move.allocations.items():
            by_class = found.setdefault(uuid, {})
            for rc in resources:
                consumers = by_class.get(rc, frozenset())
                by_class[rc] = consumers | {move.consumer.uuid}
    return found


class Allocations:
    """What is allocated of one node's tree.

    :ivar described: it in nova's form, for a driver to edit in place
    """

    def __init__(
        self, consumers: Mapping[str, Consumer], generations: Mapping[str, int]
    ) -> None:
        self._consumers = consumers
        self._given = {
            uuid: _described(one, generations)
            for uuid, one in consumers.items()
        }
        self.described: dict[str, Any] = copy.deepcopy(self._given)

    def moves(self) -> tuple[Move, ...]:
        """Return what the driver made of it: each consumer, changed or not.

        :raises errors.DriverError: it is not an edit of what it was given
        """
        problems = list(self._problems())
        if not problems:
            moves = [
                Move(
                    consumer=one,
                    allocations=_parts(self.described[uuid], uuid, problems),
                )
                for uuid, one in self._consumers.items()
            ]
        if problems:
            raise refusal(problems)
        return tuple(moves)

    def _problems(self) -> Iterator[str]:
        given, now = self._given, self.described
        for uuid in sorted(set(given) - set(now)):
            yield f'consumer {uuid} is missing'
        for uuid in sorted(set(now) - set(given), key=str):
            yield f'consumer {error_text.excerpt(uuid)} has nothing of this tree'
        for uuid in sorted(set(given) & set(now)):
            yield from _not_the_same(uuid, given[uuid], now[uuid])


def refusal(problems: list[str]) -> errors.DriverError:
    """Return the error that says what is wrong with an edit."""
    more = len(problems) - _SAID
    said = '; '.join(problems[:_SAID])
    return errors.DriverError(
        'what the driver made of the allocations cannot be done, and nothing '
        f'is: {said}{f"; and {more} more" if more > 0 else ""}'
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
    """Yield what else was changed than the allocations themselves."""
    if not isinstance(now, Mapping):
        yield f'consumer {uuid} is {error_text.excerpt(now)}'
        return
    for field in sorted({*given, *now} - {'allocations'}, key=str):
        if now.get(field) != given.get(field):
            yield (
                f'consumer {uuid}: {field} is {error_text.excerpt(now.get(field))}, '
                f'which was {error_text.excerpt(given.get(field))}'
            )


def _parts(
    described: Mapping[str, Any], consumer: str, problems: list[str]
) -> Parts:
    """Return what one consumer is to have; what is nothing is left out."""
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
                f'{where}: {error_text.excerpt(uuid)} is {error_text.excerpt(part)}'
            )
            continue
        problems += [
            f'{where}: {error_text.excerpt(amount)} of {error_text.excerpt(rc)} is no amount'
            for rc, amount in resources.items()
            if not _is_amount(rc, amount)
        ]
        some = {rc: n for rc, n in resources.items() if n}
        if some:
            found[uuid] = some
    return found


def _is_amount(rc: object, value: object) -> bool:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return isinstance(rc, str) and whole and value >= 0  # type: ignore[operator]
