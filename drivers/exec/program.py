# SPDX-License-Identifier: Apache-2.0
"""Run a program for one question, within limits of time and size.

The program gets the name of the call as its argument and the question on its
standard input. It runs in a session of its own, so that it ends together with
everything that it started. ``driver.py`` calls this; this module does not look
into questions and answers.
"""

import contextlib
import dataclasses
import errno
import logging
import os
import pathlib
import pwd
import select
import signal
import stat
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from typing import IO, Any

from compute_agent import error_text, errors, file_trust

LOG = logging.getLogger(__name__)

LARGEST = 16_000_000  # bytes of an answer
UNSUPPORTED = 3  # the exit status for a call that the program does not have
NOBODY = 'nobody'

_LOOK = 50  # milliseconds between two looks at the size of an answer
_TAIL = 4096  # bytes of its stderr in which the last line is looked for
_SHOWN = 200  # characters of that line
_ENVIRONMENT = {
    'PATH': '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    'LANG': 'C.UTF-8',
    'HOME': '/',
}


class Unsupported(Exception):
    """The program says that it does not have this call."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The user as whom a program runs."""

    uid: int
    gid: int
    groups: tuple[int, ...]


def account(name: str | None) -> Account | None:
    """Return the user of ``[exec] user``; None for the agent's own.

    :raises errors.ConfigError: there is no such user, or the agent may not
        become it
    """
    is_root = os.geteuid() == 0
    name = name or (NOBODY if is_root else None)
    if name is None:
        return None
    try:
        found = pwd.getpwnam(name)
    except KeyError as exc:
        raise errors.ConfigError(
            f'[exec] user = {name}: there is no such user on this host; '
            'create it, or name another one'
        ) from exc
    if found.pw_uid == os.geteuid():
        return None
    if not is_root:
        raise errors.ConfigError(
            f'[exec] user = {name}: only an agent that runs as root can run '
            'programs as another user; remove the option'
        )
    return Account(
        uid=found.pw_uid,
        gid=found.pw_gid,
        groups=tuple(os.getgrouplist(name, found.pw_gid)),
    )


