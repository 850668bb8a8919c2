# SPDX-License-Identifier: Apache-2.0
"""The size of a daemon from day to day, and what has grown.

Only the days of the daemon's last life are compared, after its first ones: a
restart would hide what grows.
"""

import contextlib
import dataclasses
import pathlib
import sqlite3
import statistics
from collections.abc import Iterator, Sequence

WARM = 2  # days of a life, or of the history, until it has its size
LEAST = 4  # days after these that say something


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The size of the daemon at the end of a day.

    :ivar life: how often it was started
    :ivar cycles: finished in all lives
    :ivar memory: KiB resident
    :ivar state: KiB of the state database; SQLite's log beside it has some MB
        at most, and any size below that
    :ivar history: entries of the journal in it
    """

    life: int
    cycles: int
    memory: int
    descriptors: int
    threads: int
    state: int
    history: int


# No daemon of the stack may have more of it on any day.
MOST = {
    'memory': 200 * 1024,
    'descriptors': 64,
    'threads': 32,
    'state': 4 * 1024,
    'history': 2_000,
}
# From the first quarter of the days that count to the last one, the middle
# value may grow by so much, or by a tenth where that is more.
GROWTH = {
    'memory': 4 * 1024,
    'descriptors': 3,
    'threads': 2,
    'state': 256,
    'history': 60,
}


def figures(pid: int, state: pathlib.Path, life: int, cycles: int) -> Figures:
    """Return the size of a process now."""
    proc = pathlib.Path('/proc', str(pid))
    said = dict(
        line.split(':', 1)
        for line in (proc / 'status').read_text().splitlines()
    )
    size, entries = _database(state / 'state.sqlite')
    return Figures(
        life=life,
        cycles=cycles,
        memory=int(said['VmRSS'].split()[0]),
        descriptors=sum(1 for _ in (proc / 'fd').iterdir()),
        threads=int(said['Threads']),
        state=size >> 10,
        history=entries,
    )


def problems(name: str, rows: Sequence[Figures]) -> Iterator[str]:
    """Yield what is too large, and what has grown."""
    for figure, most in MOST.items():
        largest = max(getattr(row, figure) for row in rows)
        if largest > most:
            yield f'{name}: {figure} was {largest}, and {most} is the most'
    last_life = [row for row in rows if row.life == rows[-1].life]
    days = last_life[WARM:]
    if len(days) < LEAST:
        return
    for figure, limit in GROWTH.items():
        before, after = _middles([getattr(row, figure) for row in days])
        if after - before > max(limit, before / 10):
            yield f'{name}: {figure} grew from {before:.0f} to {after:.0f}'


def table(name: str, rows: Sequence[Figures]) -> Iterator[str]:
    """Yield the figures of the begin, the quarters and the end."""
    days = sorted({0, *(len(rows) * part // 4 for part in (1, 2, 3))})
    for day in [*days, len(rows) - 1] if len(rows) > 1 else days:
        yield f'{name} after day {day + 1}: {text(rows[day])}'


def text(row: Figures) -> str:
    """Return the figures of a day in words."""
    return (
        f'life {row.life}, {row.cycles} cycles, {row.memory} KiB resident, '
        f'{row.descriptors} descriptors, {row.threads} threads, '
        f'{row.state} KiB of state, {row.history} entries of history'
    )


def _middles(seen: Sequence[int]) -> tuple[float, float]:
    """Return the middle value of the first quarter and of the last."""
    part = max(1, len(seen) // 4)
    return statistics.median(seen[:part]), statistics.median(seen[-part:])


def _database(file: pathlib.Path) -> tuple[int, int]:
    """Return the bytes of a state database, and its entries of history."""
    address = f'file:{file}?mode=ro'
    with contextlib.closing(sqlite3.connect(address, uri=True)) as db:
        (pages,) = db.execute('pragma page_count').fetchone()
        (size,) = db.execute('pragma page_size').fetchone()
        (count,) = db.execute('select count(*) from history').fetchone()
        return int(pages * size), int(count)
