# SPDX-License-Identifier: Apache-2.0
"""The daemon's loop: run a cycle, log what changed, wait.

The start and the end of an outage are logged once each, and each hour of it;
``news.py`` logs the news of the nodes. ``values/schedule.py`` decides how long
the loop waits. The loop ends between two cycles once ``stop`` is set. Signals,
threads and wiring belong to ``cmd``.
"""

import logging
import math
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from .. import error_text, errors
from ..virt import failures
from . import news, resource_tracker
from .node import node_result
from .values import schedule

LOG = logging.getLogger(__name__)

REPEAT = 3600.0  # seconds after which an outage is logged again

Results = Sequence[resource_tracker.NodeResult]
Cycle = Callable[[], Results]


class Stop(Protocol):
    """The signal that ends the loop, such as a ``threading.Event``.

    ``wait`` may return early; then the next cycle begins early.
    """

    def is_set(self) -> bool:
        """Return True if the loop must end."""

    def wait(self, timeout: float | None = None) -> bool:
        """Return after so many seconds, or earlier if the loop must end."""


class Service:
    """Runs cycles until told to stop.

    :param cycle: does one cycle; raises AgentError if it could not begin
    :param interval: seconds from one cycle to the next; below 0 for a single
        successful cycle; it may be changed between two cycles
    :param outage_retry: the longest wait, in seconds, while no server answers;
        it may be changed between two cycles
    :param done: called with the results of each cycle without an outage
    :param pause: waits, in place of ``stop``, after each cycle without an
        outage; it may return early, with a cycle of the nodes that may have
        changed, or with None if all nodes are to have one
    :param collect: called before each wait, to free what the cycle dropped;
        it must not raise
    :param clock: a monotonic clock, in seconds
    """

    def __init__(
        self,
        cycle: Cycle,
        *,
        interval: float,
        stop: Stop,
        outage_retry: float = math.inf,
        done: Callable[[Results], None] = lambda _results: None,
        pause: Callable[[float | None], Cycle | None] | None = None,
        collect: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cycle = cycle
        self.interval = interval
        self.outage_retry = outage_retry
        self._stop = stop
        self._done = done
        self._pause = pause or self._only_wait
        self._collect = collect
        self._clock = clock
        self._times = schedule.Schedule(clock())
        self._news = news.News()
        self._away_since: float | None = None
        self._outage_logged = 0.0
        self._waited_for = ''

    def run(self) -> None:
        """Run cycles until ``stop`` is set.

        :raises errors.ConfigError: the first cycle finds the configuration
            wrong; after a later cycle the loop goes on, because an operator
            may correct the configuration meanwhile
        """
        is_first = True
        while not self._stop.is_set():
            seconds = self._one_cycle(is_first=is_first)
            is_first = False
            if self._stop.is_set():
                return  # a daemon that stops does not wait for a collection
            self._collect()
            # No hint shortens the waits of an outage: agents that lost
            # placement together would return together.
            if self._away_since is not None:
                self._stop.wait(seconds)
            else:
                self._wait_among_changes(seconds)

    def _wait_among_changes(self, seconds: float | None) -> None:
        """Wait for the next cycle of all nodes; do the others meanwhile."""
        due = self._clock() + (math.inf if seconds is None else seconds)
        while changed := self._pause(seconds):
            began = self._clock()
            results, trouble = self._tried(changed)
            if trouble is not None or any(r.outage for r in results):
                return  # the next cycle finds the outage, and tells it
            self._report(results, self._clock() - began)
            self._tell(results)
            seconds = max(due - self._clock(), 0.0)

    def _only_wait(self, seconds: float | None) -> None:
        self._stop.wait(seconds)

    def _one_cycle(self, *, is_first: bool) -> float | None:
        """Do one cycle and log its news; return the seconds to wait.

        :return: None for no other cycle
        :raises errors.ConfigError: see ``run``
        """
        began = self._clock()
        results, trouble = self._tried(self._cycle)
        if trouble is None:
            return self._done_since(began, results)
        if is_first and isinstance(trouble, errors.ConfigError):
            raise trouble
        return self._outage(trouble)

    def _tried(self, cycle: Cycle) -> tuple[Results, errors.AgentError | None]:
        """Do one cycle; return its results, or the error that prevented them."""
        try:
            return cycle(), None
        except errors.AgentError as exc:
            return (), exc
        except failures.caught() as exc:
            if self._away_since is None:
                LOG.exception('unexpected')
            return (), errors.AgentError(f'unexpected: {exc!r}')

    def _done_since(self, began: float, results: Results) -> float | None:
        """Log the news; return the seconds to wait, None for no other cycle."""
        self._report(results, self._clock() - began)
        away = [r for r in results if r.outage]
        if away:
            is_down = all(result.no_server for result in away)
            kind = errors.NoServer if is_down else errors.Unavailable
            return self._outage(kind(away[0].reason))
        self._back()
        self._tell(results)
        return self._times.after_success(
            self.interval, began=began, now=self._clock()
        )

    def _tell(self, results: Results) -> None:
        """Call ``done`` with the results; its errors do not end the loop."""
        try:
            self._done(results)
        except Exception as exc:  # noqa: BLE001 (any error)
            LOG.warning('the results could not be shown: %s', exc)

    def _outage(self, exc: errors.AgentError) -> float:
        """Log an outage once; return the seconds to wait."""
        if self._stop.is_set():
            return 0.0  # the cycle was cut short and is not repeated
        now = self._clock()
        if self._away_since is None:
            self._away_since = self._outage_logged = now
            if isinstance(exc, errors.NotYet):
                self._waited_for = str(exc)
                LOG.info('%s', exc)
            else:
                LOG.error('%s; retrying until it is mended', exc)
        elif isinstance(exc, errors.NotYet):
            LOG.debug('still: %s', exc)
        elif now - self._outage_logged >= REPEAT:
            self._outage_logged = now
            LOG.error(
                '%s; this outage has lasted for %s; retrying until it is '
                'mended',
                exc,
                error_text.duration(now - self._away_since),
            )
        else:
            LOG.debug('still: %s', exc)
        is_soon = isinstance(exc, errors.NoServer)
        most = self.outage_retry if is_soon else math.inf
        return self._times.after_failure(self.interval, most)

    def _back(self) -> None:
        if self._away_since is not None:
            gone = self._clock() - self._away_since
            LOG.info('back after %s', error_text.duration(gone))
            self._away_since = None

    def _report(self, results: Results, seconds: float) -> None:
        """Log the news of the nodes, and a summary if there are any."""
        has_news = self._news.log(results, told=self._waited_for)
        self._waited_for = ''
        applied = sum(len(r.applied) for r in results)
        LOG.log(
            logging.INFO if has_news or applied else logging.DEBUG,
            'cycle: %s; %d operations, %.2f s',
            node_result.counted(node_result.counts(results)),
            applied,
            seconds,
        )
