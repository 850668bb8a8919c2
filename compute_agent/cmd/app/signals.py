# SPDX-License-Identifier: Apache-2.0
"""Ending a command, or having the daemon read its files anew, by signals.

SIGINT and SIGTERM end a long-running one. So does SIGHUP, unless it has files
to read; then it does so, and ends only when its terminal was closed: a daemon
that outlives that is one nobody asked for. What comes while the daemon is still
starting is kept until it can be heard. SIGINT interrupts any other command, and
wakes its threads.
"""

import os
import signal
import threading
import types
import typing


def on_signals() -> threading.Event:
    """Return an event that SIGINT, SIGTERM and SIGHUP set."""
    stop = threading.Event()

    def ask(_number: int, _frame: types.FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, ask)
    return stop


class Interrupt:
    """The handler of SIGINT for commands whose threads may wait for long.

    :ivar asked: it came; threads that wait with this are woken
    """

    def __init__(self) -> None:
        self.asked = threading.Event()

    def __call__(
        self, number: int, frame: types.FrameType | None
    ) -> typing.NoReturn:
        """Wake the threads, and interrupt the main one as usual."""
        self.asked.set()
        signal.default_int_handler(number, frame)


def hear_interrupt() -> None:
    """Let SIGINT wake all threads, where it would interrupt the main one."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, Interrupt())


def interrupted() -> threading.Event:
    """Return what is set when a SIGINT comes, if anybody hears it."""
    handler = signal.getsignal(signal.SIGINT)
    if isinstance(handler, Interrupt):
        return handler.asked
    return threading.Event()


class Early:
    """The handler of SIGHUP until there is somebody to hear it.

    :ivar had_terminal: there was one before the signal could come
    """

    def __init__(self) -> None:
        self.had_terminal = _has_terminal()
        self.asked = False

    def __call__(self, _number: int, _frame: types.FrameType | None) -> None:
        """Keep it in mind."""
        self.asked = True


def hear_early() -> None:
    """Keep SIGHUP from ending this process before ``Wishes`` hears it."""
    signal.signal(signal.SIGHUP, Early())


class Wishes:
    """What signals ask of a daemon: to end, or to read its files anew.

    Whoever waits is woken by either.
    """

    def __init__(self) -> None:
        # Reentrant, for a handler runs in a thread that may hold it.
        self._changed = threading.Condition(threading.RLock())
        self._ending = False
        self._reloading = False
        before = signal.getsignal(signal.SIGHUP)
        self._early = before if isinstance(before, Early) else Early()
        self._had_terminal = self._early.had_terminal

    def hear(self) -> None:
        """Take the process's signals from now on, and those kept for it."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: self.set())
        signal.signal(signal.SIGHUP, lambda *_: self._hang_up())
        if self._early.asked:
            self._hang_up()

    def is_set(self) -> bool:
        """Whether it is to end."""
        return self._ending

    def set(self) -> None:
        """Ask it to end."""
        with self._changed:
            self._ending = True
            self._changed.notify_all()

    def reload(self) -> None:
        """Ask it to read its files anew."""
        with self._changed:
            self._reloading = True
            self._changed.notify_all()

    def take_reload(self) -> bool:
        """Whether it is to read its files; asked for once, told once."""
        with self._changed:
            asked, self._reloading = self._reloading, False
            return asked

    def wait(self, timeout: float | None = None) -> bool:
        """Return when anything is asked for; whether it is to end."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._ending or self._reloading, timeout
            )
            return self._ending

    def wait_for_end(self, timeout: float | None = None) -> bool:
        """Return when it is to end, or in time; whether it is to end."""
        with self._changed:
            return self._changed.wait_for(self.is_set, timeout)

    def _hang_up(self) -> None:
        if self._had_terminal and not _has_terminal():
            self.set()
        else:
            self.reload()


def _has_terminal() -> bool:
    """Whether this process can reach a terminal of its own."""
    try:
        os.close(os.open('/dev/tty', os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
