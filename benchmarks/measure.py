# SPDX-License-Identifier: Apache-2.0
"""Summaries of several runs of several programs: medians, ratios, a table.

Pure: no I/O, no clock. Every benchmark here prints this table, so that the
benchmarks can be compared.
"""

import dataclasses
import statistics
from collections.abc import Mapping, Sequence


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The cost of one run of one program.

    :ivar wall: seconds until the program ended
    :ivar cpu: seconds of processor time, in user and system mode
    :ivar requests: the number of requests that it sent
    """

    wall: float
    cpu: float
    requests: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The medians of several runs, and the least and greatest wall time."""

    count: int
    wall: float
    cpu: float
    requests: float
    least: float
    most: float


def summary(runs: Sequence[Run]) -> Summary:
    """Return the summary of at least one run."""
    walls = [run.wall for run in runs]
    return Summary(
        count=len(runs),
        wall=statistics.median(walls),
        cpu=statistics.median(run.cpu for run in runs),
        requests=statistics.median(run.requests for run in runs),
        least=min(walls),
        most=max(walls),
    )


def table(found: Mapping[str, Summary]) -> str:
    """Return a table with a row for each program.

    The last column is the first program's wall time divided by the row's:
    below 1, the first program is faster.
    """
    first = next(iter(found.values()))
    rows = [('', 'runs', 'wall', 'least', 'most', 'CPU', 'requests', 'ratio')]
    rows += [
        (
            name,
            str(one.count),
            f'{one.wall:.3f} s',
            f'{one.least:.3f} s',
            f'{one.most:.3f} s',
            f'{one.cpu:.3f} s',
            f'{one.requests:g}',
            f'{first.wall / one.wall:.2f}',
        )
        for name, one in found.items()
    ]
    return aligned(rows)


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of cells as text; every column but the first is right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return '\n'.join(_line(row, widths) for row in rows)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [row[0].ljust(widths[0])]
    cells += [
        cell.rjust(width)
        for cell, width in zip(row[1:], widths[1:], strict=True)
    ]
    return '  '.join(cells)
