# SPDX-License-Identifier: Apache-2.0
"""A proxy before placement that loses, refuses and delays some requests.

A fault strikes before placement sees the request or after it did what was
asked. The share of requests that it strikes can be changed at any time.
``chaos.py`` starts it; only the agent goes through it.
"""

import collections
import contextlib
import http.client
import http.server
import json
import random
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

FAULTS = (
    'cut before',
    'cut after',
    '500 before',
    '500 after',
    '503 before',
    '503 after',
    'delay',
    'reset',
    'truncated',
)
LONGEST_DELAY = 0.5  # seconds
_PATIENCE = 60  # seconds, for placement
_HEADERS = ('content-type', 'openstack-api-version', 'cache-control')
_RESET = struct.pack('ii', 1, 0)  # close at once, with what was not sent


class Faults:
    """Decides which requests meet a fault, and counts them.

    :ivar rate: the share of requests, from 0 to 1
    """

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._lock = threading.Lock()
        self.rate = 0.0
        self.counts: collections.Counter[str] = collections.Counter()

    def next(self) -> str:
        """Return the fault of the next request, '' for none."""
        with self._lock:
            struck = self._rng.random() < self.rate
            fault = self._rng.choice(FAULTS) if struck else ''
            self.counts[fault] += 1
            return fault


class _Handler(http.server.BaseHTTPRequestHandler):
    """One request: passed on, or struck."""

    target = ('', 0)
    faults: Faults

    def log_message(self, *_: Any) -> None:
        """Write no log."""

    def _handle(self) -> None:
        fault = self.faults.next()
        size = int(self.headers.get('Content-Length') or 0)
        sent = self.rfile.read(size)
        if fault == 'delay':
            time.sleep(random.uniform(0, LONGEST_DELAY))
        elif fault in {'cut before', 'reset'}:
            self._cut(reset=fault == 'reset')
            return
        elif fault.endswith('before'):
            self._error(int(fault[:3]))
            return
        status, headers, body = self._ask(sent)
        if fault == 'cut after':
            self._cut(reset=True)
        elif fault.endswith('after'):
            self._error(int(fault[:3]))
        else:
            self._answer(status, headers, body, cut=fault == 'truncated')

    do_GET = do_PUT = do_POST = do_DELETE = _handle  # noqa: N815 (as called)

    def _ask(self, sent: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        connection = http.client.HTTPConnection(
            *self.target, timeout=_PATIENCE
        )
        skipped = {'host', 'connection'}
        headers = {
            k: v for k, v in self.headers.items() if k.lower() not in skipped
        }
        with contextlib.closing(connection):
            connection.request(self.command, self.path, sent or None, headers)
            answer = connection.getresponse()
            return answer.status, answer.getheaders(), answer.read()

    def _answer(
        self,
        status: int,
        headers: list[tuple[str, str]],
        body: bytes,
        *,
        cut: bool = False,
    ) -> None:
        self.send_response(status)
        for name, value in headers:
            if name.lower() in _HEADERS:
                self.send_header(name, value)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if cut else body)
        self.close_connection = True

    def _error(self, status: int) -> None:
        error = {'errors': [{'status': status, 'detail': 'struck'}]}
        headers = [('content-type', 'application/json')]
        self._answer(status, headers, json.dumps(error).encode())

    def _cut(self, *, reset: bool) -> None:
        self.close_connection = True
        if reset:
            self.connection.setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, _RESET
            )
        self.connection.close()

    def finish(self) -> None:
        """End the request; the connection may be cut already."""
        with contextlib.suppress(OSError, ValueError):
            super().finish()


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 100

    def handle_error(self, *_: Any) -> None:
        """A killed client, or a cut connection, is no error here."""


@contextlib.contextmanager
def running(url: str, faults: Faults) -> Iterator[str]:
    """Yield the address of a proxy before this placement."""
    host, _, port = url.removeprefix('http://').rpartition(':')
    handler: Callable[..., Any] = type(
        'Handler', (_Handler,), {'target': (host, int(port)), 'faults': faults}
    )
    with _Server(('127.0.0.1', 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f'http://127.0.0.1:{server.server_address[1]}'
        finally:
            server.shutdown()
            thread.join()
