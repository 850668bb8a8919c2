# SPDX-License-Identifier: Apache-2.0
"""Everything recorded of a node: shown, exported, imported or forgotten.

A node that moves to another agent takes its record along, so each of these is
one transaction over all tables that know the node. ``cmd/state.py`` calls it.
"""

import contextlib
import dataclasses
import sqlite3
import typing
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from .. import errors
from ..ownership.explanations import record_rows
from ..plan.history_entry import Entry, What
from ..tree.node import Node
from . import earlier_contents, intents
from .database.database import Database
from .history.history import History
from .journal import Journal
from .nodes import KnownNode, Nodes, split
from .records import Records
from .snapshot import Snapshot
from .values.cache import Cache
from .values.node_record import GivenRecord, NodeRecord

# A context in which the next transaction is also one of the shared database:
# the records of nodes go to another share, or come from one.
Moving = Callable[[Mapping[str, Any]], contextlib.AbstractContextManager[None]]


def _alone(_moved: Mapping[str, Any]) -> typing.NoReturn:
    raise errors.ConfigError('this agent has no shared database')


class Handover:
    """The records of whole nodes.

    :ivar moving: see ``replica.py``
    """

    def __init__(
        self,
        database: Database,
        cache: Cache,
        *,
        records: Records,
        journal: Journal,
        snapshot: Snapshot,
        nodes: Nodes,
        history: History,
    ) -> None:
        self._history = history
        self._database = database
        self._cache = cache
        self._records = records
        self._journal = journal
        self._snapshot = snapshot
        self._nodes = nodes
        self.moving: Moving = _alone

    def accounts(self, node: Node | None = None) -> list[record_rows.Account]:
        """Return all records of one node, or of all nodes if ``node`` is None.

        For None, the last account has the providers that belong to no node.
        """
        with self._database.reading() as db:
            nodes = self._nodes.all_in(db) if node is None else [node]
            found = [
                self._account(db, n.called, self._with_uncreated(db, n), n)
                for n in nodes
            ]
            every = self._records.providers(db) | intents.providers(db)
            other = every.difference(*(a.providers for a in found))
            if node is None and other:
                found.append(self._account(db, '', other))
            return found

    def export_record(self, node: Node) -> NodeRecord:
        """Return everything recorded of a node and of its providers.

        :raises errors.UnknownState: a write to it is not confirmed
        :raises errors.ConfigError: nothing is recorded
        """
        with self._database.reading() as db:
            uuids = self._providers(db, node.uuid)
            if self._has_intents(node.uuid, uuids):
                raise errors.UnknownState(
                    f'the outcome of a write to {node} is not known, so its '
                    'record is not certain: run "compute-agent sync", or let '
                    'the daemon do a cycle, and export the record then'
                )
            record = self._records.record(uuids, node.uuid)
            return NodeRecord(
                node=node,
                driver=self._nodes.driver_of(db, node),
                # Claims for other nodes stay with those nodes.
                record=dataclasses.replace(
                    record, others={}, was={}, taken_over=frozenset()
                ),
            )

    def import_records(self, handed: Iterable[NodeRecord]) -> None:
        """Add another agent's records of nodes, in one transaction.

        The next cycle reads the node's providers again, so that names which
        are no longer there do not count as added by this agent. The other
        agent wrote to these providers, so this one may, too.
        """
        self._import_all(list(handed), '')

    def _import(
        self, db: sqlite3.Connection, handed: NodeRecord, text: str
    ) -> None:
        node = handed.node
        known = KnownNode(
            name=node.name,
            title=node.title,
            drivers=split(handed.driver),
        )
        self._nodes.record(db, node.uuid, known)
        record = dataclasses.replace(
            handed.record, taken_over=frozenset(handed.providers)
        )
        self._records.add(db, node.uuid, record)
        for uuid in handed.providers:
            self._snapshot.invalidate(db, uuid)
        self._history.record(db, [_entry(What.IMPORTED, node, text)])

    def forget_with_record(self, uuid: str) -> None:
        """Drop a node that moved, and everything about its providers."""
        self._forget_all([uuid], '')

    # --- between two shares of one database -----------------------------------

    def give(self, given: Collection[GivenRecord]) -> None:
        """Give the records of nodes away, in one transaction.

        Until an agent takes them, they are in the shared database alone.

        :raises errors.Unavailable: the transaction failed, or its outcome is
            unknown
        """
        texts = {one.record.node.uuid: one.text() for one in given}
        with self.moving(texts):
            self._forget_all(texts, 'given to the share that lists it now')

    def take(
        self,
        given: Mapping[str, Any],
        records: Collection[NodeRecord],
        of: str,
    ) -> None:
        """Take records that other agents gave, in one transaction.

        :param given: as the shared database has them
        :param records: the parts to import; all other parts are dropped
        :param of: the share, for the history
        :raises errors.Refused: another agent took one before
        :raises errors.Unavailable: the transaction failed, or its outcome is
            unknown
        """
        with self.moving(given):
            self._import_all(records, f'from the share {of}')

    # --- inside ---------------------------------------------------------------

    def _import_all(self, handed: Collection[NodeRecord], text: str) -> None:
        for attempt in self._history.transactions():
            with attempt as db:
                self._cache.clear()
                for one in handed:
                    self._import(db, one, text)

    def _forget_all(self, uuids: Collection[str], text: str) -> None:
        for attempt in self._history.transactions():
            with attempt as db:
                self._cache.clear()
                names = self._snapshot.last_names(db, uuids)
                for uuid in uuids:
                    node = Node(uuid=uuid, name=names.get(uuid, uuid))
                    entry = _entry(What.EXPORTED, node, text)
                    self._history.record(db, [entry])
                    self._forget(db, uuid)

    def _forget(self, db: sqlite3.Connection, uuid: str) -> None:
        for provider_uuid in self._providers(db, uuid):
            self._records.forget(db, provider_uuid)
            intents.drop_on(db, provider_uuid)
            self._snapshot.forget_everywhere(db, provider_uuid)
            earlier_contents.forget(db, provider_uuid)
        self._nodes.drop(db, uuid)

    def _providers(self, db: sqlite3.Connection, node_uuid: str) -> set[str]:
        """Return a node's root, its tree, and providers made for this node."""
        return {
            node_uuid,
            *self._records.created_in(db, [node_uuid]).get(node_uuid, ()),
            *self._snapshot.members_anywhere(db, node_uuid),
        }

    def _with_uncreated(self, db: sqlite3.Connection, node: Node) -> set[str]:
        """Return a node's providers, and those that may have been created."""
        written = self._journal.intents([node.uuid]).get(node.uuid, {})
        return self._providers(db, node.uuid) | set(written)

    def _has_intents(self, node_uuid: str, uuids: Iterable[str]) -> bool:
        """True if a write for this node, or to these providers, is open."""
        return bool(
            self._journal.intents([node_uuid])
            or self._journal.intents_on(uuids)
        )

    def _account(
        self,
        db: sqlite3.Connection,
        called: str,
        uuids: set[str],
        node: Node | None = None,
    ) -> record_rows.Account:
        """Return everything recorded of some providers.

        :param node: the node that the providers belong to, if any
        """
        root_uuid = '' if node is None else node.uuid
        names = {
            **({node.uuid: node.name} if node else {}),
            **self._snapshot.last_names(db, uuids),
        }
        return record_rows.Account(
            node=called,
            providers=sorted(
                uuids, key=lambda u: (u != root_uuid, names.get(u, ''), u)
            ),
            names=names,
            record=self._records.record(uuids, root_uuid),
            intents=self._journal.intents_on(uuids),
        )


def _entry(what: What, node: Node, text: str) -> Entry:
    """Return the history entries about a node's record that moves."""
    return Entry(
        what=what,
        node_uuid=node.uuid,
        uuid=node.uuid,
        provider=node.name,
        text=text,
    )
