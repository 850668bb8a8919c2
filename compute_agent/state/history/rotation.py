# SPDX-License-Identifier: Apache-2.0
"""The bounds of the history: the oldest entries are dropped.

It looks at the table only after a sixteenth of the bound was written, or an
hour after the last look, and only when something is written, so an unchanged
cycle costs nothing. It counts the bytes once a day, because commands write to
the table, too, and then knows them from what it writes and drops. A cycle waits
for it, so one turn drops a bounded part; the next write drops the next part.

The age of an entry counts from now or from the time of the newest earlier
entry, whichever is earlier. So a clock that is far ahead for one write drops
nothing. Only a daemon drops entries because of their age: each command writes
once, and two commands in a row would be such a daemon's two writes.
"""

import dataclasses
import sqlite3

DAY = 86_400.0
HOUR = 3_600.0
#: The bytes of a row besides the text of its entry, indexes included.
OVERHEAD = 200
_PART = 16
_MOST = 2 * 2**20  # bytes that a turn drops if there are too many
_ROWS = 5_000  # entries that a turn drops if they are too old


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The bounds of the history that is kept.

    :ivar days: how long an entry is kept; 0 for no history
    :ivar size: how many bytes of entries are kept
    :ivar by_age: False if entries are dropped for the size alone
    """

    days: int = 90
    size: int = 64 * 2**20
    by_age: bool = True


class Rotation:
    """Drops the oldest entries when it is time.

    :ivar bounds: how much is kept
    """

    def __init__(self) -> None:
        self.bounds = Bounds()
        self._looked_at: float | None = None
        self._counted_at: float | None = None
        self._total = 0.0  # bytes of the table, as far as they are known
        self._written = 0
        self._has_more = False  # more to drop than one turn may

    def turn(
        self, db: sqlite3.Connection, now: float, written: int, before: float
    ) -> None:
        """Drop the entries that are too old or too many, if it is time to look.

        :param now: seconds since the epoch
        :param written: the bytes that were just written
        :param before: the time of the newest entry before them
        """
        self._written += written
        self._total += written
        is_due = (
            self._has_more
            or _is_past(self._looked_at, now, HOUR)
            or self._written > self.bounds.size // _PART
        )
        if not is_due:
            return
        if _is_past(self._counted_at, now, DAY):
            self._counted_at, self._total = now, _size(db)
        self._looked_at, self._written = now, 0
        old = self._old(db, min(now, before))
        last = max(old, _beyond(db, self._excess(), max(_MOST, 2 * written)))
        dropped, size = _drop(db, last)
        self._total -= size
        self._has_more = dropped >= _ROWS or self._total > self.bounds.size

    def count_again(self) -> None:
        """Count again at the next look: the writes were rolled back."""
        self._counted_at = None

    def _old(self, db: sqlite3.Connection, now: float) -> int:
        """Return the last entry that is too old, or 0."""
        if not self.bounds.by_age:
            return 0
        return _older(db, now - self.bounds.days * DAY)

    def _excess(self) -> float:
        """Return the bytes to drop, or 0.

        A part more than necessary is dropped, so that it is not done each
        time.
        """
        excess = self._total - self.bounds.size
        return excess + self.bounds.size / _PART if excess > 0 else 0


def newest(db: sqlite3.Connection, otherwise: float) -> float:
    """Return the newest entry's time, or ``otherwise`` without entries."""
    row = db.execute(
        'select cast(at as real) from history order by id desc limit 1'
    )
    found = row.fetchone()
    return otherwise if found is None else float(found[0])


def _is_past(moment: float | None, now: float, seconds: float) -> bool:
    """Return True if a moment is this many seconds or more from now.

    A moment in the future counts too, because the clock may have been set
    back. None counts too: it stands for a moment that never came.
    """
    return moment is None or abs(now - moment) >= seconds


def _size(db: sqlite3.Connection) -> float:
    """Return the bytes of all entries; it reads the whole table."""
    (total,) = db.execute('select total(size) from history').fetchone()
    return float(total)


def _older(db: sqlite3.Connection, moment: float) -> int:
    """Return the last entry before the first one that is new enough to stay.

    If the clock was set back, entries with a later time come first; they stay
    until they are old, too.
    """
    last = 0
    rows = db.execute(
        'select id, cast(at as real) from history order by id limit ?',
        (_ROWS,),
    )
    for row_id, at in rows:
        if at >= moment:
            break
        last = row_id
    return last


def _beyond(db: sqlite3.Connection, excess: float, most: int) -> int:
    """Return the last entry to drop so that ``excess`` bytes are freed.

    The oldest entries go first.

    :param most: the most bytes that one turn drops
    """
    left = min(excess, most)
    if left <= 0:
        return 0
    last = 0
    rows = db.execute(
        'select id, size from history order by id limit ?',
        (most // OVERHEAD + 1,),
    )
    for row_id, size in rows:
        last = row_id
        left -= size
        if left <= 0:
            break
    return last


def _drop(db: sqlite3.Connection, last: int) -> tuple[int, float]:
    """Drop the entries up to this one; return their number and their bytes."""
    if not last:
        return 0, 0.0
    number, size = db.execute(
        'select count(*), total(size) from history where id <= ?', (last,)
    ).fetchone()
    db.execute('delete from history where id <= ?', (last,))
    return int(number), float(size)
