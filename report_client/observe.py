# SPDX-License-Identifier: Apache-2.0
"""Reading placement: what it holds of our trees, at the fewest requests.

A provider's generation moves with every change of its contents (1.19), and one
list shows the generations of all, so a provider is read again only when its
generation, name or parent is not the one in the store. What cannot be read
completely is unknown and raises; nothing is ever taken for empty. It writes
nothing to placement; ``client.py`` calls it.
"""

import dataclasses
import hashlib
import logging
import threading
from collections.abc import Callable, Iterable, Sequence

from compute_agent import (
    allocated,
    assertion,
    errors,
    intentions,
    names,
    provider,
)

from . import errors as placement_errors
from . import observation, placement, reader, store, wire

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
        self._clock = clock
        self._interval = full_read_interval
        self._doubted = False
        self._asking = threading.Lock()
        self._names: frozenset[str] | None = None

    def observe(
        self, node_uuids: Sequence[str]
    ) -> dict[str, observation.Observation | errors.AgentError]:
        """Return what placement holds of these nodes, or why it is unknown.

        One list request for all; one more where aggregates are in play.

        :raises errors.AgentError: not even the list could be read
        """
        try:
            rows = self._list(node_uuids)
        except (errors.Unavailable, errors.UnknownState):
            self._doubted = True
            raise
        looks = [
            observation.Look(node_uuid=uuid, rows=rows.get(uuid, []))
            for uuid in node_uuids
        ]
        for look in looks:
            self._attempt(look, self._own_tree)
        self._sharing([look for look in looks if look.error is None])
        for look in looks:
            self._attempt(look, self._other_roots)
            self._attempt(look, self._forget_the_gone)
        return {look.node_uuid: look.error or look.seen() for look in looks}

    def verify(
        self, seen: observation.Observation, parts: Iterable[observation.Part]
    ) -> None:
        """Read these parts afresh, but for those that were in this cycle.

        :raises errors.LookAgain: one is not as observed
        """
        for uuid, kind in sorted(set(parts) - seen.fresh):
            one = seen.providers[uuid]
            generation, content = self._reader.contents(uuid, kind)
            if generation != one.generation:
                raise placement_errors.Conflict(f'{one} moved while planning')
            if content != getattr(one, reader.FIELDS[kind]):
                self._store_without(one)
                raise placement_errors.Conflict(
                    f'{one}: its {reader.FIELDS[kind]} changed without a generation'
                )

    def allocated(
        self, providers: Iterable[provider.Provider]
    ) -> dict[str, allocated.Consumers]:
        """Return the consumers by class of these providers.

        :raises errors.LookAgain: one of them moved since it was observed
        """
        found: dict[str, allocated.Consumers] = {}
        for one in providers:
            generation, consumers = self._reader.allocated(one.uuid)
            if generation != one.generation:
                raise placement_errors.Conflict(f'{one} moved while planning')
            found[one.uuid] = consumers
        return found

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
                or self._overdue(known.read_at, 1)
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
        self._read(look, look.rows)

    def _sharing(self, looks: Sequence[observation.Look]) -> None:
        """Add to each node the sharing providers of its aggregates."""
        reach = [(look, look.aggregates()) for look in looks]
        every = frozenset[str]().union(*(some for _, some in reach))
        if not every:
            return
        few = every if len(every) <= MAX_AGGREGATES else frozenset[str]()
        rows = self._reader.listed(wire.sharing(few))
        shared = observation.Look(node_uuid='', rows=rows)
        for look, _ in reach:
            shared.intents = {**shared.intents, **look.intents}
        for row in rows:
            try:
                self._read(shared, [row])
            except _ONE_NODE as exc:
                shared.failed[row.uuid] = exc
        last = self._store.readings(shared.failed)
        for look, some in reach:
            if some:
                look.reach(shared, some, last)

    def _other_roots(self, look: observation.Look) -> None:
        """Add what was created for this node and stands in other trees.

        Or may have been: an intent may be all that a crash left of it.
        """
        created = self._store.created_for(look.node_uuid)
        for uuid in [*created, *look.intents]:
            if uuid not in look.readings:
                path = wire.in_tree(uuid)
                self._read(look, self._reader.listed(path))

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

    # --- providers ------------------------------------------------------------

    def _read(
        self, look: observation.Look, rows: Sequence[wire.Listed]
    ) -> None:
        """Read these providers for one node, where not remembered."""
        kept = self._store.readings(row.uuid for row in rows)
        kept = self._without_regressed(rows, kept)
        new = []
        for row in rows:
            old = kept.get(row.uuid)
            intents = look.intents.get(row.uuid, [])
            if old is None or intents or self._stale(row, old):
                old = self._reader.provider(row)
                new.append(old)
                look.fresh |= {(row.uuid, kind) for kind in assertion.Kind}
            look.readings[row.uuid] = old
            look.notes += self._settle(intents, old)
        if new:
            self._store.save(new)

    def _stale(self, row: wire.Listed, old: provider.Reading) -> bool:
        """Whether what is remembered is not, or may not be, what is there."""
        return old.suspect or not _same(row, old) or self._due(old)

    def _without_regressed(
        self,
        rows: Sequence[wire.Listed],
        kept: dict[str, provider.Reading],
    ) -> dict[str, provider.Reading]:
        """A generation never falls: unknown at first, then another provider.

        :raises errors.UnknownState: one fell that had not in the last look
        """
        fallen = [
            kept[row.uuid]
            for row in rows
            if row.uuid in kept
            and row.generation < _generation(kept[row.uuid])
        ]
        suspects = [old for old in fallen if not old.suspect]
        if suspects:
            self._store.save(
                dataclasses.replace(old, suspect=True) for old in suspects
            )
            who = ', '.join(str(old.provider) for old in suspects)
            raise errors.UnknownState(
                f'{who}: the generation fell; if it has in the next cycle too, '
                'they count as deleted and created anew by another'
            )
        for old in fallen:
            LOG.warning(
                '%s was deleted and created again by another: what this '
                'agent added to the old one is forgotten',
                old.provider,
            )
        gone = {old.provider.uuid for old in fallen}
        if gone:
            self._store.forget(gone)
        return {u: r for u, r in kept.items() if u not in gone}

    def _settle(
        self,
        intents: Sequence[intentions.Intent],
        reading: provider.Reading,
    ) -> tuple[str, ...]:
        if not intents:
            return ()
        settlement = intentions.settle(intents, reading.provider)
        self._store.settle(settlement.done, settlement.dropped)
        return settlement.notes

    def _store_without(self, one: provider.Provider) -> None:
        """Make sure that this provider is read whole at the next look."""
        kept = self._store.readings([one.uuid])
        self._store.save(
            dataclasses.replace(r, read_at=0.0) for r in kept.values()
        )

    def _due(self, old: provider.Reading) -> bool:
        """Whether it is time to read a provider that seems unchanged.

        Spread by uuid over a tenth of the interval, so that providers read
        together do not stay together.
        """
        digest = hashlib.sha256(old.provider.uuid.encode()).digest()
        return self._overdue(old.read_at, 0.9 + 0.1 * digest[0] / 255)

    def _overdue(self, read_at: float, share: float) -> bool:
        """Whether this share of the slow read's interval has passed."""
        if not self._interval and read_at > 0:
            return False
        age = self._clock() - read_at
        return age < 0 or age >= self._interval * share


def _same(row: wire.Listed, old: provider.Reading) -> bool:
    one = old.provider
    return (row.generation, row.name, row.parent_uuid, row.root_uuid) == (
        one.generation,
        one.name,
        one.parent_uuid,
        old.root_uuid,
    )


def _generation(reading: provider.Reading) -> int:
    return reading.provider.generation or 0


# What fails one node's look; all else means the service itself is away.
_ONE_NODE = (errors.UnknownState, errors.LookAgain)
