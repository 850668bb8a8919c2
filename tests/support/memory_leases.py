# SPDX-License-Identifier: Apache-2.0
"""The leases of a shared database in memory, and agents whose clock a test sets.

The double has the methods of ``compute_agent/fleet/lease.py``; a test of these
checks that both answer the same.
"""

import dataclasses
import typing

from compute_agent import errors
from compute_agent.fleet import fence, lease, membership

SHARE = 'fake'
SECONDS = 15.0


class MemoryLeases:
    """The rows of one database.

    :ivar away: True while it does not answer
    :ivar answered: called after each change, before its answer is read
    :ivar commits: the epoch of each beat, take-over and leave, in their order
    """

    def __init__(self) -> None:
        self.rows: dict[str, lease.LeaseRow] = {}
        self.attending: dict[str, lease.StandbyRow] = {}
        self.away = False
        self.commits: list[tuple[str, int]] = []
        self.answered: typing.Callable[[], object] = lambda: None

    def row(self, share: str) -> lease.LeaseRow | None:
        self._answer()
        return self.rows.get(share)

    def take(
        self,
        share: str,
        driver: str,
        seen: lease.LeaseRow | None,
        me: lease.Member,
    ) -> int | None:
        self._answer()
        row = self.rows.get(share)
        if _key(row) != _key(seen):
            return None
        epoch = 1 if row is None else row.epoch + 1
        self.rows[share] = lease.LeaseRow(
            share=share,
            driver=driver,
            epoch=epoch,
            beat=1 if row is None else row.beat + 1,
            holder=me,
            lease_seconds=me.lease_seconds,
        )
        self.attending.pop(me.who, None)
        self.commits.append(('take', epoch))
        self.answered()
        return epoch

    def beat(self, share: str, epoch: int, *, able: bool) -> int:
        row = self._own(share, epoch)
        self.rows[share] = dataclasses.replace(
            row, beat=row.beat + 1, able=able
        )
        self.commits.append(('beat', epoch))
        self.answered()
        return row.beat + 1

    def leave(self, share: str, epoch: int) -> None:
        row = self._own(share, epoch)
        self.rows[share] = dataclasses.replace(
            row, beat=row.beat + 1, holder=None
        )
        self.commits.append(('leave', epoch))

    def attend(
        self, share: str, me: lease.Member, *, able: bool, sequence: int
    ) -> None:
        row = self.row(share)
        before = self.attending.get(me.who)
        self.attending[me.who] = lease.StandbyRow(
            member=me,
            beat=1 if before is None else before.beat + 1,
            able=able,
            sequence=sequence,
            lease_beat=0 if row is None else row.beat,
        )

    def dismiss(self, share: str, who: typing.Collection[str]) -> None:
        del share
        self._answer()
        for one in who:
            self.attending.pop(one, None)

    def standbys(self, share: str) -> list[lease.StandbyRow]:
        del share
        self._answer()
        return [*self.attending.values()]

    def _own(self, share: str, epoch: int) -> lease.LeaseRow:
        self._answer()
        row = self.rows[share]
        if row.epoch != epoch or row.holder is None:
            raise errors.Deposed(f'{row.holder} holds the share {share}')
        return row

    def _answer(self) -> None:
        if self.away:
            raise errors.Unavailable('the shared database does not answer')


def _key(row: lease.LeaseRow | None) -> tuple[int, int] | None:
    return None if row is None else (row.epoch, row.beat)


class Uptime:
    """The clock of one machine; it differs from that of any other."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def member(
    leases: MemoryLeases,
    who: str,
    clock: fence.Clock,
    *,
    seconds: float = SECONDS,
    share: str = SHARE,
    **how: typing.Any,
) -> membership.Membership:
    """Return an agent's membership; a test calls ``look`` for its thread."""
    me = lease.Member(
        who=who, host=f'host-{who}', pid=7, lease_seconds=seconds
    )
    return membership.Membership(
        typing.cast(lease.Leases, leases),
        me,
        share=share,
        driver='fake',
        clock=clock,
        **how,
    )
