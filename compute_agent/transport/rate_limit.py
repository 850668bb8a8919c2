# SPDX-License-Identifier: Apache-2.0
"""Connections that delay requests to keep max_requests_per_second.

Every request passes here each time it is sent, including keystoneauth's
retries, redirects and requests for tokens. The limit is a token bucket that
holds the requests of one second. Its only state is the moment at which the
bucket will be full again; taking a token moves that moment on. Requests are
served in the order in which they ask. ``cmd/wiring/placement.py`` uses it.
"""

import logging
import threading
from collections.abc import Callable
from typing import Any

import requests
from requests import adapters

LOG = logging.getLogger(__name__)

BURST = 1.0  # seconds whose requests may be sent at once
LONG = 30.0  # seconds; a longer wait is logged

#: Waits for some seconds; returns True early if the program must stop.
Wait = Callable[[float], bool]


class Stopping(Exception):
    """The program stops; the request was not sent."""


class RateLimit:
    """Tells each request how long to wait; threads may share it.

    :param rate: returns the current limit in requests per second; 0 for no
        limit
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


class ThrottledAdapter(adapters.BaseAdapter):
    """Sends requests within a rate limit; threads may share it.

    :param inner: the adapter that sends them
    """

    def __init__(
        self,
        inner: adapters.BaseAdapter,
        budget: RateLimit,
        wait: Wait,
    ) -> None:
        super().__init__()
        self._inner = inner
        self._budget = budget
        self._wait = wait
        self._logged = False

    def send(
        self, request: requests.PreparedRequest, *args: Any, **how: Any
    ) -> requests.Response:
        """Send a request as soon as the rate limit permits.

        :raises Stopping: the program stops before the request is sent
        """
        seconds = self._budget.reserve()
        self._log_long_wait(seconds)
        if seconds:
            LOG.debug(
                '%s %s waits %.2f s (max_requests_per_second)',
                request.method,
                request.path_url,
                seconds,
            )
            if self._wait(seconds):
                raise Stopping('the agent is stopping')
        return self._inner.send(request, *args, **how)

    def _log_long_wait(self, seconds: float) -> None:
        """Log once when requests begin to wait for long."""
        if seconds >= LONG and not self._logged:
            LOG.warning(
                'requests to placement wait for %.0f s or longer: '
                '[compute_agent] max_requests_per_second is too low for their '
                'number',
                LONG,
            )
        self._logged = seconds > 0 and (self._logged or seconds >= LONG)

    def close(self) -> None:
        """Close the connections."""
        self._inner.close()
