# SPDX-License-Identifier: Apache-2.0
"""Plans and operations as text for people and as data for programs.

Pure: no I/O, configuration, logging or clock. One operation is one line. Its
marks mean: + added, - removed, ~ changed, ! another writer's. The cause of a
removal follows the name, in parentheses.
"""

import collections
from collections.abc import Iterator, Sequence
from typing import Any, assert_never

from compute_agent import error_text
from compute_agent.plan.operations import operations as ops
from compute_agent.plan.plan import Plan
from compute_agent.tree import provider

from . import render_inventory, render_reshape

NOTHING = 'nothing to do'


def line(operation: ops.Operation) -> str:
    """Return one operation as one line."""
    head, marks = _parts(operation)
    return f'{head}: {", ".join(marks)}' if marks else head


def text(plan: Plan, node: str) -> str:
    """Return a node's plan as lines of text; the last line is a count."""
    lines = [_title(node, plan.node_uuid)]
    for operation in plan.operations:
        head, marks = _parts(operation)
        lines.append(f'  {head}')
        lines += [f'      {part}' for part in _wrapped(marks)]
    lines += [f'  note: {note}' for note in plan.notes]
    lines += [f'  not done: {fault}' for fault in plan.faults]
    count = len(plan.operations)
    lines.append(
        f'  {error_text.counted(count, "operation") if count else NOTHING}'
    )
    return '\n'.join(lines)


def total(plans: Sequence[Plan], nodes: int) -> str:
    """Return the sum of many nodes' plans as one line.

    :param nodes: the number of nodes, including those without a plan
    """
    every = [op for plan in plans for op in plan.operations]
    shared = {op for op in every if op.is_shared}
    verbs = collections.Counter(
        operation_data(op)['operation'].replace('_', ' ')
        for op in (
            *shared,  # several plans may contain it, but only one creates it
            *(op for op in every if not op.is_shared),
        )
    )
    changing = sum(bool(plan.operations) for plan in plans)
    undone = nodes - len(plans) + sum(bool(plan.faults) for plan in plans)
    parts = [
        f'{changing} of {error_text.counted(nodes, "node")} change'
        if changing
        else f'{error_text.counted(nodes, "node")}: {NOTHING}'
    ]
    parts += [', '.join(f'{verb} {n}' for verb, n in sorted(verbs.items()))]
    parts += [f'{undone} not done'] if undone else []
    return '; '.join(part for part in parts if part)


def data(plan: Plan, node: str) -> dict[str, Any]:
    """Return a node's plan as data for JSON or YAML."""
    return {
        'node': node,
        'uuid': plan.node_uuid,
        'operations': [operation_data(op) for op in plan.operations],
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
            verb, more = 'set_inventories', render_inventory.data(operation)
        case ops.Reshape():
            verb, more = 'reshape', render_reshape.data(operation)
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
            return f'update provider {old}', moves(operation)
        case ops.DeleteProvider():
            head = f'delete provider {_provider(operation)}'
            return head, [
                render_inventory.shown(operation.cause)
            ] if operation.cause else []
        case ops.SetTraits():
            return f'set traits of {_provider(operation)}', _names(operation)
        case ops.SetAggregates():
            return f'set aggregates of {_provider(operation)}', _names(
                operation
            )
        case ops.SetInventories():
            head = f'set inventories of {_provider(operation)}'
            return head, render_inventory.marks(operation)
        case ops.Reshape():
            head = f'reshape {_provider(operation)}'
            return head, render_reshape.marks(operation, error_text.printable)
        case _:
            assert_never(operation)


def _provider(operation: ops.ProviderOperation) -> str:
    return _title(operation.name, operation.uuid)


def _title(name: str, uuid: str) -> str:
    return provider.title(name, uuid)


def moves(operation: ops.UpdateProvider) -> list[str]:
    """Return the new name and the new place of a provider, as far as new."""
    changes = []
    if operation.name != operation.old_name:
        changes.append(f'rename it to {error_text.printable(operation.name)}')
    if operation.parent_uuid != operation.old_parent_uuid:
        changes.append(f'move it below {operation.parent_uuid or "nothing"}')
    return changes


def _names(operation: ops.SetTraits | ops.SetAggregates) -> list[str]:
    return [f'+{n}' for n in sorted(operation.added)] + [
        render_inventory.gone(n, operation) for n in sorted(operation.removed)
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
        'causes': render_inventory.causes_data(operation),
    }
