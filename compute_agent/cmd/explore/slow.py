# SPDX-License-Identifier: Apache-2.0
"""Answers that take long: a page waits a moment, then shows how far it is.

The browser loads that page again every few seconds, without a script. A
question is worked on once, however many ask it, and its answer is kept for a
time.
"""

import dataclasses
import threading
import time
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from ... import errors

WAIT = 2.5  # seconds that a page waits
_T = TypeVar('_T')


@dataclasses.dataclass(slots=True)
class _Work(Generic[_T]):
    """One question, and its answer once it has come."""

    began: float
    ended: float = float('inf')
    done: threading.Event = dataclasses.field(default_factory=threading.Event)
    value: _T | None = None
    problem: BaseException | None = None


class Pending(Exception):
    """The answer is not there yet.

    :ivar seconds: how long it has been worked on
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class Slow(Generic[_T]):
    """Works on questions in threads.

    :param seconds: how long an answer is good
    :param most: the number of answers that are kept
    :param wait: seconds that ``get`` waits
    """

    def __init__(
        self,
        seconds: float,
        most: int = 1,
        wait: float = WAIT,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._seconds = seconds
        self._most = most
        self._wait = wait
        self._clock = clock
        self._lock = threading.Lock()
        self._works: dict[Hashable, _Work[_T]] = {}

    def get(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """Return the answer to a question.

        :raises Pending: the answer takes longer than a page waits
        :raises errors.AgentError: ``make`` raised it
        """
        work = self._work(key, make)
        if not work.done.wait(self._wait):
            raise Pending(self._clock() - work.began)
        if work.problem is not None:
            with self._lock:
                if self._works.get(key) is work:
                    del self._works[key]
            raise work.problem
        return work.value  # type: ignore[return-value]

    def _work(self, key: Hashable, make: Callable[[], _T]) -> _Work[_T]:
        with self._lock:
            now = self._clock()
            old = [
                one
                for one, work in self._works.items()
                if now - work.ended >= self._seconds
            ]
            for one in old:
                del self._works[one]
            work = self._works.get(key)
            if work is not None:
                return work
            done = [o for o, w in self._works.items() if w.done.is_set()]
            for one in done[: len(self._works) + 1 - self._most]:
                del self._works[one]
            if len(self._works) >= self._most:
                raise errors.Unavailable(
                    'other questions that take long are under way: ask again '
                    'when they are answered'
                )
            work = self._works[key] = _Work(began=now)
        threading.Thread(
            target=self._run, args=(work, make), name='slow page', daemon=True
        ).start()
        return work

    def _run(self, work: _Work[_T], make: Callable[[], _T]) -> None:
        try:
            work.value = make()
        except BaseException as exc:  # noqa: BLE001 (raised to who asks)
            work.problem = exc
        work.ended = self._clock()
        work.done.set()
