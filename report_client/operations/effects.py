# SPDX-License-Identifier: Apache-2.0
"""What operations come to: the items they change, the names they remove.

Pure: no I/O, configuration, logging or clock. The agent counts with it what
another writer undoes and what one cycle would remove; ``client.py`` offers it.
"""

from collections.abc import Iterable, Iterator

from compute_agent.limits import blast_radius, contention
from compute_agent.tree import assertion

from . import operations as ops

_NONE = frozenset[contention.Item]()


def changes(
    operations: Iterable[ops.Operation],
) -> frozenset[contention.Item]:
    """Return what is made of each item; the last word on it counts."""
    every = tuple(operations)
    if not every:  # as in most turns
        return _NONE
    found = {
        item.key: item for operation in every for item in _items(operation)
    }
    return frozenset(found.values())


def removals(operations: Iterable[ops.Operation]) -> blast_radius.Removals:
    """Return what these remove; a class that a reshape moves is not removed."""
    every = list(operations)
    if not every:
        return blast_radius.NOTHING
    deleted = {op.uuid for op in every if isinstance(op, ops.DeleteProvider)}
    parts: dict[tuple[str, assertion.Kind], list[ops.SetOperation]] = {}
    for one in _sets(every):
        parts.setdefault((one.uuid, one.kind), []).append(one)
    moved = frozenset[str]().union(
        *(op.moved for op in every if isinstance(op, ops.Reshape))
    )
    return blast_radius.Removals(
        deleted=frozenset(deleted),
        names=frozenset(
            (uuid, kind, name)
            for (uuid, kind), ordered in parts.items()
            for name in _lost(ordered[0], ordered[-1], moved)
            if uuid not in deleted
        ),
    )


def _sets(operations: Iterable[ops.Operation]) -> Iterator[ops.SetOperation]:
    for operation in operations:
        match operation:
            case ops.Reshape():
                yield from operation.inventories
            case ops.SetTraits() | ops.SetAggregates() | ops.SetInventories():
                yield operation


def _lost(
    first: ops.SetOperation, last: ops.SetOperation, moved: frozenset[str]
) -> frozenset[str]:
    """Return the names that one part had before the first, not after the last."""
    if isinstance(first, ops.SetInventories):
        assert isinstance(last, ops.SetInventories)  # noqa: S101 (one kind)
        return (
            blast_radius.lost_classes(first.before, last.inventories) - moved
        )
    return frozenset(first.before) - last.names


def _items(operation: ops.Operation) -> Iterator[contention.Item]:
    match operation:
        case ops.CreateProvider(uuid=uuid):
            yield contention.Item(uuid=uuid, kind=None)
        case ops.DeleteProvider(uuid=uuid):
            yield contention.Item(uuid=uuid, kind=None, there=False)
        case _:
            for one in _sets([operation]):
                yield from _set_items(one)


def _set_items(one: ops.SetOperation) -> Iterator[contention.Item]:
    for name in one.removed:
        yield contention.Item(
            uuid=one.uuid, kind=one.kind, name=name, there=False
        )
    if isinstance(one, ops.SetInventories):
        for rc in one.added | one.changed:
            record = one.inventories[rc]
            yield contention.Item(
                uuid=one.uuid, kind=one.kind, name=rc, record=record
            )
        return
    for name in one.added:
        yield contention.Item(uuid=one.uuid, kind=one.kind, name=name)
