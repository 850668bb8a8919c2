# SPDX-License-Identifier: Apache-2.0
"""The daemon's messages to systemd: ready, reloading, stopping, alive.

systemd takes them from a unit of ``Type=notify`` (sd_notify). Without
``NOTIFY_SOCKET`` in the environment nothing is sent. A finished cycle, not a
timer, tells the watchdog that the daemon is alive: a cycle that hangs is a
daemon that hangs. A cycle that finished because placement is away counts: to
start the daemon again would not bring placement back.

``WatchdogSec=`` in the unit is the longest time of one cycle. The daemon adds
its interval, so that the unit need not change with the options.
"""

import contextlib
import os
import socket
import time
from collections.abc import Callable

from .status import DaemonStatus

MICROSECONDS = 1_000_000
PATIENCE = 1.0  # seconds until a message is given up
_LONGEST = 400  # characters of a status


def cycle_time() -> int:
    """Return the longest time of one cycle in microseconds; 0 for no limit.

    systemd gives it: it is ``WatchdogSec=`` in the unit.
    """
    for_whom = os.environ.get('WATCHDOG_PID', '')
    if for_whom not in {'', str(os.getpid())}:
        return 0
    given = os.environ.get('WATCHDOG_USEC', '')
    return int(given) if given.isdigit() else 0


class ServiceManager:
    """Sends the daemon's messages to systemd, if systemd started it.

    :param interval: returns the seconds from one cycle to the next; below 0
        for a single cycle, after which the watchdog is off
    """

    def __init__(
        self, status: DaemonStatus, interval: Callable[[], float]
    ) -> None:
        self._status = status
        self._interval = interval
        self._address = os.environ.get('NOTIFY_SOCKET', '')
        if self._address.startswith('@'):  # an abstract socket of Linux
            self._address = f'\0{self._address[1:]}'
        self._cycle_time = cycle_time()

    def ready(self) -> None:
        """Tell that the daemon began, or that a reload is over."""
        self._send('READY=1', self._said(), *self._deadline())

    def reloading(self) -> None:
        """Tell that a reload begins."""
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        self._send('RELOADING=1', f'MONOTONIC_USEC={now}')

    def cycle_finished(self) -> None:
        """Tell that the daemon is alive, and what the last cycle did."""
        self._send('WATCHDOG=1', self._said(), *self._deadline())

    def stopping(self, reason: str) -> None:
        """Tell that the daemon ends, and why."""
        self._send('STOPPING=1', f'STATUS=stops: {reason}')

    def _deadline(self) -> tuple[str, ...]:
        """Return the message that sets the time until the next cycle's end."""
        if not self._cycle_time:
            return ()
        interval, last = self._interval(), self._status.last
        if interval < 0 and last is not None and not last.trouble:
            return ('WATCHDOG_USEC=0',)
        wait = int(max(interval, 0.0) * MICROSECONDS)
        return (f'WATCHDOG_USEC={self._cycle_time + wait}',)

    def _said(self) -> str:
        return f'STATUS={str(self._status)[:_LONGEST]}'

    def _send(self, *lines: str) -> None:
        """Send one message; without systemd, or if it is gone, do nothing."""
        if not self._address:
            return
        kind = socket.SOCK_DGRAM | socket.SOCK_CLOEXEC
        with (
            contextlib.suppress(OSError),
            socket.socket(socket.AF_UNIX, kind) as to_systemd,
        ):
            to_systemd.settimeout(PATIENCE)
            message = '\n'.join(lines).encode(errors='replace')
            to_systemd.sendto(message, self._address)
