# SPDX-License-Identifier: Apache-2.0
"""Contended items: changes that another writer keeps undoing.

Pure, except for the clock that it is given. An item (``item_history.py``) is
one name of a provider and the state that the agent gave it. If the agent gives
it the same state again, and gave it no other state in between, another writer
undid the change. If this happens three times within a day, the item is
contended, however many cycles lie in between: nova-compute undoes a change
only every few minutes. The item is then left out of the plans for an hour and
tried once. If that try is undone within a day, the item is left out for
another hour, without a write. The resource tracker keeps the memory;
``contended.py`` leaves the items out of plans; ``state/undos.py`` keeps,
across restarts, what was undone.

A driver can undo the agent's writes, too, if it decides by the names in
placement and contradicts itself: it reports a name only while the provider
lacks it. A second cause is a driver that alternates between two amounts of a
resource class. Then each cycle undoes the write of the cycle before.
``Contention`` does not find this, because no other writer takes part;
``Alternation`` does. It counts cycles. The daemon's loop keeps its memory and
logs what it finds.
"""

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from ..tree import provider
from . import item_history
from .item_history import WITHIN, Item, ItemHistory, ItemKey

__all__ = ['Contention', 'Item', 'NodeOutcome']

# The largest numbers of names that are remembered: without an undone change,
# and with one. The oldest are forgotten first.
MOST_MADE = 4096
MOST_UNDONE = 32_768


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

    :param clock: seconds since the epoch
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._cycle = 1
        self._histories: dict[ItemKey, ItemHistory] = {}
        # The keys of the histories with undone changes, oldest first; and the
        # keys of histories that changed since they were last stored.
        self._undone: dict[ItemKey, None] = {}
        self._changed: set[ItemKey] = set()

    # --- over restarts --------------------------------------------------------

    def load(self, histories: Mapping[ItemKey, ItemHistory]) -> None:
        """Remember the names that were undone before a restart."""
        self._histories |= histories
        self._undone |= dict.fromkeys(histories)

    def changed(self) -> dict[ItemKey, ItemHistory | None]:
        """Return the names whose undone changes must be kept anew.

        None stands for a name that is forgotten.
        """
        return {
            key: self._histories[key] if key in self._undone else None
            for key in self._changed
        }

    def saved(self) -> None:
        """Note that the histories that ``changed`` returned are stored."""
        self._changed.clear()

    # --- cycles ---------------------------------------------------------------

    @property
    def has_undone(self) -> bool:
        """True if a change was undone, so that each node's outcome counts."""
        return bool(self._undone)

    def contended(self) -> frozenset[Item]:
        """Return the items that this cycle leaves out.

        They include items that were tried within the last day: if such an item
        needs the change again, the try was undone.
        """
        now = self._clock()
        return frozenset(
            item
            for key in self._undone
            for item, rest in self._histories[key].rests.items()
            if item_history.is_left_out(rest, now)
        )

    def end_cycle(self, outcomes: Iterable[NodeOutcome]) -> None:
        """Learn which items this cycle changed, and which it left out."""
        every, now = list(outcomes), self._clock()
        self._judge_tries(every, now)
        counted = set[Item]()
        for outcome in every:
            for item in outcome.done:
                if not _is_deletion(item):
                    self._learn(outcome.node, item, now, counted)
        self.forget_deleted(every)
        self._drop_older(now - WITHIN)
        self._cycle += 1

    def forget_deleted(self, outcomes: Iterable[NodeOutcome]) -> None:
        """Forget the providers that the agent deleted, also in an outage.

        If one of them has to be created again, no other writer undid that.
        """
        done = _NONE.union(*(outcome.done for outcome in outcomes))
        deleted = {item.uuid for item in done if _is_deletion(item)}
        self._forget(k for k in list(self._histories) if k[0] in deleted)

    def _judge_tries(
        self, outcomes: Sequence[NodeOutcome], now: float
    ) -> None:
        """Contend the names whose retries were undone; forget the other names.

        If the nodes of an item did not get as far as the item, it is unknown
        whether its try was undone. The item then stays due, or tried, until a
        later cycle knows.
        """
        done = _NONE.union(*(outcome.done for outcome in outcomes))
        left = _NONE.union(*(outcome.skipped for outcome in outcomes))
        by_node = {outcome.node: outcome for outcome in outcomes}
        for key in list(self._undone):
            for rest in list(self._histories[key].rests.values()):
                makers = [by_node[n] for n in rest.makers if n in by_node]
                confirmed = all(o.confirms(rest.item) for o in makers)
                judged = item_history.judged(
                    rest, done, left, now, confirmed=confirmed
                )
                if judged != rest:
                    history = self._histories[key]
                    self._keep(key, history.with_rest(rest.item, judged))

    def _learn(
        self, node: str, item: Item, now: float, counted: set[Item]
    ) -> None:
        """Learn one change of a node.

        :param counted: the items that another node of this cycle counted
        """
        history = self._histories.get(item.key, item_history.NEW)
        again = history.makes_again(node, item, self._cycle)
        history = history.with_made(node, item, now, self._cycle)
        if item in history.rests:
            history = history.with_maker(item, node)
        elif again and item not in counted:
            counted.add(item)
            history = item_history.undone_again(history, item, now)
        self._keep(item.key, history)

    def _keep(self, key: ItemKey, history: ItemHistory) -> None:
        """Remember a history as the newest one."""
        self._histories.pop(key, None)
        self._histories[key] = history
        if history.was_undone:
            self._undone.pop(key, None)
            self._undone[key] = None
            self._changed.add(key)
        elif key in self._undone:
            del self._undone[key]
            self._changed.add(key)

    def _forget(self, keys: Iterable[ItemKey]) -> None:
        for key in keys:
            del self._histories[key]
            if key in self._undone:
                del self._undone[key]
                self._changed.add(key)

    def _drop_older(self, oldest: float) -> None:
        """Forget changes older than a day, and the oldest beyond the limits."""
        for key in list(self._undone):
            history = self._histories[key]
            recent = item_history.since(history.undone, oldest)
            if recent != history.undone:
                self._keep(key, dataclasses.replace(history, undone=recent))
        plain = [k for k in self._histories if k not in self._undone]
        most = len(plain) - MOST_MADE
        self._forget(
            key
            for number, key in enumerate(plain)
            if number < most
            or all(m.at <= oldest for m in self._histories[key].made.values())
        )
        most = max(0, len(self._undone) - MOST_UNDONE)
        self._forget(list(self._undone)[:most])


