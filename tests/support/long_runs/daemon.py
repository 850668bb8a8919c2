# SPDX-License-Identifier: Apache-2.0
"""An agent as a daemon with the fake driver, in one life or in several.

It is killed and started again on its state. Each life has a log of its own;
the cycles are read from it.
"""

import contextlib
import dataclasses
import pathlib
import re
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import yaml

from demo import server_process

PROGRAM = ('-m', 'compute_agent.cmd.app.main')
PATIENCE = 180.0  # seconds for what takes a few cycles
LOOK = 0.1  # seconds from one look at the log to the next
LINES = 40  # of the log, about something that went wrong
_CYCLE = re.compile(
    rb'^(?P<at>[\d.]+) cycle: \d+ done, (?P<waiting>\d+) waiting, '
    rb'(?P<failed>\d+) failed; (?P<operations>\d+) operations',
    re.MULTILINE,
)
_NODE = re.compile(
    rb'^[\d.]+ (?P<node>[\w-]+) \(\S+\): (?P<word>failed|waiting|no trouble)',
    re.MULTILINE,
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """One cycle of an agent, from its log.

    :ivar began: not before this; when the one before it was over
    """

    began: float
    ended: float
    waiting: int
    failed: int
    operations: int


@contextlib.contextmanager
def recorded_placement(
    folder: pathlib.Path, record: pathlib.Path
) -> Iterator[str]:
    """Yield the address of a placement that records what it is asked."""
    program = pathlib.Path(__file__).with_name('recording_placement.py')
    with contextlib.ExitStack() as ending:
        with socket.create_server(('127.0.0.1', 0), backlog=100) as listener:
            number, port = listener.fileno(), listener.getsockname()[1]
            words = [
                str(program),
                str(number),
                str(folder / 'placement.sqlite'),
            ]
            ending.enter_context(
                server_process.running(
                    [sys.executable, *words, str(record)],
                    folder / 'placement.log',
                    [number],
                )
            )
        yield f'http://127.0.0.1:{port}'


class Daemon:
    """One agent.

    :ivar lives: how often it was started
    :ivar count: the cycles of all lives
    :ivar cycles: those of this life, as far as the log was read
    :ivar memory: of this life, KiB resident after each look that found one
    """

    def __init__(
        self,
        who: str,
        folder: pathlib.Path,
        url: str,
        *,
        options: str = '',
        program: Sequence[str] = PROGRAM,
        prefix: Sequence[str] = (),
    ) -> None:
        """Write its configuration; nothing runs yet.

        :param options: more of its file, from the group DEFAULT on
        :param program: what Python runs
        :param prefix: words before the command
        """
        self.who = who
        self._folder = folder
        self._words = [*prefix, sys.executable, *program]
        self._life = contextlib.ExitStack()
        self._tree = folder / 'tree.yaml'
        files = folder / 'provider_config'
        files.mkdir(parents=True)
        self._file = folder / 'agent.conf'
        self._file.write_text(
            '[DEFAULT]\ncompute_driver = fake\n'
            f'host = {who}\nstate_path = {folder / "state"}\n'
            'update_resources_interval = 1\ndebug = true\n'
            'logging_default_format_string = %(created).6f %(message)s\n'
            f'{options}[fake]\nfile = {self._tree}\n'
            f'[compute]\nprovider_config_location = {files}\n'
            f'[placement]\nauth_type = admin_token\nendpoint = {url}\n'
            f'token = admin:{who}\n'
        )
        self.lives = self.count = 0
        self.tracebacks: list[pathlib.Path] = []
        self._begin()

    def describe(self, nodes: Sequence[dict[str, Any]]) -> None:
        """Write the driver's file, whole or not at all."""
        fresh = self._tree.with_suffix('.new')
        fresh.write_text(yaml.safe_dump({'nodes': nodes}))
        fresh.replace(self._tree)

    def start(self) -> None:
        """Begin a life."""
        self.lives += 1
        self._begin()
        running = server_process.running(self.command('run'), self._log)
        self._process = self._life.enter_context(running)

    def command(self, *words: str) -> list[str]:
        """Return a command line of this agent, with its configuration."""
        return [*self._words, '--config-file', str(self._file), *words]

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    @property
    def ending(self) -> str:
        """How this life ended, in words."""
        if not self.lives:
            return 'it was not started'
        code = self._process.poll()
        return 'it runs' if code is None else f'it ended with {code}'

    @property
    def said(self) -> str:
        """The log of this life."""
        return self._log.read_text() if self._log.exists() else ''

    @property
    def size(self) -> int:
        """The length of the log of this life, in bytes."""
        return self._log.stat().st_size if self._log.exists() else 0

    def said_since(self, size: int) -> str:
        """Return what the log of this life has beyond a length."""
        with self._log.open('rb') as log:
            log.seek(size)
            return log.read().decode(errors='replace')

    def signal(self, number: int) -> None:
        """Send a signal to it."""
        self._process.send_signal(number)

    def kill(self) -> None:
        """End it at once, wherever it is."""
        self._process.kill()
        self._process.wait()
        self.end()

    def end(self) -> None:
        """End this life, if it has not ended."""
        self._life.close()
        if self._log.exists() and b'Traceback' in self._log.read_bytes():
            self.tracebacks.append(self._log)

    def look(self) -> None:
        """Read the log on.

        :raises AssertionError: the daemon ended by itself
        """
        assert self._process.poll() is None, (
            f'it ended by itself: {server_process.last_error(self._log)}'
        )
        with self._log.open('rb') as log:
            log.seek(self._read)
            text = log.read()
        whole = text[: text.rfind(b'\n') + 1]
        self._read += len(whole)
        found = [match.groupdict() for match in _CYCLE.finditer(whole)]
        for row in found:
            numbers = ('waiting', 'failed', 'operations')
            self.cycles.append(
                Cycle(
                    began=self.cycles[-1].ended if self.cycles else 0.0,
                    ended=float(row['at']),
                    **{name: int(row[name]) for name in numbers},
                )
            )
        if found:
            self.count += len(found)
            self.memory.append(self._resident())

    def since(self, moment: float) -> list[Cycle]:
        """Return the cycles that began after a moment."""
        return [cycle for cycle in self.cycles if cycle.began >= moment]

    def wait(self, over: Callable[[], bool]) -> None:
        """Read the log on until something is so."""
        deadline = time.monotonic() + PATIENCE
        while not over():
            assert time.monotonic() < deadline, (
                f'{self.who} does not come to it: '
                f'{server_process.last_error(self._log)}'
            )
            time.sleep(LOOK)
            self.look()

    def wait_for(self, cycles: int) -> list[int]:
        """Wait for cycles that begin from now on; return their operations."""
        since = time.time()
        self.wait(lambda: len(self.since(since)) >= cycles)
        return [cycle.operations for cycle in self.since(since)]

    def trouble(self) -> set[str]:
        """Return the names of the nodes whose last line says a trouble."""
        last = {
            match['node']: match['word']
            for match in _NODE.finditer(self._log.read_bytes())
        }
        return {
            node.decode()
            for node, word in last.items()
            if word in (b'failed', b'waiting')
        }

    def lines_about(self, *words: str) -> list[str]:
        """Return the last lines of all lives' logs with one of these words."""
        found = [
            line
            for life in range(1, self.lives + 1)
            for line in self._log_of(life).read_text().splitlines()
            if any(word in line for word in words)
        ]
        return found[-LINES:]

    def _log_of(self, life: int) -> pathlib.Path:
        return self._folder / f'agent-{life}.log'

    def _begin(self) -> None:
        self._log = self._log_of(self.lives)
        self._read = 0
        self.cycles: list[Cycle] = []
        self.memory: list[int] = []

    def _resident(self) -> int:
        status = pathlib.Path(f'/proc/{self._process.pid}/status').read_text()
        (line,) = (r for r in status.splitlines() if r.startswith('VmRSS'))
        return int(line.split()[1])
