# SPDX-License-Identifier: Apache-2.0
"""Providers for a look: remembered where they stand still, else read again.

Threads look side by side, and write. What the store learnt while a look was
under way is newer than the look's list, and is neither taken for a generation
that fell nor overwritten. It writes nothing to placement; ``observer.py`` calls
it.
"""

import dataclasses
import logging
import zlib
from collections.abc import Callable, Container, Mapping, Sequence

from compute_agent import errors
from compute_agent.tree import assertion, provider
from compute_agent.tree import intents as intentions

from ..http import codec
from . import observation, reader, store

LOG = logging.getLogger(__name__)


class CachedReader:
    """Reads providers through one store.

    :param clock: seconds since the epoch
    :param interval: seconds after which a provider is read again although its
        generation stands still; 0 for never
    """

    def __init__(
        self,
        read: reader.Reader,
        kept: store.State,
        *,
        clock: Callable[[], float],
        interval: float,
    ) -> None:
        self._reader = read
        self._store = kept
        self._clock = clock
        self._interval = interval

    def recall(
        self,
        look: observation.ObservationBuilder,
        kept: Mapping[str, provider.Reading],
    ) -> bool:
        """Take a look's own tree from memory, if all of it stands still.

        Return whether it does; nothing is noted of a look if not.

        :param kept: what was last read, of these providers and others
        """
        found = {}
        for row in look.rows:
            old = self._remembered(look, row, kept)
            if old is None:
                return False
            found[row.uuid] = old
        look.readings |= found
        return True

    def read(
        self,
        look: observation.ObservationBuilder,
        rows: Sequence[codec.ListedProvider],
    ) -> None:
        """Read these providers for one look, where not remembered.

        :raises errors.UnknownState: one cannot be, or its generation fell
        """
        kept = self._store.snapshot.readings(row.uuid for row in rows)
        passed = self._passed(look, rows, kept)
        kept = self._without_regressed(
            look, [row for row in rows if row.uuid not in passed], kept
        )
        new = []
        for row in rows:
            intents = look.intents.get(row.uuid, [])
            old = self._remembered(look, row, kept, passed)
            if old is None:
                old = self._reader.provider(row)
                new.append(old)
                look.fresh |= {(row.uuid, kind) for kind in assertion.Kind}
            look.readings[row.uuid] = old
            look.notes[row.uuid] = self._settle(intents, old)
        if new:
            self._store.journal.save(new, since=look.since)

    def is_overdue(self, read_at: float, share: float = 1) -> bool:
        """Whether this share of the slow read's interval has passed."""
        if not self._interval and read_at > 0:
            return False
        age = self._clock() - read_at
        return age < 0 or age >= self._interval * share

    def _remembered(
        self,
        look: observation.ObservationBuilder,
        row: codec.ListedProvider,
        kept: Mapping[str, provider.Reading],
        passed: Container[str] = (),
    ) -> provider.Reading | None:
        """Return what is remembered of a provider, None if it is to be read.

        :param passed: those whose rows are older than what is known
        """
        old = kept.get(row.uuid)
        if old is None or row.uuid in look.intents or self._due(old):
            return None
        stale = row.uuid not in passed and _is_stale(row, old)
        return None if stale else old

    def _passed(
        self,
        look: observation.ObservationBuilder,
        rows: Sequence[codec.ListedProvider],
        kept: dict[str, provider.Reading],
    ) -> set[str]:
        """Return the providers whose rows are older than what is known.

        :raises errors.UnknownState: another thread saw one fall
        """
        newer = self._store.journal.newer(kept, look.since)
        passed = [
            kept[row.uuid]
            for row in rows
            if row.uuid in newer and kept[row.uuid].is_above(row.generation)
        ]
        _check_not_fallen([old for old in passed if old.suspect])
        return {old.provider.uuid for old in passed}

    def _without_regressed(
        self,
        look: observation.ObservationBuilder,
        rows: Sequence[codec.ListedProvider],
        kept: dict[str, provider.Reading],
    ) -> dict[str, provider.Reading]:
        """A generation never falls: unknown at first, then another provider.

        :raises errors.UnknownState: one fell that had not in the last look
        """
        fallen = [
            kept[row.uuid]
            for row in rows
            if row.uuid in kept and kept[row.uuid].is_above(row.generation)
        ]
        suspects = [old for old in fallen if not old.suspect]
        if suspects:
            self._store.journal.save(
                [dataclasses.replace(old, suspect=True) for old in suspects],
                since=look.since,
            )
        _check_not_fallen(suspects)
        for old in fallen:
            LOG.warning(
                '%s was deleted and created again by another: what this '
                'agent added to the old one is forgotten',
                old.provider,
            )
        gone = {old.provider.uuid for old in fallen}
        if gone:
            self._store.journal.forget(gone)
        return {u: r for u, r in kept.items() if u not in gone}

    def _settle(
        self,
        intents: Sequence[intentions.Intent],
        reading: provider.Reading,
    ) -> tuple[str, ...]:
        if not intents:
            return ()
        settlement = intentions.settle(intents, reading.provider)
        self._store.journal.record_outcome(settlement.done, settlement.dropped)
        return settlement.notes

    def _due(self, old: provider.Reading) -> bool:
        """Whether it is time to read a provider that seems unchanged.

        Spread by uuid over a tenth of the interval, so that providers read
        together do not stay together.
        """
        spread = zlib.crc32(old.provider.uuid.encode()) / 0xFFFFFFFF
        return self.is_overdue(old.read_at, 0.9 + 0.1 * spread)


def _check_not_fallen(suspects: Sequence[provider.Reading]) -> None:
    """Act on nothing where a generation fell for the first time.

    :raises errors.UnknownState: one did
    """
    if suspects:
        who = ', '.join(str(old.provider) for old in suspects)
        raise errors.UnknownState(
            f'{who}: the generation fell; if it has in the next cycle too, '
            'they count as deleted and created anew by another'
        )


def _is_stale(row: codec.ListedProvider, old: provider.Reading) -> bool:
    """Whether what is remembered is not, or may not be, what is there."""
    if old.suspect:
        return True
    one = old.provider
    return (row.generation, row.name, row.parent_uuid, row.root_uuid) != (
        one.generation,
        one.name,
        one.parent_uuid,
        old.root_uuid,
    )
