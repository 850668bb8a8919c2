# SPDX-License-Identifier: Apache-2.0
"""Writes that the agent undoes itself in the next cycle, because of its driver.

Pure: no I/O, configuration, logging or clock; it counts cycles. A driver that
decides by the names in placement can contradict itself: it reports a name only
while the provider lacks it. Another one reports two amounts of a resource
class in turn. Then each cycle undoes the write of the cycle before. Contention
does not find this, because no other writer takes part. The daemon's loop keeps
the memory and logs what it finds.
"""

import dataclasses
from collections.abc import Collection, Mapping

from ..tree import provider
from .item_history import Item, ItemKey

UNDONE = 3  # writes in a row that the next cycle undid


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    """The last change of a name.

    :ivar before: the change of the cycle before, if there was one
    :ivar undone: the number of writes undone up to it
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
            often = [t.item for t in turns.values() if t.undone == UNDONE]
            if often:
                found[node] = sorted(often, key=lambda item: item.name)
        return found


def line(item: Item, providers: provider.Snapshot, node_uuid: str) -> str:
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
        f'the cycle before {UNDONE} times in a row; the driver must report '
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

    An amount does if it is the one from before that change.
    """
    if last.item.there is not item.there:
        return True
    return item != last.item and item == last.before