_NONE = frozenset[Item]()


def _is_deletion(item: Item) -> bool:
    return item.kind is None and not item.there


OWN_UNDONE = 3  # writes in a row that the next cycle undid


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    """The last change of a name.

    :ivar before: the change in the previous cycle; None without one
    :ivar undone: the number of writes that were undone up to this change
    """

    item: Item
    before: Item | None = None
    undone: int = 0


class Alternation:
    """The memory of one agent: what the last cycle of each node changed."""

    def __init__(self) -> None:
        self._last: dict[str, dict[ItemKey, _Turn]] = {}

    def end_cycle(
        self, changed: Mapping[str, Collection[Item] | None]
    ) -> dict[str, list[Item]]:
        """Return, by node, the names that have just changed too often.

        A name is returned once for each unbroken series of turns.

        :param changed: node uuid → the items that its cycle changed; None if
            that cycle ended without a plan, so that it counts for nothing
        """
        before, self._last = self._last, {}
        found = {}
        for node, items in changed.items():
            last = before.get(node, {})
            if items is None:
                self._last[node] = last
                continue
            turns = {i.key: _turn(i, last.get(i.key)) for i in items}
            self._last[node] = turns
            often = [t.item for t in turns.values() if t.undone == OWN_UNDONE]
            if often:
                found[node] = sorted(often, key=lambda item: item.name)
        return found


def alternation_line(
    item: Item, providers: provider.Snapshot, node_uuid: str
) -> str:
    """Return the operator's message about a name that changes in turn.

    :param node_uuid: the node's provider, which the line does not name
    """
    holder = str(providers.get(item.uuid) or f'provider {item.uuid}')
    parts = [f'{item.kind.value} {item.name}'] if item.kind else []
    if item.uuid != node_uuid or not parts:
        parts.append(holder)
    what, how = ' of '.join(parts), 'in one cycle and not in the next'
    must = 'it in every cycle or in none'
    if item.there and item.record is not None:
        how = 'with one amount in one cycle and with another in the next'
        must = 'the same amount while nothing changes'
    return (
        f'the driver reports {what} {how}: the agent undid its own write of '
        f'the cycle before {OWN_UNDONE} times in a row; the driver must report '
        f'{must}'
    )


def _turn(item: Item, last: _Turn | None) -> _Turn:
    """Return a change, with the number of writes undone in a row up to it."""
    if last is None:
        return _Turn(item=item)
    undone = last.undone + 1 if _undoes(item, last) else 0
    return _Turn(item=item, before=last.item, undone=undone)


def _undoes(item: Item, last: _Turn) -> bool:
    """Return True if a change takes back the one of the cycle before.

    A change of an amount does if it restores the earlier amount.
    """
    if last.item.there is not item.there:
        return True
    return item != last.item and item == last.before
