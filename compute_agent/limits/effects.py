# SPDX-License-Identifier: Apache-2.0
"""The effects of a plan's operations: the items they change and remove.

Pure: no I/O, configuration, logging or clock. Contention counts how often
another writer undoes an item; the blast radius counts the removals of one
cycle. Each operation lists its own changes, and this module adds them up.
"""

import dataclasses
from collections.abc import Iterable

from ..fleet.values import mark
from ..plan.change import Change
from ..plan.operations.operations import CreateProvider, Operation
from ..plan.plan import Plan
from ..tree import assertion, provider
from . import blast_radius, contention

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
    """Return the providers, traits and aggregates that operations remove.

    A name counts if it is there before the first change and gone after the
    last. The names of a deleted provider are part of the deletion. The removal
    of an agent's mark is no loss: no flavor asks for it.
    """
    planned = list(operations)
    if not planned:
        return blast_radius.NOTHING
    spans = _spans(planned)
    deleted = frozenset(
        last.uuid for _, last in spans if last.kind is None and last.is_removal
    )
    return blast_radius.Removals(
        deleted=deleted,
        names=frozenset(
            (last.uuid, last.kind, last.name)
            for first, last in spans
            if last.kind is not None
            and last.kind is not assertion.Kind.INVENTORY
            and last.uuid not in deleted
            and first.existed
            and not last.exists
            and mark.parse(last.name) is None
        ),
    )


def losses(plan: Plan, sent: Iterable[Operation]) -> blast_radius.Removals:
    """Return the removals of some of a plan's operations, with its totals."""
    part = dataclasses.replace(plan, operations=tuple(sent))
    return dataclasses.replace(removals(part.operations), totals=totals(part))


def totals(plan: Plan) -> dict[blast_radius.Total, tuple[int, int]]:
    """Return the totals of the resource classes that a node's plan changes.

    The unchanged totals in the node's own tree are included. The totals of
    deleted providers are part of the deletion. A class that leaves a provider
    of that tree, and that the node has from a provider outside of it, such as
    a sharing provider, is not among them.
    """
    if not plan.operations:
        return {}
    deleted = removals(plan.operations).deleted
    changed = {
        (last.uuid, last.name): (
            first.before.total if first.before else 0,
            last.after.total if last.after else 0,
        )
        for first, last in _spans(plan.operations)
        if last.kind is assertion.Kind.INVENTORY and last.uuid not in deleted
    }
    classes = {rc for (_, rc), (old, new) in changed.items() if old != new}
    home = set(provider.descendants(plan.before, plan.node_uuid)) - deleted
    for op in plan.operations:
        if isinstance(op, CreateProvider) and op.parent_uuid in home:
            home.add(op.uuid)
    for uuid in home & plan.before.keys():
        for rc, record in plan.before[uuid].inventories.items():
            if rc in classes:
                changed.setdefault((uuid, rc), (record.total, record.total))
    after = {
        **totals_of(plan.before),
        **{total: new for total, (_, new) in changed.items()},
    }
    shared = {rc for (uuid, rc), n in after.items() if n and uuid not in home}
    return {
        (uuid, rc): (old, new)
        for (uuid, rc), (old, new) in changed.items()
        if rc in classes and (new or uuid not in home or rc not in shared)
    }


def totals_of(providers: provider.Snapshot) -> dict[blast_radius.Total, int]:
    """Return the total of each class of each provider."""
    return {
        (uuid, rc): record.total
        for uuid, p in providers.items()
        for rc, record in p.inventories.items()
    }


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


def _item(change: Change) -> contention.Item:
    return contention.Item(
        uuid=change.uuid,
        kind=change.kind,
        name=change.name,
        there=change.exists,
        record=change.after,
    )
