# SPDX-License-Identifier: Apache-2.0
"""Find the sharing providers that nodes reach through their aggregates.

One list shows them for all nodes. The list is reused for a while, as long as
this agent writes nothing and no source describes one of its providers. The
agent reads every part again before it writes it. If the list has a provider
that a node's tree contains, that this agent created for a node, or that a
source asserts something about, it is read again in each cycle. This module
writes nothing to placement; ``observer.py`` calls it.
"""

import dataclasses
from collections.abc import Callable, Container, Iterable, Sequence

from ..http.messages import codec, paths
from . import cached_reader, observation, reader, store

MAX_AGGREGATES = 50  # in one query, which are 2 KB of the request line


class SharingProviders:
    """Finds sharing providers, and adds them to nodes' observations.

    :param clock: seconds since the epoch
    :param interval: seconds for which a list is reused
    """

    def __init__(
        self,
        read: reader.Reader,
        state: store.State,
        providers: cached_reader.CachedReader,
        *,
        clock: Callable[[], float],
        interval: float,
    ) -> None:
        self._reader = read
        self._store = state
        self._providers = providers
        self._clock = clock
        self._interval = interval
        self._cached: _CachedList | None = None
        self._invalidations = 0
        self._watched = set[str]()

    def watch(self, uuids: Iterable[str]) -> None:
        """Read the list in each cycle while it has one of these providers."""
        self._watched.update(uuids)

    def invalidate(self) -> None:
        """Drop the cached list; do not cache a list that is being read now."""
        self._invalidations += 1
        self._cached = None

    def forget_unlisted(self) -> None:
        """Stop watching providers that the last list does not have.

        If such a provider shares again, the nodes' plans change, and it is
        watched again.
        """
        if self._cached is not None:
            self._watched &= self._cached.shared.readings.keys()

    @property
    def listed(self) -> '_CachedList | None':
        """The list that the last observation was made with; None if unknown."""
        return self._cached

    def reusable(
        self, own: Callable[[], Container[str]]
    ) -> '_CachedList | None':
        """Return the list that may be reused, None if it must be read again.

        :param own: returns the providers in the nodes' own trees
        """
        cached = self._good()
        if cached is None:
            return None
        listed = cached.shared.readings
        if listed:
            nodes = own()
            if any(uuid in nodes or uuid in self._watched for uuid in listed):
                return None
        return cached

    def add_to(
        self,
        builders: Sequence[observation.ObservationBuilder],
        created: Iterable[str],
        since: int,
    ) -> None:
        """Add to each node the sharing providers of its aggregates.

        ``GET /resource_providers?required=MISC_SHARES_VIA_AGGREGATE`` (1.18;
        ``member_of`` 1.3), unless the cached list is recent enough. A sharing
        provider that cannot be read fails the nodes that it may serve.

        :param created: uuids of providers that this agent created for these
            nodes
        :param since: the store's moment when the observation began
        :raises errors.AgentError: the list cannot be read
        """
        wanted = [(builder, builder.aggregates()) for builder in builders]
        every = frozenset[str]().union(*(own for _, own in wanted))
        if not every:
            return
        shared = self._recall(every, _own(builders).union(created))
        if shared is None:
            shared = self._read(every, builders, since)
        members = shared.members()
        known = self._store.snapshot.readings(shared.failed)
        for builder, own in wanted:
            near = [u for aggregate in own for u in members.get(aggregate, ())]
            builder.add_sharing(shared, near)
            for uuid, error in shared.failed.items():
                # A provider that was never read may be in any aggregate.
                reading = known.get(uuid)
                if own and (
                    reading is None or reading.provider.aggregates & own
                ):
                    builder.error = error

    def _recall(
        self, aggregates: frozenset[str], own: set[str]
    ) -> observation.ObservationBuilder | None:
        """Return the providers of the cached list, None to read it again."""
        cached = self.reusable(lambda: own)
        if cached is None or not aggregates <= cached.aggregates:
            return None
        return cached.shared

    def _good(self) -> '_CachedList | None':
        """Return the cached list, None if it is too old."""
        cached = self._cached
        if cached is None:
            return None
        age = self._clock() - cached.read_at
        return cached if 0 <= age < self._interval else None

    def _read(
        self,
        aggregates: frozenset[str],
        builders: Sequence[observation.ObservationBuilder],
        since: int,
    ) -> observation.ObservationBuilder:
        """Return the list's providers; cache them if all could be read.

        The list also has the aggregates of the cached list, because other
        nodes, which are observed separately, need them.
        """
        invalidations, read_at = self._invalidations, self._clock()
        cached = self._good()
        self._cached = None
        if cached is not None:
            aggregates |= cached.aggregates
        in_query = aggregates
        if len(aggregates) > MAX_AGGREGATES:
            in_query = frozenset()
        rows = self._reader.list_providers(paths.sharing(in_query))
        shared = self._read_rows(rows, builders, since)
        if not shared.failed and invalidations == self._invalidations:
            reusable = dataclasses.replace(shared, fresh=set(), notes={})
            self._cached = _CachedList(reusable, aggregates, read_at)
        return shared

    def _read_rows(
        self,
        rows: Sequence[codec.ListedProvider],
        builders: Iterable[observation.ObservationBuilder],
        since: int,
    ) -> observation.ObservationBuilder:
        """Return the providers of a list; ``failed`` has the errors."""
        shared = observation.ObservationBuilder(
            node_uuid='', since=since, rows=rows
        )
        for builder in builders:
            for uuid, intents in builder.intents.items():
                earlier = shared.intents.get(uuid, ())
                shared.intents[uuid] = (*earlier, *intents)
        for row in rows:
            try:
                self._providers.read(shared, [row])
            except observation.ONE_NODE as exc:
                shared.failed[row.uuid] = exc
        return shared


@dataclasses.dataclass(frozen=True, slots=True)
class _CachedList:
    """The providers of a list, the aggregates it covers, and its time."""

    shared: observation.ObservationBuilder
    aggregates: frozenset[str]
    read_at: float


def _own(builders: Iterable[observation.ObservationBuilder]) -> set[str]:
    """Return the providers in nodes' own trees or with unconfirmed intents."""
    return {u for b in builders for u in (*b.home, *b.intents)}
