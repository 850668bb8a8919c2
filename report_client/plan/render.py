# SPDX-License-Identifier: Apache-2.0
"""Plans and operations as text, as data, and as entries of the history.

Pure: no I/O, configuration, logging or clock. One operation is one line. Its
marks mean: + added, - removed, ~ changed, ! another writer's. The cause of a
removal follows the name, in parentheses.
"""

import collections
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, assert_never

from compute_agent import error_text
from compute_agent.plan import allocations as alloc
from compute_agent.plan import removal
from compute_agent.plan.change import Change
from compute_agent.plan.history_entry import OF_KIND, Entry, What
from compute_agent.plan.operations import operations as ops
from compute_agent.plan.plan import Plan
from compute_agent.tree import inventory, provider

NOTHING = 'nothing to do'


def line(operation: ops.Operation) -> str:
    """Return one operation as one line."""
    head, marks = _parts(operation)
    return f'{head}: {", ".join(marks)}' if marks else head


def text(plan: Plan, node: str, waits: Collection[ops.Operation] = ()) -> str:
    """Return a node's plan as lines of text; the last line is a count.

    :param waits: those of its operations that are not sent yet
    """
    lines = [_title(node, plan.node_uuid)]
    for operation in plan.operations:
        head, marks = _parts(operation)
        lines.append(f'  {head}{" (waits)" if operation in waits else ""}')
        lines += [f'      {part}' for part in _wrapped(marks)]
    lines += [f'  note: {note}' for note in plan.notes]
    lines += [f'  not done: {fault}' for fault in plan.faults]
    lines.append(f'  {_counted(plan.operations, waits)}')
    return '\n'.join(lines)


def _counted(
    operations: Sequence[ops.Operation], waits: Collection[ops.Operation]
) -> str:
    """Return the number of operations, and how many are not sent yet."""
    waiting = sum(op in waits for op in operations)
    count = error_text.counted(len(operations), 'operation')
    if not waiting:
        return count if operations else NOTHING
    if waiting < len(operations):
        count = f'{count}, of which {waiting}'
    return f'{count} {"waits" if waiting == 1 else "wait"}'


def total(
    plans: Sequence[tuple[Plan, Collection[ops.Operation]]], nodes: int
) -> str:
    """Return the sum of many nodes' plans as one line.

    :param plans: each with those of its operations that are not sent yet
    :param nodes: the number of nodes, including those without a plan
    """
    sent = [
        [op for op in plan.operations if op not in waits]
        for plan, waits in plans
    ]
    every = [op for operations in sent for op in operations]
    shared = {op for op in every if op.is_shared}
    # Several plans may contain a shared one, but only one creates it.
    verbs = counts([*shared, *(op for op in every if not op.is_shared)])
    changing, waiting = sum(map(bool, sent)), sum(bool(w) for _, w in plans)
    undone = nodes - len(plans) + sum(bool(plan.faults) for plan, _ in plans)
    parts = [
        f'{changing} of {error_text.counted(nodes, "node")} change'
        if changing or waiting
        else f'{error_text.counted(nodes, "node")}: {NOTHING}'
    ]
    parts += [verbs]
    parts += [f'{waiting} wait'] if waiting else []
    parts += [f'{undone} not done'] if undone else []
    return '; '.join(part for part in parts if part)


def counts(operations: Iterable[ops.Operation]) -> str:
    """Return the number of operations of each kind; '' without operations."""
    verbs = collections.Counter(
        operation_data(op)['operation'].replace('_', ' ') for op in operations
    )
    return ', '.join(f'{verb} {n}' for verb, n in sorted(verbs.items()))


def data(
    plan: Plan, node: str, waits: Collection[ops.Operation] = ()
) -> dict[str, Any]:
    """Return a node's plan as data for JSON or YAML.

    :param waits: those of its operations that are not sent yet
    """
    return {
        'node': node,
        'uuid': plan.node_uuid,
        'operations': [
            operation_data(op) | ({'waits': True} if op in waits else {})
            for op in plan.operations
        ],
        'notes': list(plan.notes),
        'faults': list(plan.faults),
    }


