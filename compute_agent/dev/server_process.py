# SPDX-License-Identifier: Apache-2.0
"""A server program in a process of its own, with a directory and a log.

It ends with whoever started it, however that ends, and never gets a Ctrl-C
that was meant for its owner, nor variables that were meant for our Python or
our clouds. It knows no particular server; ``local_ironic.py`` starts one.
"""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence

from .. import errors

GRACE = 10.0  # seconds that a server has to end by itself
_NAMES_AN_ERROR = re.compile(r'[\w.]*(?:Error|Exception)\b: \S.*')


@contextlib.contextmanager
def running(
    command: Sequence[str], log: pathlib.Path, keep: Sequence[int] = ()
) -> Iterator[subprocess.Popen[bytes]]:
    """Run the program in its log's directory; end it at the end.

    The thread that starts it must live as long as it is wanted.

    :param keep: descriptors that it holds open too
    :raises errors.ConfigError: it cannot be started
    """
    with log.open('wb') as output:
        process = _start(command, log.parent, output.fileno(), keep)
    try:
        yield process
    finally:
        end(process)


def run(command: Sequence[str], log: pathlib.Path, limit: float) -> None:
    """Run a program of the server's to its end.

    :raises errors.ConfigError: it cannot be started, fails or takes longer
    """
    with running(command, log) as process:
        try:
            code: int | None = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
    if code != 0:
        how = f'takes over {limit:.0f} s' if code is None else f'ended: {code}'
        raise errors.ConfigError(f'{command[0]} {how}; {complaint(log)}')


def end(process: subprocess.Popen[bytes]) -> None:
    """Return when the process is gone; with all of its own, if it must."""
    process.terminate()
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        pass
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def complaint(log: pathlib.Path) -> str:
    """Return the last line of a log that names an error, else the last."""
    lines = log.read_text(errors='replace').split('\n')
    said = [line.strip() for line in lines if line.strip()]
    named = [m[0] for m in map(_NAMES_AN_ERROR.search, said) if m]
    last = (named or said or ['it is empty'])[-1]
    return f'the last of its log {log}: {last}'


def _start(
    command: Sequence[str],
    directory: pathlib.Path,
    output: int,
    keep: Sequence[int],
) -> subprocess.Popen[bytes]:
    # Without it (it is part of util-linux) a server outlives an owner that is
    # killed, or that leaves by os._exit, as "run" may.
    leash = shutil.which('setpriv')
    leashed = [leash, '--pdeathsig', 'TERM', '--'] if leash else []
    try:
        return subprocess.Popen(  # noqa: S603 (its caller names the program)
            [*leashed, *command],
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
    """Return ours, less what would change the server or its Python."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(('PYTHON', 'OS_', 'IRONIC_'))
    }
