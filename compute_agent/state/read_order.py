# SPDX-License-Identifier: Apache-2.0
"""What was learnt of a provider since a moment: threads that overtake others.

Pure: no I/O, configuration, logging or clock. A look at placement takes time;
meanwhile another thread may write to a provider and record that. What the look
saw is older then than what is known. Kept by ``state.py``, under its lock.
"""

from ..tree import provider


class Recency:
    """At which generation each provider was last known, and in which order."""

    def __init__(self) -> None:
        self._moment = 0
        self._learnt: dict[str, tuple[int, int]] = {}

    def now(self) -> int:
        """Return the moment after all that was learnt until now."""
        return self._moment

    def learn(self, uuid: str, generation: int | None) -> None:
        """Note that a provider is at this generation, or was just now."""
        self._moment += 1
        self._learnt[uuid] = (self._moment, generation or 0)

    def is_newer(self, uuid: str, moment: int) -> bool:
        """Whether anything was learnt of a provider since this moment."""
        return self._learnt.get(uuid, (0, 0))[0] > moment

    def is_passed(self, one: provider.Provider, moment: int) -> bool:
        """Whether what was seen since this moment is older than what is known."""
        _, generation = self._learnt.get(one.uuid, (0, 0))
        return self.is_newer(one.uuid, moment) and generation > (
            one.generation or 0
        )
