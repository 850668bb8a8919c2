# SPDX-License-Identifier: Apache-2.0
"""The effects of a plan's operations: the items they change and remove.

Pure: no I/O, configuration, logging or clock. Contention counts how often
another writer undoes an item; the blast radius counts the removals of one
cycle. Each operation lists its own changes, and this module adds them up.
"""

from collections.abc import Iterable

from ..limits import blast_radius, contention
from ..plan.change import Change
from ..plan.plan import Operation

_NO_ITEMS = frozenset[contention.Item]()


def items(operations: Iterable[Operation]) -> frozenset[contention.Item]:
    """Return the final state of each changed item; the last change counts."""
    last = {
        item.key: item
        for operation in operations
        for item in map(_item, operation.changes())
    }
    return frozenset(last.values()) if last else _NO_ITEMS


def removals(operations: Iterable[Operation]) -> blast_radius.Removals:
    """Return the providers and the names that these operations remove.

    A name counts if it is there before the first change and gone after the
    last. The names of a deleted provider are part of the deletion. A resource
    class that a reshape moves is not removed.
    """
    planned = list(operations)
    if not planned:
        return blast_radius.NOTHING
    spans = _spans(planned)
    deleted = frozenset(
        last.uuid for _, last in spans if last.kind is None and last.is_removal
    )
    moved = frozenset[str]().union(*(op.moved_classes for op in planned))
    return blast_radius.Removals(
        deleted=deleted,
        names=frozenset(
            (last.uuid, last.kind, last.name)
            for first, last in spans
            if last.kind is not None
            and last.uuid not in deleted
            and _is_lost(first, last, moved)
        ),
    )


def written(operations: Iterable[Operation]) -> frozenset[str]:
    """Return the uuids of all providers that these operations write to."""
    return frozenset[str]().union(*(op.providers for op in operations))


def _spans(operations: Iterable[Operation]) -> list[tuple[Change, Change]]:
    """Return the first and the last change of each item."""
    first: dict[object, Change] = {}
    last: dict[object, Change] = {}
    for operation in operations:
        for change in operation.changes():
            key = change.uuid, change.kind, change.name
            first.setdefault(key, change)
            last[key] = change
    return [(first[key], last[key]) for key in last]


def _is_lost(first: Change, last: Change, moved: frozenset[str]) -> bool:
    if first.before is None:
        return first.existed and not last.exists
    if last.name in moved:
        return False
    after = {} if last.after is None else {last.name: last.after}
    return bool(blast_radius.lost_classes({last.name: first.before}, after))


def _item(change: Change) -> contention.Item:
    return contention.Item(
        uuid=change.uuid,
        kind=change.kind,
        name=change.name,
        there=change.exists,
        record=change.after,
    )
