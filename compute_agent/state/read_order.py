# SPDX-License-Identifier: Apache-2.0
"""The order of reads and writes of providers by several threads.

Pure: no I/O, configuration, logging or clock. An observation of placement takes
time. While it runs, another thread may write to a provider and record the
outcome; then the observation shows an older state than the recorded one.
``journal.py`` keeps a ``Recency``, under the database's lock.
"""

from ..tree import provider


class Recency:
    """The last known generation of each provider, and when it was learnt.

    A moment is a count of the updates so far, not a time.
    """

    def __init__(self) -> None:
        self._moment = 0
        self._learnt: dict[str, tuple[int, int]] = {}

    def now(self) -> int:
        """Return the moment after all updates so far."""
        return self._moment

    def learn(self, uuid: str, generation: int | None) -> None:
        """Note that a provider has, or just had, this generation."""
        self._moment += 1
        self._learnt[uuid] = (self._moment, generation or 0)

    def end_observations(self) -> None:
        """Drop all updates: no observation that began before one is running.

        Moments go on counting, so later observations are not confused.
        """
        self._learnt.clear()

    def is_newer(self, uuid: str, moment: int) -> bool:
        """True if a provider was updated since this moment."""
        return self._learnt.get(uuid, (0, 0))[0] > moment

    def is_outdated(self, seen: provider.Provider, moment: int) -> bool:
        """True if a provider has a higher generation than the one seen.

        :param moment: when the observation began that saw the provider; older
            updates do not count
        """
        _, generation = self._learnt.get(seen.uuid, (0, 0))
        return self.is_newer(seen.uuid, moment) and generation > (
            seen.generation or 0
        )
