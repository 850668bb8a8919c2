# SPDX-License-Identifier: Apache-2.0
"""The contract class of ``exec:PATH``: it checks a program like any driver.

The suite loads it by an entry point; the driver does not import it. A program
has its world in a second program beside it, ``PATH.world``, which its author
writes. Each command that the world names is replaced by a stand-in on the PATH
of the program, so that the suite sees the calls and makes them fail.
"""

import json
import os
import pathlib
import pwd
import shutil
import socketserver
import subprocess
import sys
import threading
import typing
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import pytest

from compute_agent import errors, testing, yaml_file

from . import driver, program

SUFFIX = '.world'
_SECONDS = 30  # for each call of the program of the world
# So long a program may take in the checks; each time-out takes as long.
_TIMEOUT = 4
_MOST = 2  # calls of a command in one cycle that are made to fail
_SCHEMA: Mapping[str, Any] = {
    'description': 'an object with commands:',
    'type': 'object',
    'properties': {
        'commands': {
            'description': 'an object of command to the path of what it runs',
            'type': 'object',
            'additionalProperties': {'type': 'string'},
        },
        'several_nodes': {
            'description': 'true if the world has the call "nodes"',
            'type': 'boolean',
        },
        'silent': {
            'description': 'an object of command to fault to reason',
            'type': 'object',
            'additionalProperties': {
                'description': 'an object of HALF, EMPTY or GARBAGE to the '
                'reason',
                'type': 'object',
                'propertyNames': {'enum': ['HALF', 'EMPTY', 'GARBAGE']},
                'additionalProperties': {'type': 'string'},
            },
        },
        'environment': {
            'description': 'an object of variable to text',
            'type': 'object',
            'additionalProperties': {'type': 'string'},
        },
    },
    'additionalProperties': False,
}
# The program in place of a command: it runs the command, and prints what the
# suite makes of the answer.
_STAND_IN = """\
#!{python} -IS
import json, socket, subprocess, sys, time
done = subprocess.run([{path!r}, *sys.argv[1:]], stdout=subprocess.PIPE)
with socket.socket(socket.AF_UNIX) as suite:
    suite.connect({address!r})
    said = {{'command': {name!r}, 'status': done.returncode,
            'answer': done.stdout.decode('utf-8', 'surrogateescape')}}
    suite.sendall(json.dumps(said).encode() + b'\\n')
    told = json.loads(suite.makefile().readline())
if told['problem'] == 'time-out':
    time.sleep(3600)
sys.stdout.buffer.write(told['answer'].encode('utf-8', 'surrogateescape'))
sys.stdout.flush()
sys.exit(told['problem'] or told['status'])
"""


class Command:
    """A command that the program runs; a seam of its world."""

    def answer(self, text: str) -> Any:
        """Return what the command printed, parsed if it is JSON."""
        try:
            return json.loads(text)
        except ValueError:
            return text


