# SPDX-License-Identifier: Apache-2.0
"""The shares in a database, as an agent or a person sees them from outside.

A beat has no time of day. So ``look`` looks at all rows until each has moved, or
for as long as the slowest of them should need for a beat, by the clock of this
machine. ``status`` calls it, also where no daemon runs.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import fence, lease
from .values import roles

_PAUSE = 0.2  # seconds between two looks
_BEATS = 1.5  # a row that did not move meanwhile stands still
_LONGEST = 5.0  # seconds for a standby that does not beat

# The share and, for a standby, the identity of its process.
_Key = tuple[str, str]


def look(
    leases: lease.Leases,
    clock: fence.Clock = fence.uptime,
    sleep: Callable[[float], None] = time.sleep,
) -> list[dict[str, Any]]:
    """Return the shares as data: who holds each, and who stands by.

    A standby that did not beat is gone, and left out.

    :raises errors.Unavailable: the database is away
    """
    began, sights = clock(), dict[_Key, roles.Sight]()
    while True:
        now = clock()
        rows = leases.rows()
        others = {row.share: leases.standbys(row.share) for row in rows}
        found = _seen(rows, others)
        sights = {
            key: roles.look(sights.get(key), row, now, now)
            for key, row in found.items()
        }
        there = {
            row.share: [o for o in others[row.share] if _beats(row, o, sights)]
            for row in rows
        }
        known = {(s, one.member.who) for s in there for one in there[s]}
        if now - began >= max(
            (
                _patience(key, row)
                for key, row in found.items()
                if not (sights[key].has_moved or row.is_empty or key in known)
            ),
            default=0.0,
        ):
            return [_data(row, there[row.share], sights) for row in rows]
        sleep(_PAUSE)


def _patience(key: _Key, row: roles.Row) -> float:
    """Return the number of seconds for which a row may stand still.

    A standby whose row stands still has most likely ended, so the wait for it
    is short.
    """
    needed = row.seconds * _BEATS / roles.LOOKS
    return min(needed, _LONGEST) if key[1] else needed


def _beats(
    row: lease.LeaseRow,
    one: lease.StandbyRow,
    sights: Mapping[_Key, roles.Sight],
) -> bool:
    """Return True if a standby beat, now or a few beats of the holder ago."""
    is_recent = row.beat - one.lease_beat <= 2 * roles.LOOKS
    return sights[row.share, one.member.who].has_moved or (
        is_recent and sights[row.share, ''].has_moved
    )


def _seen(
    rows: Iterable[lease.LeaseRow],
    others: Mapping[str, Iterable[lease.StandbyRow]],
) -> dict[_Key, roles.Row]:
    """Return the beats of all holders and standbys."""
    holders = {(row.share, ''): row.watched for row in rows}
    standbys = {
        (share, row.member.who): roles.Row(
            epoch=0, beat=row.beat, seconds=row.member.lease_seconds
        )
        for share, some in others.items()
        for row in some
    }
    return holders | standbys


def _data(
    row: lease.LeaseRow,
    standbys: Iterable[lease.StandbyRow],
    sights: Mapping[_Key, roles.Sight],
) -> dict[str, Any]:
    """Return a share as data."""
    sight = sights[row.share, '']
    age = sight.at - sight.since if sight.has_moved else None
    return {
        'share': row.share,
        'driver': row.driver,
        'epoch': row.epoch,
        'holder': _member(row.holder) if row.holder else None,
        'able': row.able,
        'beat_age': None if row.holder is None else age,
        'looked_for': sight.at - sight.since,
        'standbys': [
            {
                **_member(one.member),
                'able': one.able,
                'behind': max(0, row.sequence - one.sequence),
            }
            for one in standbys
        ],
    }


def _member(of: lease.Member) -> dict[str, Any]:
    return {
        'host': of.host,
        'process': of.pid,
        'since': of.since,
        'version': of.version,
    }
