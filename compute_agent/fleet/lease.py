# SPDX-License-Identifier: Apache-2.0
"""The leases in the shared database: which agent reports a share now.

A share's row has an epoch and a beat. A take-over raises the epoch; the holder
and each commit raise the beat. A statement of a holder names its epoch and its
own identity, so it changes nothing after a take-over, also if the database lost
commits and another agent took the same epoch. No clock is stored: each agent
judges by its own clock how long a row stood still (``roles.py``).
"""

import dataclasses
import functools
from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

from .. import errors
from .database import connection, tables
from .values import roles

_LEASE, _STANDBY = tables.LEASE.c, tables.STANDBY.c
NEXT_BEAT = _LEASE.beat + 1
_HELD = sa.select(_LEASE.beat, _LEASE.epoch, _LEASE.host, _LEASE.pid).where(
    _LEASE.share == sa.bindparam('of_share')
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """The process of an agent.

    :ivar who: its identity, new at each start
    :ivar since: when it began, for people
    """

    who: str
    host: str
    pid: int
    lease_seconds: float
    since: str = ''
    version: str = ''

    def __str__(self) -> str:
        return f'{self.host} (process {self.pid})'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LeaseRow:
    """A share's row.

    :ivar holder: None if the last holder left
    :ivar able: True if the holder says that it can report
    :ivar sequence: the beat of the last commit to the record
    """

    share: str
    driver: str
    epoch: int
    beat: int
    holder: Member | None
    lease_seconds: float
    able: bool = True
    sequence: int = 0

    @property
    def watched(self) -> roles.Row:
        """The part by which ``roles.py`` judges whether its holder lives."""
        return roles.Row(
            epoch=self.epoch,
            beat=self.beat,
            seconds=self.lease_seconds,
            is_empty=self.holder is None,
        )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class StandbyRow:
    """An agent that waits for the lease.

    :ivar able: True if the standby says that it could report
    :ivar sequence: the last commit in the standby's copy of the record
    :ivar lease_beat: the beat of the lease at the standby's last beat
    """

    member: Member
    beat: int
    able: bool
    sequence: int
    lease_beat: int = 0


class Leases:
    """The leases in one database; threads may share it.

    Each method is one transaction.
    """

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._who: dict[str, str] = {}

    def rows(self) -> list[LeaseRow]:
        """Return the rows of all shares.

        :raises errors.Unavailable: the database is away
        """
        query = sa.select(tables.LEASE).order_by(_LEASE.share)
        found = connection.run_again(
            self._engine, lambda db: db.execute(query).mappings().all()
        )
        return [_row(one) for one in found]

    def row(self, share: str) -> LeaseRow | None:
        """Return the row of a share; None if no agent held it yet.

        :raises errors.Unavailable: the database is away
        """
        query = sa.select(tables.LEASE).where(_LEASE.share == share)
        found = connection.run_again(
            self._engine, lambda db: db.execute(query).mappings().first()
        )
        return None if found is None else _row(found)

    def take(
        self, share: str, driver: str, seen: LeaseRow | None, me: Member
    ) -> int | None:
        """Take the lease; return its new epoch, None if another was quicker.

        :param seen: the row as this agent saw it; None if the share had no row
        :raises errors.Unavailable: the database is away
        """
        epoch = 1 if seen is None else seen.epoch + 1
        try:
            taken = connection.run(
                self._engine, lambda db: _take(db, share, driver, seen, me)
            )
        except connection.InDoubt:
            row = self.row(share)
            taken = (
                row is not None
                and row.holder is not None
                and (row.epoch, row.holder.who) == (epoch, me.who)
            )
        if not taken:
            return None
        self._who[share] = me.who
        return epoch

    def beat(self, share: str, epoch: int, *, able: bool) -> int:
        """Tell that the holder is alive; return the number of this beat.

        :raises errors.Deposed: another agent has the lease
        :raises errors.Unavailable: the database is away
        """
        return connection.run_again(
            self._engine,
            lambda db: fence(
                db, share, epoch, self._who.get(share, ''), able=able
            ),
        )

    def leave(self, share: str, epoch: int) -> None:
        """Empty the lease, so that a standby takes it at once.

        :raises errors.Deposed: another agent has the lease
        :raises errors.Unavailable: the database is away
        """
        who = self._who.get(share, '')
        try:
            connection.run(
                self._engine,
                lambda db: fence(db, share, epoch, who, who=''),
            )
        except connection.InDoubt:
            row = self.row(share)
            if row is not None and (row.epoch, row.holder) != (epoch, None):
                self.leave(share, epoch)

    def attend(
        self, share: str, me: Member, *, able: bool, sequence: int
    ) -> None:
        """Tell that this agent stands by.

        :raises errors.Unavailable: the database is away
        """
        connection.run_again(
            self._engine,
            lambda db: _attend(
                db, share, me, {'able': able, 'sequence': sequence}
            ),
        )

    def standbys(self, share: str) -> list[StandbyRow]:
        """Return the agents that stood by not long ago; some may be gone.

        :raises errors.Unavailable: the database is away
        """
        query = (
            sa.select(tables.STANDBY)
            .where(_STANDBY.share == share)
            .order_by(_STANDBY.host, _STANDBY.who)
        )
        found = connection.run_again(
            self._engine, lambda db: db.execute(query).mappings().all()
        )
        return [
            StandbyRow(
                member=_member(one),
                beat=one['beat'],
                able=one['able'],
                sequence=one['sequence'],
                lease_beat=one['lease_beat'],
            )
            for one in found
        ]

    def dismiss(self, share: str, who: Collection[str]) -> None:
        """Drop standbys that ended; a living one adds its row again by a beat.

        :param who: the identities of their processes
        :raises errors.Unavailable: the database is away
        """
        gone = (_STANDBY.share == share) & _STANDBY.who.in_(who)
        connection.run_again(
            self._engine,
            lambda db: db.execute(sa.delete(tables.STANDBY).where(gone)),
        )


def check_driver(row: LeaseRow, driver: str) -> None:
    """Refuse a share that agents with another driver report.

    :raises errors.ConfigError: their share has the same name
    """
    if row.driver != driver:
        by = f', now on {row.holder}' if row.holder else ''
        raise errors.ConfigError(
            f'the share {row.share} is reported with the driver {row.driver}'
            f'{by}, and this agent has the driver {driver}: set '
            '[compute_agent] share to another name for one of them'
        )


def fence(
    db: sa.Connection, share: str, epoch: int, holder: str, **changed: Any
) -> int:
    """Raise the beat of a lease that this agent holds; return the beat.

    Every write of a holder begins with this beat. The row stays locked until
    the transaction ends, so the beats of one share are in the order of
    commits. The row is written, not only read: Galera certifies what was
    written.

    :raises errors.Deposed: another agent has the lease
    """
    returning = db.dialect.update_returning  # one statement fewer; not MariaDB
    raised = _raising(
        tuple((name, what is NEXT_BEAT) for name, what in changed.items()),
        returning=returning,
    )
    given = {
        f'new_{name}': what
        for name, what in changed.items()
        if what is not NEXT_BEAT
    }
    mine = {'of_share': share, 'of_epoch': epoch, 'of_who': holder}
    done = db.execute(raised, {**given, **mine})
    if returning:
        beat = done.scalar()
        if beat is not None:
            return int(beat)
    found = db.execute(_HELD, {'of_share': share}).first()
    if not returning and done.rowcount and found is not None:
        return int(found.beat)
    took = (
        f'{found.host} (process {found.pid}) took the lease with epoch '
        f'{found.epoch}'
        if found
        else 'the shared database has no lease of it'
    )
    raise errors.Deposed(
        f'this agent does not hold the share {share} any more: its epoch was '
        f'{epoch}, and {took}'
    )


@functools.cache  # to build a statement takes longer than to send it
def _raising(
    changed: tuple[tuple[str, bool], ...], *, returning: bool
) -> sa.Update:
    """Return the statement that raises the beat of a lease.

    :param changed: the other columns that it sets; True for the new beat
    """
    mine = (
        (_LEASE.share == sa.bindparam('of_share'))
        & (_LEASE.epoch == sa.bindparam('of_epoch'))
        & (_LEASE.who == sa.bindparam('of_who'))
    )
    # MySQL assigns from left to right: the old beat is needed until the end.
    values = [
        (name, NEXT_BEAT if is_beat else sa.bindparam(f'new_{name}'))
        for name, is_beat in changed
    ]
    raised = (
        sa.update(tables.LEASE)
        .where(mine)
        .ordered_values(*values, ('beat', NEXT_BEAT))
    )
    return raised.returning(_LEASE.beat) if returning else raised


def _take(
    db: sa.Connection,
    share: str,
    driver: str,
    seen: LeaseRow | None,
    me: Member,
) -> bool:
    """Take the lease in one statement; return False if the row has changed."""
    mine = {**dataclasses.asdict(me), 'able': True}
    if seen is None:
        try:
            db.execute(
                sa.insert(tables.LEASE).values(
                    share=share,
                    driver=driver,
                    epoch=1,
                    beat=1,
                    sequence=0,
                    **mine,
                )
            )
        except connection.DUPLICATE:
            return False
    else:
        done = db.execute(
            sa.update(tables.LEASE)
            .where(
                (_LEASE.share == share)
                & (_LEASE.epoch == seen.epoch)
                & (_LEASE.beat == seen.beat)
                & (_LEASE.who == (seen.holder.who if seen.holder else ''))
            )
            .values(epoch=_LEASE.epoch + 1, beat=_LEASE.beat + 1, **mine)
        )
        if not done.rowcount:
            return False
    db.execute(
        sa.delete(tables.STANDBY).where(
            (_STANDBY.share == share) & (_STANDBY.who == me.who)
        )
    )
    return True


def _attend(
    db: sa.Connection, share: str, me: Member, state: dict[str, Any]
) -> None:
    """Raise the beat of a standby; add its row if it is missing."""
    beat = sa.select(_LEASE.beat).where(_LEASE.share == share)
    state['lease_beat'] = sa.func.coalesce(beat.scalar_subquery(), 0)
    mine = (_STANDBY.share == share) & (_STANDBY.who == me.who)
    done = db.execute(
        sa.update(tables.STANDBY)
        .where(mine)
        .values(beat=_STANDBY.beat + 1, **state)
    )
    if not done.rowcount:
        db.execute(
            sa.insert(tables.STANDBY).values(
                share=share, beat=1, **dataclasses.asdict(me), **state
            )
        )


def _row(found: Any) -> LeaseRow:
    return LeaseRow(
        share=found['share'],
        driver=found['driver'],
        epoch=found['epoch'],
        beat=found['beat'],
        holder=_member(found) if found['who'] else None,
        lease_seconds=found['lease_seconds'],
        able=found['able'],
        sequence=found['sequence'],
    )


def _member(found: Any) -> Member:
    return Member(
        **{
            field.name: found[field.name]
            for field in dataclasses.fields(Member)
        }
    )
