# SPDX-License-Identifier: Apache-2.0
"""Stands between the driver and the servers that it connects to.

Each TCP connection of the driver goes to a socket of this module, which passes
everything on to the server, and lets one answer fail as networks and servers
fail. The driver's client is the real one: it meets the failure where it reads
its socket. A question and its answer are an exchange, several on one
connection. ``watch.py`` knows who opened a connection.
"""

import contextlib
import dataclasses
import enum
import functools
import re
import select
import socket
import struct
import threading
import time
import typing
from collections.abc import Callable, Iterator

from ..values import bodies
from . import watch

#: The address of servers in a world.
LOOPBACK = '127.0.0.1'
_CHUNK = 65536
_PATIENCE = 1.5  # seconds for a socket without a time-out
_LONGEST = 60.0  # seconds for one whose time-out is elsewhere
_TIMEOUT = 0.25  # seconds; longer time-outs of the driver are cut to it
_PIECES = 40  # of a slow answer
_PAUSE = 0.005  # seconds between two of them
_ANY = {socket.AF_INET: LOOPBACK, socket.AF_INET6: '::1'}
_LENGTH = re.compile(rb'\r\ncontent-length: *(\d+)', re.IGNORECASE)
_CHUNKED = re.compile(rb'\r\ntransfer-encoding: *chunked', re.IGNORECASE)
_EMPTY = re.compile(rb'HTTP/1.. (204|304)')
_RESETTING = struct.pack('ii', 1, 0)


class WireFault(enum.Enum):
    """The ways in which an answer of a server fails on its way."""

    ERROR = 'status 500'
    UNAVAILABLE = 'status 503'
    SILENCE = 'no answer'
    SLOW = 'an answer in small pieces'
    CUT = 'half of the body'
    RESET = 'a reset'


_STATUS = {
    WireFault.ERROR: b'500 Internal Server Error',
    WireFault.UNAVAILABLE: b'503 Service Unavailable',
}


@dataclasses.dataclass(slots=True, kw_only=True)
class WireFailure:
    """A fault in one exchange, or in all exchanges.

    :ivar number: the number of the exchange; None for all exchanges
    :ivar title: the first line of the question
    :ivar hits: the exchanges that failed
    :ivar is_endless: True if the driver would have waited for ever
    :ivar became: nothing; see ``watch.Failure``
    """

    fault: WireFault
    number: int | None = None
    title: str = ''
    hits: int = 0
    is_endless: bool = False
    became: str = ''

    def __str__(self) -> str:
        if self.number is None:
            return f'every exchange with a server ends with {self.fault.value}'
        title = f' ({self.title})' if self.title else ''
        return f'{self.fault.value} in exchange {self.number}{title}'


