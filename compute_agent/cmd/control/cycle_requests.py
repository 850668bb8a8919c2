# SPDX-License-Identifier: Apache-2.0
"""The cycles that people asked the daemon for, and the wait for their ends.

A request is answered with the first cycle that begins after it, so several
requests may share one. The thread of the cycles tells their beginnings and
ends; any thread may ask.
"""

import contextlib
import dataclasses
import threading
from collections.abc import Callable, Sequence
from concurrent import futures

from ... import error_text, errors
from ...cycle.node.node_result import NodeResult

MOST = 16  # commands that wait for a cycle; status is answered beside them


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The end of a cycle.

    :ivar trouble: why it could not begin; empty if it has results
    """

    results: Sequence[NodeResult] = ()
    trouble: str = ''


class CycleRequests:
    """Has cycles begun at once, and tells their ends.

    :param begin_now: has the daemon begin a cycle as soon as none runs
    """

    def __init__(self, begin_now: Callable[[], object]) -> None:
        self._begin_now = begin_now
        self._lock = threading.Lock()
        self._begun = 0
        # Each with the number of the first cycle that may answer it.
        self._waiting: list[tuple[int, futures.Future[Ended]]] = []

    def request(self) -> 'futures.Future[Ended]':
        """Have a cycle begun; return its end, which is not there yet.

        :raises errors.Refused: too many wait for a cycle already
        """
        asked: futures.Future[Ended] = futures.Future()
        with self._lock:
            if sum(not each.done() for _, each in self._waiting) >= MOST:
                raise errors.Refused(
                    f'{MOST} commands wait for a cycle of this daemon already'
                )
            self._waiting.append((self._begun + 1, asked))
        self._begin_now()
        return asked

    def begin(self) -> None:
        """Note that a cycle begins."""
        with self._lock:
            self._begun += 1

    def end(self, results: Sequence[NodeResult]) -> None:
        """Tell those who wait that the cycle ended with these results."""
        self._tell(Ended(results=results))

    def fail(self, exc: BaseException) -> None:
        """Tell those who wait that the cycle ended before it had a result."""
        self._tell(Ended(trouble=error_text.one_line(exc)))

    def _tell(self, ended: Ended) -> None:
        with self._lock:
            due = [each for n, each in self._waiting if n <= self._begun]
            self._waiting = [
                (n, each) for n, each in self._waiting if n > self._begun
            ]
        for each in due:
            with contextlib.suppress(futures.InvalidStateError):  # it left
                each.set_result(ended)
