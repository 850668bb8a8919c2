# SPDX-License-Identifier: Apache-2.0
"""Signals: they stop a command, or make the daemon reload its files.

SIGINT and SIGTERM stop a long-running command. SIGHUP does so too, except for
the daemon: there it requests a reload, and stops it only if its terminal was
closed, because no Ctrl-C can reach it any more. A SIGHUP that arrives while
the daemon is still starting is kept until it listens. SIGUSR2 requests a
report; SIGUSR1 does nothing. Hints and persons wake it, too. In other
commands, SIGINT interrupts the main thread.

Python runs a handler in the main thread, between two of its steps. That is too
late for a thread that has just decided to wait: it may wait for ever. So the
handlers here do nothing, and ``Wakeups`` acts on the signals: the interpreter
writes each one to a socket at the moment of its arrival, and a thread reads it
there. A forked child has neither the thread nor the handlers, and a driver's
code cannot change them (``kept``).
"""

import contextlib
import logging
import math
import os
import signal
import socket
import threading
import time
import types
import typing
from collections.abc import Callable, Iterator

from ...cycle.values import schedule

LOG = logging.getLogger(__name__)

_GUARDED = 5.0  # seconds

Act = Callable[[int], object]  # called with the number of the signal
Handler = Callable[[int, types.FrameType | None], object]


class Wakeups:
    """Acts on signals in a thread of its own, in the order of their arrival.

    A process has one, because the interpreter writes to one socket only.
    """

    def __init__(self) -> None:
        self._acts: dict[int, tuple[Handler, Act]] = {}
        self._read: socket.socket | None = None
        self._write: socket.socket | None = None

    def act_on(self, number: int, act: Act, handler: Handler) -> None:
        """Install a handler, and call ``act`` whenever the signal arrives.

        Once another handler is installed, ``act`` is not called any more. Only
        the main thread may call this.
        """
        if self._read is None:
            self._start()
        self._acts[number] = (handler, act)
        signal.signal(number, handler)

    def listen(self) -> None:
        """Have the interpreter write to the socket, if the process has one."""
        if self._write is not None:
            signal.set_wakeup_fd(
                self._write.fileno(), warn_on_full_buffer=False
            )

    def take_back(self) -> None:
        """Install the handlers again, which a library of C may have taken.

        Only the main thread may call this.
        """
        for number, (handler, _) in self._acts.items():
            signal.signal(number, handler)
        self.listen()

    def _start(self) -> None:
        self._read, self._write = socket.socketpair()
        self._write.setblocking(False)
        self.listen()
        os.register_at_fork(after_in_child=self._leave)
        threading.Thread(
            target=self._take, args=[self._read], name='signals', daemon=True
        ).start()

    def _take(self, arrived: socket.socket) -> None:
        while True:
            for number in arrived.recv(64):
                handler, act = self._acts.get(number, (None, None))
                if act is None or signal.getsignal(number) is not handler:
                    continue
                try:
                    act(number)
                except Exception:
                    LOG.exception('signal %s', number)  # later ones count

    def _leave(self) -> None:
        """Take the handlers from a forked child: its parent has the thread."""
        signal.set_wakeup_fd(-1)
        for number, (handler, _) in self._acts.items():
            if signal.getsignal(number) is handler:
                is_interrupt = number == signal.SIGINT
                signal.signal(
                    number,
                    signal.default_int_handler
                    if is_interrupt
                    else signal.SIG_DFL,
                )


WAKEUPS = Wakeups()
_KEPT = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR2)


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Undo what a driver's code inside this context does to the signals.

    A driver that ignores SIGTERM, or runs an event loop, which takes the
    socket away, would keep the process from ending. Only the main thread can
    do that.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {number: signal.getsignal(number) for number in _KEPT}
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        yield
    finally:
        for number, handler in handlers.items():
            if handler is not None:  # None: a library of C has its own
                signal.signal(number, handler)
        WAKEUPS.listen()
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _wait_for_thread(_number: int, _frame: types.FrameType | None) -> None:
    """Do nothing: the thread of ``Wakeups`` acts."""


def stop_on_signals() -> threading.Event:
    """Return an event that SIGINT, SIGTERM and SIGHUP set."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        WAKEUPS.act_on(number, lambda _number: stop.set(), _wait_for_thread)
    return stop


class InterruptHandler:
    """The handler of SIGINT for commands whose threads may wait for long.

    :ivar received: set by the signal; threads wait for it
    """

    def __init__(self) -> None:
        self.received = threading.Event()

    def install(self) -> None:
        """Handle SIGINT: wake the threads, and interrupt the main thread."""
        WAKEUPS.act_on(
            signal.SIGINT, lambda _number: self.received.set(), self
        )

    def __call__(
        self, number: int, frame: types.FrameType | None
    ) -> typing.NoReturn:
        """Interrupt the main thread as usual."""
        signal.default_int_handler(number, frame)


def handle_interrupt() -> None:
    """Make SIGINT wake all threads if it would interrupt the main thread."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        InterruptHandler().install()


def interrupt_event() -> threading.Event:
    """Return the event that SIGINT sets; without a handler, none sets it."""
    handler = signal.getsignal(signal.SIGINT)
    if isinstance(handler, InterruptHandler):
        return handler.received
    return threading.Event()


