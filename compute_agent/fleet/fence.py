# SPDX-License-Identifier: Apache-2.0
"""The fence of a holder: how long it may be sure that it still holds the lease.

No other agent takes the lease before it saw it stand still for ``seconds``, and
it cannot have seen a beat before the beat was sent. So a beat counts from the
moment before it was sent. The clock goes on while the machine sleeps, and
nobody sets it. ``membership.py`` renews the fence, and asks it before each write.
"""

import math
import threading
import time
from collections.abc import Callable

Clock = Callable[[], float]


def uptime() -> float:
    """Return the seconds since boot, including those of a suspended machine."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Fence:
    """The end of the lease as this agent knows it; threads may share it.

    :param seconds: the time for which a beat counts
    """

    def __init__(self, seconds: float, clock: Clock = uptime) -> None:
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._until = -math.inf

    def renew(self, sent: float) -> None:
        """Note a beat that was carried out.

        :param sent: a moment before it was sent
        """
        with self._lock:
            self._until = max(self._until, sent + self._seconds)

    def remaining(self) -> float:
        """Return the seconds for which no other agent can take the lease."""
        with self._lock:
            return max(0.0, self._until - self._clock())
