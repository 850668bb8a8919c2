# SPDX-License-Identifier: Apache-2.0
"""The approvals in the state database, from a command to the daemon.

The table ``approval`` has the changes that a person approved and that no cycle
made yet. A command may write to it while the daemon runs (see
``Database.open_beside``), so nothing of this table is kept in memory. A cycle
drops an approval after placement carried out the change, so an outage does not
use it up.
"""

import collections
from collections.abc import Collection, Iterable, Mapping

from ..limits import approval
from ..plan.history_entry import Entry, What
from .database.database import Database
from .history.history import History


class Approvals:
    """The approvals of changes that were not made yet.

    The clock is that of the history.
    """

    def __init__(self, database: Database, history: History) -> None:
        self._database = database
        self._history = history

    def grant(self, subjects: Iterable[approval.Subject], who: str) -> None:
        """Record that a person approved each of these changes.

        :param who: the person, as far as it is known
        """
        given, now = list(subjects), self._history.clock()
        for attempt in self._history.transactions():
            with attempt as db:
                db.execute(
                    'delete from approval where given_at <= ?',
                    (now - approval.LIFETIME,),
                )
                db.executemany(
                    'replace into approval values (?, ?, ?, ?)',
                    [(s.kind.value, s.digest, now, who) for s in given],
                )
                self._history.record(db, [_entry(given, who)])

    def approved(
        self, subjects: Collection[approval.Subject]
    ) -> Mapping[approval.Subject, str]:
        """Return the approved ones of these changes, with the persons.

        An approval that expired does not count.
        """
        if not subjects:
            return {}
        now = self._history.clock()
        wanted = {(s.kind.value, s.digest): s for s in subjects}
        with self._database.reading() as db:
            query = 'select kind, digest, given_at, who from approval'
            return {
                wanted[kind, digest]: str(who)
                for kind, digest, given_at, who in db.execute(query)
                if (kind, digest) in wanted
                and approval.is_valid(given_at, now)
            }

    def drop(self, subjects: Collection[approval.Subject]) -> None:
        """Forget the approvals of changes that were made."""
        if not subjects:
            return
        with self._database.writing() as db:
            db.executemany(
                'delete from approval where kind = ? and digest = ?',
                [(s.kind.value, s.digest) for s in subjects],
            )


def _entry(given: Iterable[approval.Subject], who: str) -> Entry:
    """Return what the history tells of an approval."""
    counts = collections.Counter(s.kind for s in given)
    return Entry(
        what=What.APPROVED,
        by=who,
        text=', '.join(
            f'{kind.value.replace("_", " ")}: {count}'
            for kind, count in sorted(counts.items())
        ),
    )
