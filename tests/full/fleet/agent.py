# SPDX-License-Identifier: Apache-2.0
"""The agent as a program; each of its requests names the epoch that it holds.

A request of a standby names none. ``fleet.py`` runs it in place of
``compute-agent``: placement's record of requests then tells who wrote, and by
which lease. With the word ``unfenced`` it goes on without the lease, which the
trials have to notice. ``clocks.py`` may give it another wall clock.
"""

import sys
from typing import Any

import clocks
import sqlalchemy
from long_runs import recording_placement

from compute_agent import errors
from compute_agent.cmd.app import start
from compute_agent.fleet import lease, membership
from compute_agent.transport import bounded_adapter

MADE: list[membership.Membership] = []


class Membership(membership.Membership):
    """One that is found again."""

    def __init__(self, *args: Any, **how: Any) -> None:
        super().__init__(*args, **how)
        MADE.append(self)


class Adapter(bounded_adapter.BoundedAdapter):
    """Adds the header to what it sends."""

    def send(self, request: Any, *args: Any, **how: Any) -> Any:
        epochs = [one.epoch for one in MADE if one.epoch is not None]
        request.headers[recording_placement.EPOCH] = ' '.join(map(str, epochs))
        return super().send(request, *args, **how)


class Unfenced(Membership):
    """One that does not mind losing the lease."""

    def may_write(self) -> float:
        return self._seconds

    def _lose(self, *_: object) -> None:
        """Go on."""


def no_fence(db: Any, *args: Any, **how: Any) -> int:
    """Raise the beat if this agent holds the lease; commit in any case."""
    try:
        return FENCE(db, *args, **how)
    except errors.Deposed:
        db.execute(sqlalchemy.text('update lease set beat = beat + 1'))
        return int(db.scalar(sqlalchemy.text('select beat from lease')))


FENCE = lease.fence

if __name__ == '__main__':
    clocks.prepare()
    if 'unfenced' in sys.argv[1:2]:
        del sys.argv[1]
        lease.fence = no_fence
        Membership = Unfenced  # type: ignore[misc]
    membership.Membership = Membership  # type: ignore[misc]
    bounded_adapter.BoundedAdapter = Adapter  # type: ignore[misc]
    sys.exit(start.main())
