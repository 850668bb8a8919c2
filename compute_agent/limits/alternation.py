# SPDX-License-Identifier: Apache-2.0
"""Names that the agent adds and removes in turn, because its driver does.

Pure: no I/O, configuration, logging or clock; it counts cycles. A driver that
decides by the names in placement can contradict itself: it reports a name only
while the provider lacks it. Then each cycle undoes the write of the cycle
before. Contention does not find this, because no other writer takes part. The
daemon's loop keeps the memory and logs what it finds.
"""

from collections.abc import Collection, Mapping

from ..tree import provider
from .item import Item

UNDONE = 3  # writes in a row that the next cycle undid

# The last change of a name, and the number of writes undone up to it.
_Turn = tuple[Item, int]


class Alternation:
    """The memory of one agent: what the last cycle of each node changed."""

    def __init__(self) -> None:
        self._last: dict[str, dict[object, _Turn]] = {}

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
            turns = [(item, _undone(item, last)) for item in items]
            self._last[node] = {item.key: (item, n) for item, n in turns}
            often = [item for item, n in turns if n == UNDONE]
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
    what = ' of '.join(parts)
    return (
        f'the driver reports {what} in one cycle and not in the next: '
        f'the agent undid its own write of the cycle before {UNDONE} times in '
        'a row; the driver must report it in every cycle or in none'
    )


def _undone(item: Item, last: Mapping[object, _Turn]) -> int:
    """Return how many writes of the name were undone in a row, with this one."""
    earlier, undone = last.get(item.key, (item, 0))
    return undone + 1 if earlier.there is not item.there else 0
