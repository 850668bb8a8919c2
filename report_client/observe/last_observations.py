# SPDX-License-Identifier: Apache-2.0
"""The last observation of each node, to return it again if nothing changed.

A caller that compares two observations then finds the same object, and need
not compare their contents. Pure: no I/O, configuration, logging or clock.
``observer.py`` finishes each observation here.
"""

import dataclasses
from collections.abc import Collection, Mapping

from compute_agent.plan.observation import Observation
from compute_agent.tree import provider

from .observation import ObservationBuilder


@dataclasses.dataclass(frozen=True, slots=True)
class _Finished:
    """An observation, and the readings in it."""

    result: Observation
    readings: Mapping[str, provider.Reading]

    def is_same(self, builder: ObservationBuilder) -> bool:
        """Return True if a builder has these readings, all from the store."""
        readings = builder.readings
        return (
            not builder.fresh
            and builder.home == self.result.home
            and readings.keys() == self.readings.keys()
            and all(readings[u] is r for u, r in self.readings.items())
        )


class LastObservations:
    """The last observation of each node, and the readings behind it."""

    def __init__(self) -> None:
        self._last: dict[str, _Finished] = {}

    def finish(self, builder: ObservationBuilder) -> Observation:
        """Return the observation; the previous object if nothing changed."""
        last = self._last.get(builder.node_uuid)
        if last is not None and last.is_same(builder):
            return last.result
        finished = builder.build()
        if builder.readings and not builder.fresh:
            self._last[builder.node_uuid] = _Finished(
                finished, builder.readings
            )
        else:
            self._last.pop(builder.node_uuid, None)
        return finished

    def keep_only(self, node_uuids: Collection[str]) -> None:
        """Forget the observations of other nodes."""
        for uuid in self._last.keys() - set(node_uuids):
            del self._last[uuid]