def operation_data(operation: ops.Operation) -> dict[str, Any]:
    """Return one operation as data; the key ``operation`` tells the kind."""
    more: dict[str, Any]
    match operation:
        case ops.CreateTrait(name=name):
            return {'operation': 'create_trait', 'trait': name}
        case ops.CreateResourceClass(name=name):
            return {
                'operation': 'create_resource_class',
                'resource_class': name,
            }
        case ops.CreateProvider():
            verb, more = 'create_provider', {'parent': operation.parent_uuid}
        case ops.UpdateProvider():
            verb = 'update_provider'
            more = {
                'parent': operation.parent_uuid,
                'old_provider': operation.old_name,
                'old_parent': operation.old_parent_uuid,
            }
        case ops.DeleteProvider(cause=cause):
            verb = 'delete_provider'
            more = {'cause': None if cause is None else cause.data()}
        case ops.SetTraits():
            verb, more = 'set_traits', _set_data(operation)
        case ops.SetAggregates():
            verb, more = 'set_aggregates', _set_data(operation)
        case ops.SetInventories():
            verb, more = 'set_inventories', _inventory_data(operation)
        case ops.Reshape():
            verb, more = 'reshape', _reshape_data(operation)
        case _:
            assert_never(operation)
    return {
        'operation': verb,
        'provider': operation.name,
        'uuid': operation.uuid,
        **more,
    }


def _parts(  # noqa: PLR0911 (a case for each kind)
    operation: ops.Operation,
) -> tuple[str, list[str]]:
    """Return the action with its object, and the marks of the changes."""
    match operation:
        case ops.CreateTrait(name=name):
            return f'create trait {name}', []
        case ops.CreateResourceClass(name=name):
            return f'create resource class {name}', []
        case ops.CreateProvider(parent_uuid=parent):
            below = f' below {parent}' if parent else ''
            return f'create provider {_provider(operation)}{below}', []
        case ops.UpdateProvider():
            old = _title(operation.old_name, operation.uuid)
            return f'update provider {old}', _moves(operation)
        case ops.DeleteProvider():
            head = f'delete provider {_provider(operation)}'
            return head, [_cause(operation.cause)] if operation.cause else []
        case ops.SetTraits():
            return f'set traits of {_provider(operation)}', _names(operation)
        case ops.SetAggregates():
            return f'set aggregates of {_provider(operation)}', _names(
                operation
            )
        case ops.SetInventories():
            head = f'set inventories of {_provider(operation)}'
            return head, _inventory_marks(operation)
        case ops.Reshape():
            head = f'reshape {_provider(operation)}'
            return head, _reshape_marks(operation)
        case _:
            assert_never(operation)


def history_entries(operation: ops.Operation) -> Iterator[Entry]:
    """Yield the history's entries about an operation that was carried out."""
    match operation:
        case ops.CreateTrait(name=name):
            yield Entry(what=What.NEW_TRAIT, text=name)
        case ops.CreateResourceClass(name=name):
            yield Entry(what=What.NEW_CLASS, text=name)
        case ops.CreateProvider(parent_uuid=parent):
            below = f'below {parent}' if parent else ''
            yield _about(operation, What.CREATED, below)
        case ops.UpdateProvider():
            yield _about(operation, What.MOVED, ', '.join(_moves(operation)))
        case ops.DeleteProvider():
            yield _about(operation, What.DELETED)
        case ops.SetTraits() | ops.SetAggregates() | ops.SetInventories():
            yield _about(operation, OF_KIND[operation.kind])
        case ops.Reshape():
            for one in operation.inventories:
                yield _about(
                    one, What.INVENTORIES, 'moved with its allocations'
                )
        case _:
            assert_never(operation)


def _about(
    operation: ops.ProviderOperation, what: What, text: str = ''
) -> Entry:
    """Return the entry about a provider; a creation changes no names."""
    changes = () if what is What.CREATED else tuple(operation.changes())
    return Entry(
        what=what,
        uuid=operation.uuid,
        provider=operation.name,
        changes=changes,
        text=text,
    )


def _provider(operation: ops.ProviderOperation) -> str:
    return _title(operation.name, operation.uuid)


