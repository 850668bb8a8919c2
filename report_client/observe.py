# SPDX-License-Identifier: Apache-2.0
"""Reading placement: what it holds of our trees, at the fewest requests.

A provider's generation moves with every change of its contents (1.19), and one
list shows the generations of all, so a provider is read again only when its
generation, name or parent is not the one in the store. What cannot be read
completely is unknown and raises; nothing is ever taken for empty. It writes
nothing to placement; ``client.py`` calls it.
"""

import dataclasses
import logging
import threading
from collections.abc import Callable, Sequence

from compute_agent import errors, intentions, names

from . import observation, placement, reader, readings, store, wire

LOG = logging.getLogger(__name__)

MAX_AGGREGATES = 50  # in one query: 2 KB of a request line


class Observer:
    """Reads placement through one store.

    :param clock: seconds since the epoch
    :param full_read_interval: seconds after which a provider is read again
        although its generation stands still; 0 for never
    """

    def __init__(
        self,
        service: placement.Placement,
        kept: store.Store,
        *,
        clock: Callable[[], float],
        full_read_interval: float,
    ) -> None:
        self._reader = reader.Reader(service, clock)
        self._store = kept
        self._readings = readings.Readings(
            self._reader, kept, clock=clock, interval=full_read_interval
        )
        self._doubted = False
        self._asking = threading.Lock()
        self._names: frozenset[str] | None = None
        self._found: dict[str, set[str]] = {}

    def observe(
        self, node_uuids: Sequence[str]
    ) -> dict[str, observation.Observation | errors.AgentError]:
        """Return what placement holds of these nodes, or why it is unknown.

        One list request for all; one more where aggregates are in play.

        :raises errors.AgentError: not even the list could be read
        """
        since = self._store.moment()
        try:
            rows = self._list(node_uuids)
        except (errors.Unavailable, errors.UnknownState):
            self._doubted = True
            raise
        looks = [
            observation.Look(
                node_uuid=uuid, since=since, rows=rows.get(uuid, [])
            )
            for uuid in node_uuids
        ]
        for look in looks:
            self._attempt(look, self._own_tree)
        self._sharing([look for look in looks if look.error is None], since)
        for look in looks:
            self._attempt(look, self._other_roots)
            self._attempt(look, self._forget_the_gone)
        return {look.node_uuid: look.error or look.seen() for look in looks}

    def known_names(self) -> names.KnownNames:
        """Return the traits and classes placement knows.

        They are kept, and asked for again with the slow read, and after the
        service was away: it may have come back a newer one.
        """
        with self._asking:  # nodes side by side need not all ask
            known = self._store.known_names()
            if (
                known is None
                or self._doubted
                or self._readings.is_overdue(known.read_at)
            ):
                known = self._reader.known_names()
                self._store.save_known_names(known)
                self._doubted = False
        return known

    def remembered_names(self) -> names.KnownNames | None:
        """Return the names placement is remembered to know."""
        return self._store.known_names()

    def learn_names(
        self, traits: frozenset[str], resource_classes: frozenset[str]
    ) -> None:
        """Add names that placement knows because we just created them."""
        known = self._store.known_names()
        if known is not None:
            self._store.save_known_names(
                dataclasses.replace(
                    known,
                    traits=known.traits | traits,
                    resource_classes=known.resource_classes | resource_classes,
                )
            )

    def holder_of(self, name: str) -> str | None:
        """Return the uuid of the provider that has this name, if any has.

        Asked only where the last list did not show every name there is.
        """
        if self._names is not None and name not in self._names:
            return None
        rows = self._reader.listed(wire.named(name))
        return next((row.uuid for row in rows if row.name == name), None)

    def find(self, node_uuid: str, uuid: str) -> None:
        """Look at a provider for a node from now on, while it is there.

        For one that the driver names, that exists, and that neither the
        record nor an aggregate leads to.
        """
        self._found.setdefault(node_uuid, set()).add(uuid)

    # --- lists ----------------------------------------------------------------

    def _list(self, node_uuids: Sequence[str]) -> dict[str, list[wire.Listed]]:
        """Return the rows of each node's tree, by one request for them all."""
        if not node_uuids:
            return {}
        one = len(node_uuids) == 1
        path = wire.in_tree(node_uuids[0]) if one else wire.PROVIDERS
        listed = self._reader.listed(path)
        if not one:
            self._names = frozenset(row.name for row in listed)
        wanted = set(node_uuids)
        trees: dict[str, list[wire.Listed]] = {}
        for row in listed:
            trees.setdefault(row.root_uuid, []).append(row)
        for rows in list(trees.values()):
            below = {row.uuid for row in rows} & wanted
            for uuid in below:  # a node's provider may not be the root
                trees.setdefault(uuid, rows)
        return trees

    def _attempt(
        self, look: observation.Look, step: Callable[[observation.Look], None]
    ) -> None:
        """Take one step for one node; what fails it does not fail others."""
        if look.error is not None:
            return
        try:
            step(look)
        except _ONE_NODE as exc:
            look.error = exc

    def _own_tree(self, look: observation.Look) -> None:
        look.intents = self._store.intents(look.node_uuid)
        look.home = {row.uuid for row in look.rows}
        self._readings.read(look, look.rows)

    def _sharing(self, looks: Sequence[observation.Look], since: int) -> None:
        """Add to each node the sharing providers of its aggregates."""
        reach = [(look, look.aggregates()) for look in looks]
        every = frozenset[str]().union(*(some for _, some in reach))
        if not every:
            return
        few = every if len(every) <= MAX_AGGREGATES else frozenset[str]()
        rows = self._reader.listed(wire.sharing(few))
        shared = observation.Look(node_uuid='', since=since, rows=rows)
        for look, _ in reach:
            for uuid, intents in look.intents.items():
                there = shared.intents.get(uuid, ())
                shared.intents[uuid] = (*there, *intents)
        for row in rows:
            try:
                self._readings.read(shared, [row])
            except _ONE_NODE as exc:
                shared.failed[row.uuid] = exc
        last = self._store.readings(shared.failed)
        for look, some in reach:
            if some:
                look.reach(shared, some, last)

    def _other_roots(self, look: observation.Look) -> None:
        """Add what was created for this node and stands in other trees.

        Or may have been: an intent may be all that a crash left of it; a
        provider that was found is there, whoever created it. Of a tree that
        such a one was moved into, what is not below it is not looked at.
        """
        created = self._store.created_for(look.node_uuid)
        found = self._found.get(look.node_uuid, set())
        for uuid in [*created, *look.intents, *sorted(found)]:
            if uuid not in look.readings:
                rows = self._reader.listed(wire.in_tree(uuid))
                self._readings.read(look, _below(rows, uuid))
                if not rows:
                    found.discard(uuid)

    def _forget_the_gone(self, look: observation.Look) -> None:
        """A provider that a complete list lacks is no more, nor its record."""
        known = self._store.members(look.node_uuid)
        known |= set(self._store.created_for(look.node_uuid))
        # What was never seen at this service may be at another.
        last = self._store.readings(known - set(look.readings))
        if last:
            gone = ', '.join(str(r.provider) for r in last.values())
            LOG.info('gone from placement: %s', gone)
            self._store.forget(last)
        for uuid in set(look.intents) - set(look.readings):
            settled = intentions.settle(look.intents[uuid], None)
            self._store.settle((), settled.dropped)


def _below(rows: Sequence[wire.Listed], uuid: str) -> list[wire.Listed]:
    """Return the row of a provider, and those of what stands below it."""
    found, before = {uuid}, 0
    while len(found) > before:  # no order is promised
        before = len(found)
        found |= {row.uuid for row in rows if row.parent_uuid in found}
    return [row for row in rows if row.uuid in found]


# What fails one node's look; all else means the service itself is away.
_ONE_NODE = (errors.UnknownState, errors.LookAgain)
