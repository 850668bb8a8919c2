# SPDX-License-Identifier: Apache-2.0
"""Reading placement: what it holds of our trees, at the fewest requests.

A provider's generation moves with every change of its contents (1.19), and one
list shows the generations of all, so a provider is read again only when its
generation, name or parent is not the one in the store. What cannot be read
completely is unknown and raises; nothing is ever taken for empty. It writes
nothing to placement; ``client.py`` and ``plan/planner.py`` call it.
"""

import dataclasses
import functools
import itertools
import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence

from compute_agent import errors, parallel
from compute_agent.tree import intents, names, provider
from compute_agent.tree.observation import Observation

from ..http import codec, placement
from . import cached_reader, list_strategy, observation, reader, sharing, store

LOG = logging.getLogger(__name__)


class Observer:
    """Reads placement through one store.

    :param clock: seconds since the epoch
    :param full_read_interval: seconds after which a provider is read again
        although its generation stands still; 0 for never
    :param sharing_interval: seconds for which others' sharing providers are
        taken to be what they were
    :param workers: how many nodes are read at a time
    """

    def __init__(
        self,
        service: placement.Placement,
        kept: store.State,
        *,
        clock: Callable[[], float],
        full_read_interval: float,
        sharing_interval: float,
        workers: int = 1,
    ) -> None:
        self._reader = reader.Reader(service, clock)
        self._store = kept
        self._lists = list_strategy.ListStrategy(
            self._reader, kept, clock=clock, workers=workers
        )
        self._readings = cached_reader.CachedReader(
            self._reader, kept, clock=clock, interval=full_read_interval
        )
        self._sharing = sharing.SharingProviders(
            self._reader,
            kept,
            self._readings,
            clock=clock,
            interval=sharing_interval,
        )
        self._workers = workers
        self._doubted = False
        self._asking = threading.Lock()
        self._found: dict[str, set[str]] = {}
        # What was seen last of each node, and the readings it was made of.
        self._last: dict[str, _Seen] = {}

    def observe(
        self, node_uuids: Sequence[str]
    ) -> dict[str, Observation | errors.AgentError]:
        """Return what placement holds of these nodes, or why it is unknown.

        One list request for all, or for each if ``list_strategy.py`` finds that
        cheaper; one more where ``sharing.py`` has to ask. The very same
        observation as the last time if nothing of it moved.

        :raises errors.AgentError: not even the list could be read
        """
        since = self._store.journal.moment()
        looks = self._begun(self._listed(node_uuids), node_uuids, since)
        self._read_own_trees(looks)
        created = self._store.records.created_for(node_uuids)
        self._sharing.look(
            [look for look in looks if look.error is None],
            itertools.chain.from_iterable(created.values()),
            since,
        )
        for look in looks:
            made = created.get(look.node_uuid, [])
            self._attempt(look, functools.partial(self._other_roots, made))
        members = self._store.snapshot.members(node_uuids)
        for look in looks:
            known = members.get(look.node_uuid, set())
            known |= set(created.get(look.node_uuid, ()))
            self._attempt(look, functools.partial(self._forget_gone, known))
        return {
            look.node_uuid: look.error or self._seen(look) for look in looks
        }

    def known_names(self) -> names.KnownNames:
        """Return the traits and classes placement knows.

        They are kept, and asked for again with the slow read, and after the
        service was away: it may have come back a newer one.
        """
        with self._asking:  # nodes side by side need not all ask
            known = self._store.snapshot.known_names()
            if (
                known is None
                or self._doubted
                or self._readings.is_overdue(known.read_at)
            ):
                known = self._reader.known_names()
                self._store.snapshot.save_known_names(known)
                self._doubted = False
        return known

    def remembered_names(self) -> names.KnownNames | None:
        """Return the names placement is remembered to know."""
        return self._store.snapshot.known_names()

    def learn_names(
        self, traits: frozenset[str], resource_classes: frozenset[str]
    ) -> None:
        """Add names that placement knows because we just created them."""
        known = self._store.snapshot.known_names()
        if known is not None:
            self._store.snapshot.save_known_names(
                dataclasses.replace(
                    known,
                    traits=known.traits | traits,
                    resource_classes=known.resource_classes | resource_classes,
                )
            )

    def uuid_of_name(self, name: str) -> str | None:
        """Return the uuid of the provider that has this name, if any has."""
        return self._lists.uuid_of_name(name)

    def watch_provider(self, node_uuid: str, uuid: str) -> None:
        """Look at a provider for a node from now on, while it is there.

        For one that the driver names, that exists, and that neither the
        record nor an aggregate leads to.
        """
        self._found.setdefault(node_uuid, set()).add(uuid)

    def watch_sharing(self, uuids: Iterable[str]) -> None:
        """Look at these, if they are shared, in each cycle from now on.

        For what is said of sharing providers: what another does to it is seen
        at once, as in a node's own tree.
        """
        self._sharing.watch(uuids)

    def invalidate(self) -> None:
        """Rely on nothing that was seen of sharing providers."""
        self._sharing.invalidate()

    # --- the steps of a look --------------------------------------------------

    def _listed(
        self, node_uuids: Sequence[str]
    ) -> Mapping[str, list_strategy.Rows | errors.AgentError]:
        try:
            return self._lists.trees(node_uuids)
        except (errors.Unavailable, errors.UnknownState):
            self._doubted = True
            self.invalidate()
            raise

    def _begun(
        self,
        trees: Mapping[str, list_strategy.Rows | errors.AgentError],
        node_uuids: Sequence[str],
        since: int,
    ) -> list[observation.ObservationBuilder]:
        """Return a look for each node, with what its list showed."""
        intents = self._store.journal.intents(node_uuids)
        looks = []
        for uuid in node_uuids:
            found = trees.get(uuid, ())
            error = found if isinstance(found, errors.AgentError) else None
            rows = () if isinstance(found, errors.AgentError) else found
            look = observation.ObservationBuilder(
                node_uuid=uuid, since=since, rows=rows
            )
            look.error = error
            look.intents = intents.get(uuid, {})
            look.home = {row.uuid for row in rows}
            looks.append(look)
        return looks

    def _read_own_trees(
        self, looks: Sequence[observation.ObservationBuilder]
    ) -> None:
        """Take what stands still from memory; read the others side by side."""
        kept = self._store.snapshot.readings(
            row.uuid for look in looks for row in look.rows
        )
        moved = [
            look
            for look in looks
            if look.error is None and not self._readings.recall(look, kept)
        ]
        step = functools.partial(self._attempt, step=self._own_tree)
        parallel.each(moved, step, workers=self._workers)

    def _own_tree(self, look: observation.ObservationBuilder) -> None:
        self._readings.read(look, look.rows)

    def _attempt(
        self,
        look: observation.ObservationBuilder,
        step: Callable[[observation.ObservationBuilder], None],
    ) -> None:
        """Take one step for one node; what fails it does not fail others."""
        if look.error is not None:
            return
        try:
            step(look)
        except observation.ONE_NODE as exc:
            look.error = exc

    def _other_roots(
        self, created: Sequence[str], look: observation.ObservationBuilder
    ) -> None:
        """Add what was created for this node and stands in other trees.

        Or may have been: an intent may be all that a crash left of it; a
        provider that was found is there, whoever created it. Of a tree that
        such a one was moved into, what is not below it is not looked at.
        """
        found = self._found.get(look.node_uuid, set())
        for uuid in [*created, *look.intents, *sorted(found)]:
            if uuid not in look.readings:
                rows = self._reader.list_providers(codec.in_tree_path(uuid))
                self._readings.read(look, _below(rows, uuid))
                if not rows:
                    found.discard(uuid)

    def _forget_gone(
        self, known: set[str], look: observation.ObservationBuilder
    ) -> None:
        """A provider that a complete list lacks is no more, nor its record."""
        missing = known - look.readings.keys()
        # What was never seen at this service may be at another.
        last = self._store.snapshot.readings(missing) if missing else {}
        if last:
            gone = ', '.join(str(r.provider) for r in last.values())
            LOG.info('gone from placement: %s', gone)
            self._store.journal.forget(last)
        for uuid in set(look.intents) - set(look.readings):
            settled = intents.settle(look.intents[uuid], None)
            self._store.journal.record_outcome((), settled.dropped)

    def _seen(self, look: observation.ObservationBuilder) -> Observation:
        """Return the finished observation: the last one if nothing moved."""
        last = self._last.get(look.node_uuid)
        if last is not None and last.stands(look):
            return last.seen
        seen = look.seen()
        if look.readings and not look.fresh:
            self._last[look.node_uuid] = _Seen(seen, look.readings)
        else:
            self._last.pop(look.node_uuid, None)
        return seen


@dataclasses.dataclass(frozen=True, slots=True)
class _Seen:
    """An observation, and the readings it was made of."""

    seen: Observation
    made_of: Mapping[str, provider.Reading]

    def stands(self, look: observation.ObservationBuilder) -> bool:
        """Whether a look found these very readings, remembered all."""
        now = look.readings
        return (
            not look.fresh
            and look.home == self.seen.home
            and now.keys() == self.made_of.keys()
            and all(now[u] is r for u, r in self.made_of.items())
        )


def _below(
    rows: Sequence[codec.ListedProvider], uuid: str
) -> list[codec.ListedProvider]:
    """Return the row of a provider, and those of what stands below it."""
    found, before = {uuid}, 0
    while len(found) > before:  # no order is promised
        before = len(found)
        found |= {row.uuid for row in rows if row.parent_uuid in found}
    return [row for row in rows if row.uuid in found]
