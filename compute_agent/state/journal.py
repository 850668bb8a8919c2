# SPDX-License-Identifier: Apache-2.0
"""The journal: intents before writes to placement, outcomes after them.

An intent (``intents.py``) is written down before its request is sent and
dropped when the outcome is known; a write that was carried out is recorded as
created or ours.

All transactions over several tables of a provider are here: ``begin`` (intents
and claims), ``record_outcome`` (intents, record and snapshot), ``save``
(snapshot and record), ``forget`` and ``adopt`` (all). Each transaction is
carried out as a whole or not at all. They also write the history
(``history/``), without which they go on if it cannot be written.

The journal also finds the changes of other writers. The snapshot has the last
reading of a provider, and the history the agent's own writes since then; the
rest of the difference is the work of others.
"""

import itertools
import sqlite3
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Mapping,
    Sequence,
)

from .. import errors
from ..ownership.record import Record
from ..plan.history_entry import Entry, What
from ..plan.intents import Intent
from ..tree import provider
from ..tree.assertion import Claims, Key
from . import earlier_contents, intents
from .database import write_count
from .database.database import Database
from .history.history import History
from .records import Records
from .snapshot import Snapshot
from .values import differences


class Journal:
    """The intents, and every transaction that changes several parts."""

    def __init__(
        self,
        database: Database,
        records: Records,
        snapshot: Snapshot,
        history: History,
    ) -> None:
        self._database = database
        self._records = records
        self._snapshot = snapshot
        self._history = history
        self._recency = Recency()
        self._inherited = frozenset[str]()
        self.prove: Callable[[], object] = lambda: None

    # --- before and after a request -------------------------------------------

    def begin(
        self,
        node_uuid: str,
        open_intents: Sequence[Intent],
        claims: Mapping[Key, Claims],
    ) -> None:
        """Record durably the writes that will be sent, in one transaction.

        :param open_intents: all intents of the node that are open from now on
        :param claims: the names that each source claims for the node now
        """
        with self._database.writing() as db:
            self._records.claims.set(db, node_uuid, claims)
            intents.replace(db, node_uuid, open_intents)

    def amend(
        self,
        node_uuid: str,
        uuids: Collection[str],
        open_intents: Sequence[Intent],
    ) -> None:
        """Replace the node's open intents on these providers.

        After a refusal, the others need not be written again.
        """
        if not uuids:
            return
        with self._database.writing() as db:
            intents.replace_on(db, node_uuid, uuids, open_intents)

    def record_outcome(
        self,
        done: Iterable[Intent],
        dropped: Iterable[Intent] = (),
        *,
        readings: Iterable[provider.Reading] = (),
        gone: Iterable[str] = (),
        entries: Sequence[Entry] = (),
        may_be_lost: bool = False,
    ) -> None:
        """Record which writes were carried out, in one transaction.

        :param done: intents that were carried out
        :param dropped: intents that were not carried out
        :param readings: the providers as they are after the writes
        :param gone: the deleted providers; everything recorded of them is
            dropped
        :param entries: what the history tells of the writes
        :param may_be_lost: True if placement tells the same of the intents
        """
        confirmed, unsent = list(done), list(dropped)
        for attempt, seen, deleted in zip(
            self._history.transactions(are_late=may_be_lost),
            itertools.tee(readings),
            itertools.tee(gone),
            strict=False,  # there are at most two
        ):
            with attempt as db:
                self._note(db, entries)
                for intent in confirmed:
                    self._records.confirm(db, intent)
                    self._recency.learn(intent.uuid, intent.generation)
                for intent in (*confirmed, *unsent):
                    intents.drop(db, intent)
                for reading in seen:
                    self._save(db, reading)
                    self._snapshot.drop_prior_state(db, reading.provider.uuid)
                for uuid in deleted:
                    self._forget(db, uuid)

    def intents(
        self, node_uuids: Iterable[str]
    ) -> dict[str, dict[str, Sequence[Intent]]]:
        """Return these nodes' open intents by provider, oldest first."""
        with self._database.reading() as db:
            return intents.of_nodes(db, node_uuids)

    def intents_on(self, uuids: Iterable[str]) -> dict[str, list[Intent]]:
        """Return the open intents on these providers, of any node."""
        with self._database.reading() as db:
            return intents.on_providers(db, uuids)

    # --- the writes of a predecessor in a fleet -------------------------------

    def inherit(
        self,
        uuids: Iterable[str],
        prove: Callable[[], object] = lambda: None,
    ) -> None:
        """Take the open intents on these providers for a predecessor's.

        Its requests may still arrive, so these intents are not settled by a
        reading alone.

        :param prove: raises ``errors.Deposed`` if another agent holds the share
        """
        self._inherited = frozenset(uuids)
        self.prove = prove

    def inherited(self) -> frozenset[str]:
        """Return the providers on which a predecessor's writes may be open."""
        return self._inherited

    def settled(self, uuid: str) -> None:
        """Note that no earlier write to a provider can be carried out."""
        self._inherited -= {uuid}

    # --- readings of placement -----------------------------------------------

    def moment(self) -> int:
        """Return the moment at which an observation begins, for ``save``."""
        with self._database.reading():
            return self._recency.now()

    def end_observations(self) -> None:
        """Drop the updates that only a running observation must know."""
        with self._database.reading():
            self._recency.end_observations()

    def writes(self) -> int:
        """Return the number of writes to the database, by all its users."""
        with self._database.reading() as db:
            return write_count.current(db)

    def newer(self, uuids: Iterable[str], since: int) -> set[str]:
        """Return the providers, among these, that were updated since then."""
        with self._database.reading():
            return {u for u in uuids if self._recency.is_newer(u, since)}

    def save(
        self,
        readings: Iterable[provider.Reading],
        *,
        since: int | None = None,
        may_be_lost: bool = False,
    ) -> None:
        """Keep these readings, and the states before others' changes.

        :param since: the moment at which the observation began. A reading of
            a provider that was updated since then is skipped if it shows a
            lower generation than the update.
        :param may_be_lost: True if placement is asked again when they are
            missing
        """
        for attempt, read in zip(
            self._history.transactions(are_late=may_be_lost),
            itertools.tee(readings),
            strict=False,
        ):
            with attempt as db:
                entries, new = list[Entry](), set[str]()
                for reading in read:
                    if since is None or not self._recency.is_outdated(
                        reading.provider, since
                    ):
                        last = self._snapshot.keep_prior_state(db, reading)
                        if last is None:
                            new.add(reading.provider.uuid)
                        entries += self._by_others(db, last, reading, new)
                        self._save(db, reading)
                self._history.record(db, entries)

    def save_ahead(self, readings: Sequence[provider.Reading]) -> bool:
        """Keep these readings, if no change must be recorded for any of them.

        For an agent that stands by: it changes neither the record nor the
        history.

        :return: False if no reading was kept
        """
        with self._database.reading() as db:
            if not self._are_no_news(db, readings):
                return False
        try:
            with self._database.writing(is_late=True) as db:
                for reading in readings:
                    self._snapshot.save(db, reading)
        except errors.Deposed:  # the record would change
            return False
        return True

    def forget(
        self, uuids: Iterable[str], lost_roots: Iterable[str] = ()
    ) -> None:
        """Drop everything about providers that no longer exist.

        :param lost_roots: the nodes' roots among them, which another writer
            deleted; they are remembered until they are read again
        """
        lost, roots = list(uuids), list(lost_roots)
        for attempt in self._history.transactions():
            with attempt as db:
                for uuid in lost:
                    self._note_gone(db, uuid)
                    self._forget(db, uuid)
                for uuid in roots:
                    self._snapshot.lose_root(db, uuid)

    def disown(self, uuids: Iterable[str]) -> None:
        """Drop everything about uuids that are another writer's providers now.

        Their earlier contents are dropped, too.
        """
        with self._database.writing() as db:
            for uuid in uuids:
                self._forget(db, uuid)
                earlier_contents.forget(db, uuid)

    # --- a placement that was restored ----------------------------------------

    def lost_providers(self, uuids: Iterable[str]) -> dict[str, int]:
        """Return this agent's lost providers, and their next generations."""
        with self._database.reading() as db:
            return earlier_contents.lost_providers(db, uuids)

    def forget_earlier_contents(self, uuids: Iterable[str]) -> None:
        """Drop earlier contents: other providers have these uuids now."""
        with self._database.writing() as db:
            for uuid in uuids:
                earlier_contents.forget(db, uuid)

    def earlier_states(
        self, seen: Iterable[provider.Provider]
    ) -> tuple[set[str], set[str]]:
        """Return the providers that may be in an earlier state, and the proofs.

        A provider with a name of ours may be; it is a proof if it had exactly
        these contents at its generation. A lone root that had them may be, and
        proves nothing: another agent makes it with the same requests.
        """
        ours, proofs = set(), set()
        with self._database.reading() as db:
            for one in seen:
                if not any(earlier_contents.names_at(db, one).values()):
                    continue
                is_lone = earlier_contents.is_lone_root(db, one)
                is_old = self._snapshot.is_earlier_state(db, one)
                if is_old or not is_lone:
                    ours.add(one.uuid)
                if is_old and not is_lone:
                    proofs.add(one.uuid)
        return ours, proofs

    def restore(self, readings: Iterable[provider.Reading]) -> None:
        """Keep readings of providers that have an earlier state again.

        The record stays, and names that counted as ours at that time count
        again.
        """
        restored = list(readings)
        for attempt in self._history.transactions():
            with attempt as db:
                for reading in restored:
                    self._history.record(db, [differences.restored(reading)])
                    self._snapshot.restore(db, reading)
                    seen = reading.provider
                    self._recency.learn(seen.uuid, seen.generation)

    def adopt(self, node_uuid: str, generations: Mapping[str, int]) -> None:
        """Count these providers as created for a node from now on.

        :param generations: the generation that placement shows for each. If
            a higher one was read before, that was another provider of the
            same uuid, and everything about it is dropped.
        """
        known = self._snapshot.readings(generations)
        for attempt in self._history.transactions():
            with attempt as db:
                for uuid, generation in generations.items():
                    if uuid in known and known[uuid].is_above(generation):
                        self._forget(db, uuid)
                        earlier_contents.forget(db, uuid)
                adopted = Record(created=frozenset(generations))
                self._records.add(db, node_uuid, adopted)
                names = self._snapshot.last_names(db, generations)
                self._history.record(
                    db,
                    [
                        Entry(
                            what=What.ADOPTED,
                            node_uuid=node_uuid,
                            uuid=uuid,
                            provider=names.get(uuid, ''),
                        )
                        for uuid in generations
                    ],
                )

    # --- steps of a transaction -----------------------------------------------

    def _note(self, db: sqlite3.Connection, entries: Sequence[Entry]) -> None:
        """Add history entries about writes, before the record changes."""
        if entries:
            uuids = {entry.uuid for entry in entries}
            self._history.record(
                db, entries, self._snapshot.prior_states(db, uuids)
            )

    def _by_others(
        self,
        db: sqlite3.Connection,
        last: provider.Reading | None,
        now: provider.Reading,
        new: Collection[str],
    ) -> Iterable[Entry]:
        """Return what others changed between two readings of a provider.

        :param new: the providers that were not read before this observation
        """
        uuid = now.provider.uuid
        if last is None:
            is_first = now.root_uuid in new or now.provider.parent_uuid is None
            if is_first or self._records.is_created(db, uuid):
                return ()
            return differences.new_provider(now)
        if last.provider == now.provider:
            return ()
        own = self._history.own_since(db, uuid, last.read_at)
        return differences.entries(last, now, own)

    def _are_no_news(
        self, db: sqlite3.Connection, readings: Sequence[provider.Reading]
    ) -> bool:
        """Return True if ``save`` would record nothing of these readings."""
        uuids = [reading.provider.uuid for reading in readings]
        if any(intents.on_providers(db, uuids).values()):
            return False  # the change may be the intent's own
        if earlier_contents.lost_providers(db, uuids):
            return False
        new = set[str]()
        for reading in readings:
            seen = reading.provider
            last = self._snapshot.last_reading(db, seen.uuid)
            if last is None:
                new.add(seen.uuid)
            elif not last.is_confirmed_by(reading):
                return False
            if (
                not self._snapshot.is_recorded(db, seen)
                or any(self._by_others(db, last, reading, new))
                or self._is_doubted(db, seen.uuid)
                or self._snapshot.is_lost_root(db, seen.uuid)
                or self._records.has_absent(db, seen)
            ):
                return False
        return True

    def _is_doubted(self, db: sqlite3.Connection, uuid: str) -> bool:
        query = 'select 1 from doubted where uuid = ?'
        return db.execute(query, (uuid,)).fetchone() is not None

    def _note_gone(self, db: sqlite3.Connection, uuid: str) -> None:
        """Record that another writer deleted a provider that is gone.

        Nothing is recorded if this agent had sent its deletion.
        """
        last = self._snapshot.last_reading(db, uuid)
        if last is None:
            return
        own = self._history.own_since(db, uuid, last.read_at)
        if not any(entry.what is What.DELETED for entry in own):
            self._history.record(db, [differences.gone(last)])

    def _save(self, db: sqlite3.Connection, reading: provider.Reading) -> None:
        seen = reading.provider
        self._settle_doubt(db, seen)
        self._records.drop_absent(db, seen)
        self._snapshot.save(db, reading)
        self._recency.learn(seen.uuid, seen.generation)

    def _settle_doubt(
        self, db: sqlite3.Connection, seen: provider.Provider
    ) -> None:
        """Drop a doubtful provider's names if it changed after its reading.

        The fleet's database lost commits, so this record is older. A name may
        have been lost since and added again by another writer: in the record
        it still looks like ours.
        """
        doubted = db.execute(
            'delete from doubted where uuid = ? returning uuid', (seen.uuid,)
        ).fetchall()
        if doubted and not self._snapshot.is_last_change(db, seen):
            self._records.lose_names(db, seen.uuid)
            intents.drop_on(db, seen.uuid)
            earlier_contents.forget(db, seen.uuid)

    def _forget(self, db: sqlite3.Connection, uuid: str) -> None:
        earlier_contents.lose_provider(
            db, uuid, self._snapshot.generation(db, uuid)
        )
        self._records.forget(db, uuid)
        intents.drop_on(db, uuid)
        self._snapshot.forget(db, uuid)


