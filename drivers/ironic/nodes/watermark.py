# SPDX-License-Identifier: Apache-2.0
"""A mark says up to which change Ironic's nodes were read.

Pure: no I/O, configuration, logging or clock. Ironic lists its nodes by
``updated_at``, which nearly each change of a node moves, and by ``created_at``,
which finds the new ones: their ``updated_at`` is null. A *walk* reads such a list, the
newest first, down to the *mark*, which is the newest time of the walk before
it, and further by an *overlap*.

The overlap is necessary because a row may appear below the mark. A transaction
sets the time of a row before it commits, the clocks of Ironic's processes
differ, and MySQL keeps whole seconds. A row that appears within the overlap
after its time is found: each walk reads the overlap again, until it has read
it when the mark had stood still for as long, by this agent's clock. Later
walks end at their first row as long as that row stays the same. If the node
that was enrolled last is the same, the walk by ``created_at`` is left out:
Ironic finds that node by an index, and asking only for its uuid costs little.
"""

import dataclasses
import datetime as dt
from collections.abc import Sequence

from compute_agent import errors

from . import answers
from . import node as ironic

UPDATED = 'updated_at'
CREATED = 'created_at'
#: In the order in which they are read. A change that comes between the two
#: walks is in the second one.
KEYS = (CREATED, UPDATED)

#: Seconds. Transactions take less, and clocks that NTP keeps differ by less. A
#: change that appears later is found by the walks of the next cycle.
OVERLAP = 5.0
#: Seconds, for the walks of a cycle of all nodes. InnoDB ends a transaction that
#: waits for a lock for more than 50 s.
LONG_OVERLAP = 60.0

_MORE = 4  # rows of a second page; each further one has twice as many


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """The newest time up to which a list was read.

    :ivar newest: the newest time in it; None if no row has a time
    :ivar seen: when this was first seen to be the newest time, in seconds of
        this agent's clock
    :ivar read: when the rows within the overlap, or all, were last read, by
        this clock
    :ivar nulls: how many rows without a time came first
    :ivar rows: how many rows with a time a walk down to this mark is likely to
        read while it is not settled: as many as came since the mark before it,
        those within the overlap, and the one behind them, which ends the walk
    :ivar last: the uuid of the node that was enrolled last, before the list
        was read by ``CREATED``; None without nodes
    """

    newest: dt.datetime | None
    seen: float
    read: float
    nulls: int = 0
    rows: int = 1
    last: str | None = None

    def is_settled(self, overlap: float) -> bool:
        """Return True if no row can appear below the mark any more."""
        return self.read - self.seen > overlap

    def is_quiet(self, last: str | None, overlap: float) -> bool:
        """Return True if no node was created since this mark.

        :param last: the uuid of the node that was enrolled last
        """
        return self.last == last and self.is_settled(overlap)

    def first_page(self, overlap: float) -> int:
        """Return how many rows to ask for at first."""
        return self.nulls + (1 if self.is_settled(overlap) else self.rows)

    def reaches(self, time: dt.datetime | None, overlap: float) -> bool:
        """Return True if a walk down to this mark reads a row of this time."""
        if time is None or self.newest is None:
            return time is not None
        return (self.newest - time).total_seconds() <= overlap

    def tells(self, time: dt.datetime | None) -> bool:
        """Return True if a change of this time may come after a long walk.

        :param time: the time of a node that changed since the walk up to this
            mark
        """
        if self.is_settled(LONG_OVERLAP) and self.newest and time:
            return time > self.newest
        return self.reaches(time, LONG_OVERLAP)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """The next page to ask for.

    :ivar marker: the last uuid of the page before it; None for the first page
    """

    limit: int
    marker: str | None = None
    ascending: bool = False


