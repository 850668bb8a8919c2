# SPDX-License-Identifier: Apache-2.0
"""The entries of the history about operations.

Pure: no I/O, configuration, logging or clock. ``apply/executor.py`` has the
entries recorded in the transaction of the outcome.
"""

import dataclasses
from collections.abc import Iterator
from typing import assert_never

from compute_agent.plan.history_entry import OF_KIND, Entry, Result, What
from compute_agent.plan.operations import operations as ops

from . import render
from .progress import Progress


def of(progress: Progress) -> list[Entry]:
    """Return the entries about the operations of a plan that were sent."""
    refused = [operation for operation, _ in progress.reasons]
    end = str(progress.ended_by or '')
    found = [
        entry
        for operation in progress.applied()
        for entry in entries(operation)
    ]
    for operation, why in progress.reasons:
        found += _marked(operation, Result.REFUSED, why)
    for operation in progress.unanswered():
        if operation not in refused:
            found += _marked(operation, Result.UNCONFIRMED, end)
    uuid = progress.node_uuid
    return [dataclasses.replace(entry, node_uuid=uuid) for entry in found]


def entries(operation: ops.Operation) -> Iterator[Entry]:
    """Yield the entries about an operation that was carried out."""
    match operation:
        case ops.CreateTrait(name=name):
            yield Entry(what=What.NEW_TRAIT, text=name)
        case ops.CreateResourceClass(name=name):
            yield Entry(what=What.NEW_CLASS, text=name)
        case ops.CreateProvider(parent_uuid=parent):
            below = f'below {parent}' if parent else ''
            yield _about(operation, What.CREATED, below)
        case ops.UpdateProvider():
            moves = ', '.join(render.moves(operation))
            yield _about(operation, What.MOVED, moves)
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


def _marked(
    operation: ops.Operation, result: Result, why: str
) -> Iterator[Entry]:
    """Yield the entries about an operation with another result."""
    for entry in entries(operation):
        text = why or entry.text
        yield dataclasses.replace(entry, result=result, text=text)
