# SPDX-License-Identifier: Apache-2.0
"""How long a request to placement waits, so that there are not too many.

Pure: no I/O, configuration or log; the clock is given, and waiting is the
caller's. A token bucket that holds a second's worth, kept as the one moment at
which it will be full again: a token is taken by moving that on. Who asks first
goes first. The connection asks it before everything it sends.
"""

import threading
from collections.abc import Callable

BURST = 1.0  # seconds' worth of requests that may go at once


class RateLimit:
    """Gives requests their turn; threads may share it.

    :param rate: returns the requests a second there may be, as it is now; 0
        is no limit
    :param clock: seconds that only grow
    """

    def __init__(
        self, rate: Callable[[], float], clock: Callable[[], float]
    ) -> None:
        self._rate = rate
        self._clock = clock
        self._taking = threading.Lock()
        self._before = 0.0
        self._full_at = 0.0

    def reserve(self) -> float:
        """Take a turn; return the seconds until it comes."""
        rate = self._rate()
        if not rate:
            return 0.0
        each = 1 / rate
        with self._taking:
            now = self._clock()
            # Another limit begins anew: turns by the old one are no measure.
            idle = rate != self._before or self._full_at < now
            self._before = rate
            self._full_at = (now if idle else self._full_at) + each
            wait = self._full_at - max(BURST, each) - now
        return max(0.0, round(wait, 6))  # sums of fractions are not exact
