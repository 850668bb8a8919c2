# SPDX-License-Identifier: Apache-2.0
"""The check of a driver's moves of allocations, before placement sees them.

Pure: no I/O, configuration, logging or clock. A driver may only move amounts
between providers of its node's own tree, and between resource classes that it
declares to count as the same. No amount is lost or created, the allocations in
other trees and from sharing providers stay, and every amount fits its new
provider. ``diff.py`` calls this before it plans.
"""

import collections
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from ...tree import inventory, provider
from .. import allocations as alloc

Moves: TypeAlias = tuple[alloc.Move, ...]
_Used: TypeAlias = collections.Counter[tuple[str, str]]


def problems(
    moves: Moves,
    after: provider.Snapshot,
    own: frozenset[str],
    counted_as: Mapping[str, str],
) -> list[str]:
    """Return a line for each move that cannot be carried out.

    :param moves: the moves of every consumer of the tree, including consumers
        whose allocations stay
    :param after: the providers as they should be, including new ones
    :param own: the providers of the node's own tree, before and after
    :param counted_as: a resource class → the class as which its amounts count
    """
    found: list[str] = []
    for move in moves:
        found += _lost_or_made(move, own, counted_as)
        found += _elsewhere(move, after, own)
    if not found:
        found += _misfits(moves, after, own)
    return found


def _lost_or_made(
    move: alloc.Move, own: frozenset[str], counted_as: Mapping[str, str]
) -> Iterator[str]:
    total: collections.Counter[str] = collections.Counter()
    for uuid, rc, more in move.changes():
        if uuid in own:
            total[counted_as.get(rc, rc)] += more
    for rc, more in sorted(total.items()):
        if more:
            yield (
                f'consumer {move.consumer.uuid} would have {abs(more)} {rc} '
                f'{"more" if more > 0 else "less"} than it has'
            )


def _elsewhere(
    move: alloc.Move, after: provider.Snapshot, own: frozenset[str]
) -> Iterator[str]:
    for uuid, rc, _ in move.changes():
        if uuid not in own:
            outside = after.get(uuid, uuid)
            yield (
                f'consumer {move.consumer.uuid}: its {rc} of {outside}, which is '
                "not of this node's tree, is not the driver's to change"
            )


def _misfits(
    moves: Moves, after: provider.Snapshot, own: frozenset[str]
) -> Iterator[str]:
    """Yield a line for each amount that placement would refuse."""
    before, then = _used(moves, own)
    sent = [move for move in moves if any(move.changes())]
    for move in sent:
        for uuid, resources in move.allocations.items():
            if uuid in own:
                target = after.get(uuid)
                records = target.inventories if target else {}
                for rc, amount in resources.items():
                    why = _misfit(rc, amount, records)
                    if why:
                        yield (
                            f'consumer {move.consumer.uuid}: {amount} {rc} of '
                            f'{target or uuid}, {why}'
                        )
    for (uuid, rc), used in sorted(then.items()):
        record = after[uuid].inventories.get(rc) if uuid in after else None
        more = used > before[uuid, rc]
        if record is not None and more and used > record.capacity:
            yield (
                f'{after[uuid]}: {used} {rc} would be allocated of '
                f'{record.capacity:.10g}'
            )


def _misfit(
    rc: str, amount: int, records: Mapping[str, inventory.Inventory]
) -> str:
    record = records.get(rc)
    if record is None:
        return 'which has none'
    if amount > record.max_unit:
        return f'whose max_unit is {record.max_unit}'
    if amount < record.min_unit:
        return f'whose min_unit is {record.min_unit}'
    if amount % record.step_size:
        return f'whose step_size is {record.step_size}'
    return ''


def _used(moves: Moves, own: frozenset[str]) -> tuple[_Used, _Used]:
    """Return the allocated amount of each class, before and after."""
    before: _Used = collections.Counter()
    then: _Used = collections.Counter()
    for move in moves:
        _count(before, move.consumer.allocations, own)
        _count(then, move.allocations, own)
    return before, then


def _count(used: _Used, parts: alloc.Parts, own: frozenset[str]) -> None:
    for uuid, resources in parts.items():
        if uuid in own:
            for rc, amount in resources.items():
                used[uuid, rc] += amount
