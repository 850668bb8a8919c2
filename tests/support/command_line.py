# SPDX-License-Identifier: Apache-2.0
"""The program as a person runs it: files, a command, what it prints.

A pytest plugin: ``cli`` runs commands in this process against a placement of
its own behind a port, ``daemon`` starts one that runs on.
"""

import collections.abc
import contextlib
import dataclasses
import io
import json
import logging
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import typing

import placement_fixture
import pytest
import requests
import yaml

from compute_agent.cmd.app import main
from compute_agent.testing.fixtures import in_process, other_writer

Options: typing.TypeAlias = dict[str, object]

FAKE_FILE = """
nodes:
  - name: cn1
    uuid: 11111111-1111-4111-8111-111111111111
    inventories: {VCPU: 8, MEMORY_MB: {total: 4096, reserved: 512}}
    traits: [HW_CPU_X86_AVX2, CUSTOM_GOLD]
"""
HEADERS = {
    'X-Auth-Token': 'admin',
    'OpenStack-API-Version': 'placement 1.39',
}
# Makes the terminal on stdin its own, and becomes what the arguments say.
_LEADING = (
    'import fcntl, os, sys, termios; '
    'fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])'
)
# Seconds until a daemon that says nothing has failed. Tests let it wait for
# longer than this, so a daemon that ends was woken.
PATIENCE = 300
# The program; it prints how long it waits for its threads at the most. So a
# test can tell without a clock whether they ended by themselves.
_TELLING = """
import sys, threading

join = threading.Thread.join

def told(thread, timeout=None):
    print(f'waits {timeout} s for the thread {thread.name}', flush=True)
    join(thread, %s)

threading.Thread.join = told
from compute_agent.cmd.app import start
sys.exit(start.main())
"""
# It gets the signals that other daemons take for requests as it is imported.
_USER_SIGNALS = """
import os, signal, sys
from compute_agent.cmd.app import signals, start

ignore = signals.ignore_user_signals

def ignored():
    ignore()
    os.kill(os.getpid(), signal.SIGUSR1)
    os.kill(os.getpid(), signal.SIGUSR2)

signals.ignore_user_signals = ignored
sys.exit(start.main())
"""
# Its fake driver hints at a change for each SIGUSR1, from another thread.
_HINTING = """
import signal, sys, threading
from compute_agent.cmd.app import start
from drivers.fake.driver import FakeDriver

def subscribe(self, wake):
    tell = threading.Thread(target=wake)
    signal.signal(signal.SIGUSR1, lambda *_: tell.start())

FakeDriver.subscribe = subscribe
FakeDriver.close = lambda self: print('the driver is closed', flush=True)
sys.exit(start.main())
"""
HINTING = ('-c', _HINTING)
USER_SIGNALS = ('-c', _USER_SIGNALS)
TELLING = ('-c', _TELLING % 'timeout')
# It waits for its threads as long as they take, on however busy a machine: if
# it ends, all of them did.
PATIENT = ('-c', _TELLING % 'None')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of a command: exit code, stdout, stderr."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> typing.Any:
        """Stdout as JSON."""
        return json.loads(self.out)

    @property
    def line(self) -> str:
        """The one line on stderr; anything else fails the test."""
        assert 'Traceback' not in self.err
        assert self.err.count('\n') == 1, self.err
        assert self.err.startswith('compute-agent: ')
        return self.err.strip()


