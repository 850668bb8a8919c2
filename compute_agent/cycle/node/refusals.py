# SPDX-License-Identifier: Apache-2.0
"""The operations that placement refused in one node's cycle.

They are reported, and not sent again before their time:
``limits/backoff.py`` remembers them over the cycles. ``node_cycle.py`` keeps
one ``Refusals`` for each node's cycle.
"""

from collections.abc import Collection, Mapping, Sequence

from ...limits import backoff


class Refusals:
    """One node's refused operations, by the line that reports each.

    :param back_off: remembers the refusals of all nodes
    """

    def __init__(self, node_uuid: str, back_off: backoff.Backoff) -> None:
        self._node_uuid = node_uuid
        self._back_off = back_off
        self._refused: dict[str, object] = {}

    @property
    def lines(self) -> list[str]:
        """The lines that report the operations."""
        return list(self._refused)

    @property
    def operations(self) -> list[object]:
        """The refused operations."""
        return list(self._refused.values())

    def note(self, refused: Mapping[str, object]) -> None:
        """Note refused operations, by the line that reports each."""
        self._refused |= refused

    def delayed(self, planned: Sequence[object]) -> backoff.Delayed | None:
        """Return the delay of a plan if all its operations are in backoff.

        If only some of them are, these are noted, and the others are sent.

        :param planned: the plan's operations
        """
        waiting = self._back_off.delayed(self._node_uuid, planned)
        if waiting is None:
            return None
        if all(op in waiting.refusals.values() for op in planned):
            return waiting
        self._refused |= waiting.refusals
        return None

    def keep_only(self, planned: Collection[object]) -> None:
        """Forget the operations that the latest plan does not have."""
        self._refused = {
            line: op for line, op in self._refused.items() if op in planned
        }

    def back_off(self, applied: Collection[object]) -> float | None:
        """Remember the operations; return the seconds until a retry.

        Return None if there are none.

        :param applied: the operations that were carried out in this cycle
        """
        if not self._refused:
            return None
        return self._back_off.record(self._node_uuid, self._refused, applied)

    def clear(self) -> None:
        """Have the node's next operations sent at once: none was refused."""
        self._back_off.clear(self._node_uuid)
