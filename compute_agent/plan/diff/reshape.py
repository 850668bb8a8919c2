# SPDX-License-Identifier: Apache-2.0
"""Combine inventory writes into one reshape if allocations move.

Pure: no I/O, configuration, logging or clock. Placement moves inventory and
its allocations in one transaction. The reshape contains only what this needs:
the inventories of the providers that give or take an amount, as far as the
move changes them, and the consumers whose allocations change. The traits and
aggregates of a provider that takes are set before the reshape, those of a
provider that gives after it. Used by ``diff.py``.
"""

import dataclasses

from ...tree import provider
from .. import allocations as alloc
from .. import removal
from ..operations import operations as ops
from . import provider_stages

Contents = dict[str, provider_stages.Stages]
_DELETED = removal.Cause(reason=removal.Reason.PROVIDER_DELETED)
Folded = tuple[tuple[ops.Reshape, ...], Contents]


def fold(
    before: provider.Snapshot,
    after: provider.Snapshot,
    contents: Contents,
    moves: tuple[alloc.Move, ...],
) -> Folded:
    """Return the reshape, and the stages that remain beside it."""
    moves = tuple(move for move in moves if any(move.changes()))
    gives, takes = alloc.providers(moves)
    remaining, parts = dict(contents), dict[str, ops.SetInventories]()
    for uuid in (u for u in (*after, *before) if u in gives | takes):
        if uuid not in after:
            part = _emptied(before[uuid])
        elif uuid in gives and uuid in takes:
            part, remaining[uuid] = _both(before[uuid], contents[uuid])
        elif uuid in gives:
            part, remaining[uuid] = _giving(contents[uuid])
        else:
            part, remaining[uuid] = _taking(contents[uuid])
        if part is not None:
            parts[uuid] = part
    if not parts:  # placement wants at least one inventory
        parts = {
            uuid: _unchanged(after[uuid], remaining[uuid])
            for uuid in after
            if uuid in gives | takes
        }
    root = provider.root({**before, **after}, next(iter(parts)))
    reshape = ops.Reshape(
        uuid=root.uuid,
        name=root.name,
        inventories=tuple(parts.values()),
        moves=moves,
    )
    return (reshape,), remaining


def _giving(
    stages: provider_stages.Stages,
) -> tuple[ops.SetInventories | None, provider_stages.Stages]:
    """Return the part of a provider that only gives, and the remaining stages.

    The reshape takes its lost inventory and allocations; the other stages
    follow.
    """
    if stages.shrink:
        part, grow = stages.shrink[0], stages.grow
    elif stages.grow and not stages.labels:
        part, grow = stages.grow[0], ()
    else:
        return None, stages
    return part, provider_stages.Stages(late_labels=stages.labels, grow=grow)


def _taking(
    stages: provider_stages.Stages,
) -> tuple[ops.SetInventories | None, provider_stages.Stages]:
    """Return the part of a provider that only takes, and the remaining stages.

    The reshape brings its new inventory and allocations; the other stages
    precede it.
    """
    part = stages.grow[0] if stages.grow else None
    return part, dataclasses.replace(stages, grow=())


def _both(
    old: provider.Provider, stages: provider_stages.Stages
) -> tuple[ops.SetInventories | None, provider_stages.Stages]:
    """Return the part that gives and takes, and the remaining stages.

    All of its inventory is one write, because allocations both leave and
    arrive.
    """
    writes = (*stages.shrink, *stages.grow)
    if not writes:
        return None, stages
    part = dataclasses.replace(
        writes[-1],
        before=old.inventories,
        foreign=frozenset[str]().union(*(w.foreign for w in writes)),
        causes={rc: why for w in writes for rc, why in w.causes.items()},
    )
    return part, provider_stages.Stages(labels=stages.labels)


def _emptied(old: provider.Provider) -> ops.SetInventories | None:
    """Return the write that empties a provider before it is deleted."""
    if not old.inventories:
        return None
    return ops.SetInventories(
        uuid=old.uuid,
        name=old.name,
        inventories={},
        before=old.inventories,
        causes=dict.fromkeys(old.inventories, _DELETED),
    )


def _unchanged(
    wanted: provider.Provider, remaining: provider_stages.Stages
) -> ops.SetInventories:
    """Return a write of the unchanged inventory, before any of it grows."""
    current = (
        remaining.grow[0].before if remaining.grow else wanted.inventories
    )
    return ops.SetInventories(
        uuid=wanted.uuid,
        name=wanted.name,
        inventories=current,
        before=current,
    )
