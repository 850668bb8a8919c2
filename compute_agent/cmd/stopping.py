# SPDX-License-Identifier: Apache-2.0
"""Ending a long-running command, or having it read its files anew, by signals.

SIGINT and SIGTERM end it. So does SIGHUP, unless the command has files to
read; then it does so, and ends only when its terminal was closed: a daemon
that outlives that is one nobody asked for. What comes while the daemon is still
starting is kept until it can be heard.
"""

import os
import signal
import threading
import types


def on_signals() -> threading.Event:
    """Return an event that SIGINT, SIGTERM and SIGHUP set."""
    stop = threading.Event()

    def ask(_number: int, _frame: types.FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, ask)
    return stop


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

    def wait_for_end(self) -> None:
        """Return when it is to end."""
        with self._changed:
            self._changed.wait_for(self.is_set)

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
