# SPDX-License-Identifier: Apache-2.0
"""Keep what a limit holds back until a person approves its removal.

Pure: no I/O, configuration, logging or clock. The rest of the node's plan goes
on, so a held name stays, and a provider whose deletion is held stays with its
whole inventory reserved. The same holds for the providers of a departed node
that are not deleted, but lose something. If the fall of a total is held, the
resource class stays as large as it is on all providers of the node: it may be
the one half of a move. The traits and aggregates of its provider stay with it.
If the class would be removed as a whole, no provider of the node gets a new
class, because that class may offer the same capacity again.
"""

import dataclasses
from collections.abc import Collection, Iterable

from ..limits import approval
from ..tree import inventory, provider
from ..tree.assertion import Kind
from . import undeletable


def keep(
    before: provider.Snapshot,
    after: provider.Snapshot,
    held: Collection[approval.Subject],
) -> tuple[provider.Snapshot, list[str]]:
    """Return ``after`` with everything that is held, and notes.

    :param held: the removals that a person must approve
    """
    if not held:
        return after, []
    stays = {
        uuid
        for uuid in before
        for departed in (True, False)
        if approval.deletion(uuid, departed=departed) in held
    }
    kept = [uuid for uuid in before if uuid in stays and uuid not in after]
    possible, notes = undeletable.keep_reserved(before, after, kept)
    classes = {
        rc
        for uuid, old in before.items()
        if uuid in after
        for rc, record in old.inventories.items()
        if approval.capacity_fall(
            (uuid, rc), _total(after[uuid].inventories.get(rc))
        )
        in held
    }
    is_replaced = any(
        not classes.isdisjoint(
            old.inventories.keys() - after[uuid].inventories.keys()
        )
        for uuid, old in before.items()
        if uuid in after
    )
    wanted = {
        uuid: _with_lost(before[uuid], one)
        if uuid in stays
        else _with_held(
            before.get(uuid), one, held, classes, is_replaced=is_replaced
        )
        for uuid, one in possible.items()
    }
    return provider.snapshot(wanted.values()), notes


def out_of_service(
    before: provider.Snapshot, after: provider.Snapshot, uuids: Iterable[str]
) -> provider.Snapshot:
    """Return ``before`` with the classes fully reserved on some providers.

    This alone is done before a person allows the first write to a provider: it
    takes nothing away, and nothing more is scheduled there.

    :param uuids: the providers that wait for a person
    """
    return {
        **before,
        **{
            uuid: dataclasses.replace(
                before[uuid],
                inventories={
                    rc: record.fully_reserved()
                    if _is_out(after[uuid].inventories.get(rc))
                    and not _is_out(record)
                    else record
                    for rc, record in before[uuid].inventories.items()
                },
            )
            for uuid in uuids
            if uuid in after
        },
    }


def _is_out(record: inventory.Inventory | None) -> bool:
    return record is not None and record.reserved >= record.total


def _with_lost(
    old: provider.Provider, wanted: provider.Provider
) -> provider.Provider:
    """Return a wanted provider with what it would lose; classes reserved."""
    return dataclasses.replace(
        wanted,
        inventories={**old.fully_reserved().inventories, **wanted.inventories},
        traits=old.traits | wanted.traits,
        aggregates=old.aggregates | wanted.aggregates,
    )


def _total(record: inventory.Inventory | None) -> int:
    return 0 if record is None else record.total


def _with_held(
    old: provider.Provider | None,
    wanted: provider.Provider,
    held: Collection[approval.Subject],
    classes: Collection[str],
    *,
    is_replaced: bool,
) -> provider.Provider:
    """Return a wanted provider with the names and the totals that stay.

    :param old: the provider as it is; None if it is new
    :param classes: the resource classes that stay as large as they are
    :param is_replaced: True if one of these classes would be removed from a
        provider as a whole
    """
    there = {} if old is None else old.inventories
    going = there.keys() & classes - wanted.inventories.keys()
    inventories = {
        rc: _as_large_as(there[rc], record) if rc in classes else record
        for rc, record in wanted.inventories.items()
        if rc in there or not (is_replaced or rc in classes)
    }
    inventories.update((rc, there[rc]) for rc in going)
    falls = any(
        _total(wanted.inventories.get(rc)) < there[rc].total
        for rc in there.keys() & classes
    )
    traits, aggregates = (
        wanted.names_of(kind)
        | _held_names(old, wanted, kind, held, falls=falls)
        for kind in (Kind.TRAIT, Kind.AGGREGATE)
    )
    return dataclasses.replace(
        wanted, inventories=inventories, traits=traits, aggregates=aggregates
    )


def _as_large_as(
    old: inventory.Inventory, wanted: inventory.Inventory
) -> inventory.Inventory:
    """Return the wanted record with the old total; a reserved one stays so."""
    if _is_out(wanted):
        return old.fully_reserved()
    reserved = min(wanted.reserved, old.total)
    return dataclasses.replace(wanted, total=old.total, reserved=reserved)


def _held_names(
    old: provider.Provider | None,
    wanted: provider.Provider,
    kind: Kind,
    held: Collection[approval.Subject],
    *,
    falls: bool,
) -> frozenset[str]:
    """Return the names of a kind that the plan would remove, and that stay.

    :param falls: True if the names may describe capacity that is held
    """
    if old is None:
        return frozenset()
    return frozenset(
        name
        for name in old.names_of(kind) - wanted.names_of(kind)
        if falls or approval.name_removal((wanted.uuid, kind, name)) in held
    )
