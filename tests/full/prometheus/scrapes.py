# SPDX-License-Identifier: Apache-2.0
"""The scrapes of an agent, one a minute, as series for promtool.

The clock of the test begins at the second scrape of promtool, at 60 s: its
first, at 0, has no value.
"""

from agents import Clock
from monitored import Monitored

MINUTE = 60.0


class Scrapes:
    """Scrapes of an agent, a minute from each other."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._taken: list[dict[str, float]] = []

    def take(self, one: Monitored | None, **others: float) -> None:
        """Scrape, and let a minute pass.

        :param one: the agent; None if it cannot be reached
        :param others: samples of others, such as node_exporter
        """
        samples = {'up': 0.0} if one is None else {'up': 1.0, **one.scrape()}
        self._taken.append({**samples, **others})
        # A cycle may have moved the clock within this minute.
        self._clock.now = (self._clock.now // MINUTE + 1) * MINUTE

    def cycles(self, one: Monitored, minutes: int) -> None:
        """Run a cycle a minute, and scrape after each."""
        for _ in range(minutes):
            one.cycle()
            self.take(one)

    def series(self) -> dict[str, str]:
        """Return series → values, as promtool writes them."""
        names = dict.fromkeys(name for taken in self._taken for name in taken)
        return {
            name: ' '.join(
                ['_', *(str(taken.get(name, '_')) for taken in self._taken)]
            )
            for name in names
            if 'NaN' not in {str(taken.get(name)) for taken in self._taken}
        }
