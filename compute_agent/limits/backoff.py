# SPDX-License-Identifier: Apache-2.0
"""When to try again what placement refused: later each time, at random.

Pure but for the clock and the dice it is given. Each refused operation of a
node is remembered, and waits as long as it is planned; what else the plan has
goes at once. A plan that lacks one of them is another one, and goes whole. It
lives as long as the daemon, so a person's ``sync`` always tries. The resource
tracker asks it.
"""

import dataclasses
import random
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence

FIRST = 60.0  # seconds; the limit of the first wait, doubled from there
LONGEST = 600.0

# What was refused, or left because of that, by the line that says so.
Left = Mapping[str, Hashable]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What a node waits with.

    :ivar again_in: seconds until the first of it is tried
    """

    left: Left
    again_in: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Refused:
    operation: Hashable
    line: str
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
        self._refused: dict[str, list[_Refused]] = {}

    def knows(self, node_uuid: str) -> bool:
        """Whether something was refused of this node, waiting or due."""
        return bool(self._refused.get(node_uuid))

    def waiting(
        self, node_uuid: str, operations: Sequence[Hashable]
    ) -> Waiting | None:
        """Return what this node waits with, None if all is to be tried now.

        :param operations: what its plan is in this cycle
        """
        known, now = self._refused.get(node_uuid, []), self._clock()
        wanted = [one for one in known if one.operation in operations]
        if len(wanted) < len(known):
            due = [dataclasses.replace(one, due=now) for one in wanted]
            self._refused[node_uuid] = due
            return None
        left = [one for one in known if one.due > now]
        if not left:
            return None
        return Waiting(
            left={one.line: one.operation for one in left},
            again_in=min(one.due for one in left) - now,
        )

    def refused(
        self, node_uuid: str, left: Left, done: Collection[Hashable] = ()
    ) -> float:
        """Remember what was refused; return in how many seconds it is due.

        What waits was not tried, and is due when it was to be.

        :param done: what was carried out meanwhile
        """
        known, now = self._refused.get(node_uuid, []), self._clock()
        gone = [*left.values(), *done]
        untried = [one for one in known if one.operation not in gone]
        waits: dict[int, float] = {}  # what was tried as often waits as long
        refused = []
        for line, operation in left.items():
            last = next((o for o in known if o.operation == operation), None)
            times, due = (last.times, last.due) if last else (0, now)
            if due <= now:
                times += 1
                if times not in waits:
                    waits[times] = self._wait(times)
                due = now + waits[times]
            refused.append(
                _Refused(operation=operation, line=line, times=times, due=due)
            )
        self._refused[node_uuid] = untried + refused
        return min(one.due for one in refused) - now

    def succeeded(self, node_uuid: str) -> None:
        """Forget what was refused of this node."""
        self._refused.pop(node_uuid, None)

    def keep_only(self, node_uuids: Collection[str]) -> None:
        """Forget the nodes that are not among these."""
        for uuid in self._refused.keys() - set(node_uuids):
            del self._refused[uuid]

    def _wait(self, times: int) -> float:
        # The exponent has an end before the float has.
        limit = min(FIRST * 2.0 ** min(times - 1, 30), LONGEST)
        return self._spread(0.0, limit)
