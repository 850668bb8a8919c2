# SPDX-License-Identifier: Apache-2.0
"""What several runs of several programs come to: medians, ratios, a table.

Pure: no I/O, no clock. Every benchmark here prints what this returns, so that
they can be read side by side.
"""

import dataclasses
import statistics
from collections.abc import Mapping, Sequence


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one run of one program took.

    :ivar wall: seconds until it had ended
    :ivar cpu: seconds of processor time, the system's for it included
    :ivar requests: how many it sent
    """

    wall: float
    cpu: float
    requests: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The medians of several runs, and their least and greatest wall time."""

    count: int
    wall: float
    cpu: float
    requests: float
    least: float
    most: float


def summary(runs: Sequence[Run]) -> Summary:
    """Return what these runs come to; there must be one."""
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
    """Return a table: a row for each program, the first one's ratio last.

    The ratio is the first program's wall time by the row's: below 1 it is
    the quicker.
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
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return '\n'.join(_line(row, widths) for row in rows)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [row[0].ljust(widths[0])]
    cells += [
        cell.rjust(width)
        for cell, width in zip(row[1:], widths[1:], strict=True)
    ]
    return '  '.join(cells)
