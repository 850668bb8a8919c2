# SPDX-License-Identifier: Apache-2.0
"""A server with TLS in front of another one, which speaks plain HTTP."""

import contextlib
import http.client
import http.server
import ssl
import threading
import typing
from collections.abc import Iterator
from urllib import parse

_HOP = {'connection', 'transfer-encoding', 'content-length', 'server', 'date'}


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
        headers = {**self.headers, 'X-Forwarded-Proto': 'https'}
        headers['Connection'] = 'close'
        behind = http.client.HTTPConnection(self.target, timeout=60)
        with contextlib.closing(behind):
            behind.request(self.command, self.path, body, headers)
            answer = behind.getresponse()
            content = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
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
    :ivar tokens: the token of each request
    """

    daemon_threads = True

    def __init__(self, target: str, context: ssl.SSLContext) -> None:
        self.context = context
        self.tokens: list[str] = []
        where = {'target': parse.urlsplit(target).netloc}
        super().__init__(('127.0.0.1', 0), type('_To', (_Handler,), where))
        self.url = f'https://127.0.0.1:{self.server_address[1]}'

    def finish_request(
        self, request: typing.Any, client_address: typing.Any
    ) -> None:
        """Speak TLS, if the client does."""
        with (
            contextlib.suppress(OSError),  # a client that does not trust it
            self.context.wrap_socket(request, server_side=True) as tls,
        ):
            super().finish_request(tls, client_address)


@contextlib.contextmanager
def tls_front(target: str, context: ssl.SSLContext) -> Iterator[Front]:
    """Serve ``target`` with TLS while the context lasts."""
    with Front(target, context) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
