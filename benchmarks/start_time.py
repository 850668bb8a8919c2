# SPDX-License-Identifier: Apache-2.0
"""The start of ``compute-agent`` in two checkouts, command by command.

``python -m benchmarks.start_time BEFORE AFTER`` runs the program of each
checkout's ``.venv`` in turn, so that a slow moment of the machine affects both,
and prints the ratio of their processor time: below 1, the second is quicker.

No command finds a configuration or a daemon. One that needs placement ends when
it has imported all that it needs, with an error.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from . import measure

RUNS = 9
COMMANDS = (
    '--version',
    '--help',
    'no-such-command',
    'complete',
    'status --help',
    'trait list --help',
    'plan --help',
    'run --help',
    'status',
    'history',
    'trait list',
    'plan',
    'explain HW_CPU_X86_AVX2',
    'tree show',
)


def cpu_seconds(checkout: pathlib.Path, words: Sequence[str]) -> float:
    """Return the processor time of one run of a checkout's program."""
    program = checkout.resolve() / '.venv' / 'bin' / 'compute-agent'
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(  # noqa: S603
            [str(program), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={'HOME': folder, 'PATH': os.environ['PATH']},
        )
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in {0, 1}:
        raise SystemExit(f'{program} ended with {process.returncode}')
    return used.ru_utime + used.ru_stime


def main(before: pathlib.Path, after: pathlib.Path) -> None:
    """Print a row for each command."""
    rows = [('', 'before', 'after', 'ratio')]
    for command in COMMANDS:
        took: dict[pathlib.Path, list[float]] = {before: [], after: []}
        for _ in range(RUNS):
            for checkout, seconds in took.items():
                seconds.append(cpu_seconds(checkout, command.split()))
        first, second = map(statistics.median, took.values())
        ratio = f'{second / first:.2f}'
        rows.append((command, f'{first:.3f} s', f'{second:.3f} s', ratio))
    sys.stdout.write(f'{measure.aligned(rows)}\n')


if __name__ == '__main__':
    main(*map(pathlib.Path, sys.argv[1:]))
