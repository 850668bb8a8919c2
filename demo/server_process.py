# SPDX-License-Identifier: Apache-2.0
"""A server program in a process of its own, with a directory and a log.

The server ends with its owner, however that ends. It does not get the owner's
Ctrl-C, nor the environment variables for the owner's Python or clouds. The
module knows no particular server; ``local_ironic.py`` and the churn test use
it.
"""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence

from compute_agent import errors

GRACE = 10.0  # seconds in which a server must end after SIGTERM
_NAMES_AN_ERROR = re.compile(r'[\w.]*(?:Error|Exception)\b: \S.*')


@contextlib.contextmanager
def running(
    command: Sequence[str], log: pathlib.Path, keep: Sequence[int] = ()
) -> Iterator[subprocess.Popen[bytes]]:
    """Run the program in its log's directory; end it on exit.

    The server ends with the thread that starts it.

    :param keep: descriptors that the program inherits
    :raises errors.ConfigError: the program cannot be started
    """
    process = None
    try:
        with log.open('wb') as output, _interrupts_wait():
            process = _start(command, log.parent, output.fileno(), keep)
        yield process
    finally:
        if process is not None:
            end(process)


@contextlib.contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Handle a signal that comes in the block at its end.

    A program that was started, and whose start was then interrupted, would have
    nobody to end it.
    """
    came: list[int] = []
    handlers = {
        number: handler
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if callable(handler := signal.getsignal(number))
        and threading.current_thread() is threading.main_thread()
    }
    for number in handlers:
        signal.signal(number, lambda number, _frame: came.append(number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for late in came:
            signal.raise_signal(late)


def run(command: Sequence[str], log: pathlib.Path, limit: float) -> None:
    """Run a program until it ends.

    :param limit: the longest time, in seconds
    :raises errors.ConfigError: it cannot be started, fails or takes longer
    """
    with running(command, log) as process:
        try:
            code: int | None = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
    if code != 0:
        problem = (
            f'takes longer than {limit:.0f} s'
            if code is None
            else f'ended with {code}'
        )
        raise errors.ConfigError(f'{command[0]} {problem}; {last_error(log)}')


def end(process: subprocess.Popen[bytes]) -> None:
    """End the process; kill it and its children if it does not end."""
    process.terminate()
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        pass
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def last_error(log: pathlib.Path) -> str:
    """Return the last line of a log that names an error, or its last line."""
    lines = log.read_text(errors='replace').split('\n')
    lines = [line.strip() for line in lines if line.strip()]
    named = [m[0] for m in map(_NAMES_AN_ERROR.search, lines) if m]
    last = (named or lines or ['it is empty'])[-1]
    return f'the last line of its log {log}: {last}'


def _start(
    command: Sequence[str],
    directory: pathlib.Path,
    output: int,
    keep: Sequence[int],
) -> subprocess.Popen[bytes]:
    # setpriv is part of util-linux. Without it, a server outlives an owner
    # that is killed, or that calls os._exit, as "run" may.
    setpriv = shutil.which('setpriv')
    prefix = [setpriv, '--pdeathsig', 'TERM', '--'] if setpriv else []
    try:
        return subprocess.Popen(  # noqa: S603 (the caller names the program)
            [*prefix, *command],
            cwd=directory,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=keep,
        )
    except OSError as exc:
        raise errors.ConfigError(
            f'{command[0]} cannot be started: {exc.strerror}'
        ) from exc


def _environment() -> dict[str, str]:
    """Return our environment without variables that affect the server."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(('PYTHON', 'OS_', 'IRONIC_'))
    }
