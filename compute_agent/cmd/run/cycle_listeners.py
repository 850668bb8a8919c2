# SPDX-License-Identifier: Apache-2.0
"""The observers of the daemon's cycles, such as its status and its metrics.

They are called from the thread that runs the cycles. An error of an observer
never stops a cycle: it is logged once, until that observer works again.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from ...cycle.node.node_result import NodeResult

LOG = logging.getLogger(__name__)


class CycleListener(Protocol):
    """An object that hears of each cycle; each of its methods returns soon."""

    def begin(self) -> None:
        """Note that a cycle begins."""

    def end(self, results: Sequence[NodeResult]) -> None:
        """Note that the cycle finished with these results."""

    def part_ended(self, results: Sequence[NodeResult]) -> None:
        """Note that a cycle of some nodes finished, which was not begun here.

        :param results: the results of all nodes; nodes without this cycle are
            untried
        """

    def fail(self, exc: BaseException) -> None:
        """Note that the cycle ended before it had a result."""


class CycleListeners:
    """Tells each listener of the cycles, in the order in which they came."""

    def __init__(self, listeners: Iterable[CycleListener] = ()) -> None:
        self._listeners = list(listeners)
        self._broken: set[tuple[CycleListener, str]] = set()

    def add(self, listener: CycleListener) -> None:
        """Tell this listener, too, from the next call on."""
        self._listeners.append(listener)

    def begin(self) -> None:
        """Tell that a cycle begins."""
        self._tell('begin', lambda listener: listener.begin())

    def end(self, results: Sequence[NodeResult]) -> None:
        """Tell that the cycle finished with these results."""
        self._tell('end', lambda listener: listener.end(results))

    def part_ended(self, results: Sequence[NodeResult]) -> None:
        """Tell that a cycle of some nodes finished."""
        self._tell('part_ended', lambda listener: listener.part_ended(results))

    def fail(self, exc: BaseException) -> None:
        """Tell that the cycle ended before it had a result."""
        self._tell('fail', lambda listener: listener.fail(exc))

    def _tell(self, what: str, say: Callable[[CycleListener], None]) -> None:
        """Call each listener; log a failure that one repeats only once."""
        for listener in self._listeners:
            try:
                say(listener)
            except Exception as exc:
                if (listener, what) in self._broken:
                    LOG.debug('%s failed again: %s', _name(listener), exc)
                    continue
                self._broken.add((listener, what))
                LOG.exception(
                    '%s failed to note a cycle; the cycles go on',
                    _name(listener),
                )
            else:
                self._broken.discard((listener, what))


def _name(listener: CycleListener) -> str:
    return type(listener).__name__
