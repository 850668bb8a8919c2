# SPDX-License-Identifier: Apache-2.0
"""The daemon under a supervisor that does for it what systemd does.

It listens at ``NOTIFY_SOCKET``, keeps the last ``STATUS=``, counts the
watchdog's messages, aborts a daemon that misses its watchdog, and starts one
that ended again. The daemon has a clock of its own (``wall_clock.py``).
"""

import collections
import contextlib
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import growth
import wall_clock

from demo import server_process

PATIENCE = 300.0  # seconds in which a daemon must do what it was told
RESTART = 0.2  # seconds from the end of a daemon to its next start
TURN = 0.1  # seconds from one look at the daemon to the next
WATCHDOG = 300.0  # seconds; WatchdogSec= of the unit


class Supervisor:
    """Runs one daemon until ``stop``.

    :param folder: the daemon's log and notification socket go there
    :param name: of the daemon, for its files
    :ivar lives: how often the daemon was started
    :ivar kills: how often it was told to end
    :ivar aborts: how often it missed the watchdog
    :ivar heard: messages of the daemon, counted
    :ivar status: the last ``STATUS=`` of this life
    """

    def __init__(
        self,
        folder: pathlib.Path,
        name: str,
        conf: pathlib.Path,
        state: pathlib.Path,
        clock: wall_clock.Clock,
    ) -> None:
        self.log = folder / f'{name}.log'
        self.name = name
        self.state = state
        self._command = [
            *('setpriv', '--pdeathsig', 'TERM', '--', 'env'),
            *clock.environment(),
            f'NOTIFY_SOCKET={folder / name}.notify',
            f'WATCHDOG_USEC={int(WATCHDOG * 1e6)}',
            sys.executable,
            *('-m', 'compute_agent.cmd.app.main'),
            *('--config-file', str(conf), 'run'),
        ]
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(f'{folder / name}.notify')
        self._socket.settimeout(TURN)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._process: subprocess.Popen[bytes] | None = None
        self._fed, self._limit = 0.0, WATCHDOG
        self._ready_in = 0
        self.heard: collections.Counter[str] = collections.Counter()
        self.lives = self.kills = self.aborts = 0
        self.status = ''

    @property
    def cycles(self) -> int:
        """The number of finished cycles, which feed the watchdog."""
        return self.heard['WATCHDOG=1']

    def start(self) -> None:
        """Start the daemon; ``wait_ready`` waits for it."""
        self._thread.start()

    def wait_ready(self) -> None:
        """Wait until the daemon of this life says that it is ready."""
        self._wait(lambda: 0 < self._ready_in == self.lives, 'ready')

    def end_one_life(self, number: int) -> None:
        """End the daemon by a signal; return when the next one is ready."""
        life = self.lives
        self.kills += 1
        self._send(number)
        self._wait(lambda: self._ready_in > life, f'back after {number}')

    def reload(self) -> None:
        """Have the daemon read its files again; return when it has."""
        before = self.heard['RELOADING=1'], self.heard['READY=1']
        self._send(signal.SIGHUP)
        self._wait(
            lambda: (
                self.heard['RELOADING=1'] > before[0]
                and self.heard['READY=1'] > before[1]
            ),
            'reloaded',
        )

    def report(self) -> None:
        """Have the daemon write its report; return when it is there."""
        before = self._report_s_stamp()
        self._send(signal.SIGUSR2)
        self._wait(lambda: self._report_s_stamp() != before, 'reporting')

    def stop(self) -> None:
        """End the daemon for good."""
        self._stop.set()
        self._thread.join()
        self._socket.close()

    def figures(self) -> growth.Figures:
        """Return how large the daemon is now."""
        assert self._process is not None
        return growth.figures(
            self._process.pid, self.state, self.lives, self.cycles
        )

    def _report_s_stamp(self) -> tuple[int, int]:
        with contextlib.suppress(FileNotFoundError):
            found = (self.state / 'report.txt').stat()
            return found.st_ino, found.st_mtime_ns
        return 0, 0

    def _send(self, number: int) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def _wait(self, condition: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > deadline:
                last = server_process.last_error(self.log)
                raise AssertionError(f'{self.name} is not {what}; {last}')
            time.sleep(0.05)

    def _watch(self) -> None:
        """Keep the daemon alive until ``stop``."""
        while not self._stop.is_set():
            self._live()
            self._stop.wait(RESTART)

    def _live(self) -> None:
        """Run the daemon once, to its end."""
        while self._hear():
            pass  # the last words of the one before
        self.lives += 1
        self.status = ''
        self._fed, self._limit = time.monotonic(), WATCHDOG
        with self.log.open('ab') as log:
            self._process = subprocess.Popen(
                self._command, stdout=log, stderr=log, start_new_session=True
            )
        try:
            while self._process.poll() is None and not self._stop.is_set():
                self._hear()
                self._abort_if_late(self._process)
        finally:
            server_process.end(self._process)

    def _abort_if_late(self, process: subprocess.Popen[bytes]) -> None:
        is_late = time.monotonic() - self._fed > self._limit
        if self._limit and is_late:
            self.aborts += 1
            process.send_signal(signal.SIGABRT)
            process.wait()

    def _hear(self) -> bool:
        """Take in one message; return False if none comes within a turn."""
        try:
            lines = self._socket.recv(65536).decode().splitlines()
        except TimeoutError:
            return False
        for line in lines:
            name, _, value = line.partition('=')
            if name == 'STATUS':
                self.status = value
            elif name == 'WATCHDOG_USEC':
                self._limit = int(value) / 1e6
            else:
                self._heard_of(line)
        return True

    def _heard_of(self, line: str) -> None:
        self.heard[line] += 1
        if line == 'READY=1':
            self._ready_in = self.lives
        elif line == 'WATCHDOG=1':
            self._fed = time.monotonic()
