# SPDX-License-Identifier: Apache-2.0
"""Connections that tell of each request: its method, answer and time.

Each request counts once for each time that it is sent, so keystoneauth's
retries and its requests for tokens count too. The wiring of placement and the
Ironic driver mount this adapter; the daemon's metrics watch ``SENT``. A path
such as ``/`` does not say which service was asked, but its host does.
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

    :ivar service: the service that was asked, empty if unknown
    :ivar path: of its URL, without the query
    :ivar status: the status of the answer; None without an answer
    :ivar seconds: until the answer began
    """

    service: str = ''
    method: str
    path: str
    status: int | None
    seconds: float


SENT: Watchers[Sent] = Watchers()
_PORTS = {'http': 80, 'https': 443}


class WatchedAdapter(adapters.BaseAdapter):
    """Sends requests and tells ``SENT`` of each; threads may share it.

    :param inner: the adapter that sends them
    :param service: the service that the session is for, empty if unknown
    :param keystone: keystone's address, which the session asks for tokens
    """

    def __init__(
        self,
        inner: adapters.BaseAdapter,
        service: str = '',
        keystone: str = '',
    ) -> None:
        super().__init__()
        self._inner = inner
        self._service = service
        self._keystone, _ = _server_and_path(keystone)

    def send(
        self, request: requests.PreparedRequest, *args: Any, **how: Any
    ) -> requests.Response:
        """Send a request; errors are those of the inner adapter."""
        began, status = time.monotonic(), None
        server, path = _server_and_path(request.url or '')
        is_keystones = server is not None and server == self._keystone
        try:
            answer = self._inner.send(request, *args, **how)
            status = answer.status_code
            return answer
        finally:
            SENT.tell(
                Sent(
                    service='keystone' if is_keystones else self._service,
                    method=str(request.method),
                    path=path,
                    status=status,
                    seconds=time.monotonic() - began,
                )
            )

    def close(self) -> None:
        """Close the connections."""
        self._inner.close()


def _server_and_path(url: str) -> tuple[tuple[str, int | None] | None, str]:
    """Return (host, port), or None if there is no host, and the path."""
    try:
        parts = urllib.parse.urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:  # the session refuses such an address
        return None, ''
    # urllib gives the host in lower case.
    server = (host, port or _PORTS.get(parts.scheme)) if host else None
    return server, parts.path
