# SPDX-License-Identifier: Apache-2.0
"""An HTTP server on 127.0.0.1 that answers with bytes of the test's choice.

A real server cannot be asked to answer badly: to redirect, to send a byte now
and then, or to lie about the length. ``answers`` gets each request and returns
the pieces of the answer, status line included.
"""

import contextlib
import dataclasses
import json
import socketserver
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping

CATALOG = '/auth/catalog'
PAUSE = 0.05  # seconds between two pieces of an answer that never ends


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A request that arrived."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def route(self) -> str:
        """The path without its query."""
        return self.path.partition('?')[0]


Answers = Callable[[Received], Iterable[bytes]]


class ScriptedServer(socketserver.ThreadingTCPServer):
    """Answers each request as told, one request per connection.

    :ivar received: the requests that arrived
    :ivar stopping: set when the server stops; endless answers wait on it
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, answers: Answers | None = None) -> None:
        self.answers = answers or (lambda _request: answer())
        self.received: list[Received] = []
        self.stopping = threading.Event()
        super().__init__(('127.0.0.1', 0), _Handler)

    @property
    def url(self) -> str:
        """The server's address."""
        return f'http://127.0.0.1:{self.server_address[1]}'

    def drip(self, piece: bytes) -> Iterator[bytes]:
        """Yield a piece now and then, for ever."""
        while not self.stopping.wait(PAUSE):
            yield piece


class _Handler(socketserver.StreamRequestHandler):
    server: ScriptedServer

    def handle(self) -> None:
        """Read one request and send the answer to it."""
        line = self.rfile.readline().decode('latin-1').split()
        if len(line) != 3:
            return
        headers = {}
        while header := self.rfile.readline().decode('latin-1').strip():
            name, _, value = header.partition(':')
            headers[name.lower()] = value.strip()
        body = self.rfile.read(int(headers.get('content-length', 0)))
        request = Received(
            method=line[0], path=line[1], headers=headers, body=body
        )
        self.server.received.append(request)
        with contextlib.suppress(OSError):  # the client had enough
            for piece in self.server.answers(request):
                self.wfile.write(piece)


def answer(
    status: int = 200,
    body: object = b'{}',
    headers: Mapping[str, str] | None = None,
    *,
    length: int | None = None,
) -> list[bytes]:
    """Return the pieces of a well-formed answer.

    :param body: bytes, or an object to send as JSON
    :param length: the Content-Length, if it is to be a lie
    """
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    fields = {
        'Content-Type': 'application/json',
        'Content-Length': str(len(sent) if length is None else length),
        'Connection': 'close',
        **(headers or {}),
    }
    lines = [
        f'HTTP/1.1 {status} Said',
        *(f'{k}: {v}' for k, v in fields.items()),
    ]
    return ['\r\n'.join([*lines, '', '']).encode('latin-1'), sent]


@contextlib.contextmanager
def scripted(answers: Answers | None = None) -> Iterator[ScriptedServer]:
    """Run a server while the context lasts."""
    with ScriptedServer(answers) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.stopping.set()
            server.shutdown()
            thread.join()


def keystone(
    request: Received,
    url: str,
    catalog: Mapping[str, str | Mapping[str, str]],
    *,
    token_id: str = 'TOKEN-1',
    role: str = 'service',
) -> list[bytes]:
    """Return keystone's answer to discovery, or with a token or its catalog.

    :param url: keystone's own address
    :param catalog: service type → address, or region → address
    :param token_id: the token that it gives
    :param role: the role of the token's user
    """
    is_catalog = request.route.endswith(CATALOG)
    if request.method == 'GET' and not is_catalog:
        version = {
            'id': 'v3.14',
            'status': 'stable',
            'links': [{'rel': 'self', 'href': f'{url}/v3/'}],
        }
        if request.route.rstrip('/') == '/v3':
            return answer(body={'version': version})
        return answer(300, {'versions': {'values': [version]}})
    endpoints = [
        {
            'type': kind,
            'name': kind,
            'id': kind,
            'endpoints': [
                {
                    'id': f'{kind}-{region}',
                    'interface': 'public',
                    'region': region,
                    'region_id': region,
                    'url': address,
                }
                for region, address in (
                    {'one': known} if isinstance(known, str) else known
                ).items()
            ],
        }
        for kind, known in catalog.items()
    ]
    if is_catalog:
        return answer(body={'catalog': endpoints})
    token = {
        'methods': ['password'],
        'user': {'domain': {'id': 'd', 'name': 'd'}, 'id': 'u', 'name': 'u'},
        'project': {
            'domain': {'id': 'd', 'name': 'd'},
            'id': 'p',
            'name': 'p',
        },
        'roles': [{'id': 'r', 'name': role}],
        'catalog': endpoints,
        'issued_at': '2020-01-01T00:00:00.000000Z',
        'expires_at': '2099-01-01T00:00:00.000000Z',
    }
    return answer(201, {'token': token}, {'X-Subject-Token': token_id})


def is_keystones(request: Received) -> bool:
    """Return True for discovery and requests for tokens or the catalog."""
    return request.route in {'/', '/v3', '/v3/'} or request.route.endswith(
        ('/auth/tokens', CATALOG)
    )
