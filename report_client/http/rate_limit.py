# SPDX-License-Identifier: Apache-2.0
"""Limit the rate of requests to placement.

Pure: no I/O, configuration or logging; the clock is a parameter, and the caller
does the waiting. It is a token bucket that holds the requests of one second.
Its only state is the moment at which the bucket will be full again; taking a
token moves that moment on. Requests are served in the order in which they ask.
The throttled session asks before each request that it sends.
"""

import threading
from collections.abc import Callable

BURST = 1.0  # seconds whose requests may be sent at once


class RateLimit:
    """Tells each request how long to wait; threads may share it.

    :param rate: returns the current limit in requests per second; 0 for none
    :param clock: monotonic seconds
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
        """Take a token; return the seconds to wait before the request."""
        rate = self._rate()
        if not rate:
            return 0.0
        each = 1 / rate
        with self._taking:
            now = self._clock()
            # A new rate starts with a full bucket.
            idle = rate != self._before or self._full_at < now
            self._before = rate
            self._full_at = (now if idle else self._full_at) + each
            wait = self._full_at - max(BURST, each) - now
        return max(0.0, round(wait, 6))  # float sums are not exact
