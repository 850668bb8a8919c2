# SPDX-License-Identifier: Apache-2.0
"""Contended items in a plan: leave them out, and report them.

Pure: no I/O, configuration, logging or clock. ``contention.py`` finds the
contended items; the node planner leaves them out of its plans.
"""

import dataclasses
from collections.abc import (
    Collection,
    Container,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)

from ..tree import assertion, names, provider
from .contention import Item

Providers = dict[str, provider.Provider]

_HOSTS = 'described differently by several hosts'


def without_contended(
    before: provider.Snapshot,
    after: provider.Snapshot,
    contended: Collection[Item],
) -> tuple[provider.Snapshot, tuple[Item, ...]]:
    """Return ``after`` without changes to contended items, and these items.

    If the wanted state of a name has changed, that is a new item, which is not
    contended.
    """
    if not contended:
        return after, ()
    skipped: list[Item] = []
    wanted = dict(after)
    for item in sorted(contended, key=_order):
        rest = _without(before, wanted, item)
        if rest is not None:
            wanted = rest
            skipped.append(item)
    return provider.snapshot(wanted.values()), tuple(skipped)


def with_suspects(
    items: Iterable[Item],
    providers: provider.Snapshot,
    ours: Mapping[assertion.Key, frozenset[str]],
    *,
    home: Container[str],
    is_reporter: bool = False,
) -> tuple[Item, ...]:
    """Return the items with the writer that may undo the changes.

    The trait OWNER_NOVA on an item's root is nova-compute's, unless this agent
    added it. A provider outside the node's own tree is a pool, which the agents
    of other hosts may describe, too.

    :param ours: the names that this agent added
    :param home: the providers of the node's own tree
    :param is_reporter: True if nova-compute has the trait there and reports
        nothing, so that it tells nothing
    """
    return tuple(
        dataclasses.replace(
            item,
            suspect=_HOSTS
            if item.uuid in providers and item.uuid not in home
            else ''
            if is_reporter
            else _suspect(item, providers, ours),
        )
        for item in items
    )


def line(item: Item, providers: provider.Snapshot) -> str:
    """Return the operator's message about an item that was left out."""
    return _line([item], providers)


def lines(
    items: Iterable[Item], providers: provider.Snapshot
) -> Iterator[str]:
    """Yield a message for all items of a provider that have one cause."""
    found: dict[tuple[object, ...], list[Item]] = {}
    for item in items:
        cause = item.uuid, item.kind, item.there, item.nodes, item.suspect
        found.setdefault(cause, []).append(item)
    for some in found.values():
        yield _line(some, providers)


def _line(items: Sequence[Item], providers: provider.Snapshot) -> str:
    """Return the message about items that differ in their names only."""
    item, is_several = items[0], len(items) > 1
    it, is_, left = 'it', 'is', 'it is left as it is'
    if is_several:
        it, is_, left = 'them', 'are', 'they are left as they are'
    subject = f'provider {item.uuid}'
    if item.kind:
        holder = providers.get(item.uuid) or item.uuid
        called = ', '.join(each.name for each in items)
        subject = (
            f'{_kind(item.kind, is_several=is_several)} {called} of {holder}'
        )
    action = f'undoes {it}' if item.there else f'adds {it} again'
    why = f'another writer {action} each time this agent changes {it}'
    advice = ''
    if item.suspect == _HOSTS:
        they = 'they are' if is_several else 'it is'
        why = f'{they} {_HOSTS} ({why})'
        advice = f'; make the drivers and files of these hosts agree on {it}'
    elif item.suspect:
        why += f' ({item.suspect})'
        advice = f'; let only one of the two decide {it}'
    if item.nodes:
        nodes = ', '.join(item.nodes)
        why = f'nodes {nodes} of this agent want different states of {it}'
        advice = (
            f'; make their drivers and provider-config files agree on {it}'
        )
    return (
        f'{subject} {is_} contended: {why}; {left} and tried again once an '
        f'hour{advice}'
    )


def _kind(kind: assertion.Kind, *, is_several: bool) -> str:
    if not is_several:
        return kind.value
    inventories = kind is assertion.Kind.INVENTORY
    return 'inventories' if inventories else f'{kind.value}s'


def _suspect(
    item: Item,
    providers: provider.Snapshot,
    ours: Mapping[assertion.Key, frozenset[str]],
) -> str:
    if item.uuid not in providers:
        return ''
    root = provider.root(providers, item.uuid)
    if names.OWNER_NOVA not in root.traits:
        return ''
    added = ours.get((root.uuid, assertion.Kind.TRAIT), frozenset())
    if names.OWNER_NOVA in added:
        return 'perhaps a nova-compute that also reports this host'
    return (
        'nova-compute or another compute-agent reports this host: '
        f'{names.OWNER_NOVA} is on its root'
    )


def _order(item: Item) -> tuple[str, str, str]:
    return item.uuid, item.kind.value if item.kind else '', item.name


def _without(
    before: provider.Snapshot, wanted: Providers, item: Item
) -> Providers | None:
    """Return the providers without the item's change; None without change."""
    new, old = wanted.get(item.uuid), before.get(item.uuid)
    if new is None:
        return None
    if item.kind is None:
        return _without_creation(before, wanted, item.uuid)
    if old is None:
        return None
    if item.kind is assertion.Kind.INVENTORY:
        rest = _without_inventory_change(old, new, item)
    else:
        rest = _without_name_change(old, new, item)
    return None if rest is None else {**wanted, item.uuid: rest}


def _without_name_change(
    old: provider.Provider, new: provider.Provider, item: Item
) -> provider.Provider | None:
    kind = item.kind or assertion.Kind.TRAIT
    names = new.names_of(kind)
    is_there, was_there = item.name in names, item.name in old.names_of(kind)
    if is_there is was_there or is_there is not item.there:
        return None
    rest = names ^ {item.name}
    if kind is assertion.Kind.TRAIT:
        return dataclasses.replace(new, traits=rest)
    return dataclasses.replace(new, aggregates=rest)


def _without_inventory_change(
    old: provider.Provider, new: provider.Provider, item: Item
) -> provider.Provider | None:
    after, before = (p.inventories.get(item.name) for p in (new, old))
    if after == before or after != item.record:
        return None
    rest = {rc: i for rc, i in new.inventories.items() if rc != item.name}
    if before is not None:
        rest[item.name] = before
    return dataclasses.replace(new, inventories=rest)


def _without_creation(
    before: provider.Snapshot, wanted: Providers, uuid: str
) -> Providers | None:
    """Return the providers without a new one and those below it.

    None if one of those below exists already.
    """
    below = set(provider.descendants(provider.snapshot(wanted.values()), uuid))
    if not below.isdisjoint(before):
        return None
    return {u: p for u, p in wanted.items() if u not in below}
