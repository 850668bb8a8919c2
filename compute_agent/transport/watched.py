# SPDX-License-Identifier: Apache-2.0
"""Connections that tell of each request: its method, answer and time.

Each request counts once for each time that it is sent, so keystoneauth's
retries and its requests for tokens count too. The wiring of placement and the
Ironic driver mount this adapter; the daemon's metrics watch ``SENT``.
"""

import dataclasses
import time
import urllib.parse
from typing import Any

import requests
from requests import adapters

from ..watchers import Watchers


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A request that was sent.

    :ivar path: of its URL, without the query
    :ivar status: of the answer; None if there was none
    :ivar seconds: until the answer began
    """

    method: str
    path: str
    status: int | None
    seconds: float


SENT: Watchers[Sent] = Watchers()


class WatchedAdapter(adapters.BaseAdapter):
    """Sends requests and tells ``SENT`` of each; threads may share it.

    :param inner: the adapter that sends them
    """

    def __init__(self, inner: adapters.BaseAdapter) -> None:
        super().__init__()
        self._inner = inner

    def send(
        self, request: requests.PreparedRequest, *args: Any, **how: Any
    ) -> requests.Response:
        """Send a request; errors are those of the inner adapter."""
        began, status = time.monotonic(), None
        try:
            answer = self._inner.send(request, *args, **how)
            status = answer.status_code
            return answer
        finally:
            SENT.tell(
                Sent(
                    method=str(request.method),
                    path=urllib.parse.urlsplit(request.url or '').path,
                    status=status,
                    seconds=time.monotonic() - began,
                )
            )

    def close(self) -> None:
        """Close the connections."""
        self._inner.close()
