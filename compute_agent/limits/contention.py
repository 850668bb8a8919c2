# SPDX-License-Identifier: Apache-2.0
"""Contended items: changes that another writer keeps undoing.

Pure: no I/O, configuration, logging or clock; it counts cycles. An item is one
name of a provider and the state that the agent gave it. If the agent gives it
the same state again in a later cycle, another writer undid the change in
between. If this happens three times within ten cycles, the item is contended:
it is left out of the plans of the next ten cycles and then tried once. If that
try is undone too, it is left out for another ten. The resource tracker keeps
the memory; planning leaves the items out.
"""

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence

from ..tree import assertion, inventory, provider

UNDONE = 3  # this many times ...
WITHIN = 10  # ... in as many cycles; also the cycles for which it is left out


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One name of a provider, and the state that the agent gives it.

    :ivar kind: None for the provider itself
    :ivar there: True if the provider gets the name, False if it loses it
    :ivar record: the inventory record, if the name is a resource class
    :ivar nodes: the nodes of this agent that undo each other's changes,
        because they want different states
    """

    uuid: str
    kind: assertion.Kind | None
    name: str = ''
    there: bool = True
    record: inventory.Inventory | None = None
    nodes: tuple[str, ...] = dataclasses.field(default=(), compare=False)

    @property
    def key(self) -> tuple[str, assertion.Kind | None, str]:
        """The name itself, whatever its state."""
        return self.uuid, self.kind, self.name


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NodeOutcome:
    """The outcome of one node's cycle.

    :ivar node: the node's name, for messages
    :ivar done: the items that it changed
    :ivar skipped: the contended items that it would have changed
    :ivar pending: the other items that it wanted to change and did not; None
        if there was no plan, so that they are unknown
    """

    node: str
    done: frozenset[Item] = frozenset()
    skipped: frozenset[Item] = frozenset()
    pending: frozenset[Item] | None = frozenset()

    def confirms(self, item: Item) -> bool:
        """Return True if an item that was not changed had the wanted state."""
        return self.pending is not None and item not in self.pending


class Contention:
    """The memory of one agent: its changes, and those that were undone.

    It remembers the state that each node gave an item. So it also finds two
    nodes whose drivers or files want different states of one provider.
    """

    def __init__(self) -> None:
        self._cycle = 1
        self._last: dict[object, dict[str, tuple[Item, int]]] = {}
        self._undone: dict[Item, list[int]] = {}
        # The last cycle for which each contended item is left out, and the
        # nodes that want its state.
        self._until: dict[Item, int] = {}
        self._makers: dict[Item, set[str]] = {}
        self._tried: set[Item] = set()

    def contended(self) -> frozenset[Item]:
        """Return the items that this cycle leaves out.

        They include items that the last cycle tried: if such an item needs
        the change again, the try was undone.
        """
        return frozenset(
            item
            for item, last in self._until.items()
            if self._cycle <= last or item in self._tried
        )

    def end_cycle(self, outcomes: Iterable[NodeOutcome]) -> None:
        """Learn which items this cycle changed, and which it left out."""
        every, now = list(outcomes), self._cycle
        self._judge_tries(every)
        for outcome in every:
            for item in outcome.done:
                if item.kind is None and not item.there:
                    self._forget_provider(item.uuid)
                else:
                    self._learn(outcome.node, item)
        self._drop_older(now - WITHIN)
        self._cycle = now + 1

    def _judge_tries(self, outcomes: Sequence[NodeOutcome]) -> None:
        """Leave out again the tries that were undone; forget the others.

        If the nodes of an item did not get as far as the item, it is unknown
        whether its try was undone. The item then stays due, or tried, until a
        later cycle knows.
        """
        done = _NONE.union(*(outcome.done for outcome in outcomes))
        failed = self._tried & done.union(*(o.skipped for o in outcomes))
        self._until |= dict.fromkeys(failed, self._cycle + WITHIN - 1)
        over = {i for i, last in self._until.items() if last < self._cycle}
        self._tried = (self._tried & over) | (over & done)
        for item in over - done:
            makers = [o for o in outcomes if o.node in self._makers[item]]
            if all(outcome.confirms(item) for outcome in makers):
                self._tried.discard(item)
                del self._until[item], self._makers[item]

    def _learn(self, node: str, item: Item) -> None:
        made = self._last.setdefault(item.key, {})
        again = self._makes_again(made, node, item)
        made[node] = item, self._cycle
        if item in self._until:
            self._makers[item].add(node)
            return
        cycles = self._undone.setdefault(item, [])
        if again and self._cycle not in cycles:
            cycles.append(self._cycle)
        if sum(c > self._cycle - WITHIN for c in cycles) >= UNDONE:
            self._leave_out(item, made)

    def _makes_again(
        self, made: Mapping[str, tuple[Item, int]], node: str, item: Item
    ) -> bool:
        """Return True if the agent last gave the name this same state."""
        if node in made:
            return made[node][0] == item
        return any(
            earlier == item and cycle < self._cycle
            for earlier, cycle in made.values()
        )

    def _leave_out(
        self, item: Item, made: Mapping[str, tuple[Item, int]]
    ) -> None:
        """Count an item as contended from now on."""
        del self._undone[item]
        makers = {node for node, (last, _) in made.items() if last == item}
        if len(makers) < len(made):
            item = dataclasses.replace(item, nodes=tuple(sorted(made)))
        self._makers[item] = makers
        self._until[item] = self._cycle + WITHIN

    def _forget_provider(self, uuid: str) -> None:
        """Forget the items of a provider that the agent itself deleted.

        If it has to be created again, no other writer undid its creation.
        """
        self._last = {
            key: made
            for key, made in self._last.items()
            if not any(item.uuid == uuid for item, _ in made.values())
        }

    def _drop_older(self, oldest: int) -> None:
        recent = {
            key: {n: made for n, made in by_node.items() if made[1] > oldest}
            for key, by_node in self._last.items()
        }
        self._last = {key: made for key, made in recent.items() if made}
        self._undone = {
            item: recent_cycles
            for item, cycles in self._undone.items()
            if (recent_cycles := [c for c in cycles if c > oldest])
        }


_NONE = frozenset[Item]()
Providers = dict[str, provider.Provider]


def without_contended(
    before: provider.Snapshot,
    after: provider.Snapshot,
    contended: Collection[Item],
) -> tuple[provider.Snapshot, tuple[Item, ...]]:
    """Return ``after`` without changes to contended items, and these items.

    If the wanted state of a name has changed, that is a new item, which is not
    contended.
    """
    skipped: list[Item] = []
    wanted = dict(after)
    for item in sorted(contended, key=_order):
        rest = _without(before, wanted, item)
        if rest is not None:
            wanted = rest
            skipped.append(item)
    return provider.snapshot(wanted.values()), tuple(skipped)


def line(item: Item, providers: provider.Snapshot) -> str:
    """Return the operator's message about an item that was left out."""
    subject = f'provider {item.uuid}'
    if item.kind:
        holder = providers.get(item.uuid) or item.uuid
        subject = f'{item.kind.value} {item.name} of {holder}'
    action = 'undoes it' if item.there else 'adds it again'
    why = f'another writer {action} each time this agent changes it'
    advice = ''
    if item.nodes:
        nodes = ', '.join(item.nodes)
        why = f'nodes {nodes} of this agent want different states of it'
        advice = '; make their drivers and provider-config files agree on it'
    return (
        f'{subject} is contended: {why}; it is left as it is and tried again '
        f'after {WITHIN} cycles{advice}'
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
