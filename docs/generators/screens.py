# SPDX-License-Identifier: Apache-2.0
"""Screens of a terminal with real commands: ``make screens`` writes them.

A host that an agent reports to the embedded placement, on a machine of its
own: two nodes of the fake driver, a daemon, and an operator who changes things;
and the first sync of a fleet, half-way and at its end.
Each screen is what the program printed, with the paths as the package has
them. Only the commands in ``SCREENS`` are shown.
"""

import contextlib
import dataclasses
import fcntl
import io
import os
import pathlib
import pty
import re
import shlex
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
from collections.abc import Iterator

FOLDER = pathlib.Path(__file__).parents[1] / 'pictures' / 'screens'
PROGRAM = 'compute-agent'
WIDEST = 130  # characters of a terminal
PATIENCE = 120.0  # seconds of a command, and of the daemon's first cycle
PLACES = {'/state': '/var/lib/compute-agent', '': '/etc/compute-agent'}

CONF = """\
[DEFAULT]
compute_driver = fake
host = cn1
state_path = {folder}/state
periodic_fuzzy_delay = 0
update_resources_interval = 600

[compute_agent]
# Of two nodes, nothing is a mass: each loss asks a person.
max_removed_percent = 0

[placement]
auth_type = admin_token
endpoint = http://127.0.0.1:{port}
token = admin
embedded_port = {port}

[fake]
file = {folder}/fake.yaml
"""
NODES = """\
nodes:
  - name: cn1
    inventories: {{VCPU: {cpus}, MEMORY_MB: {{total: 131072, reserved: 2048}}}}
    traits: [HW_CPU_X86_AVX2, HW_CPU_X86_AESNI, CUSTOM_GOLD]
    children:
      - name: cn1_numa0
        inventories: {{VGPU: 4}}
        traits: [HW_NUMA_ROOT]
  - name: cn2
    inventories: {{VCPU: 64, MEMORY_MB: 131072}}
    traits: [HW_CPU_X86_AVX2]
"""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """A command whose output is shown.

    :ivar name: of the file, without its ending
    :ivar code: the exit code, so that a failure is no screen
    """

    name: str
    command: str
    code: int

    @property
    def file(self) -> pathlib.Path:
        """Return the file of the picture."""
        return FOLDER / f'{self.name}.svg'


PLAN = Screen(name='plan', command='plan', code=2)
DOCTOR = Screen(name='doctor', command='doctor', code=0)
STATUS = Screen(name='status', command='status', code=0)
HISTORY = Screen(
    name='history',
    command='history cn1 -c Time -c Who -c Provider -c What -c Changes',
    code=0,
)
FLEET = Screen(name='fleet', command='sync', code=0)
AUDIT = Screen(name='audit', command='audit --unchanged-for 0', code=2)
SCREENS = (PLAN, DOCTOR, STATUS, HISTORY, AUDIT, FLEET)
FLEET_NODES = 1000


