# SPDX-License-Identifier: Apache-2.0
"""The HTTP server of the daemon: ``/metrics``, ``/healthz`` and the like.

Each connection has a thread and carries one request. There are few of them at
a time, each has a deadline, and none can delay a cycle, or the stop of the
daemon by more than some two seconds. Beyond their number, a new connection
replaces one whose client is idle or slow, so no client keeps a probe out.
Whatever a client sends, the answer is short and the daemon goes on.
"""

import http.server
import json
import logging
import selectors
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import prometheus_client
from prometheus_client import exposition

from .. import errors
from . import listening
from .values.address import Address
from .values.health import Health

LOG = logging.getLogger(__name__)

MOST = 16  # connections at a time; a further one replaces one of them
QUEUED = 128  # connections that the kernel keeps until they are accepted
SECONDS = 10.0  # the deadline of a connection
STOPPING = 1.0  # seconds that ``close`` waits for the open connections
_PAUSE = 0.2  # seconds between two looks at the deadlines
OPTION = '[compute_agent] metrics_bind'
SOCKET_MODE = 0o660  # the daemon's group may ask, too

_TEXT = 'text/plain; charset=utf-8'


class Pages(Protocol):
    """Pages for people, beside what programs ask for."""

    def __call__(
        self, path: str, headers: Mapping[str, str]
    ) -> tuple[int, Sequence[tuple[str, str]], bytes] | None:
        """Return status, headers and body; None if it is no page's path.

        :param path: with its query
        :param headers: by name in small letters
        """


def no_pages(path: str, headers: Mapping[str, str]) -> None:
    """Return None, because there are no pages."""
    del path, headers


class Answers:
    """The answers by path, each a status, headers and a body.

    :param health: returns the daemon's health now
    :param pages: the pages for people
    """

    def __init__(
        self,
        registry: prometheus_client.CollectorRegistry,
        health: Callable[[], Health],
        pages: Pages = no_pages,
    ) -> None:
        self._registry = registry
        self._encoding = threading.Lock()
        self._health = health
        self._pages = pages
        self._by_path = {
            '/healthz': lambda: self._judged(lambda one: one.is_healthy),
            '/livez': lambda: self._judged(lambda one: one.is_alive),
            '/readyz': lambda: self._judged(lambda one: one.is_ready),
        }

    def answer(
        self, path: str, headers: Mapping[str, str]
    ) -> tuple[int, Sequence[tuple[str, str]], bytes]:
        """Return the answer to a request.

        :param path: the path with its query, which only pages use
        :param headers: by name in small letters
        """
        page = self._pages(path, headers)
        if page is not None:
            return page
        status, kind, body = self._for_programs(
            path.partition('?')[0], headers.get('accept', '')
        )
        return status, [('Content-Type', kind)], body

    def _for_programs(
        self, path: str, accepted: str
    ) -> tuple[int, str, bytes]:
        if path == '/metrics':
            encode, kind = _encoder(accepted)
            with self._encoding:  # many at once would delay the probes
                return 200, kind, encode(self._registry)
        made = self._by_path.get(path)
        if made is None:
            known = ', '.join(['/metrics', *self._by_path])
            return 404, _TEXT, f'there are {known}\n'.encode()
        return made()

    def _judged(
        self, is_well: Callable[[Health], bool]
    ) -> tuple[int, str, bytes]:
        health = self._health()
        text = json.dumps(health.data(), indent=1)
        status = 200 if is_well(health) else 503
        return status, 'application/json', f'{text}\n'.encode()


