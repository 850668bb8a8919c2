# SPDX-License-Identifier: Apache-2.0
"""The journal: intents before writes to placement, outcomes after them.

The table ``intent`` has the writes whose outcome is unknown. An intent is
written down before its request is sent and dropped when the outcome is known;
a write that was carried out is recorded as created or ours.

All transactions over several tables of a provider are here: ``begin`` (intents
and claims), ``record_outcome`` (intents, record and snapshot), ``save``
(snapshot and record), ``forget`` and ``adopt`` (all). Each of them is done as
a whole or not at all.
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from ..ownership.record import Record
from ..plan.intents import Intent
from ..tree import assertion, provider
from ..tree.assertion import Claims, Key
from . import read_order
from .database.database import Database, packed, unpacked
from .record.records import Records
from .snapshot import history
from .snapshot.snapshot import Snapshot

_COLUMNS = 'node_uuid, uuid, kind, generation, names, added'


class Journal:
    """The intents, and every transaction that changes several parts."""

    def __init__(
        self, database: Database, records: Records, snapshot: Snapshot
    ) -> None:
        self._database = database
        self._records = records
        self._snapshot = snapshot
        self._recency = read_order.Recency()

    # --- before and after a request -------------------------------------------

    def begin(
        self,
        node_uuid: str,
        intents: Sequence[Intent],
        claims: Mapping[Key, Claims],
    ) -> None:
        """Record durably the writes that will be sent, in one transaction.

        :param intents: all intents of the node that are open from now on
        :param claims: the names that each source claims for the node now
        """
        with self._database.writing() as db:
            self._records.set_claims(db, node_uuid, claims)
            _replace(db, node_uuid, intents)

    def record_outcome(
        self,
        done: Iterable[Intent],
        dropped: Iterable[Intent] = (),
        *,
        readings: Iterable[provider.Reading] = (),
        gone: Iterable[str] = (),
    ) -> None:
        """Record which writes were carried out, in one transaction.

        :param done: intents that were carried out
        :param dropped: intents that were not carried out
        :param readings: the providers as they are after the writes
        :param gone: the deleted providers; everything recorded of them is
            dropped
        """
        confirmed = list(done)
        with self._database.writing() as db:
            for intent in confirmed:
                self._records.confirm(db, intent)
                self._recency.learn(intent.uuid, intent.generation)
            for intent in (*confirmed, *dropped):
                _drop(db, intent)
            for reading in readings:
                self._save(db, reading)
                self._snapshot.drop_prior_state(db, reading.provider.uuid)
            for uuid in gone:
                self._forget(db, uuid)

    def intents(
        self, node_uuids: Iterable[str]
    ) -> dict[str, dict[str, Sequence[Intent]]]:
        """Return these nodes' open intents by provider, oldest first."""
        found: dict[str, dict[str, Sequence[Intent]]] = {}
        with self._database.reading() as db:
            for row in db.execute(
                f'select {_COLUMNS} from intent where node_uuid in'  # noqa: S608 (constants)
                ' (select value from json_each(?))'
                ' order by node_uuid, position',
                (packed(node_uuids),),
            ):
                intent = _intent(*row)
                of_node = found.setdefault(intent.node_uuid, {})
                of_node[intent.uuid] = [*of_node.get(intent.uuid, []), intent]
        return found

    def intents_on(self, uuids: Iterable[str]) -> dict[str, list[Intent]]:
        """Return the open intents on these providers, of any node."""
        query = f'select {_COLUMNS} from intent where uuid = ?'  # noqa: S608 (constants)
        with self._database.reading() as db:
            found = {
                uuid: [_intent(*row) for row in db.execute(query, (uuid,))]
                for uuid in uuids
            }
        return {uuid: intents for uuid, intents in found.items() if intents}

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
        with self._database.writing() as db:
            for reading in readings:
                if since is None or not self._recency.is_outdated(
                    reading.provider, since
                ):
                    self._snapshot.keep_prior_state(db, reading)
                    self._save(db, reading)

    def forget(
        self, uuids: Iterable[str], lost_roots: Iterable[str] = ()
    ) -> None:
        """Drop everything about providers that no longer exist.

        :param lost_roots: the nodes' roots among them, which another writer
            deleted; they are remembered until they are read again
        """
        with self._database.writing() as db:
            for uuid in uuids:
                self._forget(db, uuid)
            for uuid in lost_roots:
                self._snapshot.lose_root(db, uuid)

    def disown(self, uuids: Iterable[str]) -> None:
        """Drop everything, also of the past: another writer's have the uuids."""
        with self._database.writing() as db:
            for uuid in uuids:
                self._forget(db, uuid)
                history.forget(db, uuid)

    # --- a placement that was restored ----------------------------------------

    def lost_providers(self, uuids: Iterable[str]) -> dict[str, int]:
        """Return this agent's lost providers, and their next generations."""
        with self._database.reading() as db:
            return history.lost_providers(db, uuids)

    def forget_past(self, uuids: Iterable[str]) -> None:
        """Drop the past of providers whose uuids other providers have now."""
        with self._database.writing() as db:
            for uuid in uuids:
                history.forget(db, uuid)

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
                if not any(history.names_at(db, one).values()):
                    continue
                is_lone = history.is_lone_root(db, one)
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
        with self._database.writing() as db:
            for reading in readings:
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
        with self._database.writing() as db:
            for uuid, generation in generations.items():
                if uuid in known and known[uuid].is_above(generation):
                    self._forget(db, uuid)
                    history.forget(db, uuid)
            adopted = Record(created=frozenset(generations))
            self._records.add(db, node_uuid, adopted)

    # --- steps of a transaction -----------------------------------------------

    def drop_intents_on(self, db: sqlite3.Connection, uuid: str) -> None:
        """Drop the open intents on a provider, of any node."""
        db.execute('delete from intent where uuid = ?', (uuid,))

    def providers(self, db: sqlite3.Connection) -> set[str]:
        """Return the providers that have open intents."""
        return {uuid for (uuid,) in db.execute('select uuid from intent')}

    def _save(self, db: sqlite3.Connection, reading: provider.Reading) -> None:
        seen = reading.provider
        self._records.drop_absent(db, seen)
        self._snapshot.save(db, reading)
        self._recency.learn(seen.uuid, seen.generation)

    def _forget(self, db: sqlite3.Connection, uuid: str) -> None:
        history.lose_provider(db, uuid, self._snapshot.generation(db, uuid))
        self._records.forget(db, uuid)
        self.drop_intents_on(db, uuid)
        self._snapshot.forget(db, uuid)


def _replace(
    db: sqlite3.Connection, node_uuid: str, intents: Sequence[Intent]
) -> None:
    """Make these the only open intents of a node."""
    db.execute('delete from intent where node_uuid = ?', (node_uuid,))
    db.executemany(
        'insert into intent values (?, ?, ?, ?, ?, ?, ?)',
        [
            (
                node_uuid,
                position,
                intent.uuid,
                intent.kind,
                intent.generation,
                packed(intent.names),
                packed(intent.added),
            )
            for position, intent in enumerate(intents)
        ],
    )


def _drop(db: sqlite3.Connection, intent: Intent) -> None:
    """Drop one intent of its node."""
    db.execute(
        'delete from intent where node_uuid = ? and uuid = ? and kind is ?'
        ' and generation = ?',
        (intent.node_uuid, intent.uuid, intent.kind, intent.generation),
    )


def _intent(
    node_uuid: str,
    uuid: str,
    kind: str | None,
    generation: str,
    names: str,
    added: str,
) -> Intent:
    return Intent(
        node_uuid=node_uuid,
        uuid=uuid,
        kind=None if kind is None else assertion.Kind(kind),
        generation=int(generation),
        names=unpacked(names),
        added=unpacked(added),
    )
