# SPDX-License-Identifier: Apache-2.0
"""Connections that delay requests to keep max_requests_per_second.

Every request passes here each time it is sent, including keystoneauth's
retries, redirects and requests for tokens. The report client's rate limit says
how long a request must wait; this module waits. ``placement.py`` uses it.
"""

import logging
from collections.abc import Callable
from typing import Any

import requests
from requests import adapters

from report_client.http import rate_limit

LOG = logging.getLogger(__name__)

LONG = 30.0  # seconds; a longer wait is logged

#: Waits for some seconds; returns True early if the program must stop.
Wait = Callable[[float], bool]


class Stopping(Exception):
    """The program stops; the request was not sent."""


class ThrottledAdapter(adapters.BaseAdapter):
    """Sends requests within a rate limit; threads may share it.

    :param inner: the adapter that sends them
    """

    def __init__(
        self,
        inner: adapters.BaseAdapter,
        budget: rate_limit.RateLimit,
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
