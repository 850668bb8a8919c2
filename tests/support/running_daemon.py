# SPDX-License-Identifier: Apache-2.0
"""The daemon's loop and its control socket around an agent, in this process.

The parts are those that ``run`` connects: signals, listeners, loop, socket.
``commands`` runs the commands that ask it, with the state directory of the
agent in their configuration.
"""

import collections.abc
import contextlib
import dataclasses
import pathlib
import threading
import typing

import pytest

from compute_agent.cmd.app import main, signals
from compute_agent.cmd.control import between_cycles, daemon
from compute_agent.cmd.run import cycle_listeners, status
from compute_agent.cycle import service
from compute_agent.state.database import lock

PATIENCE = 60  # seconds; only a hang takes as long


class RunningDaemon:
    """A daemon in a thread; its cycles begin only if somebody asks.

    :ivar gate: a cycle waits at its beginning while it is cleared
    :ivar began: counts the cycles that began
    """

    def __init__(self, agent: typing.Any, folder: pathlib.Path) -> None:
        self.requests = signals.DaemonSignals()
        self.control = daemon.Control(
            'a share',
            lambda: agent.state.agent_id,
            self.requests.request_cycle,
        )
        self.status = status.DaemonStatus()
        self.gate = threading.Event()
        self.gate.set()
        self.began = threading.Semaphore(0)
        self._agent = agent
        self._folder = folder
        self._listeners = cycle_listeners.CycleListeners(
            [self.status, self.control.states, self.control.cycles]
        )
        self._socket = contextlib.ExitStack()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @contextlib.contextmanager
    def running(self) -> collections.abc.Iterator[None]:
        """Run it, with its first cycle done."""
        with lock.hold(self._folder, 'a daemon of a test'), self._socket:
            self._socket.enter_context(
                self.control.serving(
                    self._folder,
                    self.status,
                    self._agent.state.approvals,
                    self._agent.client.broken,
                    between_cycles.Records(self._agent.state),
                )
            )
            first = self.control.cycles.request()
            self._thread.start()
            first.result(PATIENCE)
            try:
                yield
            finally:
                self.gate.set()
                self.requests.set('the test is over')
                self._thread.join(PATIENCE)

    def close_socket(self) -> None:
        """Close the control socket, as a daemon that stops does."""
        self._socket.close()

    def cycle(self) -> None:
        """Have a cycle run; return after its end."""
        self.control.cycles.request().result(PATIENCE)

    def _run(self) -> None:
        service.Service(self._cycle, interval=86_400, stop=self.requests).run()

    def _cycle(self) -> typing.Any:
        self.requests.take_requests()
        self.control.cycles.work_off()
        self._listeners.begin()
        self.began.release()
        self.gate.wait(PATIENCE)
        try:
            results = self._agent.tracker.sync()
        except Exception as exc:
            self._listeners.fail(exc)
            raise
        self._listeners.end(results)
        return results


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """The result of a command."""

    code: int
    out: str
    err: str


Commands: typing.TypeAlias = collections.abc.Callable[..., Said]


@pytest.fixture
def commands(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> Commands:
    """Run commands whose state directory is ``tmp_path / 'state'``."""
    config = tmp_path / 'agent.conf'
    config.write_text(
        f'[DEFAULT]\nstate_path = {tmp_path / "state"}\n'
        'compute_driver = fake\n'
    )

    def run(*words: str) -> Said:
        capsys.readouterr()
        code = main.main(['--config-file', str(config), *words])
        out, err = capsys.readouterr()
        return Said(code=code, out=out, err=err)

    return run


@pytest.fixture
def running(
    tmp_path: pathlib.Path,
) -> collections.abc.Iterator[collections.abc.Callable[..., RunningDaemon]]:
    """Start a daemon around an agent; it is stopped after the test."""
    with contextlib.ExitStack() as stack:

        def start(agent: typing.Any) -> RunningDaemon:
            one = RunningDaemon(agent, tmp_path / 'state')
            stack.enter_context(one.running())
            return one

        yield start
