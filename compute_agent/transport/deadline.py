# SPDX-License-Identifier: Apache-2.0
"""A deadline for whole answers, whatever the pace of the server.

The timeouts of requests hold for each read of the socket, so a server that
sends a byte a second holds a request for ever. The connections made here know
a deadline. They shorten the timeout of each read to the time that is left,
also while they read the status, the headers and the answer of a proxy.

A request that must not arrive later than that has a fence, too. It is checked
again once the connection is made, before each part of the request is sent.
Data that the system could not deliver in time is dropped with the connection.
"""

import contextlib
import http.client
import io
import math
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import urllib3
from urllib3 import connection as connections
from urllib3 import connectionpool

#: Called with each connection just after it was opened; it may raise.
Opened = Callable[[connections.HTTPConnection], None]
#: Returns the seconds for which a request may be sent, or raises an error.
Fence = Callable[[], float]
# Close with a reset, which drops undelivered data; or close as usual.
_RESET, _AS_USUAL = struct.pack('ii', 1, 0), struct.pack('ii', 0, 0)


class TooLate(TimeoutError):
    """The deadline passed before a request was sent, or its answer ended."""


class _Current(threading.local):
    """The deadline of this thread's requests.

    :ivar due: in seconds of the monotonic clock
    :ivar seconds: the time allowed, for the message
    :ivar fence: None for requests that may arrive later
    """

    due: float = math.inf
    seconds: float = math.inf
    fence: Fence | None = None


_CURRENT = _Current()


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """Give this thread's requests so many seconds together.

    An answer that is read after the context is left keeps its deadline. An
    earlier deadline that holds already is kept.

    :param seconds: 0 for no deadline
    """
    before = _CURRENT.due, _CURRENT.seconds
    due = time.monotonic() + (seconds or math.inf)
    if due < _CURRENT.due:
        _CURRENT.due, _CURRENT.seconds = due, seconds
    try:
        yield
    finally:
        _CURRENT.due, _CURRENT.seconds = before


@contextlib.contextmanager
def fenced(fence: Fence) -> Iterator[None]:
    """Send this thread's requests only while the fence holds.

    The requests also share a deadline: the time for which the fence holds now.

    :param fence: asked at once, and again before each part of a request is
        sent; its errors end the request
    """
    with within(fence()):
        _CURRENT.fence = fence
        try:
            yield
        finally:
            _CURRENT.fence = None


def has_passed() -> bool:
    """Return True if this thread's requests have no time left."""
    return time.monotonic() >= _CURRENT.due


def accept(opened: connections.HTTPConnection) -> None:
    """Accept any server."""


def enforce(
    manager: urllib3.PoolManager,
    check_opened: Opened = accept,
    longest: float = math.inf,
) -> None:
    """Make the connections of a pool manager keep the deadlines.

    :param check_opened: checks a new connection before its first request
    :param longest: seconds after which a connection begins no request. The
        name of the server may have another address by then, and the server of
        the old one may still answer.
    """
    manager.pool_classes_by_scheme = {
        scheme: _keeping(pool, check_opened, longest)
        for scheme, pool in manager.pool_classes_by_scheme.items()
    }


def _keeping(
    pool: type[connectionpool.HTTPConnectionPool],
    check_opened: Opened,
    longest: float,
) -> type[connectionpool.HTTPConnectionPool]:
    """Return a class of pools whose connections keep the deadlines."""
    made: Any = pool.ConnectionCls

    def connect(opened: connections.HTTPConnection) -> None:
        if _CURRENT.due < math.inf:
            opened.timeout = _left(opened.timeout or math.inf)
        made.connect(opened)
        opened.since = time.monotonic()  # type: ignore[attr-defined]
        check_opened(opened)

    def send(opened: connections.HTTPConnection, part: Any) -> None:
        if _CURRENT.fence is not None:
            if opened.sock is None:
                opened.connect()
            _hurry(opened.sock, _CURRENT.fence())
        made.send(opened, part)

    def getresponse(opened: connections.HTTPConnection) -> Any:
        answer = made.getresponse(opened)
        if _CURRENT.fence is not None:
            _relax(opened.sock)
        return answer

    def is_connected(opened: connections.HTTPConnection) -> bool:
        since: float = getattr(opened, 'since', -math.inf)
        return made.is_connected.__get__(opened) and (
            time.monotonic() - since < longest
        )

    members = {
        'connect': connect,
        'is_connected': property(is_connected),
        'send': send,
        'getresponse': getresponse,
        'response_class': staticmethod(_response),
    }
    connection = type(made.__name__, (made,), members)
    return type(pool.__name__, (pool,), {'ConnectionCls': connection})


def _left(most: float = math.inf) -> float:
    """Return the seconds until the current deadline.

    :raises TooLate: the deadline has passed, so the request is not sent
    """
    left = min(most, _CURRENT.due - time.monotonic())
    if left <= 0:
        raise TooLate(f'it was not sent within {_CURRENT.seconds:g} s')
    return left


def _hurry(sock: Any, seconds: float) -> None:
    """Have the system drop data that it cannot deliver before the deadline.

    If this process waits for an answer, it closes the connection; if it is
    killed, the system does. If the transfer stalls, the system gives up after
    half of the time, which it counts from the first repetition.

    :param seconds: how long the request may be sent
    :raises TooLate: the deadline has passed
    """
    left = _left(seconds)
    sock.settimeout(left)
    tcp = getattr(sock, 'socket', sock)  # below TLS through a proxy with TLS
    tcp.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    tcp.setsockopt(
        socket.IPPROTO_TCP,
        socket.TCP_USER_TIMEOUT,
        max(1, int(left * 1000 / 2)),
    )


def _relax(sock: Any) -> None:
    """Lift the deadline from a connection: its request has arrived."""
    if sock is not None:
        tcp = getattr(sock, 'socket', sock)
        tcp.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AS_USUAL)
        tcp.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 0)


def _response(
    sock: socket.socket, *args: Any, **named: Any
) -> http.client.HTTPResponse:
    """Return an answer that is read before the current deadline."""
    timed: Any = _TimedSocket(sock)
    return http.client.HTTPResponse(timed, *args, **named)


class _TimedSocket:
    """The part of a socket from which http.client makes an answer."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def makefile(self, mode: str) -> io.BufferedReader:  # noqa: ARG002
        """Return the bytes that arrive, with the current deadline."""
        return io.BufferedReader(_Arriving(self._sock))


class _Arriving(io.RawIOBase):
    """The bytes that arrive at a socket before a deadline."""

    def __init__(self, sock: socket.socket) -> None:
        super().__init__()
        self._sock = sock
        self._bytes = sock.makefile('rb', buffering=0)
        self._due = _CURRENT.due
        self._seconds = _CURRENT.seconds
        self._patience = sock.gettimeout()

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Read the bytes that have arrived; wait if there are none yet.

        :raises TooLate: the deadline has passed
        :raises TimeoutError: nothing arrived within the socket's timeout
        """
        if self._due == math.inf:
            return self._bytes.readinto(buffer)
        left = self._due - time.monotonic()
        if left <= 0:
            raise self._too_late()
        patience = math.inf if self._patience is None else self._patience
        self._sock.settimeout(min(patience, left))
        try:
            return self._bytes.readinto(buffer)
        except TimeoutError as exc:
            if left < patience:
                raise self._too_late() from exc
            raise

    def close(self) -> None:
        """Close this file; the socket is closed with its last user."""
        try:
            self._bytes.close()
        finally:
            super().close()

    def _too_late(self) -> TooLate:
        return TooLate(f'its answer did not end within {self._seconds:g} s')
