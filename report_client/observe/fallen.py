# SPDX-License-Identifier: Apache-2.0
"""Decide about providers whose generation fell, or that came back.

A generation never falls while a provider exists. A lower one comes from a
server that lags behind, from a placement that was restored from a backup, or
from another writer that deleted the provider and created it again. The
provider's state is unknown until the lower generation was seen for some time;
then its contents tell: if they are those of an earlier state, with names of
ours, placement was restored. ``cached_reader.py`` calls this module.
"""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence

from compute_agent import errors
from compute_agent.tree import provider

from ..http.messages import codec
from . import reader, store

LOG = logging.getLogger(__name__)

WAIT = 120.0  # seconds for which a lower generation may be a late answer
ONE_RESTORE = 3600.0  # seconds in which providers belong to one restore

Readings = Mapping[str, provider.Reading]


class Fallen:
    """Decides about providers whose generation fell.

    :param clock: seconds since the epoch
    :param wait: seconds between the first sighting of a lower generation and
        the decision
    """

    def __init__(
        self,
        read: reader.Reader,
        state: store.State,
        *,
        clock: Callable[[], float],
        wait: float = WAIT,
    ) -> None:
        self._reader = read
        self._store = state
        self._clock = clock
        self._wait = wait
        self._restored_at = float('-inf')

    def check(self, suspects: Sequence[provider.Reading]) -> None:
        """Refuse providers whose generation fell a short time ago.

        :raises errors.UnknownState: such providers exist
        """
        if not suspects:
            return
        providers = ', '.join(str(reading.provider) for reading in suspects)
        raise errors.UnknownState(
            f'{providers}: the generation fell, so this cycle changes nothing '
            f'here; if it is still lower {self._wait:.0f} s after the first '
            'time, the agent decides: placement was restored from a backup, '
            'or another writer deleted the provider and created it again'
        )

    def is_recent(self, reading: provider.Reading) -> bool:
        """Return True if it is too early to decide about a reading."""
        age = self._clock() - reading.suspect_since
        return not reading.suspect or 0 <= age < self._wait

    def now(self) -> float:
        """Return the time of a first sighting."""
        return self._clock()

    def settle(
        self,
        rows: Sequence[codec.ListedProvider],
        stored: Readings,
        since: int,
    ) -> dict[str, provider.Reading]:
        """Decide about the fallen and the returned providers of a list.

        Return new readings of them, which are stored. The record of each is
        kept or dropped.

        :param stored: the last readings
        :param since: the moment at which the observation began
        """
        fallen = [
            row
            for row in rows
            if row.uuid in stored and stored[row.uuid].is_above(row.generation)
        ]
        new = [row for row in rows if row.uuid not in stored]
        lost = (
            self._store.journal.lost_providers(row.uuid for row in new)
            if new
            else {}
        )
        returned = [
            row for row in new if row.generation < lost.get(row.uuid, 0)
        ]
        if not fallen and not lost:
            return {}
        found = {
            row.uuid: self._reader.provider(row)
            for row in (*fallen, *returned)
        }
        restored = self._restored(found)
        if restored:
            self._store.journal.restore(found[uuid] for uuid in restored)
            self._log_restored([found[uuid].provider for uuid in restored])
        anew = [row.uuid for row in fallen if row.uuid not in restored]
        self._disown(anew, stored)
        if remade := lost.keys() - set(restored):
            self._store.journal.forget_earlier_contents(remade)
        others = [r for uuid, r in found.items() if uuid not in restored]
        if others:
            self._store.journal.save(others, since=since)
        return found

    def _restored(self, found: Readings) -> Collection[str]:
        """Return the providers that have an earlier state again.

        One proof is enough for all of them. Other providers that fell with it,
        and may be in an earlier state, were restored too.
        """
        ours, proofs = self._store.journal.earlier_states(
            reading.provider for reading in found.values()
        )
        if proofs:
            return [uuid for uuid in found if uuid in ours]
        age = self._clock() - self._restored_at
        if 0 <= age < self._wait:
            return [uuid for uuid in found if uuid in ours]
        return []

    def _log_restored(self, providers: Sequence[provider.Provider]) -> None:
        """Log a restore once, and its further providers at INFO."""
        now, titles = self._clock(), ', '.join(map(str, providers))
        is_new = not 0 <= now - self._restored_at < ONE_RESTORE
        self._restored_at = now
        LOG.log(
            logging.WARNING if is_new else logging.INFO,
            '%s: placement shows an earlier state, so it was restored from a '
            'backup; names and providers that counted as added by this agent '
            'then do so again, and this cycle brings them up to date',
            titles,
        )

    def _disown(self, uuids: Sequence[str], stored: Readings) -> None:
        """Drop the records of providers that were created again."""
        for uuid in uuids:
            LOG.warning(
                '%s was deleted and created again by another writer: the '
                'record of what this agent added to the old provider is '
                'dropped',
                stored[uuid].provider,
                extra={'node': uuid},
            )
        if uuids:
            self._store.journal.disown(uuids)
