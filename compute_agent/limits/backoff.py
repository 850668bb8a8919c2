# SPDX-License-Identifier: Apache-2.0
"""Delays before the agent retries operations that placement refused.

Pure, except for the clock and the random numbers it is given. Each refused
operation of a node is remembered. It is delayed while the node's plans contain
it; the other operations of the plan are sent at once. If the next plan lacks
one of these operations, it is a new plan, and the agent sends all of it. The
memory lives as long as the daemon, so an operator's ``sync`` always retries.
The resource tracker uses it.
"""

import dataclasses
import random
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence

FIRST = 60.0  # seconds; the limit of the first delay, doubled from there
LONGEST = 600.0

# The operations that were refused, or left out because of a refusal, by the
# line that reports them to the operator.
Refusals = Mapping[str, Hashable]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Delayed:
    """The operations of one node that are not retried yet.

    :ivar retry_in: seconds until the first of them is due
    """

    refusals: Refusals
    retry_in: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Refused:
    """One refused operation.

    :ivar times: how often it was refused
    :ivar due: the clock's time of the next attempt
    """

    operation: Hashable
    line: str
    times: int
    due: float


class Backoff:
    """Remembers each node's refused operations and when to retry them.

    :param clock: returns seconds that only grow
    :param spread: returns a random number between two limits
    """

    def __init__(
        self,
        clock: Callable[[], float],
        spread: Callable[[float, float], float] = random.uniform,
    ) -> None:
        self._clock = clock
        self._spread = spread
        self._refused: dict[str, list[_Refused]] = {}

    def has_refusals(self, node_uuid: str) -> bool:
        """Return True if operations of this node were refused, due or not."""
        return bool(self._refused.get(node_uuid))

    def count(self, node_uuid: str) -> int:
        """Return the number of refused operations of this node."""
        return len(self._refused.get(node_uuid, ()))

    def delayed(
        self, node_uuid: str, operations: Sequence[Hashable]
    ) -> Delayed | None:
        """Return the operations that are delayed; None to send all now.

        :param operations: the node's plan in this cycle
        """
        known = self._refused.get(node_uuid, [])
        if not known:
            return None
        now, wanted = self._clock(), frozenset(operations)
        planned = [refused for refused in known if refused.operation in wanted]
        if len(planned) < len(known):
            self._refused[node_uuid] = [
                dataclasses.replace(refused, due=now) for refused in planned
            ]
            return None
        waiting = [refused for refused in known if refused.due > now]
        if not waiting:
            return None
        return Delayed(
            refusals={r.line: r.operation for r in waiting},
            retry_in=min(r.due for r in waiting) - now,
        )

    def record(
        self,
        node_uuid: str,
        refusals: Refusals,
        done: Collection[Hashable] = (),
    ) -> float:
        """Remember refused operations; return seconds until the first is due.

        Operations that are still delayed were not retried; their due time does
        not change.

        :param done: the operations that were carried out meanwhile
        """
        known, now = self._refused.get(node_uuid, []), self._clock()
        answered = frozenset([*refusals.values(), *done])
        untried = [r for r in known if r.operation not in answered]
        before = {r.operation: r for r in known}
        delays: dict[
            int, float
        ] = {}  # operations refused equally often are retried together
        refused = []
        for line, operation in refusals.items():
            last = before.get(operation)
            times, due = (last.times, last.due) if last else (0, now)
            if due <= now:
                times += 1
                if times not in delays:
                    delays[times] = self._delay(times)
                due = now + delays[times]
            refused.append(
                _Refused(operation=operation, line=line, times=times, due=due)
            )
        self._refused[node_uuid] = untried + refused
        return min(r.due for r in refused) - now

    def clear(self, node_uuid: str) -> None:
        """Forget the refused operations of this node."""
        self._refused.pop(node_uuid, None)

    def keep_only(self, node_uuids: Collection[str]) -> None:
        """Forget all nodes except these."""
        for uuid in self._refused.keys() - set(node_uuids):
            del self._refused[uuid]

    def _delay(self, times: int) -> float:
        # The exponent is limited before a float overflows.
        limit = min(FIRST * 2.0 ** min(times - 1, 30), LONGEST)
        return self._spread(0.0, limit)
