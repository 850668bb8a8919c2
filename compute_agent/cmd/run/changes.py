# SPDX-License-Identifier: Apache-2.0
"""The wait between two cycles of all nodes, in which drivers tell of changes.

A driver may tell which of its nodes may have changed (``ComputeDriver.changes``),
and may call ``wake`` when it knows of a change. The thread of the cycles waits
here. It asks the drivers that can tell each ``[compute_agent] changes_interval``
seconds, also if a cycle takes most of them, and a driver that woke it at once. The
nodes that they name get a cycle of their own; a driver that woke it and cannot tell
has all nodes get one. What the drivers tell is a hint: a lost one costs time until
the next cycle of all nodes.
"""

import logging
import threading
import time
from collections.abc import Callable, Collection
from typing import Any

from ... import errors
from ...cycle.node_list import Changed
from ...transport import deadline
from ...virt import driver_calls
from ...virt.drivers import Drivers, NamedDriver
from ..app import signals

LOG = logging.getLogger(__name__)

PATIENCE = 10.0  # seconds for the requests of one question
FEW = 100  # nodes; of more than these a cycle of all nodes costs no more
NO_NAMES: Changed = {}


class ChangeWatch:
    """Asks the drivers of one daemon what changed.

    :param interval: returns the seconds from one question to the next; 0 to
        ask no questions
    :param clock: a monotonic clock, in seconds
    """

    def __init__(
        self,
        drivers: Drivers,
        requests: signals.DaemonSignals,
        interval: Callable[[], float],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._drivers = drivers
        self._requests = requests
        self._interval = interval
        self._clock = clock
        self._lock = threading.Lock()
        self._woken: set[NamedDriver] = set()
        self._since: dict[str, Any] = {}
        self._failing: set[str] = set()
        self._asked_at = clock()  # or began a cycle

    def wake(self, driver: NamedDriver) -> None:
        """Note that a description of this driver may have changed."""
        with self._lock:
            self._woken.add(driver)
        self._requests.hint()

    def begin(self) -> None:
        """Have each driver begin to tell of changes, before a list of nodes."""
        self._take_woken()
        if self._interval():
            for one in self._drivers:
                if one.tells_changes and one.source not in self._since:
                    self._ask(one)

    def wait(self, seconds: float | None) -> Changed:
        """Wait; return the nodes that may have changed, by their driver.

        :param seconds: the seconds until the next cycle of all nodes; None if
            no such cycle is due
        :return: empty if a cycle of all nodes is due, or the daemon must stop
        """
        if seconds is None:
            self._requests.wait_for_hint(None)
            return NO_NAMES
        try:
            return self._wait_until(self._clock() + seconds)
        finally:
            self._asked_at = self._clock()

    def _wait_until(self, end: float) -> Changed:
        while True:
            interval = self._interval()
            now = self._clock()
            asked = [one for one in self._drivers if one.tells_changes]
            is_off = not interval or not asked
            due = end if is_off else min(end, self._asked_at + interval)
            self._requests.wait_for_hint(max(0.0, due - now))
            hinted = self._requests.take_hint()
            if self._requests.has_request() or self._clock() >= end:
                return NO_NAMES
            if hinted:
                asked = self._take_woken()
            if is_off or not all(one.tells_changes for one in asked):
                return NO_NAMES
            self._asked_at = self._clock()
            names = self._told(asked)
            if names is None:
                return NO_NAMES
            if names:
                return names

    def _take_woken(self) -> list[NamedDriver]:
        """Return the drivers that called ``wake``, and forget that they did."""
        with self._lock:
            woken, self._woken = [*self._woken], set()
        return woken

    def _told(self, asked: Collection[NamedDriver]) -> Changed | None:
        """Return the names that these drivers tell; None for all nodes."""
        names = {}
        for one in asked:
            found = self._ask(one)
            if found is None:
                return None
            if found:
                names[one.source] = found
        if sum(map(len, names.values())) > FEW:
            return None
        return names

    def _ask(self, one: NamedDriver) -> frozenset[str] | None:
        """Return the names that a driver tells; None for all of its nodes.

        If the driver cannot tell now, no node is returned, and the next
        question covers the same time.
        """
        try:
            with (
                deadline.within(PATIENCE),
                driver_calls.timed(one.called, 'changes'),
            ):
                found = one.changes(self._since.get(one.source))
        except errors.AgentError as exc:
            is_new = one.source not in self._failing
            self._failing.add(one.source)
            LOG.log(
                logging.WARNING if is_new else logging.DEBUG,
                '%s cannot tell what changed: %s; the next list of its nodes '
                'has it',
                one.class_name,
                exc,
            )
            return frozenset()
        if one.source in self._failing:
            self._failing.discard(one.source)
            LOG.info('%s tells again what changed', one.class_name)
        if found is None:
            self._since.pop(one.source, None)
            return None
        self._since[one.source] = found.since
        return frozenset(found.names)