class Wire:
    """The exchanges of a driver with its servers.

    :ivar titles: the first line of each question since ``clear``
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._fronts: dict[typing.Any, socket.socket] = {}
        self._clients: dict[typing.Any, socket.socket] = {}
        self._open: set[socket.socket] = set()
        self._failure: WireFailure | None = None
        self._ends = threading.Event()
        self._connect: Callable[..., object] = socket.socket.connect
        self.titles: list[str] = []

    def clear(self) -> None:
        """Forget the exchanges."""
        with self._lock:
            self.titles = []

    @contextlib.contextmanager
    def failing(self, failure: WireFailure) -> Iterator[WireFailure]:
        """Let exchanges fail until the end of the ``with``; count from 1."""
        self.clear()
        self._failure = failure
        try:
            yield failure
        finally:
            self._failure = None

    @contextlib.contextmanager
    def installed(self) -> Iterator[typing.Self]:
        """Be on the way of each new connection until the end of the with."""
        own = vars(socket.socket)
        before = {n: own[n] for n in ('connect', 'settimeout') if n in own}
        settimeout = socket.socket.settimeout

        def connect(sock: socket.socket, address: typing.Any) -> object:
            if not watch.is_driver() or sock.type != socket.SOCK_STREAM:
                return self._connect(sock, address)
            if sock.family not in _ANY:
                return self._connect(sock, address)
            if sock.gettimeout():
                sock.settimeout(sock.gettimeout())
            port = self._front(sock.family, address)
            try:
                return self._connect(sock, (_ANY[sock.family], port))
            finally:
                with self._lock:
                    self._clients[sock.getsockname()[:2]] = sock

        def limit(sock: socket.socket, seconds: float | None) -> None:
            if seconds and self._is_silent and watch.is_driver():
                seconds = min(seconds, _TIMEOUT)
            settimeout(sock, seconds)

        setattr(socket.socket, 'connect', connect)  # noqa: B010 (other type)
        setattr(socket.socket, 'settimeout', limit)  # noqa: B010
        try:
            yield self
        finally:
            for name in ('connect', 'settimeout'):
                if name in before:
                    setattr(socket.socket, name, before[name])
                else:
                    delattr(socket.socket, name)
            self._end()

    def _end(self) -> None:
        """Wake the threads; each of them then closes its sockets itself."""
        self._ends.set()
        with self._lock:
            for one in (*self._fronts.values(), *self._open):
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

    @property
    def _is_silent(self) -> bool:
        failure = self._failure
        return failure is not None and failure.fault is WireFault.SILENCE

    # --- connections ----------------------------------------------------------

    def _front(self, family: int, address: typing.Any) -> int:
        """Return the port at which this poses as a server."""
        key = family, tuple(address)
        with self._lock, watch.agent_runs():
            if key not in self._fronts:
                made = socket.socket(family, socket.SOCK_STREAM)
                made.bind((_ANY[socket.AddressFamily(family)], 0))
                made.listen()
                self._fronts[key] = made
                _start(lambda: self._accept(made, family, address))
            port: int = self._fronts[key].getsockname()[1]
            return port

    def _accept(
        self, front: socket.socket, family: int, address: typing.Any
    ) -> None:
        while True:
            try:
                client, peer = front.accept()
            except OSError:
                with self._lock:
                    front.close()
                return
            _start(
                functools.partial(self._serve, client, peer, family, address)
            )

    def _serve(
        self,
        client: socket.socket,
        peer: typing.Any,
        family: int,
        address: typing.Any,
    ) -> None:
        """Pass one connection on, until one of its ends closes it."""
        server = socket.socket(family, socket.SOCK_STREAM)
        with self._lock:
            self._open |= {client, server}
        try:
            self._connect(server, address)
            if not self._ends.is_set():
                self._exchange(client, server, peer)
        except OSError:
            _reset(client)
        finally:
            with self._lock:
                for one in (client, server):
                    one.close()
                self._open -= {client, server}
                self._clients.pop(peer[:2], None)

    def _exchange(
        self, client: socket.socket, server: socket.socket, peer: typing.Any
    ) -> None:
        question = client.recv(_CHUNK)
        while question:
            failure = self._noted(question)
            if failure is not None:
                self._fail(failure, client, server, question, peer)
                return
            server.sendall(question)
            question = _relayed(client, server)

    def _noted(self, question: bytes) -> WireFailure | None:
        """Count an exchange; return the failure that concerns it."""
        line = question.partition(b'\r\n')[0][:60].decode('ascii', 'replace')
        title = line.partition(' HTTP/')[0] if ' HTTP/' in line else ''
        with self._lock:
            self.titles.append(title)
            failure, number = self._failure, len(self.titles)
            if failure is None or failure.number not in {None, number}:
                return None
            failure.hits += 1
            return failure

    # --- faults ---------------------------------------------------------------

    def _fail(
        self,
        failure: WireFailure,
        client: socket.socket,
        server: socket.socket,
        question: bytes,
        peer: typing.Any,
    ) -> None:
        if failure.fault is WireFault.RESET:
            _reset(client)
            return
        if failure.fault is WireFault.SILENCE:
            self._be_silent(failure, client, peer)
            return
        server.sendall(question)
        head, body = _whole(server, question)
        if failure.fault in _STATUS and head:
            _send_status(client, _STATUS[failure.fault], head, body)
        elif failure.fault is WireFault.SLOW:
            _send_slowly(client, head + body)
        else:
            client.sendall(head + body[: len(body) // 2])

    def _be_silent(
        self, failure: WireFailure, client: socket.socket, peer: typing.Any
    ) -> None:
        """Wait until the driver gives up; note a driver that never does."""
        with self._lock:
            asking = self._clients.get(peer[:2])
        is_endless = asking is not None and asking.gettimeout() is None
        with watch.agent_runs():  # otherwise it would be cut like the driver's
            client.settimeout(_PATIENCE if is_endless else _LONGEST)
        try:
            while client.recv(_CHUNK):
                pass
        except TimeoutError:
            failure.is_endless = not self._ends.is_set()
            _reset(client)


def _start(work: Callable[[], object]) -> None:
    with watch.agent_runs():
        threading.Thread(target=work, name='wire', daemon=True).start()


def _relayed(client: socket.socket, server: socket.socket) -> bytes:
    """Pass everything on; return the client's first words after an answer."""
    has_answered = False
    client.setblocking(False)
    server.setblocking(False)
    while True:
        for one, other in ((client, server), (server, client)):
            try:
                data = one.recv(_CHUNK)
            except BlockingIOError:
                continue
            if one is client and (has_answered or not data):
                client.setblocking(True)
                server.setblocking(True)
                return data
            if not data:
                return b''
            has_answered = has_answered or one is server
            other.setblocking(True)
            other.sendall(data)
            other.setblocking(False)
        _ready(client, server)


