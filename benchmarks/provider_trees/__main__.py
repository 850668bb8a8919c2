# SPDX-License-Identifier: Apache-2.0
"""Run both programs in turn and print the processor time of each step.

``make bench-tree`` runs this. It prints figures and no verdict.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from .. import measure
from . import work

TOP = pathlib.Path(__file__).parents[2]
PROGRAMS = {
    'compute-agent': (sys.executable, 'benchmarks.provider_trees.ours'),
    'nova': (
        str(TOP / '.servers/nova/bin/python'),
        'benchmarks.provider_trees.nova_peer',
    ),
}
PER_NODE = 10

# The seconds of each step, by program.
Times = Mapping[str, Mapping[str, float]]


def main(words: Sequence[str] | None = None) -> None:
    """Measure, and print a table for each job and shape."""
    parser = argparse.ArgumentParser(prog='benchmarks.provider_trees')
    parser.add_argument('--providers', type=int, default=10000)
    parser.add_argument('--repeats', type=int, default=3)
    asked = parser.parse_args(words)
    count = asked.providers
    for nodes, size in ((count // PER_NODE, PER_NODE), (1, count)):
        for job in work.JOBS:
            found = compared(job, nodes, size, asked.repeats)
            shape = f'{nodes} x {size} providers'
            sys.stdout.write(f'{job}, {shape}\n{table(found)}\n\n')
            sys.stdout.flush()


def compared(job: str, nodes: int, size: int, repeats: int) -> Times:
    """Return the median of each step, of programs that run in turn."""
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in PROGRAMS}
    for _ in range(repeats):
        for name in PROGRAMS:
            runs[name].append(run(name, job, nodes, size))
    changed = {one['changed'] for each in runs.values() for one in each}
    if len(changed) != 1:
        raise SystemExit(f'the programs find different changes: {changed}')
    return {
        name: {
            step: statistics.median(one['seconds'][step] for one in each)
            for step in work.STEPS
        }
        for name, each in runs.items()
    }


def run(name: str, job: str, nodes: int, size: int) -> dict[str, Any]:
    """Return what a program printed about one run, in a new process."""
    python, module = PROGRAMS[name]
    command = [python, '-m', module, job, str(nodes), str(size)]
    printed = subprocess.run(  # noqa: S603
        command, cwd=TOP, check=True, stdout=subprocess.PIPE
    ).stdout
    found: dict[str, Any] = json.loads(printed)
    return found


def table(found: Times) -> str:
    """Return a table; the ratio is the first program's time by the other's."""
    totals = {name: sum(steps.values()) for name, steps in found.items()}
    rows = [('', *work.STEPS, 'in all', 'ratio')]
    first = next(iter(totals.values()))
    for name, steps in found.items():
        seconds = (*steps.values(), totals[name])
        ratio = f'{first / totals[name]:.3f}'
        rows.append((name, *(f'{s:.3f} s' for s in seconds), ratio))
    return measure.aligned(rows)


if __name__ == '__main__':
    main()
