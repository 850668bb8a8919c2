# SPDX-License-Identifier: Apache-2.0
"""The agent as a daemon that is killed and started again on its state.

Each life has a log of its own; the cycles are read from it.
"""

import contextlib
import pathlib
import re
import sys
import time
from collections.abc import Sequence

from demo import server_process

PROGRAM = ('-m', 'compute_agent.cmd.app.main')
_CYCLE = re.compile(
    rb'^(?P<at>[\d.]+) cycle: \d+ done, (?P<waiting>\d+) waiting, '
    rb'(?P<failed>\d+) failed; (?P<operations>\d+) operations',
    re.MULTILINE,
)
_NODE = re.compile(
    rb'^[\d.]+ (?P<node>[\w-]+) \(\S+\): (?P<word>failed|waiting|no trouble)',
    re.MULTILINE,
)


class Daemon:
    """One agent, in as many lives as it needs.

    :ivar lives: how often it was started
    :ivar cycles: of all lives, how many
    :ivar ends: of this life, when each cycle ended
    :ivar operations: of this life's cycles
    :ivar memory: of this life, KiB resident after each cycle
    """

    def __init__(
        self,
        folder: pathlib.Path,
        tree: pathlib.Path,
        url: str,
        program: Sequence[str] = PROGRAM,
    ) -> None:
        self._folder = folder
        self._program = program
        self._life = contextlib.ExitStack()
        self._file = folder / 'agent.conf'
        self._file.write_text(_configuration(folder, tree, url))
        self.lives = 0
        self.cycles = 0
        self.tracebacks: list[pathlib.Path] = []
        self._begin()

    def start(self) -> None:
        """Begin a life."""
        self.lives += 1
        self._begin()
        command = [sys.executable, *self._program]
        command += ['--config-file', str(self._file), 'run']
        running = server_process.running(command, self._log)
        self._process = self._life.enter_context(running)

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

    def look(self) -> int:
        """Read the log on; return how many cycles it tells of.

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
        found = list(_CYCLE.finditer(whole))
        for match in found:
            self.ends.append(float(match['at']))
            self.operations.append(int(match['operations']))
            self.troubles.append(int(match['waiting']) + int(match['failed']))
        if found:
            self.cycles += len(found)
            self.memory.append(self._resident())
        return len(found)

    def since(self, moment: float) -> list[int]:
        """Return the operations of each cycle that began after a moment."""
        pairs = zip([0.0, *self.ends], self.operations, strict=False)
        return [some for began, some in pairs if began >= moment]

    def wait(self, cycles: int, patience: float) -> list[int]:
        """Wait for cycles that begin from now on; return their operations."""
        since, deadline = time.time(), time.monotonic() + patience
        while len(self.since(since)) < cycles:
            assert time.monotonic() < deadline, (
                f'no {cycles} cycles in {patience} s: '
                f'{server_process.last_error(self._log)}'
            )
            time.sleep(0.1)
            self.look()
        return self.since(since)

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

    def _begin(self) -> None:
        self._log = self._folder / f'agent-{self.lives}.log'
        self._read = 0
        self.ends: list[float] = []
        self.operations: list[int] = []
        self.troubles: list[int] = []
        self.memory: list[int] = []

    def _resident(self) -> int:
        status = pathlib.Path(f'/proc/{self._process.pid}/status').read_text()
        (line,) = (r for r in status.splitlines() if r.startswith('VmRSS'))
        return int(line.split()[1])


def _configuration(folder: pathlib.Path, tree: pathlib.Path, url: str) -> str:
    return (
        '[DEFAULT]\ncompute_driver = fake\nhost = chaos\n'
        f'state_path = {folder / "state"}\n'
        'update_resources_interval = 1\ndebug = true\n'
        'logging_default_format_string = %(created).6f %(message)s\n'
        f'[fake]\nfile = {tree}\n'
        f'[placement]\nauth_type = admin_token\nendpoint = {url}\n'
        'token = admin\n'
    )
