# SPDX-License-Identifier: Apache-2.0
"""The operations that turn one snapshot of providers into another, in order.

Pure: no I/O, configuration, logging or clock. Applying ``operations(a, b)`` to
``a`` gives ``b``, and ``operations(b, b)`` is empty. The order is safe: custom
names; the hierarchy (parents before children); inventory that is removed,
shrinks or becomes reserved; traits and aggregates; allocated inventory that
moves; inventory that is added or grows; deletions, leaves first. So no
capacity is offered before its provider has its traits.
"""

import dataclasses
from typing import TypeAlias

import os_resource_classes
import os_traits

from compute_agent.plan import allocations as alloc
from compute_agent.plan import removal
from compute_agent.plan.operations import operations as ops
from compute_agent.tree import names, provider

from . import contents as stages
from . import hierarchy, reshape

Moves: TypeAlias = tuple[alloc.Move, ...]

# The standard names in the libraries that are installed here.
_STANDARD = {
    'os-traits': frozenset(os_traits.get_traits()),
    'os-resource-classes': frozenset(os_resource_classes.STANDARDS),
}


def operations(
    before: provider.Snapshot,
    after: provider.Snapshot,
    foreign: stages.Foreign = stages.NO_FOREIGN,
    moves: Moves = (),
    causes: removal.Causes = removal.NO_CAUSES,
) -> tuple[ops.ProviderOperation, ...]:
    """Return the operations that turn one snapshot into the other, in order.

    :param foreign: the removed names that other writers added
    :param moves: the allocations that move with their inventories
    :param causes: why the names and providers are removed
    """
    gives, takes = alloc.providers(moves)
    rebuilding, deletions = hierarchy.changes(
        before, after, gives, causes.providers
    )
    contents = {
        uuid: stages.of(before.get(uuid), wanted, foreign, causes)
        for uuid, wanted in after.items()
    }
    reshaped: tuple[ops.Reshape, ...] = ()
    if gives or takes:
        reshaped, contents = reshape.fold(before, after, contents, moves)
    return (
        *rebuilding,
        *(op for one in contents.values() for op in one.shrink),
        *(op for one in contents.values() for op in one.labels),
        *reshaped,
        *(op for one in contents.values() for op in one.late_labels),
        *(op for one in contents.values() for op in one.grow),
        *deletions,
    )


def admit(
    before: provider.Snapshot,
    after: provider.Snapshot,
    known: names.KnownNames,
) -> tuple[provider.Snapshot, tuple[ops.NameOperation, ...], list[str]]:
    """Return ``after`` with only names that placement knows, or will know.

    Also return the operations that create missing custom names, and a line for
    each standard name that placement does not know. Such a name cannot be
    created and is left out.
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
    notes = [
        *(_left_out(name, 'os-traits') for name in sorted(lost_traits)),
        *(_left_out(n, 'os-resource-classes') for n in sorted(lost_classes)),
    ]
    if notes:
        after = {
            uuid: _without(wanted, lost_traits, lost_classes)
            for uuid, wanted in after.items()
        }
    return after, tuple(create), notes


def _left_out(name: str, library: str) -> str:
    why = (
        f"its {library} is older than this agent's"
        if name in _STANDARD[library]
        else f"nor does this agent's {library}: is it misspelt?"
    )
    return f'{name}: left out, for this placement does not know it; {why}'


def adds_names(before: provider.Snapshot, after: provider.Snapshot) -> bool:
    """Return True if a trait or class is new to these providers."""
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
    wanted: provider.Provider, traits: set[str], classes: set[str]
) -> provider.Provider:
    kept = {rc: i for rc, i in wanted.inventories.items() if rc not in classes}
    return dataclasses.replace(
        wanted, traits=wanted.traits - traits, inventories=kept
    )
