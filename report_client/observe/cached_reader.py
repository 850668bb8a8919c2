# SPDX-License-Identifier: Apache-2.0
"""Take providers from the store if they are unchanged, else read them again.

Threads observe and write in parallel. If a thread updates the store while
another makes an observation, the update is newer than the observation's list.
It is then neither taken for a fallen generation nor overwritten. This module
writes nothing to placement; ``observer.py`` and ``sharing.py`` call it.
"""

import contextlib
import dataclasses
import logging
import zlib
from collections.abc import Callable, Container, Mapping, Sequence

from compute_agent import parallel
from compute_agent.plan import history_entry, intents
from compute_agent.tree import assertion, provider

from ..http.messages import codec
from . import fallen, observation, reader, store

LOG = logging.getLogger(__name__)


class CachedReader:
    """Reads providers through one store.

    :param clock: seconds since the epoch
    :param interval: seconds after which a provider is read again although its
        generation is unchanged; 0 for never
    :param wait: seconds after which a lower generation is no late answer
    """

    def __init__(
        self,
        read: reader.Reader,
        state: store.State,
        *,
        clock: Callable[[], float],
        interval: float,
        wait: float = fallen.WAIT,
    ) -> None:
        self._reader = read
        self._fallen = fallen.Fallen(read, state, clock=clock, wait=wait)
        self._store = state
        self._clock = clock
        self._interval = interval
        self._warm: dict[str, provider.Reading] = {}

    def warm(
        self,
        builders: Sequence[observation.ObservationBuilder],
        may_go_on: Callable[[], bool],
        workers: int,
    ) -> None:
        """Read providers that changed; see ``use_warm``.

        An agent that stands by changes neither the record nor the history: a
        reading that must be recorded is only remembered. A provider with an
        intent is read once its outcome can be recorded.
        """
        rows = {row.uuid: row for b in builders for row in b.rows}
        self._warm = {u: r for u, r in self._warm.items() if u in rows}
        stored = self._store.snapshot.readings(rows)

        def read(builder: observation.ObservationBuilder) -> None:
            with contextlib.suppress(*observation.ONE_NODE):
                for row in builder.rows:
                    is_known = row.uuid in builder.intents or any(
                        self._reusable(builder, row, known)
                        for known in (stored, self._warm)
                    )
                    if not (is_known or row.fault) and may_go_on():
                        self._warm[row.uuid] = self._reader.provider(row)
                new = self._unsaved(builder, stored, self._warm)
                if new and self._store.journal.save_ahead(new):
                    for reading in new:
                        self._warm.pop(reading.provider.uuid, None)

        parallel.each(builders, read, workers=workers)

    def use_warm(
        self,
        builders: Sequence[observation.ObservationBuilder],
        since: int,
    ) -> None:
        """Save the readings that ``warm`` remembered as if they were made now.

        Only nodes are returned whose own tree is complete and unchanged in the
        store and in these rows. They are dropped, because from now on the
        store is newer.
        """
        warm, self._warm = self._warm, {}
        if not warm:
            return
        stored = self._store.snapshot.readings(
            row.uuid for builder in builders for row in builder.rows
        )
        returned = self._store.journal.lost_providers(warm)
        warm = {
            uuid: reading
            for uuid, reading in warm.items()
            if uuid not in returned
            and not (
                uuid in stored
                and stored[uuid].is_above(reading.provider.generation or 0)
            )
        }
        new: list[provider.Reading] = []
        for builder in builders:
            new += self._unsaved(builder, stored, warm)
        if new:
            self._store.journal.save(new, since=since)

    def _unsaved(
        self,
        builder: observation.ObservationBuilder,
        stored: Mapping[str, provider.Reading],
        warm: Mapping[str, provider.Reading],
    ) -> list[provider.Reading]:
        """Return what the store lacks of a node's own tree, parents first.

        :return: nothing, unless store and memory have the tree completely
        """
        missing = [
            row
            for row in builder.rows
            if not self._reusable(builder, row, stored)
        ]
        found = [self._reusable(builder, row, warm) for row in missing]
        new = [reading for reading in found if reading is not None]
        if len(new) < len(missing):
            return []
        return sorted(new, key=lambda one: one.provider.parent_uuid or '')

    def recall(
        self,
        builder: observation.ObservationBuilder,
        stored: Mapping[str, provider.Reading],
    ) -> bool:
        """Add a node's own tree from the store, if it is completely unchanged.

        :param stored: uuid → last reading, of these providers and others
        :return: False, with nothing added, if a provider must be read again
        """
        found = {}
        for row in builder.rows:
            reading = self._reusable(builder, row, stored)
            if reading is None:
                return False
            found[row.uuid] = reading
        builder.readings |= found
        return True

    def read(
        self,
        builder: observation.ObservationBuilder,
        rows: Sequence[codec.ListedProvider],
    ) -> None:
        """Add these providers, from the store or from placement.

        It sends three requests for each provider that must be read again
        (``reader.Reader.provider``).

        :raises errors.UnknownState: a generation fell, or a row is faulty
        :raises errors.AgentError: a provider cannot be read
        """
        codec.check_rows(rows)
        stored = self._store.snapshot.readings(row.uuid for row in rows)
        outdated = self._outdated_rows(builder, rows, stored)
        current = [row for row in rows if row.uuid not in outdated]
        settled = self._settle_fallen(builder, current, stored)
        new = []
        for row in rows:
            reading = settled.get(row.uuid)
            is_fresh = reading is not None
            if reading is None:
                reading = self._reusable(builder, row, stored, outdated)
            if reading is None:
                reading, is_fresh = self._reader.provider(row), True
                new.append(reading)
            if is_fresh:
                builder.fresh |= {(row.uuid, kind) for kind in assertion.Kind}
            builder.readings[row.uuid] = reading
            builder.notes[row.uuid] = self._resolve(builder, reading)
        if new:
            self._store.journal.save(new, since=builder.since)

    def is_overdue(self, read_at: float, share: float = 1) -> bool:
        """Return True if the interval of the slow full read has passed.

        :param share: the part of the interval that counts
        """
        if not self._interval and read_at > 0:
            return False
        age = self._clock() - read_at
        return age < 0 or age >= self._interval * share

    def is_due(self, reading: provider.Reading) -> bool:
        """Return True if it is time to read a provider that seems unchanged.

        The uuid spreads the time over a tenth of the interval, so that
        providers that were read together are not always read together.
        """
        spread = zlib.crc32(reading.provider.uuid.encode()) / 0xFFFFFFFF
        return self.is_overdue(reading.read_at, 0.9 + 0.1 * spread)

    def _reusable(
        self,
        builder: observation.ObservationBuilder,
        row: codec.ListedProvider,
        stored: Mapping[str, provider.Reading],
        outdated: Container[str] = (),
    ) -> provider.Reading | None:
        """Return the stored reading, None if the provider must be read again.

        :param outdated: providers whose rows are older than the store
        """
        reading = stored.get(row.uuid)
        if (
            reading is None
            or row.fault
            or row.uuid in builder.intents
            or self.is_due(reading)
        ):
            return None
        stale = row.uuid not in outdated and observation.is_stale(row, reading)
        return None if stale else reading

    def _outdated_rows(
        self,
        builder: observation.ObservationBuilder,
        rows: Sequence[codec.ListedProvider],
        stored: Mapping[str, provider.Reading],
    ) -> set[str]:
        """Return the providers whose rows are older than the store.

        :raises errors.UnknownState: another thread saw a generation fall
        """
        newer = self._store.journal.newer(stored, builder.since)
        outdated = [
            stored[row.uuid]
            for row in rows
            if row.uuid in newer and stored[row.uuid].is_above(row.generation)
        ]
        self._fallen.check([r for r in outdated if r.suspect])
        return {reading.provider.uuid for reading in outdated}

    def _settle_fallen(
        self,
        builder: observation.ObservationBuilder,
        rows: Sequence[codec.ListedProvider],
        stored: Mapping[str, provider.Reading],
    ) -> dict[str, provider.Reading]:
        """Return new readings of the providers whose generation fell.

        If one does, the provider's state is unknown at first. After some time
        ``fallen.py`` decides if its record is kept.

        :raises errors.UnknownState: a generation fell a short time ago
        """
        suspects = [
            stored[row.uuid]
            for row in rows
            if row.uuid in stored
            and stored[row.uuid].is_above(row.generation)
            and self._fallen.is_recent(stored[row.uuid])
        ]
        first = [reading for reading in suspects if not reading.suspect]
        if first:
            now = self._fallen.now()
            self._store.journal.save(
                [dataclasses.replace(r, suspect_since=now) for r in first],
                since=builder.since,
            )
        self._fallen.check(suspects)
        return self._fallen.settle(rows, stored, builder.since)

    def _resolve(
        self,
        builder: observation.ObservationBuilder,
        reading: provider.Reading,
    ) -> tuple[str, ...]:
        """Record the outcome of unconfirmed intents; return notes about it."""
        seen = reading.provider
        unconfirmed = builder.intents.get(seen.uuid)
        if not unconfirmed:
            return ()
        is_child = seen.parent_uuid is not None
        outcome = intents.reconcile(
            unconfirmed,
            seen,
            in_own_tree=is_child and seen.uuid in builder.home,
        )
        stored = self._store.snapshot.readings([seen.uuid]).get(seen.uuid)
        last = None if stored is None else stored.provider
        self._store.journal.record_outcome(
            outcome.done,
            outcome.dropped,
            entries=[*history_entry.of_lost_answers(outcome.done, last, seen)],
        )
        return outcome.notes
