# SPDX-License-Identifier: Apache-2.0
"""When placement failing inside (500) is no provider's trouble any more.

Pure: no I/O, configuration, logging or clock. One 500 fails its provider. If
as many providers in a row meet one as the breaker bears, whatever their nodes
and threads and with no answer of another kind in between, the service itself
is away: the breaker is open, and no write is begun. A look that began after
that and is answered closes it, and it counts anew: the next cycle tries again,
less what has to wait. The executor watches its writes with one. Reads are not
watched: the list comes first and tells of the service, and a few providers that
cannot be read would keep all others from being looked at, cycle after cycle.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from .. import errors

IN_A_ROW = 3


class CircuitBreaker:
    """Counts the providers that placement failed for; threads may share it."""

    def __init__(self, in_a_row: int = IN_A_ROW) -> None:
        self._in_a_row = in_a_row
        self._failed: set[str] = set()
        self._away: str | None = None  # why, while it is open
        self._openings = 0
        self._counting = threading.Lock()

    @contextmanager
    def watching(self, subject: str) -> Iterator[None]:
        """Count how a request about this provider, or name, ends.

        :raises errors.FailsInside: placement failed for too many in a row
        :raises errors.Unreachable: that was so before: this is not begun
        """
        away = self._away
        if away is not None:
            raise errors.Unreachable(away)
        try:
            yield
        except errors.ServerFault as exc:
            away = self._counted(subject, exc)
            if away is not None:
                raise errors.FailsInside(away, exc) from exc
            raise
        except errors.Unreachable:
            raise  # says nothing of what placement does inside
        except Exception:
            self._answered()
            raise
        self._answered()

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Close it after a look that is answered, if it was open before it."""
        before = self._openings
        yield
        with self._counting:
            if self._away is not None and self._openings == before:
                self._failed.clear()
                self._away = None

    def _counted(self, subject: str, exc: errors.ServerFault) -> str | None:
        """Count a provider that failed; return why that is too much, if so."""
        with self._counting:
            self._failed.add(subject)
            if len(self._failed) < self._in_a_row:
                return None
            if self._away is None:
                self._openings += 1
            self._away = (
                f'placement fails inside for {self._in_a_row} providers in a '
                f'row, the last time with: {exc}'
            )
            return self._away

    def _answered(self) -> None:
        with self._counting:
            self._failed.clear()
