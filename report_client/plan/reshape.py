# SPDX-License-Identifier: Apache-2.0
"""Which writes of inventories become one, because allocations move with them.

Pure: no I/O, configuration, logging or clock. Placement moves inventory and
what is allocated of it in one transaction. It is sent what it needs for that
and no more: the inventories of the providers that give or take something, as
far as they change by it, and the consumers that have something elsewhere
afterwards. What takes has its traits and aggregates before, what gives changes
them after. Used by ``diff.py``.
"""

import dataclasses

from compute_agent.tree import allocations as alloc
from compute_agent.tree import provider, removal

from ..operations import operations as ops
from . import contents

Contents = dict[str, contents.Stages]
_DELETED = removal.Cause(reason=removal.Reason.PROVIDER_DELETED)
Folded = tuple[tuple[ops.Reshape, ...], Contents]


def fold(
    before: provider.Snapshot,
    after: provider.Snapshot,
    contents: Contents,
    moves: tuple[alloc.Move, ...],
) -> Folded:
    """Return the reshape, and what is left to be written beside it."""
    moves = tuple(move for move in moves if any(move.changes()))
    gives, takes = alloc.providers(moves)
    left, parts = dict(contents), dict[str, ops.SetInventories]()
    for uuid in (u for u in (*after, *before) if u in gives | takes):
        if uuid not in after:
            one = before[uuid]
            part = _emptied(one) if one.inventories else None
        elif uuid in gives and uuid in takes:
            part, left[uuid] = _both(before[uuid], contents[uuid])
        elif uuid in gives:
            part, left[uuid] = _giving(contents[uuid])
        else:
            part, left[uuid] = _taking(contents[uuid])
        if part is not None:
            parts[uuid] = part
    if not parts:  # placement wants at least one
        parts = {
            uuid: _unchanged(after[uuid], left[uuid])
            for uuid in after
            if uuid in gives | takes
        }
    root = provider.root({**before, **after}, next(iter(parts)))
    return (
        ops.Reshape(
            uuid=root.uuid,
            name=root.name,
            inventories=tuple(parts.values()),
            moves=moves,
        ),
    ), left


def _giving(
    one: contents.Stages,
) -> tuple[ops.SetInventories | None, contents.Stages]:
    """What it loses goes with the allocations, all else comes after."""
    if one.shrink:
        part, grow = one.shrink[0], one.grow
    elif one.grow and not one.labels:
        part, grow = one.grow[0], ()
    else:
        return None, one
    return part, contents.Stages(late_labels=one.labels, grow=grow)


def _taking(
    one: contents.Stages,
) -> tuple[ops.SetInventories | None, contents.Stages]:
    """What it gets comes with the allocations, all else is before."""
    part = one.grow[0] if one.grow else None
    return part, dataclasses.replace(one, grow=())


def _both(
    old: provider.Provider, one: contents.Stages
) -> tuple[ops.SetInventories | None, contents.Stages]:
    """It is one write, for what goes is allocated and what comes is too."""
    last = (*one.shrink, *one.grow)[-1:]
    if not last:
        return None, one
    part = dataclasses.replace(
        last[0],
        before=old.inventories,
        foreign=frozenset[str]().union(
            *(i.foreign for i in (*one.shrink, *one.grow))
        ),
        causes={
            name: cause
            for i in (*one.shrink, *one.grow)
            for name, cause in i.causes.items()
        },
    )
    return part, contents.Stages(labels=one.labels)


def _emptied(one: provider.Provider) -> ops.SetInventories:
    """Return what is left of a provider that will be deleted."""
    return ops.SetInventories(
        uuid=one.uuid,
        name=one.name,
        inventories={},
        before=one.inventories,
        causes=dict.fromkeys(one.inventories, _DELETED),
    )


def _unchanged(
    one: provider.Provider, left: contents.Stages
) -> ops.SetInventories:
    """Return a write of what is there before anything of it grows."""
    there = left.grow[0].before if left.grow else one.inventories
    return ops.SetInventories(
        uuid=one.uuid, name=one.name, inventories=there, before=there
    )
