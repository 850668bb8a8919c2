# SPDX-License-Identifier: Apache-2.0
"""The state database: what this agent added, and what it last saw.

SQLite in ``state_path``, WAL. Two parts: the *record* (created, ours, held,
intents, nodes: ``state_record.py``), which must be durable before a request is
sent, and the *snapshot* (readings, known names: ``state_snapshot.py``), which
can be lost at the price of reading again and is kept by placement service
(``site``): another spelling of an endpoint costs a full read and no record.
Here each look and each write is made whole. It knows nothing of HTTP or plans.
"""

import pathlib
import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from . import (
    departures,
    errors,
    hand_over,
    intentions,
    names,
    ownership,
    provider,
    state_database,
)
from . import state_record as recorded
from . import state_snapshot as snapshot


class State:
    """The state database for one placement service; threads may share it.

    :param site: the service; empty where only the record is wanted
    """

    def __init__(self, database: state_database.Database, site: str) -> None:
        self._database = database
        self._site = site

    @classmethod
    def open(cls, directory: pathlib.Path, site: str = '') -> 'State':
        """Return the state kept in a directory, made there if need be.

        :raises errors.ConfigError: it cannot be written, or is not ours
        """
        return cls(state_database.Database.open(directory), site)

    @classmethod
    def look(cls, directory: pathlib.Path, site: str = '') -> 'State':
        """Return a copy of a directory's state that is never written back.

        For the commands that only look, beside a daemon that writes; without
        a database the copy is an empty one.

        :raises errors.ConfigError: it cannot be read, or is not ours
        """
        return cls(state_database.Database.look(directory), site)

    @classmethod
    def in_memory(cls, site: str = '') -> 'State':
        """Return a state that is forgotten with the process."""
        return cls(state_database.Database.in_memory(), site)

    def close(self) -> None:
        """Close the database; what was written is there."""
        self._database.close()

    # --- the record -----------------------------------------------------------

    def record(self, uuids: Iterable[str]) -> ownership.Record:
        """Return what earlier cycles left of these providers."""
        with self._database.reading() as db:
            return recorded.record(db, uuids)

    def created_for(self, node_uuid: str) -> list[str]:
        """Return the providers created while this node was described."""
        with self._database.reading() as db:
            return recorded.created_for(db, node_uuid)

    def intents(self, node_uuid: str) -> dict[str, list[intentions.Intent]]:
        """Return this node's unconfirmed intents by provider, oldest first."""
        with self._database.reading() as db:
            return recorded.intents(db, node_uuid)

    def begin(
        self,
        node_uuid: str,
        intents: Sequence[intentions.Intent],
        held: Mapping[ownership.Key, ownership.Held],
    ) -> None:
        """Record what is about to be sent, durably, in one transaction.

        :param held: who holds which names from now on
        """
        with self._database.writing() as db:
            recorded.hold(db, held)
            recorded.intend(db, node_uuid, intents)

    def settle(
        self,
        done: Iterable[intentions.Intent],
        dropped: Iterable[intentions.Intent] = (),
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
                recorded.confirm(db, intent)
            for intent in (*confirmed, *dropped):
                recorded.drop_intent(db, intent)
            for reading in readings:
                self._save(db, reading)
            for uuid in gone:
                self._forget(db, uuid)

    def forget(self, uuids: Iterable[str]) -> None:
        """Drop all that is recorded of providers that are no more."""
        with self._database.writing() as db:
            for uuid in uuids:
                self._forget(db, uuid)

    # --- the nodes ------------------------------------------------------------

    def nodes(self, driver: str) -> dict[str, departures.Known]:
        """Return the nodes this driver has had here, by uuid."""
        with self._database.reading() as db:
            return {
                node.uuid: known
                for node, known in recorded.nodes(db)
                if node.driver == driver
            }

    def every_node(self) -> list[hand_over.Node]:
        """Return the nodes that any driver has had here."""
        with self._database.reading() as db:
            return [node for node, _ in recorded.nodes(db)]

    def keep_nodes(
        self, driver: str, known: Mapping[str, departures.Known]
    ) -> None:
        """Record that the driver has these nodes, and when it was asked."""
        with self._database.writing() as db:
            for uuid, one in known.items():
                recorded.keep_node(db, uuid, driver, one)

    def forget_nodes(self, uuids: Iterable[str]) -> None:
        """Drop nodes that are gone, here and there."""
        with self._database.writing() as db:
            for uuid in uuids:
                recorded.forget_node(db, uuid)

    # --- handing over ---------------------------------------------------------

    def export_record(self, node: hand_over.Node) -> hand_over.NodeRecord:
        """Return what is recorded of a node and of its providers.

        :raises errors.UnknownState: a write of its was not confirmed
        :raises errors.ConfigError: nothing is recorded
        """
        with self._database.reading() as db:
            uuids = _providers(db, node.uuid)
            if recorded.intends(db, node.uuid, uuids):
                raise errors.UnknownState(
                    f'a write to {node} is not confirmed, so what is recorded '
                    'of it is not certain: run "compute-agent sync", or let '
                    'the daemon do its cycle, and export it then'
                )
            record = recorded.record(db, uuids)
        return hand_over.NodeRecord(node=node, record=record)

    def import_record(self, handed: hand_over.NodeRecord) -> None:
        """Add another agent's record of a node, in one transaction.

        Its providers are read afresh in the next cycle, so that what is not
        there any more is not taken for ours.
        """
        node = handed.node
        with self._database.writing() as db:
            recorded.keep_node(
                db,
                node.uuid,
                node.driver,
                departures.Known(name=node.name, title=node.title),
            )
            recorded.take_over(db, node.uuid, handed.record)
            for uuid in handed.providers:
                snapshot.doubt(db, uuid)

    def forget_node(self, node_uuid: str) -> None:
        """Drop a node that moved, and all that is known of its providers."""
        with self._database.writing() as db:
            for uuid in _providers(db, node_uuid):
                recorded.forget(db, uuid)
                snapshot.forget_everywhere(db, uuid)
            recorded.forget_node(db, node_uuid)

    # --- the snapshot ---------------------------------------------------------

    def readings(self, uuids: Iterable[str]) -> dict[str, provider.Reading]:
        """Return what was last read of these providers, of those known."""
        with self._database.reading() as db:
            return snapshot.readings(db, self._site, uuids)

    def members(self, root_uuid: str) -> set[str]:
        """Return the providers last seen in the tree of this root."""
        with self._database.reading() as db:
            return snapshot.members(db, self._site, root_uuid)

    def save(self, readings: Iterable[provider.Reading]) -> None:
        """Keep these readings."""
        with self._database.writing() as db:
            for reading in readings:
                self._save(db, reading)

    def known_names(self) -> names.KnownNames | None:
        """Return the names this placement knew when it was last asked."""
        with self._database.reading() as db:
            return snapshot.known_names(db, self._site)

    def save_known_names(self, known: names.KnownNames | None) -> None:
        """Keep the names this placement knows; None forgets them."""
        with self._database.writing() as db:
            snapshot.save_known_names(db, self._site, known)

    # --- inside ---------------------------------------------------------------

    def _forget(self, db: sqlite3.Connection, uuid: str) -> None:
        recorded.forget(db, uuid)
        snapshot.forget(db, self._site, uuid)

    def _save(self, db: sqlite3.Connection, reading: provider.Reading) -> None:
        recorded.keep_to(db, reading.provider)
        snapshot.save(db, self._site, reading)


def _providers(db: sqlite3.Connection, node_uuid: str) -> set[str]:
    """Return the node's provider, those in its tree, those made for it."""
    return {
        node_uuid,
        *recorded.created_for(db, node_uuid),
        *snapshot.members_anywhere(db, node_uuid),
    }
