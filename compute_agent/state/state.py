# SPDX-License-Identifier: Apache-2.0
"""The state database: what this agent added, and what it last saw.

SQLite in ``state_path``, WAL. The *record* (created, ours, held, nodes:
``records.py``; intents: ``intents.py``) must be durable before a
request is sent. The *snapshot* (readings, known names: ``snapshot.py``)
can be lost at the price of reading again and is kept by placement service
(``site``): another spelling of an endpoint costs a full read and no record.
Here each look and each write is made whole, and what a cycle asks for again is
remembered (``cache.py``). It knows nothing of HTTP or plans.
"""

import contextlib
import pathlib
import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from .. import errors
from ..ownership import record_rows
from ..ownership.record import Record
from ..tree import names, provider
from ..tree.assertion import Claims, Key
from ..tree.intents import Intent
from . import cache, database, handover, node_records, read_order, snapshot
from . import intents as intents_table
from . import records as recorded
from .known_node import KnownNode

# Of how many nodes the records are read at once; the rows of all take room.
_AT_ONCE = 500


class State:
    """The state database for one placement service; threads may share it.

    :param site: the service; empty where only the record is wanted
    """

    def __init__(self, database: database.Database, site: str) -> None:
        self._database = database
        self._site = site
        self._recency = read_order.Recency()
        self._memory = cache.Memory()
        self._known: names.KnownNames | None = None
        self._nodes: list[tuple[handover.Node, KnownNode]] | None
        self._nodes = None

    @classmethod
    def open(cls, directory: pathlib.Path, site: str = '') -> 'State':
        """Return the state kept in a directory, made there if need be.

        :raises errors.ConfigError: it cannot be written, or is not ours
        """
        return cls(database.Database.open(directory), site)

    @classmethod
    def look(cls, directory: pathlib.Path, site: str = '') -> 'State':
        """Return a copy of a directory's state that is never written back.

        For the commands that only look, beside a daemon that writes; without
        a database the copy is an empty one.

        :raises errors.ConfigError: it cannot be read, or is not ours
        """
        return cls(database.Database.look(directory), site)

    @classmethod
    def in_memory(cls, site: str = '') -> 'State':
        """Return a state that is forgotten with the process."""
        return cls(database.Database.in_memory(), site)

    def close(self) -> None:
        """Close the database; what was written is there."""
        self._database.close()

    # --- the record -----------------------------------------------------------

    def record(self, uuids: Iterable[str], node_uuid: str) -> Record:
        """Return what earlier cycles left of these providers.

        The same object as long as nothing of it was written.

        :param node_uuid: the node whose sources are the record's ``held``
        """
        some = frozenset(uuids)
        known = self._memory.record(some, node_uuid)
        if known is None:
            with self._database.reading() as db:
                known = self._read(db, {node_uuid: some})[node_uuid]
        return known

    def remember_records(self, wanted: Mapping[str, frozenset[str]]) -> None:
        """Remember nodes' records, read at once, for ``record`` to return.

        One that cannot be read says so when it is asked for.

        :param wanted: node uuid → the providers that its record is about
        """
        missing = [
            node_uuid
            for node_uuid, uuids in wanted.items()
            if not self._memory.has_record(uuids, node_uuid)
        ]
        for start in range(0, len(missing), _AT_ONCE):
            share = missing[start : start + _AT_ONCE]
            with (
                contextlib.suppress(errors.ConfigError),
                self._database.reading() as db,
            ):
                self._read(db, {uuid: wanted[uuid] for uuid in share})

    def created_for(self, node_uuids: Iterable[str]) -> dict[str, list[str]]:
        """Return the providers created while each of these was described."""
        with self._database.reading() as db:
            return recorded.created_for(db, node_uuids)

    def intents(
        self, node_uuids: Iterable[str]
    ) -> dict[str, dict[str, Sequence[Intent]]]:
        """Return these nodes' unconfirmed intents by provider, oldest first."""
        with self._database.reading() as db:
            return intents_table.intents(db, node_uuids)

    def begin(
        self,
        node_uuid: str,
        intents: Sequence[Intent],
        claims: Mapping[Key, Claims],
    ) -> None:
        """Record what is about to be sent, durably, in one transaction.

        :param intents: all of the node's that are open from now on
        :param held: which source holds which names for the node from now on
        """
        with self._database.writing() as db:
            for uuid, _ in claims:
                self._memory.drop(uuid)
            recorded.hold(db, node_uuid, claims)
            intents_table.intend(db, node_uuid, intents)

    def settle(
        self,
        done: Iterable[Intent],
        dropped: Iterable[Intent] = (),
        *,
        readings: Iterable[provider.Reading] = (),
        gone: Iterable[str] = (),
    ) -> None:
        """Record what was done and what was not, in one transaction.

        :param readings: the providers as they stand after it
        :param gone: the providers deleted: all that is recorded of them goes
        """
        confirmed = list(done)
        with self._database.writing() as db:
            for intent in confirmed:
                self._memory.drop(intent.uuid)
                intents_table.confirm(db, intent)
                self._recency.learn(intent.uuid, intent.generation)
            for intent in (*confirmed, *dropped):
                intents_table.drop_intent(db, intent)
            for reading in readings:
                self._save(db, reading)
                snapshot.drop_was(db, self._site, reading.provider.uuid)
            for uuid in gone:
                self._forget(db, uuid)

    def forget(self, uuids: Iterable[str]) -> None:
        """Drop all that is recorded of providers that are no more."""
        with self._database.writing() as db:
            for uuid in uuids:
                self._forget(db, uuid)

    def adopt(self, node_uuid: str, generations: Mapping[str, int]) -> None:
        """Count these providers as created for a node from now on.

        :param generations: at which placement shows each; what is recorded of
            one at a higher generation is of one before it, and dropped
        """
        old = self.readings(generations)
        with self._database.writing() as db:
            for uuid, generation in generations.items():
                self._memory.drop(uuid)
                if uuid in old and old[uuid].is_above(generation):
                    self._forget(db, uuid)
            taken = Record(created=frozenset(generations))
            recorded.take_over(db, node_uuid, taken)

    def pass_on(self, uuid: str, node_uuid: str, heir_uuid: str) -> None:
        """Count a provider as created, and held, for another node."""
        with self._database.writing() as db:
            self._memory.drop(uuid)
            recorded.pass_on(db, uuid, node_uuid, heir_uuid)

    # --- the nodes ------------------------------------------------------------

    def nodes(self, driver: str) -> dict[str, KnownNode]:
        """Return the nodes this driver has had here, by uuid."""
        with self._database.reading() as db:
            if self._nodes is None:
                self._nodes = recorded.nodes(db)
            return {
                node.uuid: known
                for node, known in self._nodes
                if node.driver == driver
            }

    def every_node(self) -> list[handover.Node]:
        """Return the nodes that any driver has had here."""
        with self._database.reading() as db:
            return [node for node, _ in recorded.nodes(db)]

    def keep_nodes(self, driver: str, known: Mapping[str, KnownNode]) -> None:
        """Record that the driver has these nodes, and when it was asked."""
        with self._database.writing() as db:
            self._nodes = None
            for uuid, one in known.items():
                recorded.keep_node(db, uuid, driver, one)

    def forget_nodes(self, uuids: Iterable[str]) -> None:
        """Drop nodes that are gone, here and there."""
        with self._database.writing() as db:
            self._nodes = None
            for node_uuid in uuids:
                for uuid in recorded.held_for(db, node_uuid):
                    self._memory.drop(uuid)
                recorded.forget_node(db, node_uuid)

    def accounts(
        self, node: handover.Node | None = None
    ) -> list[record_rows.Account]:
        """Return what is recorded of a node; of all, and of none, for None."""
        with self._database.reading() as db:
            return node_records.accounts(db, node)

    # --- handing over ---------------------------------------------------------

    def export_record(self, node: handover.Node) -> handover.NodeRecord:
        """Return what is recorded of a node and of its providers.

        :raises errors.UnknownState: a write of its was not confirmed
        :raises errors.ConfigError: nothing is recorded
        """
        with self._database.reading() as db:
            return node_records.exported(db, node)

    def import_record(self, handed: handover.NodeRecord) -> None:
        """Add another agent's record of a node, in one transaction.

        Its providers are read afresh in the next cycle, so that what is not
        there any more is not taken for ours.
        """
        with self._database.writing() as db:
            self._forget_all()
            node_records.take_over(db, handed)

    def forget_node(self, node_uuid: str) -> None:
        """Drop a node that moved, and all that is known of its providers."""
        with self._database.writing() as db:
            self._forget_all()
            node_records.forget(db, node_uuid)

    # --- the snapshot ---------------------------------------------------------

    def readings(self, uuids: Iterable[str]) -> dict[str, provider.Reading]:
        """Return what was last read of these providers, of those known.

        The same objects as long as they are not written to.
        """
        wanted = list(uuids)
        found = self._memory.readings(wanted)
        if len(found) == len(wanted):
            return found
        with self._database.reading() as db:
            missing = [uuid for uuid in wanted if uuid not in found]
            read = snapshot.readings(db, self._site, missing)
            self._memory.keep_readings(read)
            return found | read

    def members(self, root_uuids: Iterable[str]) -> dict[str, set[str]]:
        """Return the providers last seen in the trees of these roots."""
        with self._database.reading() as db:
            return snapshot.members(db, self._site, root_uuids)

    def moment(self) -> int:
        """Return the moment at which a look begins, for ``save``."""
        with self._database.reading():
            return self._recency.now()

    def newer(self, uuids: Iterable[str], since: int) -> set[str]:
        """Return the providers of which something was learnt since then."""
        with self._database.reading():
            return {u for u in uuids if self._recency.is_newer(u, since)}

    def save(
        self, readings: Iterable[provider.Reading], *, since: int | None = None
    ) -> None:
        """Keep these readings, and how others changed what they show.

        :param since: when the look at them began: one that was written to
            since then, and read before that, is passed over
        """
        with self._database.writing() as db:
            for reading in readings:
                one = reading.provider
                if since is None or not self._recency.is_passed(one, since):
                    snapshot.keep_was(db, self._site, reading)
                    self._save(db, reading)

    def known_names(self) -> names.KnownNames | None:
        """Return the names this placement knew when it was last asked."""
        with self._database.reading() as db:
            if self._known is None:
                self._known = snapshot.known_names(db, self._site)
            return self._known

    def save_known_names(self, known: names.KnownNames | None) -> None:
        """Keep the names this placement knows; None forgets them."""
        with self._database.writing() as db:
            self._known = None
            snapshot.save_known_names(db, self._site, known)

    def size(self) -> provider.Size | None:
        """Return how many providers this placement had, and when that was."""
        with self._database.reading() as db:
            return snapshot.size(db, self._site)

    def save_size(self, size: provider.Size) -> None:
        """Keep how many providers this placement has."""
        with self._database.writing() as db:
            snapshot.save_size(db, self._site, size)

    # --- inside ---------------------------------------------------------------

    def _read(
        self, db: sqlite3.Connection, wanted: Mapping[str, frozenset[str]]
    ) -> dict[str, Record]:
        """Read records, and remember them."""
        every = {uuid for uuids in wanted.values() for uuid in uuids}
        was = snapshot.was(db, self._site, every)
        found = recorded.records(db, wanted, was)
        for node_uuid, one in found.items():
            self._memory.keep_record(wanted[node_uuid], node_uuid, one)
        return found

    def _forget_all(self) -> None:
        """Remember nothing of what was read."""
        self._memory.clear()
        self._nodes = None

    def _forget(self, db: sqlite3.Connection, uuid: str) -> None:
        self._memory.drop(uuid)
        recorded.forget(db, uuid)
        snapshot.forget(db, self._site, uuid)

    def _save(self, db: sqlite3.Connection, reading: provider.Reading) -> None:
        self._memory.drop(reading.provider.uuid)
        recorded.keep_to(db, reading.provider)
        snapshot.save(db, self._site, reading)
        one = reading.provider
        self._recency.learn(one.uuid, one.generation)
