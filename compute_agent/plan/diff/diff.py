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

from ...tree import names, provider
from .. import allocations as alloc
from .. import removal
from ..needs import Known, Needs
from ..observation import Observation
from ..operations import operations as ops
from ..plan import Plan, Wanted
from . import hierarchy, provider_stages, reshape
from . import moves as checking

Moves: TypeAlias = tuple[alloc.Move, ...]

# The standard names in the libraries that are installed here.
_STANDARD = {
    'os-traits': frozenset(os_traits.get_traits()),
    'os-resource-classes': frozenset(os_resource_classes.STANDARDS),
}


# In the line about a standard name; tests of drivers look for it.
LEFT_OUT = 'left out, for this placement does not know it'


def plan(seen: Observation, wanted: Wanted, known: Known) -> Plan | Needs:
    """Return the operations that make placement hold the wanted providers.

    Only names that placement accepts are in it. The names that placement knows
    are needed only if a name is new to these providers. A new root needs a
    free name: a host that was installed anew may have another uuid.

    :raises errors.DriverError: the driver's moves cannot be carried out
    """
    after = wanted.after
    create: tuple[ops.NameOperation, ...] = ()
    left_out: list[str] = []
    if after != seen.providers and adds_names(seen.providers, after):
        if known.names is None:
            return Needs(node_uuid=seen.node_uuid, names=True)
        after, create, left_out = admit(seen.providers, after, known.names)
    if wanted.moves:
        _check_moves(seen, after, wanted)
    changes = operations(
        seen.providers, after, wanted.foreign, wanted.moves, wanted.causes
    )
    roots = {
        op.uuid: op.name
        for op in changes
        if isinstance(op, ops.CreateProvider) and op.parent_uuid is None
    }
    if roots.keys() - known.roots:
        return Needs(node_uuid=seen.node_uuid, roots=roots)
    return Plan(
        node_uuid=seen.node_uuid,
        operations=(*create, *changes),
        before=seen.providers,
        claims=wanted.claims,
        fresh=seen.fresh,
        restored=wanted.restored,
        notes=(*wanted.notes, *left_out),
        faults=wanted.faults,
        set_aside=wanted.set_aside,
    )


def _check_moves(
    seen: Observation, after: provider.Snapshot, wanted: Wanted
) -> None:
    """Refuse moves that placement would refuse, before anything is sent.

    :raises errors.DriverError: the driver's moves cannot be carried out
    """
    own = seen.home | set(provider.descendants(after, seen.node_uuid))
    problems = checking.problems(wanted.moves, after, own, wanted.counted_as)
    if problems:
        raise alloc.refusal([*problems, *wanted.faults])


def operations(
    before: provider.Snapshot,
    after: provider.Snapshot,
    foreign: provider_stages.Foreign = provider_stages.NO_FOREIGN,
    moves: Moves = (),
    causes: removal.Causes = removal.NO_CAUSES,
) -> tuple[ops.ProviderOperation, ...]:
    """Return the operations that turn one snapshot into the other, in order.

    :param foreign: the removed names that other writers added
    :param moves: the allocations that move with their inventories
    :param causes: why the names and providers are removed
    """
    if before == after and not moves:
        return ()
    gives, takes = alloc.providers(moves)
    rebuilding, deletions = hierarchy.changes(
        before, after, gives, causes.providers
    )
    contents = {
        uuid: provider_stages.stages(before.get(uuid), wanted, foreign, causes)
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
    return f'{name}: {LEFT_OUT}; {why}'


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
