# SPDX-License-Identifier: Apache-2.0
"""The start times of the daemon's cycles, spread between agents.

Pure except for the random numbers that it is given. Thousands of agents may
start together, reload together and lose placement together. Their cycles must
not stay together afterwards. So the first cycle waits a random time; the
regular cycles keep the phase of the first; and after an outage the waits grow
at random (full jitter), while the phase stays as it was. The service and
``cmd`` call it.
"""

import math
import random
from collections.abc import Callable

FIRST_WAIT = 1.0  # seconds, after the first failed cycle; doubles from there
LONGEST_WAIT = 60.0  # seconds, if there is no interval
LEAST_WAIT = 0.1  # seconds, after any failed cycle
QUIET = 1.0  # seconds without a hint of the driver, before a cycle follows it
NEAR = (
    0.1  # of an interval: a regular cycle this soon after another is skipped
)

Spread = Callable[[float, float], float]


def fuzzy_delay(
    longest: float, interval: float, spread: Spread = random.uniform
) -> float:
    """Return the seconds to wait before the first cycle.

    A delay longer than the interval would not spread the agents further.
    """
    return spread(0.0, longest if interval < 0 else min(longest, interval))


def after_hint(hinted: float, now: float) -> float:
    """Return the seconds to wait after a hint of the driver.

    Changes come in groups: a network card with all its virtual functions.

    :param hinted: the moment of the last hint
    """
    return max(0.0, hinted + QUIET - now)


class Schedule:
    """Tells how long to wait after each cycle.

    :param phase: a moment at which a regular cycle may begin; the others are
        whole intervals away from it
    :param spread: returns a random number between two numbers
    """

    def __init__(self, phase: float, spread: Spread = random.uniform) -> None:
        self._phase = phase
        self._spread = spread
        self._failures = 0

    def after_success(
        self, interval: float, *, began: float, now: float
    ) -> float | None:
        """Return the seconds to wait; None if there is no other cycle.

        A cycle that took longer than the interval is followed at once.

        :param interval: seconds; below 0 for no other cycle
        """
        self._failures = 0
        if interval < 0:
            return None
        number = math.floor((began - self._phase) / interval + NEAR) + 1
        return max(0.0, self._phase + number * interval - now)

    def after_failure(self, interval: float, most: float = math.inf) -> float:
        """Return the seconds to wait: at random, up to the interval.

        :param most: the longest wait, in seconds
        """
        limit = FIRST_WAIT * 2**self._failures
        longest = max(LONGEST_WAIT if interval < 0 else interval, FIRST_WAIT)
        if limit < longest:
            self._failures += 1
        return self._spread(LEAST_WAIT, min(limit, longest, most))
