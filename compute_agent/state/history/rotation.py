# SPDX-License-Identifier: Apache-2.0
"""The bounds of the history: the oldest entries are dropped.

It looks at the table only after a sixteenth of the bound was written, or an
hour after the last look, and only when something is written, so an unchanged
cycle costs nothing. It reads the column ``size``, not the entries.
"""

import dataclasses
import sqlite3

DAY = 86_400.0
HOUR = 3_600.0
#: The bytes of a row besides the text of its entry, indexes included.
OVERHEAD = 200
_PART = 16


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The bounds of the history that is kept.

    :ivar days: how long an entry is kept; 0 for no history
    :ivar size: how many bytes of entries are kept
    """

    days: int = 90
    size: int = 64 * 2**20


class Rotation:
    """Drops the oldest entries when it is time.

    :ivar bounds: how much is kept
    """

    def __init__(self) -> None:
        self.bounds = Bounds()
        self._looked_at: float | None = None
        self._written = 0

    def turn(self, db: sqlite3.Connection, now: float, written: int) -> None:
        """Drop what is too old or too much, if it is time to look.

        :param now: seconds since the epoch
        :param written: the bytes that were just written
        """
        self._written += written
        is_due = (
            self._looked_at is None
            or abs(now - self._looked_at) >= HOUR
            or self._written > self.bounds.size // _PART
        )
        if not is_due:
            return
        self._looked_at, self._written = now, 0
        _drop_older(db, now - self.bounds.days * DAY)
        _drop_beyond(db, self.bounds.size)


def _drop_older(db: sqlite3.Connection, moment: float) -> None:
    """Drop the entries before the first one that is young enough.

    If the clock was set back, entries with a later time come first; they stay
    until they are old, too.
    """
    db.execute(
        'delete from history where id < coalesce('
        ' (select id from history where at >= ? order by id limit 1),'
        ' (select max(id) + 1 from history))',
        (moment,),
    )


def _drop_beyond(db: sqlite3.Connection, size: int) -> None:
    """Drop the oldest entries if all of them are larger than the bound.

    A part more than necessary is dropped, so that it is not done each time.
    """
    (total,) = db.execute('select total(size) from history').fetchone()
    excess = total - size
    if excess <= 0:
        return
    excess += size / _PART
    found = db.execute('select id, size from history order by id')
    for row_id, row_size in found:
        excess -= row_size
        if excess <= 0:
            db.execute('delete from history where id <= ?', (row_id,))
            break