class Terminal:
    """A terminal on which a person types commands of the agent.

    :param folder: the configuration, the state and the file of nodes
    """

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder
        self._port = _free_port()
        text = CONF.format(folder=folder, port=self._port)
        conf = folder / 'compute-agent.conf'
        conf.write_text(text)
        conf.chmod(0o600)  # it has a password
        self.describe(cpus=64)

    def describe(self, *, cpus: int) -> None:
        """Have the driver report so many processors of the first node."""
        (self._folder / 'fake.yaml').write_text(NODES.format(cpus=cpus))

    def run(self, command: str, *codes: int) -> str:
        """Run a command; return what it printed."""
        ended = subprocess.run(  # noqa: S603 (commands of this module)
            [*self._program(), *shlex.split(command)],
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
            env={**os.environ, 'COLUMNS': str(WIDEST), 'CLIFF_FIT_WIDTH': '1'},
        )
        printed = ended.stdout + ended.stderr
        if ended.returncode not in codes:
            raise SystemExit(f'{command}: {ended.returncode}\n{printed}')
        for below, place in PLACES.items():
            printed = printed.replace(f'{self._folder}{below}', place)
        return printed

    def describe_fleet(self, nodes: int) -> None:
        """Have the driver report so many equal nodes."""
        (self._folder / 'fake.yaml').write_text(
            'nodes:\n'
            + ''.join(
                f'  - {{name: cn{number}, traits: [CUSTOM_GOLD], '
                'inventories: {VCPU: 64, MEMORY_MB: 131072}}\n'
                for number in range(nodes)
            )
        )

    def watch(self, command: str) -> str:
        """Run a command on a terminal of its own.

        Return its bar of progress as it was half-way, and what stayed.
        """
        ours, its = pty.openpty()
        size = struct.pack('HHHH', 40, WIDEST, 0, 0)
        fcntl.ioctl(its, termios.TIOCSWINSZ, size)
        with (
            os.fdopen(ours, 'rb', buffering=0) as screen,
            subprocess.Popen(  # noqa: S603 (commands of this module)
                [*self._program(), *shlex.split(command)],
                stdout=its,
                stderr=its,
                env={**os.environ, 'TERM': 'xterm-256color'},
            ),
        ):
            os.close(its)
            shown = b''.join(_until_it_hangs_up(screen)).decode()
        frames = [
            frame
            for frame in re.split(r'[\r\n]+|\x1b\[[?0-9;]*[A-Zhl]', shown)
            if frame.strip()
        ]
        bars = [frame for frame in frames if f'/{FLEET_NODES}' in frame]
        after = len(frames) - frames[::-1].index(bars[-1])
        return '\n'.join([bars[len(bars) // 2], *frames[after:]])

    @contextlib.contextmanager
    def serving(self, command: str, ready: str) -> Iterator[None]:
        """Run a command that goes on, until the context ends.

        :param ready: the words with which it says that it is ready
        """
        with subprocess.Popen(  # noqa: S603 (commands of this module)
            [*self._program(), *shlex.split(command)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as running:
            heard = threading.Event()
            reader = threading.Thread(
                target=_read, args=(running, ready, heard), daemon=True
            )
            reader.start()
            try:
                if not heard.wait(PATIENCE):
                    raise SystemExit(f'{command} never said "{ready}"')
                yield
            finally:
                running.terminate()

    def _program(self) -> list[str]:
        file = self._folder / 'compute-agent.conf'
        module = 'compute_agent.cmd.app.start'
        return [sys.executable, '-m', module, '--config-file', str(file)]


def _read(
    running: 'subprocess.Popen[str]', ready: str, heard: threading.Event
) -> None:
    """Read to the end, so that no pipe fills."""
    for line in running.stdout or ():
        if ready in line:
            heard.set()


def _until_it_hangs_up(screen: io.FileIO) -> Iterator[bytes]:
    """Yield what a terminal shows until its program ends."""
    with contextlib.suppress(OSError):  # Linux tells the end by an error
        while part := screen.read(65_536):
            yield part


def _free_port() -> int:
    with socket.create_server(('127.0.0.1', 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


def session(folder: pathlib.Path) -> Iterator[tuple[Screen, str]]:
    """Yield each screen with what its command printed."""
    terminal = Terminal(folder)

    def show(screen: Screen) -> tuple[Screen, str]:
        return screen, terminal.run(screen.command, screen.code)

    with terminal.serving('placement serve', 'http://'):
        yield show(PLAN)
        with terminal.serving('run', 'cycle: '):
            yield show(DOCTOR)
            for command in (
                'resource provider trait remove cn1 CUSTOM_GOLD',
                'resource provider inventory set cn1 --amend --resource VCPU:reserved=2',
                'sync',
            ):
                terminal.run(command, 0)
            terminal.describe(cpus=8)
            terminal.run('sync', 0, 1)
            yield show(STATUS)
            yield show(HISTORY)
            for command in (
                'trait create CUSTOM_OLD',
                'resource provider create cn7',
            ):
                terminal.run(command, 0)
            yield show(AUDIT)
    (folder / 'fleet').mkdir()
    terminal = Terminal(folder / 'fleet')
    terminal.describe_fleet(FLEET_NODES)
    with terminal.serving('placement serve', 'http://'):
        yield FLEET, terminal.watch(FLEET.command)


def draw(screen: Screen, printed: str) -> str:
    """Return what a command printed as a terminal in SVG."""
    from rich import console, text  # noqa: PLC0415 (only here)

    lines = f'$ {PROGRAM} {screen.command}\n{printed.rstrip()}'
    widest = max(map(len, lines.splitlines()))
    paper = console.Console(
        record=True,
        width=min(max(widest, 60), WIDEST),
        force_terminal=True,
        file=io.StringIO(),
    )
    prompt, _, rest = lines.partition('\n')
    paper.print(text.Text(prompt, style='bold'))
    paper.print(text.Text.from_ansi(rest))
    return paper.export_svg(
        title=f'{PROGRAM} {screen.command.split()[0]}',
        code_format=_without_fonts(),
        unique_id=f'screen-{screen.name}',
    )


def _without_fonts() -> str:
    """Return rich's picture of a terminal with the reader's own font.

    It would name another host, from which a browser fetches the font. Some
    viewers show the blanks before a line only if they are told to.
    """
    from rich import _export_format  # noqa: PLC0415 (its default)

    plain = re.sub(
        r'@font-face \{\{.*?\}\}',
        '',
        _export_format.CONSOLE_SVG_FORMAT,
        flags=re.DOTALL,
    )
    return plain.replace('Fira Code, monospace', 'monospace').replace(
        '<svg ', '<svg xml:space="preserve" '
    )


def main() -> None:
    """Write all screens."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix='screens') as folder:
        for screen, printed in session(pathlib.Path(folder)):
            screen.file.write_text(draw(screen, printed))
            sys.stdout.write(f'{printed}\n')


if __name__ == '__main__':
    main()
