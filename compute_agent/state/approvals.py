# SPDX-License-Identifier: Apache-2.0
"""The approvals in the state database, from a command to the daemon.

The table ``approval`` has the sets of changes that a person approved and that
no cycle applied yet. A command may write to it while the daemon runs (see
``Database.open_beside``), so nothing of this table is kept in memory. A cycle
takes an approval out before it applies the changes: an approval is used once.
"""

from collections.abc import Iterable

from ..limits import approval
from .database.database import Database


class Approvals:
    """The approvals that no cycle used yet."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def grant(
        self, subjects: Iterable[approval.Subject], *, now: float, who: str
    ) -> None:
        """Record that a person approved each of these sets.

        :param now: seconds since the epoch
        :param who: the person, as far as it is known
        """
        with self._database.writing() as db:
            db.execute(
                'delete from approval where given_at <= ?',
                (now - approval.LIFETIME,),
            )
            db.executemany(
                'replace into approval values (?, ?, ?, ?)',
                [(s.kind.value, s.digest, now, who) for s in subjects],
            )

    def take(self, subject: approval.Subject, *, now: float) -> str | None:
        """Return who approved exactly this set, and drop the approval.

        Return None if nobody did, or if the approval expired.
        """
        key = (subject.kind.value, subject.digest)
        where = 'from approval where kind = ? and digest = ?'
        with self._database.reading() as db:
            query = f'select given_at, who {where}'
            row = db.execute(query, key).fetchone()
        if row is None:
            return None
        given_at, who = row
        with self._database.writing() as db:
            db.execute(f'delete {where}', key)
        return str(who) if approval.is_valid(given_at, now) else None
