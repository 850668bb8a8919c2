# SPDX-License-Identifier: Apache-2.0
"""Stop a process in the middle of its work.

The kernel takes SIGSTOP at once, but the threads of a process go on until one of
them has run: a server may still answer what it was asked just after it.
"""

import contextlib
import os
import pathlib
import signal
import time

PATIENCE = 120.0  # seconds, for a machine at its limits
_STANDS_STILL = 'TtXZ'  # stopped, by SIGSTOP or a debugger, or ended


def freeze(pid: int) -> None:
    """Stop a process; return when all its threads stand still.

    :raises ProcessLookupError: there is no such process
    :raises AssertionError: some thread goes on for two minutes
    """
    os.kill(pid, signal.SIGSTOP)
    deadline = time.monotonic() + PATIENCE
    while not set(_states(pid)) <= set(_STANDS_STILL):
        assert time.monotonic() < deadline, f'process {pid} does not stop'
        time.sleep(0.001)


def _states(pid: int) -> list[str]:
    """Return the state of each thread, as in ``proc(5)``."""
    found = []
    for task in pathlib.Path(f'/proc/{pid}/task').glob('*/stat'):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            # The state follows the name, which may have brackets in it.
            found.append(task.read_text().rpartition(')')[2].split()[0])
    return found
