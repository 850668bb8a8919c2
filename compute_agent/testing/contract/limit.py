# SPDX-License-Identifier: Apache-2.0
"""A limit for a check, so that a driver that hangs is named.

The check runs in a thread of its own. Nothing can end a thread that hangs: it
is left, and does not keep the process.
"""

import contextvars
import sys
import threading
import types
from collections.abc import Callable, Iterator
from concurrent import futures

from .rule import Broken

#: Seconds for one rule.
SECONDS = 120.0

_FIX = (
    'give each call on the outside world a time-out, or give the contract '
    'class a larger limit'
)


def within(
    seconds: float, work: Callable[[], object], driver_class: type
) -> None:
    """Do some work with a driver of this class.

    :raises Broken: it has not ended after these seconds
    """
    ended: futures.Future[None] = futures.Future()

    def run() -> None:
        try:
            work()
        except BaseException as exc:  # noqa: BLE001 (raised by the caller)
            ended.set_exception(exc)
        else:
            ended.set_result(None)

    context = contextvars.copy_context()
    thread = threading.Thread(
        target=context.run, args=(run,), name='rule', daemon=True
    )
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        call, place = _where(thread, driver_class)
        raise Broken(
            call, f'it has not ended after {seconds:g} seconds{place}', _FIX
        )
    ended.result()


def _where(thread: threading.Thread, driver_class: type) -> tuple[str, str]:
    """Return the call of the driver's that has not ended, and its line.

    The agent may make the call in another thread than that of the check.
    """
    frames = sys._current_frames()  # noqa: SLF001 (the documented way)
    first = frames.get(thread.ident or 0)
    others = [f for f in frames.values() if f is not first]
    for frame in (*([first] if first else []), *others):
        for outer in reversed(list(_outwards(frame))):
            if _is_of(outer, driver_class):
                code = frame.f_code
                return (
                    outer.f_code.co_name,
                    f' ({code.co_filename}, line {frame.f_lineno})',
                )
    return 'the check', ''


def _outwards(frame: types.FrameType) -> Iterator[types.FrameType]:
    """Yield a frame and those around it."""
    found: types.FrameType | None = frame
    while found is not None:
        yield found
        found = found.f_back


def _is_of(frame: types.FrameType, driver_class: type) -> bool:
    """Return True for a method of the driver."""
    names = frame.f_code.co_varnames[: frame.f_code.co_argcount]
    if not names:
        return False
    first = frame.f_locals.get(names[0])
    return first is driver_class or isinstance(first, driver_class)
