# SPDX-License-Identifier: Apache-2.0
"""When the daemon's next cycle begins: apart from those of other agents.

Pure but for the dice it is given. Thousands of agents are started together,
told to reload together and lose placement together, and must not come together
ever after. So the first cycle waits a random time; the regular ones keep the
phase of the first, whatever came between; and an outage is met with growing
waits at random (full jitter), after which the phase is as it was. The service
and ``cmd`` ask it.
"""

import math
import random
from collections.abc import Callable

FIRST_WAIT = 1.0  # seconds, after the first failed cycle; doubles from there
LONGEST_WAIT = 60.0  # seconds, where no interval says how long
LEAST_WAIT = 0.1  # seconds, after any failed cycle
NEAR = 0.1  # of an interval: a regular cycle so soon after another is left out

Spread = Callable[[float, float], float]


def fuzzy_delay(
    longest: float, interval: float, spread: Spread = random.uniform
) -> float:
    """Return the seconds to wait before the first cycle.

    More than an interval would spread no better.
    """
    return spread(0.0, longest if interval < 0 else min(longest, interval))


class Timetable:
    """Says how long to wait after each cycle.

    :param phase: a moment at which a regular cycle may begin; so are all that
        are whole intervals away from it
    :param spread: a random number between two
    """

    def __init__(self, phase: float, spread: Spread = random.uniform) -> None:
        self._phase = phase
        self._spread = spread
        self._failures = 0

    def after_success(
        self, interval: float, *, began: float, now: float
    ) -> float | None:
        """Return the seconds to wait, None for ever.

        A cycle that took longer than the interval is followed at once.

        :param interval: below 0 there is no other cycle
        """
        self._failures = 0
        if interval < 0:
            return None
        turn = math.floor((began - self._phase) / interval + NEAR) + 1
        return max(0.0, self._phase + turn * interval - now)

    def after_failure(self, interval: float) -> float:
        """Return the seconds to wait: full jitter, up to the interval."""
        limit = FIRST_WAIT * 2**self._failures
        longest = max(LONGEST_WAIT if interval < 0 else interval, FIRST_WAIT)
        if limit < longest:
            self._failures += 1
        return self._spread(LEAST_WAIT, min(limit, longest))
