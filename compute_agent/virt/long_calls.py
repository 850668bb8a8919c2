# SPDX-License-Identifier: Apache-2.0
"""A line in the log about a call of a driver that does not return.

A driver that hangs stops the cycle, and nothing else would say so. The agent's
calls of drivers are ``watched``. While a command runs (``told``), a thread says
which call has not returned after ten seconds, once, and when it has returned.
The thread begins with the first call.
"""

import contextlib
import logging
import threading
import time
from collections.abc import Iterator

LOG = logging.getLogger(__name__)

LONG = 10.0  # seconds


class _Call:
    """A call that has not returned yet; the context in which it is made.

    It is no generator, because each node has several in each cycle.
    """

    __slots__ = ('_open', 'began', 'driver', 'is_told', 'method', 'node')

    def __init__(
        self,
        driver: str,
        method: str,
        node: str,
        calls: 'dict[int, _Call] | None',
    ) -> None:
        self._open = calls
        self.driver = driver
        self.method = method
        self.node = node
        self.is_told = False
        self.began = 0.0

    def __enter__(self) -> None:
        if self._open is not None:
            self.began = time.monotonic()
            self._open[id(self)] = self

    def __exit__(self, *_exc_info: object) -> None:
        if self._open is not None:
            del self._open[id(self)]
            if self.is_told:
                took = time.monotonic() - self.began
                LOG.warning('%s returned after %.0f s', self, took)

    def __str__(self) -> str:
        of_node = f' for node {self.node}' if self.node else ''
        return f'{self.driver}: {self.method}{of_node}'


class LongCalls:
    """The calls of drivers that have not returned yet."""

    def __init__(self) -> None:
        self._open: dict[int, _Call] = {}
        self._lock = threading.Lock()
        self._ended: threading.Event | None = None
        self._thread: threading.Thread | None = None

    @contextlib.contextmanager
    def told(self) -> Iterator[None]:
        """Log the calls that take long until this context ends."""
        if self._ended is not None:  # within another
            yield
            return
        ended = self._ended = threading.Event()
        try:
            yield
        finally:
            with self._lock:
                self._ended, thread, self._thread = None, self._thread, None
            ended.set()
            if thread is not None:
                thread.join()

    def watched(self, driver: str, method: str, node: str = '') -> _Call:
        """Return the context in which a call is made that may take long.

        :param driver: the name of its class
        :param node: the name of the node; empty if the call is about no node
        """
        if self._ended is None:
            return _Call(driver, method, node, None)
        if self._thread is None:
            self._start()
        return _Call(driver, method, node, self._open)

    def _start(self) -> None:
        with self._lock:
            if self._ended is None or self._thread is not None:
                return
            self._thread = threading.Thread(
                target=self._tell,
                args=[self._ended],
                name='long-calls',
                daemon=True,
            )
            self._thread.start()

    def _tell(self, ended: threading.Event) -> None:
        """Look at the calls until the context ends."""
        while not ended.wait(self._next()):
            now = time.monotonic()
            for call in [*self._open.values()]:
                if not call.is_told and now - call.began >= LONG:
                    call.is_told = True
                    LOG.warning(
                        '%s has not returned for %.0f s; this agent waits for '
                        'it',
                        call,
                        now - call.began,
                    )

    def _next(self) -> float:
        """Return the seconds until a call that is open now takes long."""
        now = time.monotonic()
        waits = [
            call.began + LONG - now
            for call in [*self._open.values()]
            if not call.is_told
        ]
        return max(min([*waits, LONG]), 0.01)


CALLS = LongCalls()
watched = CALLS.watched
told = CALLS.told
