# SPDX-License-Identifier: Apache-2.0
"""The state of the running daemon: its last cycle, and how each node is.

The thread of the cycles writes it; any other may read it, because each value
is replaced as a whole. ``service_manager.py`` and ``report.py`` read it.
"""

import dataclasses
import time
from collections import Counter
from collections.abc import Callable, Sequence

from ... import error_text
from ...cycle.node.node_result import Status
from ..wiring.agent import NodeResult


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class FinishedCycle:
    """A cycle that came to its end, whatever its result.

    :ivar began: seconds since the epoch
    :ivar seconds: how long it took
    :ivar results: of each node; empty if the cycle could not begin
    :ivar trouble: why placement, or the drivers, could not be asked; empty if
        they could
    """

    began: float
    seconds: float
    results: Sequence[NodeResult]
    trouble: str

    def __str__(self) -> str:
        count = Counter(result.status for result in self.results)
        nodes = ', '.join(f'{count[one]} {one.value}' for one in Status)
        said = f'cycle at {error_text.moment(self.began)}: {nodes}; {self.seconds:.1f} s'
        return f'{said}; {self.trouble}' if self.trouble else said


class DaemonStatus:
    """The last cycle of the daemon, and the one that runs.

    :param clock: seconds since the epoch
    :ivar started: when the daemon began
    :ivar running_since: when the cycle that runs began; None between two
    :ivar last: the last cycle that finished
    :ivar results: of each node, in the last cycle that had any
    :ivar last_good: the moment at which a cycle last finished without trouble
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self.started = clock()
        self.running_since: float | None = None
        self.last: FinishedCycle | None = None
        self.results: Sequence[NodeResult] = ()
        self.last_good: float | None = None

    def begin(self) -> None:
        """Note that a cycle begins."""
        self.running_since = self._clock()

    def end(self, results: Sequence[NodeResult]) -> None:
        """Note that the cycle finished with these results."""
        away = next((r.reason for r in results if r.outage), '')
        self._finish(results, away)

    def fail(self, exc: BaseException) -> None:
        """Note that the cycle ended before it had a result."""
        self._finish((), error_text.one_line(exc))

    def age(self) -> float:
        """Return the seconds since the daemon began."""
        return self._clock() - self.started

    def __str__(self) -> str:
        if self.last is None:
            return 'no cycle has finished yet'
        if not self.last.trouble:
            return str(self.last)
        good = (
            'none'
            if self.last_good is None
            else error_text.moment(self.last_good)
        )
        return f'{self.last}; the last good cycle: {good}'

    def _finish(self, results: Sequence[NodeResult], trouble: str) -> None:
        now = self._clock()
        began = now if self.running_since is None else self.running_since
        self.last = FinishedCycle(
            began=began, seconds=now - began, results=results, trouble=trouble
        )
        self.results = results or self.results
        if not trouble:
            self.last_good = now
        self.running_since = None
