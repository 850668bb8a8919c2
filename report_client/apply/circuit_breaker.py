# SPDX-License-Identifier: Apache-2.0
"""The circuit breaker: tell a broken placement from a broken provider.

Pure: no I/O, configuration, logging or clock. One answer 500 fails the
provider that the request was about. If requests about several different
providers in a row (``IN_A_ROW``) get a 500, the placement service itself is
broken, and the breaker opens: no further write begins. The count ignores nodes
and threads, and any other answer in between resets it to zero. An ``observe``
that begins while the breaker is open and gets an answer closes it.

The executor watches writes only. Reads are not watched, because a few
providers that cannot be read would stop the reading of all others in every
cycle; the list of providers, which comes first, shows a broken service anyway.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from .. import errors

IN_A_ROW = 3


class CircuitBreaker:
    """Counts the providers that get a 500 in a row; threads may share it."""

    def __init__(self, in_a_row: int = IN_A_ROW) -> None:
        self._in_a_row = in_a_row
        self._failed: set[str] = set()
        self._away: str | None = None  # the reason, while it is open
        self._openings = 0
        self._counting = threading.Lock()

    @property
    def reason(self) -> str:
        """Why it is open; empty while it is closed."""
        return self._away or ''

    @contextmanager
    def watching(self, subject: str) -> Iterator[None]:
        """Count the result of a write to this provider, or of this name.

        :raises errors.FailsInside: this write is the 500 that opens it
        :raises errors.Unreachable: the breaker is open, so the write does not
            begin
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
            raise  # no answer: this does not count
        except Exception:
            self._answered()
            raise
        self._answered()

    @contextmanager
    def observing(self) -> Iterator[None]:
        """Close the breaker, if it is open now, once the read is answered."""
        before = self._openings
        yield
        with self._counting:
            if self._away is not None and self._openings == before:
                self._failed.clear()
                self._away = None

    def _counted(self, subject: str, exc: errors.ServerFault) -> str | None:
        """Count a 500; return the reason if the breaker is open now."""
        with self._counting:
            self._failed.add(subject)
            if len(self._failed) < self._in_a_row:
                return None
            if self._away is None:
                self._openings += 1
            self._away = (
                f'placement answers 500 for {self._in_a_row} providers in a '
                f'row, the last time: {exc}'
            )
            return self._away

    def _answered(self) -> None:
        with self._counting:
            self._failed.clear()
