# SPDX-License-Identifier: Apache-2.0
"""From what placement holds and should hold to operations in a safe order.

Pure: no I/O, configuration, logging or clock. Applying ``operations(a, b)`` to
``a`` gives ``b``, and ``operations(b, b)`` is empty. The order: custom names;
the shape of the trees (parents before children); what is gone, smaller or
reserved; traits and aggregates; what is new or larger; deletions, leaves
first. So no capacity is offered before its provider's traits are there.
"""

import dataclasses
from collections.abc import Iterator, Mapping

import os_resource_classes
import os_traits

from compute_agent import names, ownership, provider

from . import operations as ops
from . import shape

NO_FOREIGN: Mapping[ownership.Key, frozenset[str]] = {}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be done for one node, in order.

    :ivar before: the providers it was made upon
    :ivar held: who will hold which names, to be recorded with it
    :ivar notes: lines for the operator: what will not be done, and why
    :ivar faults: lines that say why the node is not done even so
    """

    node_uuid: str
    operations: tuple[ops.Operation, ...]
    before: provider.Snapshot
    held: Mapping[ownership.Key, ownership.Held] = dataclasses.field(
        default_factory=dict
    )
    notes: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()

    def says_anything(self) -> bool:
        """Whether there is anything in it for a reader."""
        return bool(self.operations or self.notes or self.faults)


def is_known(operation: ops.NameOperation, known: names.KnownNames) -> bool:
    """Whether placement knows this name already."""
    if isinstance(operation, ops.CreateTrait):
        return operation.name in known.traits
    return operation.name in known.resource_classes


def operations(
    before: provider.Snapshot,
    after: provider.Snapshot,
    foreign: Mapping[ownership.Key, frozenset[str]] = NO_FOREIGN,
) -> tuple[ops.ProviderOperation, ...]:
    """Return the operations that turn one snapshot into the other, in order.

    :param foreign: the names whose removal takes something of another's
    """
    reshaping, deletions = shape.changes(before, after)
    contents = [
        _contents(before.get(uuid), wanted, foreign)
        for uuid, wanted in after.items()
    ]
    return (
        *reshaping,
        *(op for one in contents for op in one.shrink),
        *(op for one in contents for op in one.labels),
        *(op for one in contents for op in one.grow),
        *deletions,
    )


def admit(
    before: provider.Snapshot,
    after: provider.Snapshot,
    known: names.KnownNames,
) -> tuple[provider.Snapshot, tuple[ops.NameOperation, ...], list[str]]:
    """Return ``after`` in names placement takes, and how to make it so.

    A custom name placement lacks is to be created; a standard one it does not
    know cannot be, and is left out with a line that says so.
    """
    wanted = {t for p in after.values() for t in p.traits}
    classes = {rc for p in after.values() for rc in p.inventories}
    new_traits = _new(wanted, known.traits, before, 'traits')
    new_classes = _new(classes, known.resource_classes, before, 'inventories')
    create: list[ops.NameOperation] = [
        ops.CreateTrait(name=n) for n in new_traits if names.is_custom(n)
    ]
    create += [
        ops.CreateResourceClass(name=n)
        for n in new_classes
        if names.is_custom(n)
    ]
    lost_traits = {n for n in new_traits if not names.is_custom(n)}
    lost_classes = {n for n in new_classes if not names.is_custom(n)}
    notes = [_left_out(name) for name in sorted(lost_traits | lost_classes)]
    if notes:
        after = {
            uuid: _without(one, lost_traits, lost_classes)
            for uuid, one in after.items()
        }
    return after, tuple(create), notes


def _left_out(name: str) -> str:
    standard = {*os_traits.get_traits(), *os_resource_classes.STANDARDS}
    why = (
        "its os-traits or os-resource-classes are older than this agent's"
        if name in standard
        else "nor do this agent's os-traits: is it misspelt?"
    )
    return f'{name}: left out, for this placement does not know it; {why}'


def adds_names(before: provider.Snapshot, after: provider.Snapshot) -> bool:
    """Whether a trait or class appears that no provider of these had."""
    for field in ('traits', 'inventories'):
        wanted = {n for p in after.values() for n in getattr(p, field)}
        if _new(wanted, frozenset(), before, field):
            return True
    return False


def _new(
    wanted: set[str],
    known: frozenset[str],
    before: provider.Snapshot,
    field: str,
) -> list[str]:
    there = {n for p in before.values() for n in getattr(p, field)}
    return sorted(wanted - known - there)


def _without(
    one: provider.Provider, traits: set[str], classes: set[str]
) -> provider.Provider:
    kept = {rc: i for rc, i in one.inventories.items() if rc not in classes}
    return dataclasses.replace(
        one, traits=one.traits - traits, inventories=kept
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Contents:
    """One provider's operations, by when they may be sent."""

    shrink: tuple[ops.SetOperation, ...] = ()
    labels: tuple[ops.SetOperation, ...] = ()
    grow: tuple[ops.SetOperation, ...] = ()


def _contents(
    before: provider.Provider | None,
    after: provider.Provider,
    foreign: Mapping[ownership.Key, frozenset[str]],
) -> _Contents:
    old = before or dataclasses.replace(
        after, inventories={}, traits=frozenset(), aggregates=frozenset()
    )
    labels = tuple(_labels(old, after, foreign))
    if old.inventories == after.inventories:
        return _Contents(labels=labels)
    smaller = _smaller(old, after)
    shrinks = smaller != old.inventories
    grows = smaller != after.inventories
    if not labels and grows:
        smaller, shrinks = old.inventories, False
    return _Contents(
        shrink=(_inventories(after, old.inventories, smaller, foreign),)
        if shrinks
        else (),
        labels=labels,
        grow=(_inventories(after, smaller, after.inventories, foreign),)
        if grows
        else (),
    )


def _labels(
    old: provider.Provider,
    new: provider.Provider,
    foreign: Mapping[ownership.Key, frozenset[str]],
) -> Iterator[ops.SetOperation]:
    if old.traits != new.traits:
        yield ops.SetTraits(
            uuid=new.uuid,
            name=new.name,
            names=new.traits,
            before=old.traits,
            foreign=foreign.get((new.uuid, ops.SetTraits.kind), frozenset()),
        )
    if old.aggregates != new.aggregates:
        key = (new.uuid, ops.SetAggregates.kind)
        yield ops.SetAggregates(
            uuid=new.uuid,
            name=new.name,
            names=new.aggregates,
            before=old.aggregates,
            foreign=foreign.get(key, frozenset()),
        )


def _smaller(
    old: provider.Provider, new: provider.Provider
) -> ops.Inventories:
    """Return the old inventories less what is gone or smaller in the new."""
    return {
        rc: record.reduced_to(new.inventories[rc])
        for rc, record in old.inventories.items()
        if rc in new.inventories
    }


def _inventories(
    one: provider.Provider,
    before: ops.Inventories,
    after: ops.Inventories,
    foreign: Mapping[ownership.Key, frozenset[str]],
) -> ops.SetInventories:
    marked = foreign.get((one.uuid, ops.SetInventories.kind), frozenset())
    return ops.SetInventories(
        uuid=one.uuid,
        name=one.name,
        inventories=after,
        before=before,
        foreign=marked & (set(before) - set(after)),
    )
