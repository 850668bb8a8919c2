# SPDX-License-Identifier: Apache-2.0
"""Runs calls in a thread of its own, and waits for each a limited time.

libvirt has no time limit: a libvirtd that hangs keeps its callers for ever, and
so the agent's cycle. ``connection.py`` asks every question through this module.
It knows nothing of libvirt.
"""

import queue
import threading
import typing
from collections.abc import Callable

_Result = typing.TypeVar('_Result')


class BoundedCalls:
    """Runs one call at a time; a call that takes too long runs on.

    Until it ends, every other call fails at once.

    :param limit: seconds
    """

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._late: _Call | None = None
        self._thread: threading.Thread | None = None

    def run(
        self, call: Callable[[], _Result], limit: float | None = None
    ) -> _Result:
        """Return the result of a call, or raise its error.

        :param limit: seconds, in place of those for every call
        :raises TimeoutError: it takes too long, or an earlier one still does
        """
        with self._lock:
            if self._late is not None and not self._late.ended.is_set():
                raise TimeoutError('an earlier question still has no answer')
            self._start()
            made = _Call(call)
            self._calls.put(made)
            seconds = self._limit if limit is None else limit
            if not made.ended.wait(seconds):
                self._late = made
                raise TimeoutError(f'no answer within {seconds:.0f} s')
        if made.error is not None:
            raise made.error
        return typing.cast('_Result', made.result)

    def close(self) -> None:
        """End the thread when its call has ended; wait for neither."""
        with self._lock:
            if self._thread is not None:
                self._calls.put(None)
                self._thread = None

    def _start(self) -> None:
        if self._thread is None:
            # A daemon thread: a call that hangs must not keep the process.
            self._thread = threading.Thread(
                target=_run, args=(self._calls,), name='libvirt', daemon=True
            )
            self._thread.start()


class _Call:
    """A call and what came of it."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call
        self.ended = threading.Event()
        self.result: object = None
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.result = self._call()
        except BaseException as exc:  # noqa: BLE001 (the caller's to handle)
            self.error = exc
        self.ended.set()


def _run(calls: 'queue.SimpleQueue[_Call | None]') -> None:
    while (call := calls.get()) is not None:
        call.run()