class EarlyHangup:
    """The handler of SIGHUP until ``DaemonSignals`` replaces it.

    :ivar had_terminal: True if the process had a terminal before the signal
        could arrive
    """

    def __init__(self) -> None:
        self.had_terminal = _has_terminal()
        self.received = False

    def __call__(self, _number: int, _frame: types.FrameType | None) -> None:
        """Remember the signal."""
        self.received = True


def keep_early_hangup() -> None:
    """Keep a SIGHUP until ``DaemonSignals`` listens; by default it kills."""
    signal.signal(signal.SIGHUP, EarlyHangup())


def ignore_user_signals() -> None:
    """Ignore the signals that daemons take for requests to report.

    By default they would kill the process; the daemon handles one of them
    once it has something to report.
    """
    for number in (signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, signal.SIG_IGN)


class DaemonSignals:
    """The requests to the daemon: stop, reload, or begin a cycle early.

    Signals and persons wake a thread in ``wait``; a hint of the driver wakes
    one in ``wait_for_hint`` only.

    :ivar reason: why the daemon must stop, if a signal requested it
    """

    def __init__(self) -> None:
        self._report: Callable[[], object] = lambda: None
        self._changed = threading.Condition()
        self._stopping = False
        self._reloading = False
        self._cycle_wanted = False
        self._hinted: float | None = None
        self.reason = ''
        early = signal.getsignal(signal.SIGHUP)
        self._early = (
            early if isinstance(early, EarlyHangup) else EarlyHangup()
        )
        self._had_terminal = self._early.had_terminal

    def listen(self) -> None:
        """Handle the process's signals, and a SIGHUP that came earlier."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            WAKEUPS.act_on(number, self._take, _wait_for_thread)
        if self._early.received:
            self._hang_up()

    def report_with(self, write: Callable[[], object]) -> None:
        """Call ``write`` on each SIGUSR2 from now on; it must not wait."""
        self._report = write
        WAKEUPS.act_on(signal.SIGUSR2, self._take, _wait_for_thread)

    def is_set(self) -> bool:
        """Return True if the daemon must stop."""
        return self._stopping

    def set(self, reason: str = '') -> None:
        """Request that the daemon stops; the first reason counts."""
        with self._changed:
            if not self._stopping:
                self.reason = reason
            self._stopping = True
            self._changed.notify_all()

    def request_reload(self) -> None:
        """Request that the daemon reads its files again."""
        with self._changed:
            self._reloading = True
            self._changed.notify_all()

    def take_reload(self) -> bool:
        """Return True if a reload was requested, and clear the request."""
        with self._changed:
            requested, self._reloading = self._reloading, False
            return requested

    def hint(self) -> None:
        """Request a cycle as soon as there are no more hints for a while."""
        with self._changed:
            self._hinted = time.monotonic()
            self._changed.notify_all()

    def request_cycle(self) -> None:
        """Request a cycle at once, also in the wait of an outage."""
        with self._changed:
            self._cycle_wanted = True
            self._changed.notify_all()

    def take_hint(self) -> bool:
        """Return True if a driver hinted at a change; clear the hints."""
        with self._changed:
            hinted, self._hinted = self._hinted, None
            return hinted is not None

    def take_requests(self) -> None:
        """Clear the hints and the requests of a cycle: it begins."""
        with self._changed:
            self._hinted = None
            self._cycle_wanted = False

    def has_request(self) -> bool:
        """Return True if it must stop, reload its files or begin a cycle."""
        with self._changed:
            return self._has_request()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for a request; return True if the daemon must stop."""
        with self._changed:
            self._changed.wait_for(self._has_request, timeout)
            return self._stopping

    def wait_for_hint(self, timeout: float | None = None) -> bool:
        """Wait for a request or a hint; return True if it must stop."""
        now = time.monotonic()
        end = math.inf if timeout is None else now + timeout
        with self._changed:
            while now < end and not self._has_request():
                due = self._quiet_at(now)
                if due <= now:
                    break
                until = min(end, due)
                self._changed.wait(None if until == math.inf else until - now)
                now = time.monotonic()
            return self._stopping

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Wait until the daemon must stop; return False after the timeout."""
        with self._changed:
            return self._changed.wait_for(self.is_set, timeout)

    def wait_guarded(self) -> None:
        """Wait in the main thread until the daemon must stop.

        Meanwhile the drivers run in other threads. There, Python's code can
        change no handler, but a library of C can.
        """
        while not self.wait_for_stop(_GUARDED):
            WAKEUPS.take_back()

    def wait_before_first(self, timeout: float) -> None:
        """Wait until the daemon must stop, or a person asks for a cycle."""
        with self._changed:
            self._changed.wait_for(self._is_urgent, timeout)

    def _has_request(self) -> bool:
        return self._is_urgent() or self._reloading

    def _is_urgent(self) -> bool:
        return self._stopping or self._cycle_wanted

    def _quiet_at(self, now: float) -> float:
        """Return when the wait for hints ends; infinity without a hint."""
        if self._hinted is None:
            return math.inf
        return now + schedule.after_hint(self._hinted, now)

    def _take(self, number: int) -> None:
        if number == signal.SIGUSR2:
            self._report()
        elif number == signal.SIGHUP:
            self._hang_up()
        else:
            self.set(f'{signal.Signals(number).name} requested it')

    def _hang_up(self) -> None:
        if self._had_terminal and not _has_terminal():
            self.set('its terminal was closed')
        else:
            self.request_reload()


def _has_terminal() -> bool:
    """Return True if this process can open its controlling terminal."""
    try:
        os.close(os.open('/dev/tty', os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
