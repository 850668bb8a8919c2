# SPDX-License-Identifier: Apache-2.0
"""The sharing providers that nodes reach through their aggregates.

One list shows them for all nodes. What it showed is good for a while, as long
as this agent writes nothing and nothing of it is the agent's own: others' pools
are what a driver looks at, and whatever is written is read afresh all the same.
A pool that is spoken of, was created for one of the nodes or is in their trees
is asked for in each cycle. It writes nothing to placement; ``observer.py`` calls
it.
"""

import dataclasses
from collections.abc import Callable, Iterable, Sequence

from ..http import codec
from . import cached_reader, observation, reader, store

MAX_AGGREGATES = 50  # in one query: 2 KB of a request line


class SharingProviders:
    """Finds sharing providers, and adds them to the looks of nodes.

    :param clock: seconds since the epoch
    :param interval: seconds for which a list is good
    """

    def __init__(
        self,
        read: reader.Reader,
        kept: store.State,
        readings: cached_reader.CachedReader,
        *,
        clock: Callable[[], float],
        interval: float,
    ) -> None:
        self._reader = read
        self._store = kept
        self._readings = readings
        self._clock = clock
        self._interval = interval
        self._last: _Seen | None = None
        self._doubts = 0
        self._spoken = set[str]()

    def watch(self, uuids: Iterable[str]) -> None:
        """Ask in each cycle from now on where these are shared."""
        self._spoken.update(uuids)

    def invalidate(self) -> None:
        """Ask in the next look; what a list under way shows is not kept."""
        self._doubts += 1
        self._last = None

    def look(
        self,
        looks: Sequence[observation.ObservationBuilder],
        created: Iterable[str],
        since: int,
    ) -> None:
        """Add to each node the sharing providers of its aggregates.

        One that cannot be read fails the nodes that it may serve.

        :param created: providers that this agent created for these nodes
        :raises errors.AgentError: the list cannot be read
        """
        reach = [(look, look.aggregates()) for look in looks]
        every = frozenset[str]().union(*(some for _, some in reach))
        if not every:
            return
        shared = self._recalled(every, _own(looks).union(created))
        if shared is None:
            shared = self._asked(every, looks, since)
        members = shared.members()
        last = self._store.snapshot.readings(shared.failed)
        for look, some in reach:
            near = [u for one in some for u in members.get(one, ())]
            look.reach(shared, near)
            for uuid, error in shared.failed.items():
                # One that never was read may be in any aggregate.
                known = last.get(uuid)
                if some and (
                    known is None or known.provider.aggregates & some
                ):
                    look.error = error

    def _recalled(
        self, aggregates: frozenset[str], own: set[str]
    ) -> observation.ObservationBuilder | None:
        """Return what the last list showed, None if that is not enough."""
        last = self._good()
        if last is None or not aggregates <= last.aggregates:
            return None
        known = last.look.readings.keys()
        if not (known.isdisjoint(own) and known.isdisjoint(self._spoken)):
            return None
        return last.look

    def _good(self) -> '_Seen | None':
        """Return what the last list showed, None if that is too old."""
        last = self._last
        if last is None:
            return None
        age = self._clock() - last.asked_at
        return last if 0 <= age < self._interval else None

    def _asked(
        self,
        aggregates: frozenset[str],
        looks: Sequence[observation.ObservationBuilder],
        since: int,
    ) -> observation.ObservationBuilder:
        """Return what a list shows now; remember it if it is complete.

        It is of the last one's aggregates too: those of other nodes, which
        are looked at apart.
        """
        doubts, asked_at, last = self._doubts, self._clock(), self._good()
        self._last = None
        if last is not None:
            aggregates |= last.aggregates
        few = aggregates
        if len(aggregates) > MAX_AGGREGATES:
            few = frozenset()
        rows = self._reader.list_providers(codec.sharing_path(few))
        shared = observation.ObservationBuilder(
            node_uuid='', since=since, rows=rows
        )
        for look in looks:
            for uuid, intents in look.intents.items():
                there = shared.intents.get(uuid, ())
                shared.intents[uuid] = (*there, *intents)
        for row in rows:
            try:
                self._readings.read(shared, [row])
            except observation.ONE_NODE as exc:
                shared.failed[row.uuid] = exc
        if not shared.failed and doubts == self._doubts:
            again = dataclasses.replace(shared, fresh=set(), notes={})
            self._last = _Seen(again, aggregates, asked_at)
        return shared


@dataclasses.dataclass(frozen=True, slots=True)
class _Seen:
    """What a list showed, for which aggregates, and when."""

    look: observation.ObservationBuilder
    aggregates: frozenset[str]
    asked_at: float


def _own(looks: Iterable[observation.ObservationBuilder]) -> set[str]:
    """Return what is in nodes' own trees, or was written and not confirmed."""
    return {u for look in looks for u in (*look.home, *look.intents)}