class Walk:
    """One reading of the list by one key, page by page.

    PostgreSQL lists the rows without a time first. A page cannot begin behind
    such a row: Ironic would leave out rows with a time. So the walk asks for a
    longer first page until a row has a time.

    :param mark: where to end; None to read the newest time and no more
    :param now: seconds of this agent's clock
    :param most: the rows after which the walk gives up, because a list costs
        no more
    :param last: the uuid of the node that was enrolled last, for a new mark
    :ivar ask: the next page; None when the walk has ended
    :ivar found: the rows that were read, by uuid as Ironic spells it
    :ivar gave_up: why the walk ended too early; empty if it did not
    :ivar is_blind: True if it gave up before it found the newest time
    """

    def __init__(
        self,
        key: str,
        mark: Mark | None,
        *,
        overlap: float,
        now: float,
        most: int,
        last: str | None = None,
    ) -> None:
        self.key = key
        rows = mark.first_page(overlap) if mark else 1
        self.ask: Ask | None = Ask(limit=min(rows, most))
        self.found: answers.Found = {}
        self.gave_up = ''
        self.is_blind = False
        self._mark = mark
        self._overlap = overlap
        self._began = now
        self._most = most
        self._last = last
        self._times: list[dt.datetime] = []
        self._is_quiet = False
        self._newest: dt.datetime | None = None
        self._nulls = 0

    def add(self, asked: Ask, page: answers.Page) -> None:
        """Take the page that was asked for.

        :raises errors.UnknownState: a row is malformed, or the page is not
            sorted
        """
        self.ask = None
        times = [answers.time_of(row, self.key) for row in page.rows]
        answers.collect_newest(page.rows, self.found)
        if asked.ascending:
            # If the rows at both ends of a list have no time, no row has one.
            if times and times[0] is not None:
                self.ask = Ask(limit=_MORE)
            return
        self._check_order(page.rows, times)
        if asked.marker is None:
            there = [time for time in times if time is not None]
            self._newest = there[0] if there else None
            self._nulls = times.index(there[0]) if there else 0
        self._times += [time for time in times if time is not None]
        if page.marker is not None:
            self.ask = self._next(asked, page.marker, times)

    def went_back(self, mark: Mark | None) -> bool:
        """Return True if the newest time is older than at a mark.

        The node with the newest time left the list, or Ironic's database is
        an older one.
        """
        if mark is None or mark.newest is None:
            return False
        return self._newest is None or self._newest < mark.newest

    def moved(self, mark: Mark | None, now: float, overlap: float) -> Mark:
        """Return the mark after this walk.

        :param mark: the mark before it
        :param now: seconds of this agent's clock, after the walk
        :param overlap: the overlap of the walks that go down to the new mark
        """
        seen, read = now, self._began
        if mark is not None and mark.newest == self._newest:
            seen = mark.seen
            read = mark.read if self._is_quiet else read
        if self.gave_up:
            read = seen
        return Mark(
            newest=self._newest,
            seen=seen,
            read=read,
            nulls=self._nulls,
            rows=self._likely(mark, overlap),
            last=self._last,
        )

    def _likely(self, mark: Mark | None, overlap: float) -> int:
        """Return how many rows the next walk reads if it goes on like this."""
        newest = self._newest
        if newest is None or mark is None or mark.newest is None:
            return 1
        come = sum(time > mark.newest for time in self._times)
        again = sum(
            (newest - time).total_seconds() <= overlap for time in self._times
        )
        return come + again + 1

    def _next(
        self,
        asked: Ask,
        marker: str,
        times: Sequence[dt.datetime | None],
    ) -> Ask | None:
        if times[-1] is None:
            has_times = times[0] is not None or asked.marker is not None
            # Rows without a time also come last, as the rest of the list.
            return None if has_times else self._past_nulls(asked, len(times))
        if self._is_enough(asked, times[-1]):
            return None
        if len(self.found) >= self._most:
            self.gave_up = f'more than {self._most} nodes have changed'
            return None
        return Ask(limit=self._grown(asked.limit), marker=marker)

    def _past_nulls(self, asked: Ask, got: int) -> Ask | None:
        """Ask for a longer first page, because this one has no time at all."""
        if asked.limit == 1:
            return Ask(limit=1, ascending=True)
        if got < asked.limit or asked.limit >= self._most:
            self.is_blind = True
            self.gave_up = (
                f'{got} nodes have no {self.key}, and this Ironic lists them '
                'first'
            )
            return None
        return Ask(limit=min(self._most, 8 * asked.limit))

    def _is_enough(self, asked: Ask, last: dt.datetime | None) -> bool:
        mark = self._mark
        if mark is None:
            return True
        if asked.marker is None and self._newest == mark.newest:
            self._is_quiet = mark.is_settled(self._overlap)
        return self._is_quiet or not mark.reaches(last, self._overlap)

    def _grown(self, limit: int) -> int:
        return min(self._most, max(_MORE, 2 * limit))

    def _check_order(
        self,
        rows: Sequence[ironic.Row],
        times: Sequence[dt.datetime | None],
    ) -> None:
        there = [time for time in times if time is not None]
        is_sorted = there == sorted(there, reverse=True)
        start = times.index(there[0]) if there else 0
        together = there == list(times[start : start + len(there)])
        if not is_sorted or not together:
            raise errors.UnknownState(
                f'nodes that are not sorted by {self.key}: '
                f'{answers.shown([row.get("uuid") for row in rows])}'
            )
