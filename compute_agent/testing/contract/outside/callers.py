# SPDX-License-Identifier: Apache-2.0
"""Tells the calls that a driver makes from those of the agent around it.

The agent and its client of placement may use what a seam names, such as
``requests.Session``: their calls must not fail, and do not count. Everything is
the driver's except what runs within ``agent()``; there, only what runs within
``driver()`` is. A thread belongs to the one that started it, while
``following_threads()`` looks.
"""

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator

_HERE = threading.local()


def is_driver() -> bool:
    """Return True if this thread runs code of the driver now."""
    return getattr(_HERE, 'is_driver', True)


def agent() -> contextlib.AbstractContextManager[None]:
    """Return a context in which this thread runs code of the agent."""
    return _running(is_driver=False)


def driver() -> contextlib.AbstractContextManager[None]:
    """Return a context in which this thread runs code of the driver."""
    return _running(is_driver=True)


@contextlib.contextmanager
def following_threads() -> Iterator[None]:
    """Have each thread belong to the one that starts it, until the end.

    Python itself gives a new thread nothing of the one that starts it.
    """
    original = threading.Thread.start

    @functools.wraps(original)
    def start(thread: threading.Thread) -> None:
        thread.run = functools.partial(  # type: ignore[method-assign]
            _run, thread, thread.run, is_drivers=is_driver()
        )
        original(thread)

    setattr(threading.Thread, 'start', start)  # noqa: B010 (other type)
    try:
        yield
    finally:
        setattr(threading.Thread, 'start', original)  # noqa: B010


def _run(
    thread: threading.Thread, run: Callable[[], None], *, is_drivers: bool
) -> None:
    """Run a new thread as the one who started it."""
    del thread.run  # the method of its class is in force again
    with _running(is_driver=is_drivers):
        run()


@contextlib.contextmanager
def _running(*, is_driver: bool) -> Iterator[None]:
    before = getattr(_HERE, 'is_driver', True)
    _HERE.is_driver = is_driver
    try:
        yield
    finally:
        _HERE.is_driver = before
