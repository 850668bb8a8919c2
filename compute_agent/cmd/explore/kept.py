# SPDX-License-Identifier: Apache-2.0
"""Answers that several pages need, kept for a short time.

A click on the next page of a table does not read a cloud again. Two requests
with the same question at the same time share one answer.
"""

import collections
import dataclasses
import threading
import time
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

_T = TypeVar('_T')


@dataclasses.dataclass(slots=True)
class _Slot(Generic[_T]):
    """One answer; the lock is held while it is made."""

    lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)
    value: _T | None = None
    made: float = float('-inf')


class Kept(Generic[_T]):
    """Keeps the latest answers.

    :param seconds: how long an answer is good
    :param most: the number of answers
    """

    def __init__(
        self,
        seconds: float,
        most: int = 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._seconds = seconds
        self._most = most
        self._clock = clock
        self._lock = threading.Lock()
        self._slots: collections.OrderedDict[Hashable, _Slot[_T]] = (
            collections.OrderedDict()
        )

    def forget(self) -> None:
        """Drop all answers: the next ones are made anew."""
        with self._lock:
            self._slots.clear()

    def get(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """Return the answer to a question; make it anew if it is too old."""
        with self._lock:
            slot = self._slots.setdefault(key, _Slot())
            self._slots.move_to_end(key)
            while len(self._slots) > self._most:
                self._slots.popitem(last=False)
        with slot.lock:
            if slot.value is None or (
                self._clock() - slot.made >= self._seconds
            ):
                slot.value = None  # two of them need twice the memory
                slot.value = make()
                slot.made = self._clock()
            return slot.value
