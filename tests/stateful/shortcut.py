# SPDX-License-Identifier: Apache-2.0
"""An agent's way to the double, without HTTP libraries where nothing goes wrong.

They take a third of a sequence's time. A request that a fault hits goes through
all of them, so what they make of the fault is what the agent sees.
"""

import collections.abc
import json
import typing

from compute_agent.testing.fixtures import in_process


class Shortcut:
    """Stands between placement's API and keystoneauth's adapter.

    :param slow: the adapter
    """

    def __init__(self, wire: typing.Any, slow: typing.Any) -> None:
        self._wire = wire
        self._slow = slow

    def request(
        self,
        url: str,
        method: str,
        *,
        json: typing.Any,
        microversion: str,
        **how: typing.Any,
    ) -> typing.Any:
        """Send one request."""
        request = in_process.Request(
            method=method,
            path=url,
            body=_sent(json),
            microversion=microversion,
        )
        if self._wire.meets(request):
            return self._slow.request(
                url, method, json=json, microversion=microversion, **how
            )
        return Response(*self._wire.quick(request))


class Response:
    """The part of a requests.Response that the agent uses."""

    def __init__(self, status: int, body: typing.Any) -> None:
        self.status_code = status
        self.content = b'' if body is None else json.dumps(body).encode()
        self.headers: dict[str, str] = {}

    def json(self) -> typing.Any:
        """Return the decoded body."""
        return json.loads(self.content)

    def iter_content(self, chunk_size: int) -> collections.abc.Iterator[bytes]:
        """Yield the body."""
        for at in range(0, len(self.content), chunk_size):
            yield self.content[at : at + chunk_size]

    def close(self) -> None:
        """There is no connection."""


def _sent(body: typing.Any) -> typing.Any:
    """Return a body as JSON carries it."""
    return None if body is None else json.loads(json.dumps(body))