def _title(name: str, uuid: str) -> str:
    return provider.title(name, uuid)


def _moves(operation: ops.UpdateProvider) -> list[str]:
    """Return the new name and the new place of a provider, as far as new."""
    changes = []
    if operation.name != operation.old_name:
        changes.append(f'rename it to {error_text.printable(operation.name)}')
    if operation.parent_uuid != operation.old_parent_uuid:
        changes.append(f'move it below {operation.parent_uuid or "nothing"}')
    return changes


def _names(operation: ops.SetTraits | ops.SetAggregates) -> list[str]:
    return [f'+{n}' for n in sorted(operation.added)] + [
        _removed(n, operation) for n in sorted(operation.removed)
    ]


def _wrapped(marks: Sequence[str], width: int = 72) -> Iterator[str]:
    """Yield lines of marks, filled up to the width; no mark is broken."""
    current = ''
    for mark in marks:
        if current and len(current) + len(mark) + 2 > width:
            yield current
            current = mark
        else:
            current = f'{current}  {mark}' if current else mark
    if current:
        yield current


def _set_data(
    operation: ops.SetTraits | ops.SetAggregates,
) -> dict[str, Any]:
    return {
        'names': sorted(operation.names),
        'added': sorted(operation.added),
        'removed': sorted(operation.removed),
        'foreign': sorted(operation.foreign),
        'causes': _causes_data(operation),
    }


def _inventory_marks(operation: ops.SetInventories) -> list[str]:
    """Return a mark for each added, changed or removed resource class."""
    now, before = operation.inventories, operation.before
    return [
        *(f'+{rc} {record(now[rc])}' for rc in sorted(operation.added)),
        *(
            f'~{rc} {difference(before[rc], now[rc])}'
            for rc in sorted(operation.changed)
        ),
        *(_removed(rc, operation) for rc in sorted(operation.removed)),
    ]


def _removed(name: str, operation: ops.SetOperation) -> str:
    """Return the mark of a removed name, with the cause."""
    mark = f"-{name} !another's" if name in operation.foreign else f'-{name}'
    cause = operation.causes.get(name)
    return mark if cause is None else f'{mark} ({_cause(cause)})'


def _cause(cause: removal.Cause) -> str:
    """Return a cause in printable characters; file names may have others."""
    return error_text.printable(str(cause))


def _causes_data(operation: ops.SetOperation) -> dict[str, Any]:
    """Return the causes of removed names, as data."""
    return {
        name: cause.data() for name, cause in sorted(operation.causes.items())
    }


def mark(change: Change) -> str:
    """Return a changed name with its mark: + added, - removed, ~ changed."""
    if not change.exists:
        return f'-{change.name}'
    name = f'{"~" if change.existed else "+"}{change.name}'
    if change.after is None:
        return name
    if change.before is None:
        return f'{name} {record(change.after)}'
    return f'{name} {difference(change.before, change.after)}'


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


def _inventory_data(operation: ops.SetInventories) -> dict[str, Any]:
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
        'causes': _causes_data(operation),
    }


def _reshape_marks(operation: ops.Reshape) -> list[str]:
    """Return the sums of moved amounts, and the marks of the new inventories."""
    names = {
        part.uuid: error_text.printable(part.name)
        for part in operation.inventories
    }
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
            for mark in _inventory_marks(part)
        ),
    ]


def _reshape_data(operation: ops.Reshape) -> dict[str, Any]:
    """Return the whole inventories, and each consumer's allocations."""
    return {
        'inventories': [
            {
                'provider': part.name,
                'uuid': part.uuid,
                **_inventory_data(part),
            }
            for part in operation.inventories
        ],
        'consumers': [
            {
                'consumer': move.consumer.uuid,
                'before': _allocations(move.consumer.allocations),
                'after': _allocations(move.allocations),
            }
            for move in operation.moves
        ],
    }


def _consumers(count: int) -> str:
    return f'{count} consumer{"" if count == 1 else "s"}'


def _allocations(parts: alloc.Parts) -> dict[str, dict[str, int]]:
    return {uuid: dict(amounts) for uuid, amounts in sorted(parts.items())}
