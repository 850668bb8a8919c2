# SPDX-License-Identifier: Apache-2.0
"""The cycles that people asked the daemon for, and the wait for their ends.

A request is answered with the first cycle that begins after it, so several
requests may share one; but a cycle prunes for one request only. The thread of
the cycles tells their beginnings and ends; any thread may ask.
"""

import contextlib
import dataclasses
import math
import threading
from collections.abc import Callable, Sequence
from concurrent import futures
from typing import Any

from ... import error_text, errors
from ...cycle.node.node_result import NodeResult
from ...ownership.policy import NO_PRUNE, Prune

MOST = 16  # commands that wait for a cycle; status is answered beside them


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The end of a cycle.

    :ivar trouble: why the cycle could not begin; empty if it has results
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
        self._waiting: list[_Asked] = []
        self._works: list[tuple[Callable[[], Any], futures.Future[Any]]] = []

    def request(self, prune: Prune = NO_PRUNE) -> 'futures.Future[Ended]':
        """Request a cycle; return a future, which its end will complete.

        :param prune: the names that this cycle prunes
        :raises errors.Refused: too many wait for a cycle already
        """
        asked: futures.Future[Ended] = futures.Future()
        with self._lock:
            if sum(not each.end.done() for each in self._waiting) >= MOST:
                raise errors.Refused(
                    f'{MOST} commands wait for a cycle of this daemon already'
                )
            number = self._begun + 1
            while prune.names and self._prunes(number) not in {
                NO_PRUNE,
                prune,
            }:
                number += 1
            self._waiting.append(_Asked(number=number, prune=prune, end=asked))
        self._begin_now()
        return asked

    def do(self, work: Callable[[], Any]) -> 'futures.Future[Any]':
        """Have the thread of the cycles do this before its next cycle."""
        end: futures.Future[Any] = futures.Future()
        with self._lock:
            self._works.append((work, end))
        self._begin_now()
        return end

    def work_off(self) -> None:
        """Carry out the requests before a cycle, in the cycles' thread."""
        while self._works:
            work, end = self._works.pop(0)
            if not end.set_running_or_notify_cancel():
                continue  # the person left
            try:
                end.set_result(work())
            except Exception as exc:  # noqa: BLE001 (raised by who waits)
                end.set_exception(exc)

    def begin(self) -> None:
        """Note that a cycle begins."""
        with self._lock:
            self._begun += 1

    def prune(self) -> Prune:
        """Return the names that the cycle which began prunes."""
        with self._lock:
            return self._prunes(self._begun)

    def end(self, results: Sequence[NodeResult]) -> None:
        """Tell those who wait that the cycle ended with these results."""
        self._tell(Ended(results=results))

    def part_ended(self, results: Sequence[NodeResult]) -> None:
        """Do nothing: a person waits for a cycle of all nodes."""

    def fail(self, exc: BaseException) -> None:
        """Tell those who wait that the cycle ended before it had a result."""
        self._tell(Ended(trouble=error_text.one_line(exc)))

    def refuse(self, why: str) -> None:
        """Tell all who wait that no cycle follows, because of this."""
        with self._lock:
            works, self._works = self._works, []
        for _, end in works:
            if end.set_running_or_notify_cancel():
                end.set_exception(errors.Refused(why))
        self._tell(Ended(trouble=why), all_of_them=True)

    def _prunes(self, number: int) -> Prune:
        """Return the names that the cycle of this number prunes."""
        for each in self._waiting:
            left = each.end.cancelled()  # the person has left
            if each.number == number and each.prune.names and not left:
                return each.prune
        return NO_PRUNE

    def _tell(self, ended: Ended, *, all_of_them: bool = False) -> None:
        with self._lock:
            last = math.inf if all_of_them else self._begun
            due = [each for each in self._waiting if each.number <= last]
            self._waiting = [w for w in self._waiting if w.number > last]
            more = bool(self._waiting)
        for each in due:
            with contextlib.suppress(futures.InvalidStateError):  # it left
                each.end.set_result(ended)
        if more:
            self._begin_now()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A request for a cycle.

    :ivar number: the number of the first cycle that may answer the request
    """

    number: int
    prune: Prune
    end: 'futures.Future[Ended]'