class MonitoringServer(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """Serves the answers at one address, in a thread of its own.

    :raises errors.ConfigError: the address cannot be used
    """

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = QUEUED

    def __init__(self, address: Address, answers: Answers) -> None:
        self.answers = answers
        self._address = address
        self._deadlines: dict[Any, float] = {}  # the oldest first
        self._complete: set[Any] = set()
        self._counting = threading.Condition()
        where: Any = (address.host, address.port)
        if address.path is not None:
            self.address_family = socket.AF_UNIX
            self.allow_reuse_address = False
            where = str(address.path)
        elif address.is_ipv6:
            self.address_family = socket.AF_INET6
        try:
            listening.make_way(address.path)
            super().__init__(where, _Handler)
        except OSError as exc:
            raise errors.ConfigError(
                listening.refusal(OPTION, address, exc)
            ) from exc
        self._thread = threading.Thread(
            target=self.serve_forever,
            kwargs={'poll_interval': _PAUSE},
            name='metrics_http',
            daemon=True,
        )

    @property
    def where(self) -> str:
        """The address, with the port that the kernel chose for port 0."""
        if self._address.path is not None:
            return str(self._address)
        host, port = self.server_address[:2]
        return str(Address(host=str(host), port=int(port)))

    def server_bind(self) -> None:
        """Bind the socket; a unix socket is for the daemon's group, too."""
        super().server_bind()
        if self._address.path is not None:
            self._address.path.chmod(SOCKET_MODE)

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def close(self) -> None:
        """Answer no more: end the thread, and cut the open connections."""
        if self._thread.is_alive():
            self.shutdown()
            self._thread.join()
        self.server_close()
        if self._address.path is not None:
            try:
                self._address.path.unlink(missing_ok=True)
            except OSError as exc:  # the next start replaces it
                LOG.debug('%s stays: %s', self._address, exc)
        with self._counting:
            self._cut(self._deadlines)
            self._counting.wait_for(lambda: not self._deadlines, STOPPING)

    # --- bounds of the connections --------------------------------------------

    def get_request(self) -> tuple[Any, Any]:
        """Accept a connection; pause if there are no descriptors left."""
        try:
            return super().get_request()
        except OSError:
            time.sleep(_PAUSE)
            raise

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Make room for a connection; return False if there is none.

        The client that keeps the server waiting, else the oldest, gives way.
        Its thread ends at once unless it just makes an answer.
        """
        del client_address
        with self._counting:
            if len(self._deadlines) >= MOST:
                self._cut([self._slowest()])
            if not self._counting.wait_for(self._has_room, STOPPING):
                return False
            self._deadlines[request] = time.monotonic() + SECONDS
        return True

    def note_complete(self, request: Any) -> None:
        """Note that the whole request of a connection has arrived."""
        with self._counting:
            self._complete.add(request)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection."""
        super().shutdown_request(request)
        with self._counting:
            self._deadlines.pop(request, None)
            self._complete.discard(request)
            self._counting.notify_all()

    def _has_room(self) -> bool:
        return len(self._deadlines) < MOST

    def _slowest(self) -> Any:
        """Return the oldest connection that waits for its client, or any."""
        asking = [r for r in self._deadlines if r not in self._complete]
        silent = [r for r in asking if not _has_sent(r)]
        return next(iter(silent or self._deadlines))

    def service_actions(self) -> None:
        """Cut the connections that are open for too long."""
        now = time.monotonic()
        with self._counting:
            self._cut(r for r, until in self._deadlines.items() if until < now)

    @staticmethod
    def _cut(connections: Iterable[Any]) -> None:
        """Shut these connections down; the thread of each then closes it."""
        for request in connections:
            try:
                request.shutdown(socket.SHUT_RDWR)
            except OSError:  # the client was faster
                LOG.debug('the connection is closed already')

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Note the error of a connection; it is the client's business."""
        del request, client_address
        exc = sys.exc_info()[1]
        LOG.debug('a request for metrics or health failed: %r', exc)


class _Handler(http.server.BaseHTTPRequestHandler):
    """Answers one request."""

    server: MonitoringServer
    server_version = 'compute-agent'
    sys_version = ''
    timeout = SECONDS

    def do_GET(self) -> None:
        """Answer with the body."""
        self._answer(has_body=True)

    def do_HEAD(self) -> None:
        """Answer without the body."""
        self._answer(has_body=False)

    def _answer(self, *, has_body: bool) -> None:
        self.server.note_complete(self.request)
        headers = {name.lower(): v for name, v in self.headers.items()}
        status, head, body = self.server.answers.answer(self.path, headers)
        self.send_response(status)
        for name, value in head:
            self.send_header(name, value)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        if has_body:
            self.wfile.write(body)

    def address_string(self) -> str:
        """Return the client's address; a unix socket has none."""
        return str(self.client_address[0]) if self.client_address else '-'

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log a request for debugging only."""
        LOG.debug('%s asked: %r', self.address_string(), format % args)


def _has_sent(connection: socket.socket) -> bool:
    """Return True if bytes of a client wait to be read, or it is closed."""
    with selectors.DefaultSelector() as selector:
        try:
            selector.register(connection, selectors.EVENT_READ)
        except ValueError:
            return True
        return bool(selector.select(0))


def _encoder(
    accepted: str,
) -> tuple[Callable[[prometheus_client.CollectorRegistry], bytes], str]:
    """Return the encoder of a format that the client accepts, and its type."""
    try:
        return exposition.choose_encoder(accepted)
    except (
        TypeError,
        ValueError,
    ):  # the request names a version that does not exist
        return exposition.choose_encoder('')
