# SPDX-License-Identifier: Apache-2.0
"""Items that another writer keeps undoing: noticed, and not fought over.

Pure: no I/O, configuration, logging or clock; it counts cycles. An item is one
name of a provider with what we made of it. That we make the same of it again
in a later cycle means that somebody undid it in between. Three times within
ten cycles, and the item is contended: it is taken out of the plans of the next
ten cycles and then tried once; if that is undone too, for another ten. The
resource tracker keeps the memory, the report client takes the items out.
"""

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence

from ..tree import assertion, inventory, provider

UNDONE = 3  # times ...
WITHIN = 10  # ... in so many cycles, and for as many it is left alone then


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """What was, or is to be, made of one name of a provider.

    :ivar kind: None for the provider itself
    :ivar there: whether it is to be there
    :ivar record: of a resource class that is to be there
    :ivar nodes: the nodes of this agent that make different things of it, if
        it is they who undo each other
    """

    uuid: str
    kind: assertion.Kind | None
    name: str = ''
    there: bool = True
    record: inventory.Inventory | None = None
    nodes: tuple[str, ...] = dataclasses.field(default=(), compare=False)

    @property
    def key(self) -> tuple[str, assertion.Kind | None, str]:
        """What it is about, whatever is made of it."""
        return self.uuid, self.kind, self.name


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What one node's turn in a cycle came to.

    :ivar node: what the node is called
    :ivar done: what it changed
    :ivar left: the contended items that it would have changed
    :ivar open: what it would have changed too, and did not; None where there
        was no plan, so that nobody knows
    """

    node: str
    done: frozenset[Item] = frozenset()
    left: frozenset[Item] = frozenset()
    open: frozenset[Item] | None = frozenset()

    def tells_of(self, item: Item) -> bool:
        """Whether an item that was not changed needed no change."""
        return self.open is not None and item not in self.open


class Contention:
    """The memory of one agent: what it did, and what of it was undone.

    What each node makes of an item is remembered, so that two nodes that say
    different things of one provider are found out as well.
    """

    def __init__(self) -> None:
        self._cycle = 1
        self._last: dict[object, dict[str, tuple[Item, int]]] = {}
        self._undone: dict[Item, list[int]] = {}
        self._until: dict[Item, int] = {}  # the last cycle it is left alone
        self._makers: dict[Item, set[str]] = {}  # of those
        self._tried: set[Item] = set()

    def contended(self) -> frozenset[Item]:
        """Return the items that this cycle leaves as they are.

        One that the last cycle tried is among them: if it is still to be
        changed, the trial was undone.
        """
        return frozenset(
            item
            for item, last in self._until.items()
            if self._cycle <= last or item in self._tried
        )

    def end_cycle(self, turns: Iterable[Turn]) -> None:
        """Learn what this cycle changed, and what it left as it is."""
        every, now = list(turns), self._cycle
        self._judge_trials(every)
        for turn in every:
            for item in turn.done:
                if item.kind is None and not item.there:
                    self._forget_provider(item.uuid)
                else:
                    self._learn(turn.node, item)
        self._drop_older(now - WITHIN)
        self._cycle = now + 1

    def _judge_trials(self, turns: Sequence[Turn]) -> None:
        """Go on leaving what was undone again, forget what was not.

        Of an item whose node did not get as far nobody knows: it stays due,
        or tried, until somebody does.
        """
        done = _NONE.union(*(turn.done for turn in turns))
        failed = self._tried & done.union(*(turn.left for turn in turns))
        self._until |= dict.fromkeys(failed, self._cycle + WITHIN - 1)
        over = {i for i, last in self._until.items() if last < self._cycle}
        self._tried = (self._tried & over) | (over & done)
        for item in over - done:
            makers = [t for t in turns if t.node in self._makers[item]]
            if all(turn.tells_of(item) for turn in makers):
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
            self._leave(item, made)

    def _makes_again(
        self, made: Mapping[str, tuple[Item, int]], node: str, item: Item
    ) -> bool:
        """Whether it was made of the name before, and no other since."""
        if node in made:
            return made[node][0] == item
        return any(
            one == item and cycle < self._cycle for one, cycle in made.values()
        )

    def _leave(self, item: Item, made: Mapping[str, tuple[Item, int]]) -> None:
        """Leave an item alone from now on."""
        del self._undone[item]
        makers = {node for node, (one, _) in made.items() if one == item}
        if len(makers) < len(made):
            item = dataclasses.replace(item, nodes=tuple(sorted(made)))
        self._makers[item] = makers
        self._until[item] = self._cycle + WITHIN

    def _forget_provider(self, uuid: str) -> None:
        """What we delete ourselves is undone by nobody."""
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
            item: late
            for item, cycles in self._undone.items()
            if (late := [c for c in cycles if c > oldest])
        }


_NONE = frozenset[Item]()
Providers = dict[str, provider.Provider]


def leave(
    before: provider.Snapshot,
    after: provider.Snapshot,
    contended: Collection[Item],
) -> tuple[provider.Snapshot, tuple[Item, ...]]:
    """Return ``after`` without the changes to contended items, and which.

    An item whose wanted state is another one now is not the contended one.
    """
    taken: list[Item] = []
    wanted = dict(after)
    for item in sorted(contended, key=_order):
        left = _left(before, wanted, item)
        if left is not None:
            wanted = left
            taken.append(item)
    return provider.snapshot(wanted.values()), tuple(taken)


def line(item: Item, providers: provider.Snapshot) -> str:
    """Return what to tell the operator of an item that was left."""
    one = providers.get(item.uuid)
    of = item.kind and f'{item.kind.value} {item.name} of {one or item.uuid}'
    what = of or f'provider {item.uuid}'
    verb = 'undoes it' if item.there else 'puts it back'
    why, mend = f'each time this agent changes it another writer {verb}', ''
    if item.nodes:
        who = ', '.join(item.nodes)
        why = f'of the nodes of this agent, {who} say different things of it'
        mend = '; let what describes them say the same of it'
    return (
        f'{what} is contended: {why}, so it is left as it is and tried again '
        f'after {WITHIN} cycles{mend}'
    )


def _order(item: Item) -> tuple[str, str, str]:
    return item.uuid, item.kind.value if item.kind else '', item.name


def _left(
    before: provider.Snapshot, wanted: Providers, item: Item
) -> Providers | None:
    """Return the providers without this item's change, None if there is none."""
    one, old = wanted.get(item.uuid), before.get(item.uuid)
    if one is None:
        return None
    if item.kind is None:
        return _without_creation(before, wanted, item.uuid)
    if old is None:
        return None
    if item.kind is assertion.Kind.INVENTORY:
        left = _inventory_left(old, one, item)
    else:
        left = _name_left(old, one, item)
    return None if left is None else {**wanted, item.uuid: left}


def _name_left(
    old: provider.Provider, one: provider.Provider, item: Item
) -> provider.Provider | None:
    of_traits = item.kind is assertion.Kind.TRAIT
    names = one.traits if of_traits else one.aggregates
    there = item.name in names
    was = item.name in (old.traits if of_traits else old.aggregates)
    if there is was or there is not item.there:
        return None
    left = names ^ {item.name}
    if of_traits:
        return dataclasses.replace(one, traits=left)
    return dataclasses.replace(one, aggregates=left)


def _inventory_left(
    old: provider.Provider, one: provider.Provider, item: Item
) -> provider.Provider | None:
    new, was = one.inventories.get(item.name), old.inventories.get(item.name)
    if new == was or new != item.record:
        return None
    rest = {rc: i for rc, i in one.inventories.items() if rc != item.name}
    if was is not None:
        rest[item.name] = was
    return dataclasses.replace(one, inventories=rest)


def _without_creation(
    before: provider.Snapshot, wanted: Providers, uuid: str
) -> Providers | None:
    """Leave a new provider out, with what would be below it if that is new."""
    below = set(provider.descendants(provider.snapshot(wanted.values()), uuid))
    if not below.isdisjoint(before):
        return None
    return {u: p for u, p in wanted.items() if u not in below}
