# SPDX-License-Identifier: Apache-2.0
"""Connections on which each request waits for its turn before it is sent.

Here passes everything that is sent, once for each time: what keystoneauth
repeats, redirects, and what it asks keystone for. How long a wait is, the
report client's budget says; this only waits. ``placement.py`` makes
it.
"""

import logging
from collections.abc import Callable
from typing import Any

import requests
from requests import adapters

from report_client.http import rate_limit

LOG = logging.getLogger(__name__)

LONG = 30.0  # seconds of waiting of which an operator should know

#: Waits so many seconds, or until the program is to end; whether it is.
Wait = Callable[[float], bool]


class Ending(Exception):
    """The program ends; the request was not sent."""


class PacedAdapter(adapters.BaseAdapter):
    """Sends requests at the pace of a budget; threads may share it.

    :param inner: sends them
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
        self._told = False

    def send(
        self, request: requests.PreparedRequest, *args: Any, **how: Any
    ) -> requests.Response:
        """Send it when its turn has come.

        :raises Ending: the program ends before that
        """
        seconds = self._budget.reserve()
        self._tell(seconds)
        if seconds:
            LOG.debug(
                '%s %s waits %.2f s (max_requests_per_second)',
                request.method,
                request.path_url,
                seconds,
            )
            if self._wait(seconds):
                raise Ending('this agent ends')
        return self._inner.send(request, *args, **how)

    def _tell(self, seconds: float) -> None:
        """Say it once when requests begin to wait for long."""
        if seconds >= LONG and not self._told:
            LOG.warning(
                'requests to placement wait for %.0f s and more: '
                '[compute_agent] max_requests_per_second is low for so many',
                LONG,
            )
        self._told = seconds > 0 and (self._told or seconds >= LONG)

    def close(self) -> None:
        """Close the connections."""
        self._inner.close()