def _ready(*sockets: socket.socket) -> None:
    """Wait until one of the sockets can be read."""
    select.select(sockets, (), ())


def _whole(server: socket.socket, question: bytes) -> tuple[bytes, bytes]:
    """Return the head and the body of an answer; no head if it is not HTTP."""
    data = server.recv(_CHUNK)
    if not data.startswith(b'HTTP/1'):
        return b'', data
    while b'\r\n\r\n' not in data:
        data += server.recv(_CHUNK) or b'\r\n\r\n'
    head, _, body = data.partition(b'\r\n\r\n')
    while not _is_whole(head, body, question):
        more = server.recv(_CHUNK)
        if not more:
            break
        body += more
    return head + b'\r\n\r\n', body


def _is_whole(head: bytes, body: bytes, question: bytes) -> bool:
    """Return True if an answer has no more bytes than these."""
    if question.startswith(b'HEAD ') or _EMPTY.match(head):
        return True
    length = _LENGTH.search(head)
    if length:
        return len(body) >= int(length[1])
    return bool(_CHUNKED.search(head)) and body.endswith(b'0\r\n\r\n')


def _send_status(
    client: socket.socket, status: bytes, head: bytes, body: bytes
) -> None:
    """Send an error with a valid, empty answer as its body, as a trap."""
    value = bodies.opened(body)[0]
    empty = b'[]' if isinstance(value, list) else b'{}'
    kind = re.search(rb'\r\ncontent-type: *([^\r]*)', head, re.IGNORECASE)
    client.sendall(
        b'HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n'
        b'Connection: close\r\n\r\n%s'
        % (status, kind[1] if kind else b'text/plain', len(empty), empty)
    )


def _send_slowly(client: socket.socket, data: bytes) -> None:
    step = max(len(data) // _PIECES, 1)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for at in range(0, len(data), step):
        client.sendall(data[at : at + step])
        time.sleep(_PAUSE)


def _reset(client: socket.socket) -> None:
    with contextlib.suppress(OSError):
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESETTING)
    client.close()
