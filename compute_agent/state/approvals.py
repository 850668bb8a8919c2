# SPDX-License-Identifier: Apache-2.0
"""The approvals in the state database, and the masses that wait for one.

The table ``approval`` has the changes that a person approved and that no cycle
made yet. A command may write to it while the daemon runs (see
``Database.open_beside``), so nothing of this table is kept in memory. A cycle
drops an approval after placement carried out the change, so an outage does not
use it up. The table ``mass`` has the nodes whose removals a cycle held as a
mass, so that these stay held if fewer nodes are left; the cycles write it.
"""

import collections
from collections.abc import Collection, Iterable, Mapping

from ..limits import approval, judgement
from ..limits.blast_radius import Mass
from ..plan.history_entry import Entry, What
from .database.database import Database
from .history.history import History


class Approvals:
    """The approvals of changes that were not made yet.

    The clock is that of the history.

    :ivar is_shared: True if agents on other machines write them, too
    """

    def __init__(self, database: Database, history: History) -> None:
        self._database = database
        self._history = history
        self.is_shared = False

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
                and approval.is_valid(
                    given_at, now, by_another_clock=self.is_shared
                )
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


class Masses:
    """The nodes of each mass of removals that waits for a person."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> judgement.Masses:
        """Return the mass in which each node takes part, by kind and node."""
        with self._database.reading() as db:
            query = 'select kind, node_uuid, nodes, of_nodes from mass'
            return {
                (approval.Kind(kind), uuid): Mass(nodes=nodes, of=of)
                for kind, uuid, nodes, of in db.execute(query)
            }

    def keep(self, masses: judgement.Masses) -> None:
        """Record these masses, and forget all others."""
        if masses == self.all():
            return
        with self._database.writing() as db:
            db.execute('delete from mass')
            db.executemany(
                'insert into mass values (?, ?, ?, ?)',
                [
                    (kind.value, uuid, mass.nodes, mass.of)
                    for (kind, uuid), mass in masses.items()
                ],
            )
            db.execute(
                'delete from mass where node_uuid not in'
                ' (select uuid from node)'
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
