# SPDX-License-Identifier: Apache-2.0
"""The journal: intents before writes to placement, outcomes after them.

An intent (``intents.py``) is written down before its request is sent and
dropped when the outcome is known; a write that was carried out is recorded as
created or ours.

All transactions over several tables of a provider are here: ``begin`` (intents
and claims), ``record_outcome`` (intents, record and snapshot), ``save``
(snapshot and record), ``forget`` and ``adopt`` (all). Each of them is done as
a whole or not at all. They also write the history (``history/``), without
which they go on if it cannot be written.
"""

import itertools
import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from ..ownership.record import Record
from ..plan.history_entry import Entry, What
from ..plan.intents import Intent
from ..tree import provider
from ..tree.assertion import Claims, Key
from . import intents, read_order
from .database.database import Database
from .history import differences
from .history.history import History
from .others_changes import OthersChanges
from .record.records import Records
from .snapshot import earlier_contents
from .snapshot.snapshot import Snapshot


class Journal:
    """The intents, and every transaction that changes several parts."""

    def __init__(
        self,
        database: Database,
        records: Records,
        snapshot: Snapshot,
        past: History,
    ) -> None:
        self._database = database
        self._records = records
        self._snapshot = snapshot
        self._past = past
        self._others = OthersChanges(records, snapshot, past)
        self._recency = read_order.Recency()

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

    def record_outcome(
        self,
        done: Iterable[Intent],
        dropped: Iterable[Intent] = (),
        *,
        readings: Iterable[provider.Reading] = (),
        gone: Iterable[str] = (),
        entries: Sequence[Entry] = (),
    ) -> None:
        """Record which writes were carried out, in one transaction.

        :param done: intents that were carried out
        :param dropped: intents that were not carried out
        :param readings: the providers as they are after the writes
        :param gone: the deleted providers; everything recorded of them is
            dropped
        :param entries: what the history tells of the writes
        """
        confirmed, unsent = list(done), list(dropped)
        for attempt, seen, deleted in zip(
            self._past.transactions(),
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

    # --- readings of placement -----------------------------------------------

    def moment(self) -> int:
        """Return the moment at which an observation begins, for ``save``."""
        with self._database.reading():
            return self._recency.now()

    def end_observations(self) -> None:
        """Drop the updates that only a running observation must know."""
        with self._database.reading():
            self._recency.end_observations()

    def newer(self, uuids: Iterable[str], since: int) -> set[str]:
        """Return the providers, among these, that were updated since then."""
        with self._database.reading():
            return {u for u in uuids if self._recency.is_newer(u, since)}

    def save(
        self, readings: Iterable[provider.Reading], *, since: int | None = None
    ) -> None:
        """Keep these readings, and the states before others' changes.

        :param since: the moment at which the observation began. A reading of
            a provider that was updated since then is skipped if it shows a
            lower generation than the update.
        """
        for attempt, read in zip(
            self._past.transactions(), itertools.tee(readings), strict=False
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
                        entries += self._others.entries(db, last, reading, new)
                        self._save(db, reading)
                self._past.record(db, entries)

    def forget(
        self, uuids: Iterable[str], lost_roots: Iterable[str] = ()
    ) -> None:
        """Drop everything about providers that no longer exist.

        :param lost_roots: the nodes' roots among them, which another writer
            deleted; they are remembered until they are read again
        """
        lost, roots = list(uuids), list(lost_roots)
        for attempt in self._past.transactions():
            with attempt as db:
                for uuid in lost:
                    self._others.note_gone(db, uuid)
                    self._forget(db, uuid)
                for uuid in roots:
                    self._snapshot.lose_root(db, uuid)

    def disown(self, uuids: Iterable[str]) -> None:
        """Drop everything, also of the past: another writer's have the uuids."""
        with self._database.writing() as db:
            for uuid in uuids:
                self._forget(db, uuid)
                earlier_contents.forget(db, uuid)

    # --- a placement that was restored ----------------------------------------

    def lost_providers(self, uuids: Iterable[str]) -> dict[str, int]:
        """Return this agent's lost providers, and their next generations."""
        with self._database.reading() as db:
            return earlier_contents.lost_providers(db, uuids)

    def forget_past(self, uuids: Iterable[str]) -> None:
        """Drop the past of providers whose uuids other providers have now."""
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

        The record stays, and what counted as ours at that time does again.
        """
        restored = list(readings)
        for attempt in self._past.transactions():
            with attempt as db:
                for reading in restored:
                    self._past.record(db, [differences.restored(reading)])
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
        for attempt in self._past.transactions():
            with attempt as db:
                for uuid, generation in generations.items():
                    if uuid in known and known[uuid].is_above(generation):
                        self._forget(db, uuid)
                        earlier_contents.forget(db, uuid)
                adopted = Record(created=frozenset(generations))
                self._records.add(db, node_uuid, adopted)
                names = self._snapshot.last_names(db, generations)
                self._past.record(
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
        """Write what the history tells of writes, before they are recorded."""
        if entries:
            uuids = {entry.uuid for entry in entries}
            self._past.record(
                db, entries, self._snapshot.prior_states(db, uuids)
            )

    def _save(self, db: sqlite3.Connection, reading: provider.Reading) -> None:
        seen = reading.provider
        self._records.drop_absent(db, seen)
        self._snapshot.save(db, reading)
        self._recency.learn(seen.uuid, seen.generation)

    def _forget(self, db: sqlite3.Connection, uuid: str) -> None:
        earlier_contents.lose_provider(
            db, uuid, self._snapshot.generation(db, uuid)
        )
        self._records.forget(db, uuid)
        intents.drop_on(db, uuid)
        self._snapshot.forget(db, uuid)
