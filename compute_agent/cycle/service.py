# SPDX-License-Identifier: Apache-2.0
"""The daemon's loop: a cycle, a wait, and a word only when something changes.

An outage is said once, and so is its end; a node's trouble is said when it
begins, changes and ends. How long a wait is, ``schedule.py`` says. The loop
ends between two cycles when ``stop`` is set. Signals, threads and wiring are
``cmd``'s.
"""

import logging
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from .. import errors
from ..tree.plan import Operation
from . import resource_tracker, schedule

LOG = logging.getLogger(__name__)

Results = Sequence[resource_tracker.NodeResult[Operation]]


class Stop(Protocol):
    """What ends the loop; a ``threading.Event`` will do.

    Its ``wait`` may return early, and the next cycle begins then.
    """

    def is_set(self) -> bool:
        """Whether to end."""

    def wait(self, timeout: float | None = None) -> bool:
        """Return after so many seconds, or when to end."""


class Service:
    """Runs cycles until told to stop.

    :param cycle: does one cycle; raises AgentError if it could not begin
    :param interval: seconds from one cycle to the next; below 0 there is one
        successful cycle only; it may be changed between two cycles
    :param done: called with the results of each cycle that was no outage
    :param clock: seconds that only grow
    """

    def __init__(
        self,
        cycle: Callable[[], Results],
        *,
        interval: float,
        stop: Stop,
        done: Callable[[Results], None] = lambda _results: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cycle = cycle
        self.interval = interval
        self._stop = stop
        self._done = done
        self._clock = clock
        self._times = schedule.Timetable(clock())
        self._said: dict[str, tuple[str, frozenset[str]]] = {}
        self._away_since: float | None = None

    def run(self) -> None:
        """Run cycles until ``stop`` is set.

        :raises errors.ConfigError: the very first cycle says that the
            configuration is wrong; later ones may be mended meanwhile
        """
        first = True
        while not self._stop.is_set():
            began = self._clock()
            results, trouble = self._tried()
            if first and isinstance(trouble, errors.ConfigError):
                raise trouble
            first = False
            self._stop.wait(
                self._done_since(began, results)
                if trouble is None
                else self._outage(trouble)
            )

    def _tried(self) -> tuple[Results, errors.AgentError | None]:
        """Do one cycle; return its results, or why there are none.

        The trouble is returned and not said here: inside of an ``except``
        oslo.log would say it twice.
        """
        try:
            return self._cycle(), None
        except errors.AgentError as exc:
            return (), exc
        except Exception as exc:
            if self._away_since is None:
                LOG.exception('unexpected')
            return (), errors.AgentError(f'unexpected: {exc!r}')

    def _done_since(self, began: float, results: Results) -> float | None:
        """Say what is new; return the seconds to wait, None for ever."""
        self._report(results, self._clock() - began)
        away = [r for r in results if r.outage]
        if away:
            return self._outage(errors.Unavailable(away[0].reason))
        self._back()
        self._tell(results)
        return self._times.after_success(
            self.interval, began=began, now=self._clock()
        )

    def _tell(self, results: Results) -> None:
        """Hand the results on; what fails there is no reason to stop."""
        try:
            self._done(results)
        except Exception as exc:  # noqa: BLE001 (whatever it is)
            LOG.warning('the results could not be shown: %s', exc)

    def _outage(self, exc: errors.AgentError) -> float:
        """Say it, once; return the seconds to wait."""
        if self._stop.is_set():
            return 0.0  # it was cut short, and is not tried again
        if self._away_since is None:
            self._away_since = self._clock()
            LOG.error('%s; retrying until it is mended', exc)
        else:
            LOG.debug('still: %s', exc)
        return self._times.after_failure(self.interval)

    def _back(self) -> None:
        if self._away_since is not None:
            gone = self._clock() - self._away_since
            LOG.info('back after %.0f s', gone)
            self._away_since = None

    def _report(self, results: Results, seconds: float) -> None:
        """Say each node's news, and one line for the cycle if there is any."""
        news = [r for r in results if self._node_news(r)]
        here = {r.node.uuid for r in results}
        self._said = {u: s for u, s in self._said.items() if u in here}
        count = dict.fromkeys(resource_tracker.Status, 0)
        for result in results:
            count[result.status] += 1
        applied = sum(len(r.applied) for r in results)
        LOG.log(
            logging.INFO if news or applied else logging.DEBUG,
            'cycle: %d done, %d waiting, %d failed; %d operations, %.2f s',
            *count.values(),
            applied,
            seconds,
        )

    def _node_news(
        self, result: resource_tracker.NodeResult[Operation]
    ) -> bool:
        """Say what is new of a node; return whether anything is.

        An outage is the service's trouble, and said once for all nodes.
        """
        if result.outage:
            return False
        node, before = result.node, self._said.get(result.node.uuid)
        reason, notes = before or ('', frozenset())
        self._said[node.uuid] = (result.reason, frozenset(result.notes))
        fresh = [note for note in result.notes if note not in notes]
        for note in fresh:
            LOG.warning('%s: %s', node, note)
        if result.reason == reason:
            return bool(fresh) or before is None
        if result.reason:
            status = result.status.value
            LOG.warning(
                '%s: %s: %s%s', node, status, result.reason, _again(result)
            )
        else:
            LOG.info('%s: no trouble any more', node)
        return True


def _again(result: resource_tracker.NodeResult[Operation]) -> str:
    """Return when what was refused is tried again, if that is known."""
    if result.again_in is None:
        return ''
    return f'; again in about {result.again_in:.0f} s'