class World:
    """The world of a program, by the program beside it.

    :param folder: the working directory of the program, with the stand-ins
    """

    def __init__(self, path: str, folder: pathlib.Path) -> None:
        self._path = path + SUFFIX
        self._folder = folder
        self.commands: dict[str, Command] = {}
        self.environment: dict[str, str] = {}
        self.is_given = pathlib.Path(self._path).exists()
        self.has_nodes = False
        self.silent: Mapping[str, Mapping[str, str]] = {}
        if self.is_given:
            self._start()

    def change(self) -> None:
        """Alter the world so that a description changes."""
        self._call('change')

    def nodes(self, number: int) -> None:
        """Have this number of nodes."""
        self._call('nodes', str(number))

    def _start(self) -> None:
        place = f'{self._path} start'
        try:
            found = yaml_file.parse(self._call('start'), place, _SCHEMA).data
        except yaml_file.FileError as exc:
            raise errors.ConfigError(str(exc)) from exc
        self.has_nodes = found.get('several_nodes', False)
        self.silent = found.get('silent', {})
        self.environment.update(found.get('environment', {}))
        commands = found.get('commands', {})
        if commands:
            self._stand_in_for(commands)

    def _stand_in_for(self, commands: Mapping[str, str]) -> None:
        bin_ = self._folder / 'stand-ins'
        bin_.mkdir()
        for name, path in commands.items():
            real = shutil.which(path or name)
            if real is None:
                raise errors.ConfigError(
                    f'{self._path} start: there is no command {path or name} '
                    'on this host: install it, or print the path of another'
                )
            self.commands[name] = Command()
            file = bin_ / name
            file.write_text(
                _STAND_IN.format(
                    python=sys.executable,
                    path=real,
                    name=name,
                    address=self.address,
                )
            )
            file.chmod(0o755)
        path = f'{bin_}:{os.environ.get("PATH", os.defpath)}'
        self.environment['PATH'] = path

    @property
    def address(self) -> str:
        """The socket at which the suite answers the stand-ins."""
        return str(self._folder / 'suite')

    def _call(self, *words: str) -> str:
        try:
            done = subprocess.run(  # noqa: S603 (the author's program)
                [self._path, *words],
                cwd=self._folder,
                capture_output=True,
                timeout=_SECONDS,
                text=True,
                check=False,
            )
        except PermissionError as exc:
            raise errors.ConfigError(
                f'the world {self._path} cannot be run; run "chmod +x '
                f'{self._path}"'
            ) from exc
        except (OSError, subprocess.TimeoutExpired) as exc:
            raise errors.ConfigError(
                f'the world {self._path} {" ".join(words)}: {exc}'
            ) from exc
        if done.returncode:
            said = ' '.join(done.stderr.split())[-200:] or (
                'it said nothing on stderr'
            )
            raise errors.ConfigError(
                f'the world {self._path} {" ".join(words)}: it ended with '
                f'status {done.returncode}: {said}'
            )
        return done.stdout


class _Handler(socketserver.StreamRequestHandler):
    """Decides what a stand-in answers in place of its command."""

    server: '_Server'

    def handle(self) -> None:
        """Answer one stand-in."""
        said = json.loads(self.rfile.readline())
        told = {'answer': '', 'status': said['status'], 'problem': ''}
        command = self.server.commands[said['command']]
        try:
            answer = command.answer(said['answer'])
        except TimeoutError:
            told['problem'] = 'time-out'
        except Exception as exc:  # noqa: BLE001 (a fault of the suite's)
            told['problem'] = str(exc)
        else:
            is_text = isinstance(answer, str)
            told['answer'] = answer if is_text else json.dumps(answer)
        self.wfile.write(json.dumps(told).encode() + b'\n')


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True

    def __init__(self, address: str, commands: Mapping[str, Command]) -> None:
        self.commands = commands
        super().__init__(address, _Handler)


def _failed(why: str) -> errors.DriverError:
    return errors.DriverError(f'the program: {why}')


class ExecContract(testing.DriverContract):
    """The contract of one program."""

    driver = 'exec'
    path: ClassVar[str] = ''

    @classmethod
    def for_target(cls, path: str) -> type[typing.Self]:
        """Return the contract class of the program with this path."""
        name = f'exec:{path}'
        driver.ExecDriver.for_target(path)
        program.Program(path, timeout=_TIMEOUT).check()
        members = {'driver': name, 'path': path}
        made = type(f'{cls.__name__}Of', (cls,), members)
        return typing.cast(type[typing.Self], made)

    @pytest.fixture
    def world(self, tmp_path: pathlib.Path) -> Iterator[testing.World]:
        """Yield the world of the program."""
        found = World(self.path, tmp_path)
        conf = {
            'timeout': _TIMEOUT,
            'user': pwd.getpwuid(os.geteuid()).pw_name,
            'environment': ','.join(
                f'{name}:{value}' for name, value in found.environment.items()
            ),
        }
        seams = [
            testing.Seam(
                'program',
                program.Program,
                'run',
                timeout=lambda: _failed('it did not end in time'),
                error=lambda: _failed('it ended with status 1'),
                is_remote=False,
                is_derived=True,
            ),
            *(
                testing.Seam(
                    name,
                    command,
                    'answer',
                    most=_MOST,
                    silent={
                        testing.Fault[fault]: reason
                        for fault, reason in found.silent.get(name, {}).items()
                    },
                )
                for name, command in found.commands.items()
            ),
        ]
        with _Server(found.address, found.commands) as server:
            thread = threading.Thread(target=server.serve_forever, daemon=True)
            thread.start()
            yield testing.World(
                conf={'exec': conf},
                seams=seams,
                change=found.change if found.is_given else None,
                nodes=found.nodes if found.has_nodes else None,
            )
            server.shutdown()
            thread.join()
