# SPDX-License-Identifier: Apache-2.0
"""The real placement on a free port, counting the requests that reach it."""

import contextlib
import pathlib
import socket
from collections.abc import Iterable, Iterator
from typing import Any
from wsgiref import types

from compute_agent.dev import placement_app, wsgi_thread


class CountingPlacement:
    """Placement as a WSGI application that counts its requests.

    :ivar requests: the number of requests so far
    """

    def __init__(self, application: types.WSGIApplication, url: str) -> None:
        self._application = application
        self.url = url
        self.requests = 0

    def __call__(
        self, environ: dict[str, Any], start_response: types.StartResponse
    ) -> Iterable[bytes]:
        """Answer a request, and count it."""
        self.requests += 1
        return self._application(environ, start_response)


@contextlib.contextmanager
def started(database: pathlib.Path) -> Iterator[CountingPlacement]:
    """Yield a placement that serves this new database until the exit."""
    with contextlib.ExitStack() as undo:
        listener = undo.enter_context(socket.create_server(('127.0.0.1', 0)))
        port = listener.getsockname()[1]
        app = placement_app.create_app(placement_app.sqlite_url(database))
        undo.callback(placement_app.release)
        counting = CountingPlacement(app, f'http://127.0.0.1:{port}')
        server = wsgi_thread.WsgiThread(counting, listener)
        undo.callback(server.stop)
        yield counting