class Recency:
    """The last known generation of each provider, with the moment of learning.

    An observation of placement takes time. While it runs, another thread may
    write to a provider and record the outcome; then the observation shows an
    older state than the recorded one. Used under the database's lock.

    A moment is a count of the updates so far, not a time.
    """

    def __init__(self) -> None:
        self._moment = 0
        self._learnt: dict[str, tuple[int, int]] = {}

    def now(self) -> int:
        """Return the moment after all updates so far."""
        return self._moment

    def learn(self, uuid: str, generation: int | None) -> None:
        """Note that a provider has, or just had, this generation."""
        self._moment += 1
        self._learnt[uuid] = (self._moment, generation or 0)

    def end_observations(self) -> None:
        """Drop all updates, because no earlier observation is still running.

        Moments go on counting, so later observations are not confused.
        """
        self._learnt.clear()

    def is_newer(self, uuid: str, moment: int) -> bool:
        """True if a provider was updated since this moment."""
        return self._learnt.get(uuid, (0, 0))[0] > moment

    def is_outdated(self, seen: provider.Provider, moment: int) -> bool:
        """True if a provider has a higher generation than the one seen.

        :param moment: when the observation began that saw the provider; older
            updates do not count
        """
        _, generation = self._learnt.get(seen.uuid, (0, 0))
        return self.is_newer(seen.uuid, moment) and generation > (
            seen.generation or 0
        )
