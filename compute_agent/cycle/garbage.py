# SPDX-License-Identifier: Apache-2.0
"""Python's garbage collector, at the pace of an agent.

An agent of thousands of nodes keeps a million objects. With Python's default
thresholds, the collector takes a fifth of a cycle's time to look at them
again and again. So it seldom runs within a cycle, and the daemon runs it after
each one. Without that, a small daemon would keep for days what each failed
request leaves: errors and tracebacks that refer to each other.
"""

import gc

_THRESHOLDS = (50_000, 20, 50)

FULL = 60  # cycles from one look at all objects to the next


def set_thresholds() -> None:
    """Have the collector run seldom by itself, in the whole process."""
    gc.set_threshold(*_THRESHOLDS)


class Collector:
    """Frees after each cycle the new objects that nobody uses any more.

    Those in use by then are looked at again after every ``FULL``th cycle.
    """

    def __init__(self) -> None:
        self._cycles = 0

    def collect(self) -> None:
        """Look at the objects made since the last call, or at all."""
        self._cycles += 1
        gc.collect(1 if self._cycles % FULL else 2)
