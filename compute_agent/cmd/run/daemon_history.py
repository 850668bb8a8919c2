# SPDX-License-Identifier: Apache-2.0
"""The daemon's own entries of the history: start, stop and outages.

``turns.py`` tells it of the cycles. The writes to placement come into the
history with their outcome, not from here.

The start and the stop are written in a thread of their own, which gets a short
time only: the state database may be in use, or its disk may hang, and the
daemon neither starts nor stops later for that.
"""

import importlib.metadata
import logging
import os
import threading
import time
from collections.abc import Callable, Sequence

from ... import error_text
from ...cycle.node.node_result import NodeResult
from ...plan.history_entry import Entry, What
from ...state.history.history import History

LOG = logging.getLogger(__name__)

PATIENCE = 1.0  # seconds for which the start or the stop waits

_ENDS = (What.STARTED, What.STOPPED)
_KILLED = '; the daemon before it ended without a stop'


def begin(history: History, may_write: Callable[[], bool]) -> 'DaemonHistory':
    """Add the start of a daemon; return what adds the rest.

    :param may_write: returns False for a standby, whose start is added when it
        begins to report
    """
    made = DaemonHistory(history, may_write=may_write)
    if not _in_time(made.started):
        LOG.warning(
            'the history cannot be written for now: the state database does '
            'not answer within %g s; the daemon starts without it',
            PATIENCE,
        )
    return made


class DaemonHistory:
    """Adds the start, the stop and the outages of a daemon.

    :param clock: seconds since the epoch
    :param may_write: returns False for a standby
    """

    def __init__(
        self,
        history: History,
        clock: Callable[[], float] = time.time,
        may_write: Callable[[], bool] = lambda: True,
    ) -> None:
        self._history = history
        self._clock = clock
        self._may_write = may_write
        self._away_since: float | None = None

    def started(self) -> None:
        """Add that the daemon starts, and if the one before it was killed."""
        last = self._history.last(_ENDS)
        killed = last is not None and last.entry.what is What.STARTED
        version = importlib.metadata.version('compute-agent')
        text = f'compute-agent {version}, process {os.getpid()}'
        self._add(What.STARTED, text + _KILLED * killed)

    def stopping(self, reason: str) -> bool:
        """Add that the daemon stops, and why.

        Return False if the database did not answer in time. Then a thread
        still waits for it, so closing the database may wait as long.
        """
        return _in_time(lambda: self._add(What.STOPPED, reason))

    # --- the cycles -----------------------------------------------------------

    def begin(self) -> None:
        """Do nothing: only the end of a cycle tells of an outage."""

    def end(self, results: Sequence[NodeResult]) -> None:
        """Note if placement was away during the cycle, or is back."""
        away = next((r.reason for r in results if r.outage), None)
        if away is not None:
            self._away(away)
        elif self._away_since is not None:
            gone = self._clock() - self._away_since
            self._away_since = None
            self._add(What.BACK, f'after {error_text.duration(gone)}')

    def fail(self, exc: BaseException) -> None:
        """Note that the cycle could not begin."""
        self._away(str(exc))

    def _away(self, why: str) -> None:
        if self._away_since is None and self._may_write():
            self._away_since = self._clock()
            self._add(What.OUTAGE, why)

    def _add(self, what: What, text: str) -> None:
        if self._may_write():
            self._history.add([Entry(what=what, text=text)])


def _in_time(write: Callable[[], None]) -> bool:
    """Write in a thread; return False if it still waits after a short time."""
    thread = threading.Thread(target=write, name='history', daemon=True)
    thread.start()
    thread.join(PATIENCE)
    return not thread.is_alive()
