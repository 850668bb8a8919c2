# SPDX-License-Identifier: Apache-2.0
"""A server with TLS in front of another one, which speaks plain HTTP."""

import contextlib
import http.client
import http.server
import ssl
import threading
import typing
from collections.abc import Iterator, Sequence
from urllib import parse

_SUBJECT = 'X-Subject-Token'
_HOP = {'connection', 'transfer-encoding', 'content-length', 'server', 'date'}

_Headers = Sequence[tuple[str, str]]


class _Handler(http.server.BaseHTTPRequestHandler):
    """Passes a request on, and tells the server behind that it came by TLS."""

    protocol_version = 'HTTP/1.1'
    timeout = 60
    target = ''
    server: 'Front'

    def pass_on(self) -> None:
        """Answer as the server behind does."""
        self.server.tokens.append(self.headers.get('X-Auth-Token', ''))
        size = int(self.headers.get('Content-Length', 0))
        body = self.rfile.read(size)
        if self.server.instead is not None:
            self._send(*self.server.instead)
            return
        headers = {**self.headers, 'X-Forwarded-Proto': 'https'}
        headers['Connection'] = 'close'
        behind = http.client.HTTPConnection(self.target, timeout=60)
        with contextlib.closing(behind):
            behind.request(self.command, self.path, body, headers)
            answer = behind.getresponse()
            content = answer.read()
            self.server.issued.add(answer.getheader(_SUBJECT, ''))
        self._send(answer.status, answer.getheaders(), content)

    def _send(self, status: int, headers: _Headers, content: bytes) -> None:
        self.send_response(status)
        for name, value in headers:
            if name.lower() not in _HOP:
                self.send_header(name, value)
        self.send_header('Content-Length', str(len(content)))
        self.send_header('Connection', 'close')
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_PUT = do_POST = pass_on  # noqa: N815 (http.server's names)
    do_PATCH = do_DELETE = pass_on  # noqa: N815

    def log_message(self, *_args: object) -> None:
        """Log nothing."""


class Front(http.server.ThreadingHTTPServer):
    """Does the handshake in the thread of the connection.

    :ivar url: the address
    :ivar context: its side of TLS; it may be changed between two requests.
        None for plain HTTP
    :ivar instead: answers each request in place of the server behind: status,
        headers and body
    :ivar tokens: the token of each request
    :ivar issued: the tokens that a keystone behind it issued
    """

    daemon_threads = True

    def __init__(self, target: str, context: ssl.SSLContext | None) -> None:
        self.context = context
        self.instead: tuple[int, _Headers, bytes] | None = None
        self.tokens: list[str] = []
        self.issued: set[str] = set()
        where = {'target': parse.urlsplit(target).netloc}
        super().__init__(('127.0.0.1', 0), type('_To', (_Handler,), where))
        scheme = 'https' if context else 'http'
        self.url = f'{scheme}://127.0.0.1:{self.server_address[1]}'

    def finish_request(
        self, request: typing.Any, client_address: typing.Any
    ) -> None:
        """Speak TLS, if the client does."""
        if self.context is None:
            super().finish_request(request, client_address)
            return
        with (
            contextlib.suppress(OSError),  # a client that does not trust it
            self.context.wrap_socket(request, server_side=True) as tls,
        ):
            super().finish_request(tls, client_address)


@contextlib.contextmanager
def tls_front(target: str, context: ssl.SSLContext | None) -> Iterator[Front]:
    """Serve ``target`` with TLS, or without, while the context lasts."""
    with Front(target, context) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