class Program:
    """A program on this host that answers questions.

    :param timeout: seconds for one question
    :param environment: variables beside the few that each program gets
    """

    def __init__(
        self,
        path: str,
        *,
        timeout: float,
        account: Account | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.path = path
        self._timeout = timeout
        self._account = account
        self._environment = {**_ENVIRONMENT, **(environment or {})}
        self._lock = threading.Lock()
        self._running: set[int] = set()
        self._is_closed = False

    def check(self) -> None:
        """Refuse a program that another user may have written.

        :raises errors.ConfigError: the program is missing, cannot be executed,
            or can be changed by a user other than root and the agent's
        """
        try:
            found = pathlib.Path(self.path).stat()
            problem = (
                file_trust.distrust(found, self.path)
                or file_trust.distrust_way(self.path)
                or _why_not_executable(found, self.path)
            )
        except OSError as exc:
            problem = f'{exc.strerror}; correct the path'
        if problem:
            raise errors.ConfigError(
                f'the program {self.path} is not run: {problem}'
            )

    def run(self, call: str, question: str) -> str:
        """Return what the program prints for a question.

        :raises Unsupported: the program ended with status 3 and printed
            nothing
        :raises errors.DriverError: the program could not be run, ended with
            another status, took too long, or printed too much, nothing, or no
            UTF-8
        """
        with (
            tempfile.TemporaryFile() as asked,
            tempfile.TemporaryFile() as answer,
            tempfile.TemporaryFile() as said,
        ):
            asked.write(question.encode())
            asked.seek(0)
            status, problem = self._run(call, (asked, answer, said))
            line = _last_line(said)
            is_silent = not line and not _largest([answer])
            if problem:
                raise self._failed(call, problem)
            if status == UNSUPPORTED and is_silent:
                raise Unsupported(call)
            if status:
                raise self._failed(call, _ended_with(status, line))
            if line:
                LOG.debug('%s %s said: %s', self.path, call, line)
            answer.seek(0)
            return self._text(call, answer.read())

    def close(self) -> None:
        """End the calls that are running, and refuse new ones."""
        with self._lock:
            self._is_closed = True
            for pid in self._running:
                _kill(pid)

    def _run(self, call: str, files: '_Files') -> tuple[int, str]:
        """Return the status of a run, and why it is no answer, or ''."""
        try:
            self.check()
            process = self._start(call, files)
        except errors.ConfigError as exc:
            raise errors.DriverError(str(exc)) from exc
        except OSError as exc:
            raise self._failed(call, _why_not_started(exc)) from exc
        try:
            problem = self._wait(process.pid, files[1:])
        finally:
            with self._lock:
                # The process's number is not reused before the agent waits for
                # it.
                _kill(process.pid)
                self._running.discard(process.pid)
            process.wait()
        return process.returncode, problem

    def _start(self, call: str, files: '_Files') -> subprocess.Popen[bytes]:
        user: dict[str, Any] = {}
        if self._account is not None:
            user = {
                'user': self._account.uid,
                'group': self._account.gid,
                'extra_groups': self._account.groups,
            }
        asked, answer, said = files
        with self._lock:
            if self._is_closed:
                raise errors.DriverError(f'{self.path} {call}: the agent ends')
            process = subprocess.Popen(  # noqa: S603 (the operator's program)
                [self.path, call],
                stdin=asked,
                stdout=answer,
                stderr=said,
                cwd='/',
                env=self._environment,
                start_new_session=True,
                **user,
            )
            self._running.add(process.pid)
        return process

    def _wait(self, pid: int, said: Sequence[IO[bytes]]) -> str:
        """Wait until a process ended; return why it has to be ended, or ''."""
        deadline = time.monotonic() + self._timeout
        ended = os.pidfd_open(pid)
        try:
            watch = select.poll()
            watch.register(ended, select.POLLIN)
            while not watch.poll(_LOOK):
                if time.monotonic() > deadline:
                    return (
                        f'it did not end within {self._timeout:g} s; make it '
                        'quicker, or raise [exec] timeout'
                    )
                if _largest(said) > LARGEST:
                    break
        finally:
            os.close(ended)
        if _largest(said) > LARGEST:
            return f'it printed more than {LARGEST} bytes; print less'
        return ''

    def _text(self, call: str, answer: bytes) -> str:
        if not answer.strip():
            raise self._failed(call, 'it printed nothing; print a JSON object')
        try:
            return answer.decode()
        except UnicodeDecodeError as exc:
            raise self._failed(
                call, 'its answer is not UTF-8; print UTF-8'
            ) from exc

    def _failed(self, call: str, problem: str) -> errors.DriverError:
        return errors.DriverError(f'{self.path} {call}: {problem}')


# The files that a program gets as stdin, stdout and stderr.
_Files = tuple[IO[bytes], IO[bytes], IO[bytes]]


def _kill(pid: int) -> None:
    """End all process groups of the session that a process began.

    A process that became root is left to end by itself.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    for folder in pathlib.Path('/proc').glob('[0-9]*'):
        with contextlib.suppress(OSError):
            if _session(folder) == pid:
                os.kill(int(folder.name), signal.SIGKILL)


def _session(folder: pathlib.Path) -> int:
    """Return the session of a process, by its folder in ``/proc``."""
    return int((folder / 'stat').read_text().rpartition(')')[2].split()[3])


def _largest(files: Sequence[IO[bytes]]) -> int:
    return max(os.fstat(one.fileno()).st_size for one in files)


def _why_not_executable(found: os.stat_result, path: str) -> str:
    if not stat.S_ISREG(found.st_mode):
        return 'it is not a regular file; give the path of a program'
    if not found.st_mode & 0o111:
        return f'it is not executable; run "chmod +x {path}"'
    return ''


def _why_not_started(exc: OSError) -> str:
    if exc.errno == errno.ENOEXEC:
        return (
            'it is no program; begin a script with a line that names its '
            'interpreter, such as #!/bin/sh'
        )
    if exc.errno == errno.EACCES:
        return (
            'the user as whom it runs may not run it, or not enter its folder; '
            'move it to a folder that everybody may enter, or name another '
            'user in [exec] user'
        )
    if exc.errno == errno.ENOENT:
        return 'the interpreter in its first line does not exist; install it'
    return f'it cannot be started ({exc.strerror})'


def _last_line(said: IO[bytes]) -> str:
    """Return the last line that a program wrote on stderr, or ''."""
    said.seek(max(0, said.seek(0, os.SEEK_END) - _TAIL))
    lines = said.read().decode(errors='replace').strip().splitlines()
    return (
        error_text.cut(error_text.as_line(lines[-1]), _SHOWN) if lines else ''
    )


def _ended_with(status: int, line: str) -> str:
    """Return the failure of a program, with its own words."""
    if status < 0:
        how = f'it was ended by signal {-status}'
    else:
        how = f'it ended with status {status}'
    return f'{how}: {line}' if line else f'{how} and said nothing on stderr'
