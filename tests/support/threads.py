# SPDX-License-Identifier: Apache-2.0
"""Points at which the threads of a test meet, without a sleep.

A sleep that is long enough on a quiet machine is too short on a busy one. So a
test waits until the other threads are where it wants them: at a lock that is
taken (``Waiting``), or behind the end of a task (``tell_end_of_task``).
"""

import collections.abc
import concurrent.futures.thread
import contextlib
import sys
import threading
import types
import typing

PATIENCE = 60  # seconds; only a hang takes as long

_LOCK, _RLOCK = threading.Lock, threading.RLock


class Waiting:
    """Counts how often a thread had to wait for one of the watched locks."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._count = 0

    @contextlib.contextmanager
    def watching(self) -> collections.abc.Iterator[None]:
        """Watch the locks that are made meanwhile."""
        with contextlib.ExitStack() as undo:
            for name, lock in (('Lock', _LOCK), ('RLock', _RLOCK)):
                undo.callback(setattr, threading, name, lock)
                setattr(threading, name, self._maker(lock))
            yield

    def note(self) -> None:
        """Count one more."""
        with self._changed:
            self._count += 1
            self._changed.notify_all()

    def wait_for(self, count: int) -> None:
        """Return when a thread had to wait so many times."""
        with self._changed:
            assert self._changed.wait_for(
                lambda: self._count >= count, PATIENCE
            ), f'{self._count} waited, not {count}'

    def _maker(
        self, lock: collections.abc.Callable[[], typing.Any]
    ) -> collections.abc.Callable[[], '_Watched']:
        return lambda: _Watched(lock(), self)


class _Watched:
    """A lock that tells when a thread has to wait for it."""

    def __init__(self, lock: typing.Any, waiting: Waiting) -> None:
        self._lock = lock
        self._waiting = waiting

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:  # noqa: FBT001, FBT002 (a lock's own)
        if self._lock.acquire(blocking=False):
            return True
        if blocking:
            self._waiting.note()
        return bool(self._lock.acquire(blocking, timeout))

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *exc_info: object) -> None:
        self._lock.release()

    def __getattr__(self, name: str) -> typing.Any:
        return getattr(self._lock, name)


def tell_end_of_task(ended: threading.Event) -> None:
    """Set an event when this thread of a pool has ended its task.

    A task that raises has ended when the exception has left its function.
    """

    def profile(frame: types.FrameType, event: str, _: object) -> None:
        caller = frame.f_back
        if (
            event == 'return'
            and caller is not None
            and caller.f_code.co_filename == concurrent.futures.thread.__file__
        ):
            sys.setprofile(None)
            ended.set()

    sys.setprofile(profile)
