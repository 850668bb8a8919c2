# SPDX-License-Identifier: Apache-2.0
"""Inventories and removed names, as text and as data.

Pure: no I/O, configuration, logging or clock. The marks are those of every
plan: + added, - removed, ~ changed, ! another writer's. Used by ``render.py``.
"""

import math
from typing import Any

from compute_agent import error_text
from compute_agent.plan import removal
from compute_agent.plan.operations import operations as ops
from compute_agent.tree import inventory


def marks(operation: ops.SetInventories) -> list[str]:
    """Return a mark for each added, changed or removed resource class."""
    now, before = operation.inventories, operation.before
    return [
        *(f'+{rc} {record(now[rc])}' for rc in sorted(operation.added)),
        *(
            f'~{rc} {difference(before[rc], now[rc])}'
            for rc in sorted(operation.changed)
        ),
        *(gone(rc, operation) for rc in sorted(operation.removed)),
    ]


def gone(name: str, operation: ops.SetOperation) -> str:
    """Return the mark of a removed name, with the cause."""
    mark = f"-{name} !another's" if name in operation.foreign else f'-{name}'
    cause = operation.causes.get(name)
    return mark if cause is None else f'{mark} ({shown(cause)})'


def shown(cause: removal.Cause) -> str:
    """Return a cause in printable characters; file names may have others."""
    return error_text.printable(str(cause))


def causes_data(operation: ops.SetOperation) -> dict[str, Any]:
    """Return the causes of removed names, as data."""
    return {
        name: cause.data() for name, cause in sorted(operation.causes.items())
    }


def record(new: inventory.Inventory) -> str:
    """Return a record as text: the total, then all but the defaults."""
    usual = inventory.Inventory(total=new.total).to_record()
    if new.max_unit == new.total:
        usual['max_unit'] = new.total
    fields = [
        f'{field}={value:.10g}'
        for field, value in new.to_record().items()
        if value != usual[field]
    ]
    return ' '.join([str(new.total), *fields])


def difference(before: inventory.Inventory, now: inventory.Inventory) -> str:
    """Return the changed fields; a database's rounding does not count."""
    old = before.to_record()
    return ' '.join(
        f'{field}={old[field]:.10g}→{value:.10g}'
        for field, value in now.to_record().items()
        if not _same(field, old[field], value)
    )


def _same(field: str, old: float, new: float) -> bool:
    if field == 'allocation_ratio':
        return math.isclose(old, new, rel_tol=inventory.RATIO_TOLERANCE)
    return old == new


def data(operation: ops.SetInventories) -> dict[str, Any]:
    """Return the inventories that are set, and the changes, as data.

    The key ``before`` has the old records of what is changed or removed.
    """
    return {
        'inventories': {
            rc: record.to_record()
            for rc, record in sorted(operation.inventories.items())
        },
        'before': {
            rc: operation.before[rc].to_record()
            for rc in sorted(operation.changed | operation.removed)
        },
        'added': sorted(operation.added),
        'changed': sorted(operation.changed),
        'removed': sorted(operation.removed),
        'foreign': sorted(operation.foreign),
        'causes': causes_data(operation),
    }
