# SPDX-License-Identifier: Apache-2.0
"""A deadline for whole answers, whatever the pace of the server.

The timeouts of requests hold for each read of the socket, so a server that
sends a byte a second holds a request for ever. The connections made here know
a deadline. They shorten the timeout of each read to the time that is left,
also while they read the status, the headers and the answer of a proxy.
"""

import contextlib
import http.client
import io
import math
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import urllib3
from urllib3 import connectionpool


class TooLate(TimeoutError):
    """An answer did not end within its deadline."""


class _Current(threading.local):
    """The deadline of this thread's requests.

    :ivar due: in seconds of the monotonic clock
    :ivar seconds: the time allowed, for the message
    """

    due: float = math.inf
    seconds: float = math.inf


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


def has_passed() -> bool:
    """Return True if this thread's requests have no time left."""
    return time.monotonic() >= _CURRENT.due


def enforce(manager: urllib3.PoolManager) -> None:
    """Make the connections of a pool manager keep the deadlines."""
    manager.pool_classes_by_scheme = {
        scheme: _keeping(pool)
        for scheme, pool in manager.pool_classes_by_scheme.items()
    }


def _keeping(
    pool: type[connectionpool.HTTPConnectionPool],
) -> type[connectionpool.HTTPConnectionPool]:
    """Return a class of pools whose connections keep the deadlines."""
    made = pool.ConnectionCls
    members = {'response_class': staticmethod(_response)}
    connection = type(made.__name__, (made,), members)
    return type(pool.__name__, (pool,), {'ConnectionCls': connection})


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
        """Read what has arrived; wait for it if nothing has.

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
        """Close it; the socket ends with its last user."""
        try:
            self._bytes.close()
        finally:
            super().close()

    def _too_late(self) -> TooLate:
        return TooLate(f'its answer did not end within {self._seconds:g} s')
