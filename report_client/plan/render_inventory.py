# SPDX-License-Identifier: Apache-2.0
"""Inventories, as they are and as they change, for people and for programs.

Pure: no I/O, configuration, logging or clock. The glyphs are those of every
plan: + comes, - goes, ~ changes, ! is another's. Used by ``render.py``.
"""

import math
from typing import Any

from compute_agent import error_text
from compute_agent.tree import inventory, removal

from ..operations import operations as ops


def marks(operation: ops.SetInventories) -> list[str]:
    """Return a mark for each record that comes, goes or changes."""
    now, before = operation.inventories, operation.before
    return [
        *(f'+{rc} {_record(now[rc])}' for rc in sorted(operation.added)),
        *(
            f'~{rc} {_difference(before[rc], now[rc])}'
            for rc in sorted(operation.changed)
        ),
        *(gone(rc, operation) for rc in sorted(operation.removed)),
    ]


def gone(name: str, operation: ops.SetOperation) -> str:
    """Return the mark of a name that goes, with the cause."""
    mark = f"-{name} !another's" if name in operation.foreign else f'-{name}'
    cause = operation.causes.get(name)
    return mark if cause is None else f'{mark} ({shown(cause)})'


def shown(cause: removal.Cause) -> str:
    """Return a cause fit for a line; a file's path may not be."""
    return error_text.printable(str(cause))


def causes_data(operation: ops.SetOperation) -> dict[str, Any]:
    """Return the causes of the names that go, as data."""
    return {
        name: cause.data() for name, cause in sorted(operation.causes.items())
    }


def _record(one: inventory.Inventory) -> str:
    """Return a record in the order people read it, defaults left out."""
    usual = inventory.Inventory(total=one.total).to_record()
    if one.max_unit == one.total:
        usual['max_unit'] = one.total
    fields = [
        f'{field}={value:.10g}'
        for field, value in one.to_record().items()
        if value != usual[field]
    ]
    return ' '.join([str(one.total), *fields])


def _difference(before: inventory.Inventory, now: inventory.Inventory) -> str:
    """Return the fields that changed; a database's rounding is no change."""
    old = before.to_record()
    return ' '.join(
        f'{field}={old[field]:.10g}→{value:.10g}'
        for field, value in now.to_record().items()
        if not _same(field, old[field], value)
    )


def _same(field: str, one: float, other: float) -> bool:
    if field == 'allocation_ratio':
        return math.isclose(one, other, rel_tol=inventory.RATIO_TOLERANCE)
    return one == other


def data(operation: ops.SetInventories) -> dict[str, Any]:
    """Return what is set and what changes by it, as data."""
    return {
        'inventories': {
            rc: one.to_record()
            for rc, one in sorted(operation.inventories.items())
        },
        'added': sorted(operation.added),
        'changed': sorted(operation.changed),
        'removed': sorted(operation.removed),
        'foreign': sorted(operation.foreign),
        'causes': causes_data(operation),
    }
