# SPDX-License-Identifier: Apache-2.0
"""When to try again what placement refused: later each time, at random.

Pure but for the clock and the dice it is given. A node's refused operations
are remembered; as long as they are all that its plan consists of, they wait.
Any other plan goes at once. It lives as long as the daemon, so a person's
``sync`` always tries. The resource tracker asks it.
"""

import dataclasses
import random
from collections.abc import Callable, Collection, Hashable, Sequence

FIRST = 60.0  # seconds; the limit of the first wait, doubled from there
LONGEST = 600.0

Operations = Sequence[Hashable]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What a node waits with.

    :ivar operations: what was refused, or left because of it
    :ivar reason: what placement said
    :ivar again_in: seconds
    """

    operations: Operations
    reason: str
    again_in: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Refused:
    operations: Operations
    reason: str
    times: int
    due: float


class BackOff:
    """Remembers, for each node, what was refused and when to try it again.

    :param clock: seconds that only grow
    :param spread: a random number between two
    """

    def __init__(
        self,
        clock: Callable[[], float],
        spread: Callable[[float, float], float] = random.uniform,
    ) -> None:
        self._clock = clock
        self._spread = spread
        self._refused: dict[str, _Refused] = {}

    def waiting(
        self, node_uuid: str, operations: Operations
    ) -> Waiting | None:
        """Return what this node waits with, None if it is to be tried now.

        :param operations: what its plan is in this cycle
        """
        last = self._refused.get(node_uuid)
        if last is None or tuple(operations) != tuple(last.operations):
            return None
        left = last.due - self._clock()
        if left <= 0:
            return None
        return Waiting(
            operations=last.operations, reason=last.reason, again_in=left
        )

    def refused(
        self, node_uuid: str, operations: Operations, reason: str
    ) -> float:
        """Remember what was refused; return in how many seconds it is due."""
        last = self._refused.get(node_uuid)
        same = last is not None and tuple(operations) == tuple(last.operations)
        times = last.times + 1 if last is not None and same else 1
        # The exponent has an end before the float has.
        limit = min(FIRST * 2.0 ** min(times - 1, 30), LONGEST)
        wait = self._spread(0.0, limit)
        self._refused[node_uuid] = _Refused(
            operations=tuple(operations),
            reason=reason,
            times=times,
            due=self._clock() + wait,
        )
        return wait

    def succeeded(self, node_uuid: str) -> None:
        """Forget what was refused of this node."""
        self._refused.pop(node_uuid, None)

    def keep_only(self, node_uuids: Collection[str]) -> None:
        """Forget the nodes that are not among these."""
        for uuid in self._refused.keys() - set(node_uuids):
            del self._refused[uuid]
