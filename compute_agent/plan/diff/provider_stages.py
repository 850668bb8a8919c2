# SPDX-License-Identifier: Apache-2.0
"""The operations that change one provider's contents, in stages.

Pure: no I/O, configuration, logging or clock. Inventory that is removed,
shrinks or becomes reserved is written before traits and aggregates, inventory
that is added or grows after them. If traits and aggregates stay as they are,
one write of the inventories is enough. Used by ``diff.py``.
"""

import dataclasses
from collections.abc import Collection, Iterator, Mapping
from typing import TypeAlias

from ...tree import provider
from ...tree.assertion import Key
from .. import removal
from ..operations import operations as ops

Foreign: TypeAlias = Mapping[Key, frozenset[str]]
NO_FOREIGN: Foreign = {}
_NO_INVENTORIES: ops.Inventories = {}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """One provider's operations, by the stage in which they are sent.

    :ivar labels: traits and aggregates, set before a reshape
    :ivar late_labels: traits and aggregates, set after a reshape that takes
        inventory away
    """

    shrink: tuple[ops.SetInventories, ...] = ()
    labels: tuple[ops.SetOperation, ...] = ()
    late_labels: tuple[ops.SetOperation, ...] = ()
    grow: tuple[ops.SetInventories, ...] = ()


def stages(
    before: provider.Provider | None,
    after: provider.Provider,
    foreign: Foreign = NO_FOREIGN,
    causes: removal.Causes = removal.NO_CAUSES,
) -> Stages:
    """Return the operations that turn one provider's contents into another's.

    :param foreign: the removed names that other writers added
    :param causes: why the names are removed
    """
    old = before or provider.Provider(
        uuid=after.uuid, name=after.name, inventories=_NO_INVENTORIES
    )
    labels = tuple(_labels(old, after, foreign, causes))
    if old.inventories == after.inventories:
        return Stages(labels=labels)
    smaller = _smaller(old, after)
    shrinks = smaller != old.inventories
    grows = smaller != after.inventories
    if not labels and grows:
        smaller, shrinks = old.inventories, False
    return Stages(
        shrink=(
            _inventories(after, old.inventories, smaller, foreign, causes),
        )
        if shrinks
        else (),
        labels=labels,
        grow=(
            _inventories(after, smaller, after.inventories, foreign, causes),
        )
        if grows
        else (),
    )


def _labels(
    old: provider.Provider,
    new: provider.Provider,
    foreign: Foreign,
    causes: removal.Causes,
) -> Iterator[ops.SetOperation]:
    if old.traits != new.traits:
        yield ops.SetTraits(
            uuid=new.uuid,
            name=new.name,
            names=new.traits,
            before=old.traits,
            foreign=foreign.get((new.uuid, ops.SetTraits.kind), frozenset()),
            causes=_of(
                old.traits - new.traits,
                causes.by_name(new.uuid, ops.SetTraits.kind),
            ),
        )
    if old.aggregates != new.aggregates:
        key = (new.uuid, ops.SetAggregates.kind)
        yield ops.SetAggregates(
            uuid=new.uuid,
            name=new.name,
            names=new.aggregates,
            before=old.aggregates,
            foreign=foreign.get(key, frozenset()),
            causes=_of(old.aggregates - new.aggregates, causes.by_name(*key)),
        )


def _smaller(
    old: provider.Provider, new: provider.Provider
) -> ops.Inventories:
    """Return the old inventories, reduced to what the new ones still offer."""
    if not old.inventories:
        return old.inventories
    return {
        rc: record.limited_to(new.inventories[rc])
        for rc, record in old.inventories.items()
        if rc in new.inventories
    }


def _inventories(
    target: provider.Provider,
    before: ops.Inventories,
    after: ops.Inventories,
    foreign: Foreign,
    causes: removal.Causes,
) -> ops.SetInventories:
    key = (target.uuid, ops.SetInventories.kind)
    gone = set(before) - set(after)
    return ops.SetInventories(
        uuid=target.uuid,
        name=target.name,
        inventories=after,
        before=before,
        foreign=foreign.get(key, frozenset()) & gone,
        causes=_of(gone, causes.by_name(*key)),
    )


def _of(names: Collection[str], causes: ops.Causes) -> ops.Causes:
    """Return the causes of these names alone."""
    if not causes:
        return causes  # of most operations: a plan may have thousands
    return {name: cause for name, cause in causes.items() if name in names}
