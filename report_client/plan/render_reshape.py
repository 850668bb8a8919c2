# SPDX-License-Identifier: Apache-2.0
"""A reshape as text (sums of amounts) and as data (each consumer).

Pure: no I/O, configuration, logging or clock. Used by ``render.py``.
"""

import collections
from collections.abc import Callable
from typing import Any

from compute_agent.plan import allocations as alloc
from compute_agent.plan.operations import operations as ops

from . import render_inventory


def marks(
    operation: ops.Reshape, shown: Callable[[str], str] = str
) -> list[str]:
    """Return the sums of moved amounts, and the marks of the new inventories.

    :param shown: makes a provider's name fit for a line
    """
    names = {part.uuid: shown(part.name) for part in operation.inventories}
    changes: dict[tuple[bool, str, str], list[int]]
    changes = collections.defaultdict(list)
    for move in operation.moves:
        for uuid, rc, more in move.changes():
            changes[more > 0, names.get(uuid, uuid), rc].append(abs(more))
    return [
        *(
            f'{sum(amounts)} {rc} {"to" if comes else "from"} {name} '
            f'({_consumers(len(amounts))})'
            for (comes, name, rc), amounts in sorted(changes.items())
        ),
        *(
            f'{names[part.uuid]}: {mark}'
            for part in operation.inventories
            for mark in render_inventory.marks(part)
        ),
    ]


def data(operation: ops.Reshape) -> dict[str, Any]:
    """Return the whole inventories, and each consumer's allocations."""
    return {
        'inventories': [
            {
                'provider': part.name,
                'uuid': part.uuid,
                **render_inventory.data(part),
            }
            for part in operation.inventories
        ],
        'consumers': [
            {
                'consumer': move.consumer.uuid,
                'before': _parts(move.consumer.allocations),
                'after': _parts(move.allocations),
            }
            for move in operation.moves
        ],
    }


def _consumers(count: int) -> str:
    return f'{count} consumer{"" if count == 1 else "s"}'


def _parts(parts: alloc.Parts) -> dict[str, dict[str, int]]:
    return {uuid: dict(amounts) for uuid, amounts in sorted(parts.items())}
