# SPDX-License-Identifier: Apache-2.0
"""The changes of one name, and those that another writer undid, as values.

Pure: no I/O, configuration, logging or clock. ``contention.py`` has the
histories of all names; ``state/undos.py`` keeps them over restarts.

An item is one name of a provider, with the state that the agent gives it.
"""

import dataclasses
from collections.abc import Collection, Mapping
from typing import TypeAlias

from ..tree import assertion, inventory

ItemKey: TypeAlias = tuple[str, assertion.Kind | None, str]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One name of a provider, and the state that the agent gives it.

    :ivar kind: None for the provider itself
    :ivar there: True if the provider gets the name, False if it loses it
    :ivar record: the inventory record, if the name is a resource class
    :ivar nodes: the nodes of this agent that undo each other's changes,
        because they want different states
    :ivar suspect: the other writer, as far as it is known
    """

    uuid: str
    kind: assertion.Kind | None
    name: str = ''
    there: bool = True
    record: inventory.Inventory | None = None
    nodes: tuple[str, ...] = dataclasses.field(default=(), compare=False)
    suspect: str = dataclasses.field(default='', compare=False)

    @property
    def key(self) -> ItemKey:
        """The name itself, whatever its state."""
        return self.uuid, self.kind, self.name


UNDONE = 3  # this many times ...
WITHIN = 86_400.0  # ... in this many seconds, an item is contended
REST = 3600.0  # seconds for which a contended item is left out


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """The last state that a node gave a name.

    :ivar at: the time, in seconds
    :ivar cycle: the number of the cycle since the start of the agent
    """

    item: Item
    at: float
    cycle: int = 0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """A contended item, which is left out of the plans.

    :ivar until: the time when the item is tried again
    :ivar tried_at: the time of a try that nobody undid yet
    :ivar makers: the nodes that want its state
    """

    item: Item
    until: float
    tried_at: float | None = None
    makers: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ItemHistory:
    """The changes of one name.

    :ivar made: the last change that each node made
    :ivar undone: the times at which the agent had to give it a state again
    :ivar rests: its contended items
    """

    made: Mapping[str, Made] = dataclasses.field(default_factory=dict)
    undone: Mapping[Item, tuple[float, ...]] = dataclasses.field(
        default_factory=dict
    )
    rests: Mapping[Item, Rest] = dataclasses.field(default_factory=dict)

    @property
    def was_undone(self) -> bool:
        """True if another writer undid something."""
        return bool(self.undone or self.rests)

    def makes_again(self, node: str, item: Item, cycle: int) -> bool:
        """Return True if the agent last gave the name this same state."""
        if node in self.made:
            return self.made[node].item == item
        return any(
            m.item == item and m.cycle < cycle for m in self.made.values()
        )

    def with_made(
        self, node: str, item: Item, at: float, cycle: int
    ) -> 'ItemHistory':
        """Return the history with another change of a node.

        Items that no node wants any more are forgotten.
        """
        made = {**self.made, node: Made(item=item, at=at, cycle=cycle)}
        wanted = {m.item for m in made.values()}
        return ItemHistory(
            made=made,
            undone={i: t for i, t in self.undone.items() if i in wanted},
            rests={i: r for i, r in self.rests.items() if i in wanted},
        )

    def with_rest(self, item: Item, rest: Rest | None) -> 'ItemHistory':
        """Return the history with another rest of an item.

        :param rest: None if the item is not contended any more; the changes
            that led to it are forgotten
        """
        rests = {i: r for i, r in self.rests.items() if i != item}
        if rest is None:
            made = {n: m for n, m in self.made.items() if m.item != item}
            return dataclasses.replace(self, made=made, rests=rests)
        rests[rest.item] = rest
        return dataclasses.replace(self, rests=rests)

    def with_maker(self, item: Item, node: str) -> 'ItemHistory':
        """Return the history with one more node that wants a resting item."""
        rest = self.rests[item]
        makers = rest.makers | {node}
        return self.with_rest(item, dataclasses.replace(rest, makers=makers))


NEW = ItemHistory()


def is_left_out(rest: Rest, now: float) -> bool:
    """Return True if an item is left out now.

    A rest that ends more than an hour from now began before the clock was set
    back; it is over.
    """
    return rest.tried_at is not None or now < rest.until <= now + REST


def judged(
    rest: Rest,
    done: Collection[Item],
    left: Collection[Item],
    now: float,
    *,
    confirmed: bool,
) -> Rest | None:
    """Return a contended item after a cycle; None if its rest has ended.

    :param confirmed: the nodes that want its state found that state
    """
    if rest.tried_at is not None:
        if rest.item in done or rest.item in left:
            return dataclasses.replace(rest, until=now + REST, tried_at=None)
        stood = not 0 <= now - rest.tried_at < WITHIN
        return None if confirmed and stood else rest
    if is_left_out(rest, now):
        return rest
    if rest.item in done:
        return dataclasses.replace(rest, tried_at=now)
    return None if confirmed else rest


def undone_again(history: ItemHistory, item: Item, now: float) -> ItemHistory:
    """Return a history in which an item was undone once more."""
    times = [t for t in history.undone.get(item, ()) if 0 <= now - t < WITHIN]
    undone = {**history.undone, item: (*times, now)}
    if len(undone[item]) < UNDONE:
        return dataclasses.replace(history, undone=undone)
    del undone[item]
    makers = {n for n, m in history.made.items() if m.item == item}
    if len(makers) < len(history.made):
        nodes = tuple(sorted(history.made))
        item = dataclasses.replace(item, nodes=nodes)
    rest = Rest(item=item, until=now + REST, makers=frozenset(makers))
    return dataclasses.replace(history, undone=undone).with_rest(item, rest)


def since(
    undone: Mapping[Item, tuple[float, ...]], oldest: float
) -> dict[Item, tuple[float, ...]]:
    """Return the undone changes after a time."""
    recent = {
        item: tuple(t for t in times if t > oldest)
        for item, times in undone.items()
    }
    return {item: times for item, times in recent.items() if times}