class CommandLine:
    """Configuration files in a folder, and commands that read them.

    :ivar others: another writer on the same placement
    """

    def __init__(
        self,
        folder: pathlib.Path,
        server: placement_fixture.ServedPlacement,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        self.folder = folder
        self.url = server.url
        self.serve_placement = server.listen
        self.stop_placement = server.stop
        self._operator = server.operator
        self.others = other_writer.OtherWriter(self)
        self._capsys = capsys
        self.fake_file = folder / 'fake.yaml'
        self.state_path = folder / 'state'
        self.config = folder / 'agent.conf'
        self.provider_configs = folder / 'provider_config'
        self.provider_configs.mkdir()
        self.fake_file.write_text(FAKE_FILE)
        self.configure()

    def configure(
        self,
        placement: Options | None = None,
        agent: Options | None = None,
        **options: object,
    ) -> None:
        """Write the configuration; options go to [DEFAULT].

        A daemon begins at once, it does not look for changes between its
        cycles, and capacity may fall as far as it likes, if they do not say
        otherwise.

        :param agent: the options of [compute_agent]
        """
        default: Options = {
            'compute_driver': 'fake',
            'host': 'cn1',
            'state_path': self.state_path,
            'periodic_fuzzy_delay': 0,
            **options,
        }
        service: Options = {
            'auth_type': 'admin_token',
            'endpoint': self.url,
            'token': 'admin',
            **(placement or {}),
        }
        groups: dict[str, Options] = {
            'DEFAULT': default,
            'placement': service,
            'compute': {'provider_config_location': self.provider_configs},
            'compute_agent': {'changes_interval': 0, **(agent or {})},
            'fake': {'file': self.fake_file},
            # Whatever libvirt this machine runs is none of a test's business.
            'libvirt': {
                'connection_uri': 'qemu+unix:///system?socket=/nowhere'
            },
        }
        self.config.write_text(
            '\n'.join(
                f'[{name}]\n'
                + '\n'.join(
                    f'{k} = {v}' for k, v in values.items() if v is not None
                )
                for name, values in groups.items()
            )
        )

    def describe_node(
        self, uuid: str, traits: collections.abc.Sequence[str]
    ) -> None:
        """Have the fake driver describe one node, with 8 VCPU and these traits."""
        node = {
            'name': 'cn1',
            'uuid': uuid,
            'inventories': {'VCPU': 8},
            'traits': list(traits),
        }
        self.fake_file.write_text(yaml.safe_dump({'nodes': [node]}))

    def run(self, *words: str) -> Result:
        """Run a command in this process."""
        self._capsys.readouterr()
        code = main.main(['--config-file', str(self.config), *words])
        out, err = self._capsys.readouterr()
        return Result(code=code, out=out, err=err)

    def process(
        self, *words: str, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in a process of its own, with more variables."""
        return subprocess.run(
            [
                *(sys.executable, '-m', 'compute_agent.cmd.app.start'),
                *('--config-file', str(self.config), *words),
            ],
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )

    def placement(
        self, path: str, method: str = 'GET', body: object = None
    ) -> typing.Any:
        """Ask placement as its operator; return the decoded answer."""
        answer = self._operator.request(
            method, f'{in_process.URL}{path}', json=body, headers=HEADERS
        )
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def operate(
        self, method: str, path: str, body: object = None
    ) -> typing.Any:
        """Ask placement, as ``others`` does it."""
        return self.placement(path, method, body)

    def providers(self) -> dict[str, str]:
        """Return the providers in placement: name → uuid."""
        listed = self.placement('/resource_providers')['resource_providers']
        return {one['name']: one['uuid'] for one in listed}


class Daemon:
    """A ``compute-agent run``, or another, in a process of its own."""

    def __init__(
        self,
        config: pathlib.Path,
        log: pathlib.Path,
        *words: str,
        terminal: int | None = None,
        program: tuple[str, ...] = ('-m', 'compute_agent.cmd.app.start'),
        command: str = 'run',
    ) -> None:
        """Start it.

        :param terminal: the end of a terminal that becomes its own
        :param program: what Python is to run
        """
        self._log = log
        leads = [] if terminal is None else [sys.executable, '-c', _LEADING]
        with log.open('wb') as out:
            self.process = subprocess.Popen(
                [
                    *leads,
                    sys.executable,
                    *program,
                    '--config-file',
                    str(config),
                    command,
                    *words,
                ],
                stdin=terminal,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=terminal is not None,
                env={**os.environ, 'PYTHONUNBUFFERED': '1'},
            )

    @property
    def said(self) -> str:
        """All it has printed so far."""
        return self._log.read_text()

    def wait_for(self, text: str, times: int = 1) -> None:
        """Return when it has said this so many times; fail if it does not."""
        deadline = time.monotonic() + PATIENCE
        while True:
            ended = self.process.poll()  # first, as it may say it and end
            if self.said.count(text) >= times:
                return
            assert ended is None, f'ended with {ended}:\n{self.said}'
            assert time.monotonic() < deadline, self.said
            time.sleep(0.02)

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal; return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


@pytest.fixture(autouse=True)
def logging_as_before() -> collections.abc.Iterator[None]:
    """Take back what a command did to this process's logging."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    before = {n: (one.level, one.disabled) for n, one in _loggers()}
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    for name, one in _loggers():
        was, one.disabled = before.get(name, (logging.NOTSET, False))
        if one.level != was:  # to set it empties the cache of each logger
            one.setLevel(was)


def _loggers() -> list[tuple[str, logging.Logger]]:
    return [
        (name, one)
        for name, one in logging.root.manager.loggerDict.items()
        if isinstance(one, logging.Logger)
    ]


@pytest.fixture
def cli(
    placement_server: placement_fixture.ServedPlacement,
    tmp_path: pathlib.Path,
    capsys: pytest.CaptureFixture[str],
) -> CommandLine:
    """The command line, with the fake driver and a placement of its own."""
    return CommandLine(tmp_path, placement_server, capsys)


@pytest.fixture
def daemon(
    tmp_path: pathlib.Path,
) -> collections.abc.Iterator[collections.abc.Callable[..., Daemon]]:
    """Start daemons; what still runs at the end is killed."""
    running: list[Daemon] = []

    def start(config: pathlib.Path, *words: str, **how: typing.Any) -> Daemon:
        log = tmp_path / f'daemon{len(running)}.log'
        running.append(Daemon(config, log, *words, **how))
        return running[-1]

    yield start
    for one in running:
        one.process.kill()
        one.process.wait()


@contextlib.contextmanager
def kept_port() -> collections.abc.Iterator[int]:
    """A port that nobody listens on, and that only this test can bind.

    The socket that is bound to it keeps the kernel from giving the port to
    another program. It does not listen, so with SO_REUSEADDR a server of this
    test can.
    """
    with socket.socket() as keeper:
        keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        keeper.bind(('127.0.0.1', 0))
        yield keeper.getsockname()[1]


@pytest.fixture
def unused_port() -> collections.abc.Iterator[int]:
    """A port as ``kept_port`` gives it."""
    with kept_port() as port:
        yield port


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Each request over a real connection, as method and path.

    Those of the program and of a daemon in this process; what the test itself
    asks the placement of this process needs no connection.
    """
    seen: list[str] = []
    send = requests.adapters.HTTPAdapter.send

    def note(
        self: requests.adapters.HTTPAdapter,
        request: requests.PreparedRequest,
        *args: typing.Any,
        **kwargs: typing.Any,
    ) -> requests.Response:
        seen.append(f'{request.method} {request.path_url}')
        return send(self, request, *args, **kwargs)

    monkeypatch.setattr(requests.adapters.HTTPAdapter, 'send', note)
    return seen


class Typing(io.StringIO):
    """A terminal at which a person types a text.

    :param meanwhile: what happens before the text is read
    """

    def __init__(
        self, text: str, meanwhile: collections.abc.Callable[[], object]
    ) -> None:
        super().__init__(text)
        self._meanwhile = meanwhile

    def isatty(self) -> bool:
        return True

    def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]
        self._meanwhile()
        return super().readline(-1 if size is None else size)


@pytest.fixture
def answers(
    monkeypatch: pytest.MonkeyPatch,
) -> collections.abc.Callable[..., None]:
    """Put a person at the terminal, who types this: ``answers('y')``."""

    def typed(
        text: str,
        meanwhile: collections.abc.Callable[[], object] = lambda: None,
    ) -> None:
        monkeypatch.setattr(sys, 'stdin', Typing(text, meanwhile))

    return typed


def pseudo_terminal() -> tuple[int, int]:
    """Return the descriptors of a terminal's two ends, the person's first.

    A test is skipped on a machine that has none.
    """
    try:
        return os.openpty()
    except OSError as exc:
        pytest.skip(f'this machine gives no pseudo-terminal: {exc}')


class HangingPort:
    """A port that takes connections and never answers."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self.number = listener.getsockname()[1]
        self._taken: list[socket.socket] = []

    def wait_for_a_connection(self) -> None:
        """Return when somebody has connected."""
        self._listener.settimeout(PATIENCE)
        self._taken.append(self._listener.accept()[0])

    def close(self) -> None:
        """Close what was taken."""
        for taken in self._taken:
            taken.close()


@pytest.fixture
def hanging_port() -> collections.abc.Iterator[HangingPort]:
    """A port that takes connections and never answers."""
    with socket.create_server(('127.0.0.1', 0)) as listener:
        port = HangingPort(listener)
        yield port
        port.close()
