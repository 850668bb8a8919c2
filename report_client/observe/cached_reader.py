# SPDX-License-Identifier: Apache-2.0
"""Take providers from the store if they are unchanged, else read them again.

Threads observe and write in parallel. If a thread updates the store while
another makes an observation, the update is newer than the observation's list.
It is then neither taken for a fallen generation nor overwritten. This module
writes nothing to placement; ``observer.py`` and ``sharing.py`` call it.
"""

import dataclasses
import logging
import zlib
from collections.abc import Callable, Container, Mapping, Sequence

from compute_agent import errors
from compute_agent.plan import intents
from compute_agent.tree import assertion, provider

from ..http import codec
from . import observation, reader, store

LOG = logging.getLogger(__name__)


class CachedReader:
    """Reads providers through one store.

    :param clock: seconds since the epoch
    :param interval: seconds after which a provider is read again although its
        generation is unchanged; 0 for never
    """

    def __init__(
        self,
        read: reader.Reader,
        state: store.State,
        *,
        clock: Callable[[], float],
        interval: float,
    ) -> None:
        self._reader = read
        self._store = state
        self._clock = clock
        self._interval = interval

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

        :raises errors.UnknownState: a generation fell
        :raises errors.AgentError: a provider cannot be read
        """
        stored = self._store.snapshot.readings(row.uuid for row in rows)
        outdated = self._outdated_rows(builder, rows, stored)
        current = [row for row in rows if row.uuid not in outdated]
        stored = self._without_fallen(builder, current, stored)
        new = []
        for row in rows:
            reading = self._reusable(builder, row, stored, outdated)
            if reading is None:
                reading = self._reader.provider(row)
                new.append(reading)
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
            or row.uuid in builder.intents
            or self._is_due(reading)
        ):
            return None
        stale = row.uuid not in outdated and _is_stale(row, reading)
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
        _check_not_fallen([reading for reading in outdated if reading.suspect])
        return {reading.provider.uuid for reading in outdated}

    def _without_fallen(
        self,
        builder: observation.ObservationBuilder,
        rows: Sequence[codec.ListedProvider],
        stored: dict[str, provider.Reading],
    ) -> dict[str, provider.Reading]:
        """Return the stored readings without those of re-created providers.

        A generation never falls. If one does, the provider's state is unknown
        in the first cycle. In the second cycle it counts as another provider,
        and the record of the old provider is dropped.

        :raises errors.UnknownState: a generation fell for the first time
        """
        fallen = [
            stored[row.uuid]
            for row in rows
            if row.uuid in stored and stored[row.uuid].is_above(row.generation)
        ]
        suspects = [reading for reading in fallen if not reading.suspect]
        if suspects:
            self._store.journal.save(
                [dataclasses.replace(r, suspect=True) for r in suspects],
                since=builder.since,
            )
        _check_not_fallen(suspects)
        for reading in fallen:
            LOG.warning(
                '%s was deleted and created again by another writer: the '
                'record of what this agent added to the old provider is '
                'dropped',
                reading.provider,
            )
        deleted = {reading.provider.uuid for reading in fallen}
        if deleted:
            self._store.journal.forget(deleted)
        return {u: r for u, r in stored.items() if u not in deleted}

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
        self._store.journal.record_outcome(outcome.done, outcome.dropped)
        return outcome.notes

    def _is_due(self, reading: provider.Reading) -> bool:
        """Return True if it is time to read a provider that seems unchanged.

        The uuid spreads the time over a tenth of the interval, so that
        providers that were read together are not always read together.
        """
        spread = zlib.crc32(reading.provider.uuid.encode()) / 0xFFFFFFFF
        return self.is_overdue(reading.read_at, 0.9 + 0.1 * spread)


def _check_not_fallen(suspects: Sequence[provider.Reading]) -> None:
    """Refuse providers whose generation fell for the first time.

    :raises errors.UnknownState: there are some
    """
    if suspects:
        providers = ', '.join(str(reading.provider) for reading in suspects)
        raise errors.UnknownState(
            f'{providers}: the generation fell, so this cycle changes nothing '
            'here; if the next cycle sees the same, the provider counts as '
            'deleted and created again by another writer'
        )


def _is_stale(row: codec.ListedProvider, reading: provider.Reading) -> bool:
    """Return True if the stored reading may differ from placement."""
    if reading.suspect:
        return True
    stored = reading.provider
    return (row.generation, row.name, row.parent_uuid, row.root_uuid) != (
        stored.generation,
        stored.name,
        stored.parent_uuid,
        reading.root_uuid,
    )
