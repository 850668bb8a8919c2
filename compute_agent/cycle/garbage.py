# SPDX-License-Identifier: Apache-2.0
"""When Python's garbage collector runs in an agent.

An agent of thousands of nodes keeps a million objects. With Python's default
thresholds, the collector takes a fifth of a cycle's time, because it examines
them again and again. With these thresholds it seldom runs within a cycle, and
the daemon calls it after each cycle. Without that call, a small daemon would
keep for days the errors and tracebacks of failed requests, which refer to each
other.
"""

import gc

_THRESHOLDS = (50_000, 20, 50)

FULL = 60  # cycles from one full collection to the next


def set_thresholds() -> None:
    """Have the collector run seldom by itself, in the whole process."""
    gc.set_threshold(*_THRESHOLDS)


class Collector:
    """Frees after each cycle the new objects that nobody uses any more.

    Objects that survive a collection count as old. The collector examines them
    after each reload, and ``FULL`` cycles later again.
    """

    def __init__(self) -> None:
        self._cycles = 0

    def collect(self) -> None:
        """Examine the new objects, or all of them; free the unused ones."""
        self._cycles += 1
        is_full = self._cycles >= FULL
        if is_full:
            self._cycles = 0
        gc.collect(2 if is_full else 1)

    def note_reload(self) -> None:
        """Have the next collection be full: a reload drops old objects."""
        self._cycles = FULL
