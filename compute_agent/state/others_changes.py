# SPDX-License-Identifier: Apache-2.0
"""Other writers' changes, found between two readings of a provider.

The snapshot has the last reading, and the history the agent's own writes since
then; the rest is the work of others. Each method is a step of a transaction of
``journal.py``.
"""

import sqlite3
from collections.abc import Collection, Iterable

from ..plan.history_entry import Entry, What
from ..tree import provider
from .history import differences
from .history.history import History
from .record.records import Records
from .snapshot.snapshot import Snapshot


class OthersChanges:
    """The changes by others, as entries of the history."""

    def __init__(
        self, records: Records, snapshot: Snapshot, past: History
    ) -> None:
        self._records = records
        self._snapshot = snapshot
        self._past = past

    def entries(
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
        own = self._past.own_since(db, uuid, last.read_at)
        return differences.entries(last, now, own)

    def note_gone(self, db: sqlite3.Connection, uuid: str) -> None:
        """Record that another writer deleted a provider that is gone.

        Nothing is recorded if this agent had sent its deletion.
        """
        last = self._snapshot.last_reading(db, uuid)
        if last is None:
            return
        own = self._past.own_since(db, uuid, last.read_at)
        if not any(entry.what is What.DELETED for entry in own):
            self._past.record(db, [differences.gone(last)])
