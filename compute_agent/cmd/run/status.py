# SPDX-License-Identifier: Apache-2.0
"""The state of the running daemon: its last cycle, and how each node is.

The thread of the cycles writes it; any other may read it, because each value
is replaced as a whole. ``service_manager.py`` and ``report.py`` read it. Dates
are for people and for Prometheus; durations and ages come from the kernel's
clock since boot, so a change of the date does not change them.
"""

import dataclasses
import threading
from collections.abc import Callable, Mapping, Sequence

from ... import error_text
from ...cycle.node import node_result
from ...cycle.node.node_result import NodeResult
from ..control import node_states
from ..control.node_states import Moment


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class FinishedCycle:
    """A cycle that came to its end, whatever its result.

    :ivar began: seconds since the epoch
    :ivar ended: seconds since the epoch
    :ivar seconds: how long it took; a change of the date does not change it
    :ivar results: the result of each node; empty if the cycle could not begin
    :ivar trouble: why placement, or the drivers, could not be asked; empty if
        they could
    """

    began: float
    ended: float
    seconds: float
    results: Sequence[NodeResult]
    trouble: str

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of nodes by status."""
        return node_result.counts(self.results)

    def __str__(self) -> str:
        nodes = node_result.counted(self.counts)
        began = error_text.moment(self.began)
        said = f'cycle at {began}: {nodes}; {self.seconds:.1f} s'
        return f'{said}; {self.trouble}' if self.trouble else said


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The progress of the cycle that runs.

    :ivar nodes: the number of its nodes
    :ivar done: the number of nodes that it has finished
    :ivar writes: the number of writes to placement for these
    :ivar seconds: since it finished the first of them
    """

    nodes: int
    done: int
    writes: int
    seconds: float


class DaemonStatus:
    """The last cycle of the daemon, and the one that runs.

    :param clock: returns the present moment
    :ivar last: the last cycle that finished
    :ivar results: the result of each node in the last cycle that came to its
        end
    :ivar role: ``holder`` or ``standby`` of a share; empty without a share
    :ivar standby: a line about the agent that reports, if this one stands by
    """

    def __init__(self, clock: Callable[[], Moment] = node_states.now) -> None:
        self._clock = clock
        self._started = clock()
        self._running: Moment | None = None
        self._good: Moment | None = None
        self._counting = threading.Lock()
        self._nodes = self._done = self._writes = 0
        self._first: Moment | None = None
        self.last: FinishedCycle | None = None
        self.results: Sequence[NodeResult] = ()
        self.role = self.standby = ''

    def hold(self) -> None:
        """Note that this agent reports its share."""
        self.role, self.standby = 'holder', ''

    def stand_by(self, holder: str, trouble: str) -> None:
        """Note a turn of a standby.

        :param holder: a line about the agent that reports
        :param trouble: why this one could not report; empty if it could
        """
        self.role, self.standby, self.results = 'standby', holder, ()
        self._finish((), trouble)

    # --- dates, in seconds since the epoch --------------------------------------

    @property
    def started(self) -> float:
        """When the daemon began."""
        return self._started.date

    @property
    def running_since(self) -> float | None:
        """When the cycle that runs began; None between two."""
        running = self._running
        return None if running is None else running.date

    @property
    def progress(self) -> Progress | None:
        """The progress of the running cycle; None before its first node."""
        with self._counting:
            if self._running is None or self._first is None:
                return None
            return Progress(
                nodes=self._nodes,
                done=self._done,
                writes=self._writes,
                seconds=self._since(self._first),
            )

    @property
    def last_good(self) -> float | None:
        """The moment at which a cycle last finished without trouble."""
        good = self._good
        return None if good is None else good.date

    # --- ages, in seconds -------------------------------------------------------

    def age(self) -> float:
        """Return the seconds since the daemon began."""
        return self._since(self._started)

    def runs_for(self) -> float | None:
        """Return how long the present cycle has run; None between two."""
        running = self._running
        return None if running is None else self._since(running)

    def good_age(self) -> float | None:
        """Return the age of the last good cycle; None before the first."""
        good = self._good
        return None if good is None else self._since(good)

    def _since(self, moment: Moment) -> float:
        return self._clock().uptime - moment.uptime

    def advance(self, nodes: int, writes: int) -> None:
        """Count one more finished node of the cycle; threads may call it.

        :param nodes: the number of nodes in the cycle
        :param writes: the number of writes for this node
        """
        with self._counting:
            self._first = self._first or self._clock()
            self._nodes = nodes
            self._done = min(self._done + 1, nodes)
            self._writes += writes

    # --- a listener of cycles ---------------------------------------------------

    def begin(self) -> None:
        """Note that a cycle begins."""
        with self._counting:
            self._running, self._first = self._clock(), None
            self._nodes = self._done = self._writes = 0

    def end(self, results: Sequence[NodeResult]) -> None:
        """Note that the cycle finished with these results."""
        away = next((r.reason for r in results if r.outage), '')
        self.results = results
        self._finish(results, away)

    def part_ended(self, results: Sequence[NodeResult]) -> None:
        """Note the nodes after a cycle of some; the last one stays the last."""
        self.results, self._running = results, None
        if self.last is not None:
            self.last = dataclasses.replace(self.last, results=results)

    def fail(self, exc: BaseException) -> None:
        """Note that the cycle ended before it had a result."""
        self._finish((), error_text.one_line(exc))

    def __str__(self) -> str:
        if self.last is None:
            return 'no cycle has finished yet'
        if self.standby and not self.last.trouble:
            return f'stands by: {self.standby}'
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
        began = now if self._running is None else self._running
        self.last = FinishedCycle(
            began=began.date,
            ended=now.date,
            seconds=now.uptime - began.uptime,
            results=results,
            trouble=trouble,
        )
        if not trouble:
            self._good = now
        self._running = None
