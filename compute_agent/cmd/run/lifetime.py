# SPDX-License-Identifier: Apache-2.0
"""The daemon's start, its cycles and its stop, as it tells the log and systemd.

The first line of the log says which agent begins to work for which placement,
the last one why it ends and how long it ran. ``run.py`` calls it.
"""

import contextlib
import importlib.metadata
import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence

from oslo_config import cfg

from ... import error_text
from ...conf.default import DEFAULT_INTERVAL
from ...cycle.node import node_result
from ...cycle.node.node_result import NodeResult
from ..app import signals
from ..wiring import agent_settings, placement
from .cycle_listeners import CycleListeners
from .report import Report
from .service_manager import ServiceManager
from .status import DaemonStatus

LOG = logging.getLogger(__name__)

_End = Callable[[Sequence[NodeResult]], None]
_Told = contextlib.AbstractContextManager[_End]


class Lifetime:
    """Tells the log and systemd what the daemon begins and ends.

    :param interval: returns the seconds from one cycle to the next
    :param clock: a monotonic clock, in seconds
    :ivar status: the last cycle, for the report
    :ivar listeners: hear of each cycle; the status is the first of them
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        requests: signals.DaemonSignals,
        interval: Callable[[], float],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._conf = conf
        self._requests = requests
        self._clock = clock
        self._began = clock()
        self.status = DaemonStatus()
        self.listeners = CycleListeners([self.status])
        self._manager = ServiceManager(self.status, interval)

    def started(self) -> None:
        """Log that the daemon starts.

        From now on SIGUSR2 makes it write a report.
        """
        LOG.info('%s', _started(self._conf))
        if not self._conf.placement.embedded:
            account = placement.account(self._conf)
            LOG.info('placement is asked as %s', account)
        folder = agent_settings.state_path(self._conf)
        self._requests.report_with(Report(folder, self.status).request)
        self._manager.ready()

    @contextlib.contextmanager
    def reloading(self) -> Iterator[None]:
        """Tell systemd that the files are read again, and when it is over."""
        self._manager.reloading()
        try:
            yield
        finally:
            self._manager.ready()

    def cycle(self) -> _Told:
        """Tell the listeners of a cycle's begin; return what tells its end."""
        return self._told(self.listeners.begin, self._end)

    def part(self) -> _Told:
        """Tell that a cycle begins of the nodes that may have changed."""
        return self._told(self.status.begin, self._end_part)

    @contextlib.contextmanager
    def _told(self, begin: Callable[[], None], end: _End) -> Iterator[_End]:
        begin()
        try:
            yield end
        except BaseException as exc:
            self.listeners.fail(exc)
            raise
        finally:
            self._manager.cycle_finished()

    def _end_part(self, results: Sequence[NodeResult]) -> None:
        """Tell that such a cycle ended; the other nodes keep their results."""
        before = self.status.results
        self.listeners.part_ended(node_result.among_others(results, before))

    def _end(self, results: Sequence[NodeResult]) -> None:
        """Tell that a cycle ended; untried nodes keep their results."""
        before = self.status.results
        self.listeners.end(node_result.as_they_were(results, before))

    def stand_by(self, holder: str, trouble: str) -> None:
        """Tell of a turn of a standby; see ``DaemonStatus.stand_by``."""
        self.status.stand_by(holder, trouble)
        self._manager.cycle_finished()

    def stopping(self) -> None:
        """Tell systemd that the daemon ends."""
        self._manager.stopping(self._requests.reason or 'an error')

    def stopped(self, exc: BaseException | None = None) -> None:
        """Log that the daemon stops, because of an error or a request."""
        LOG.log(
            logging.INFO if exc is None else logging.ERROR,
            'compute-agent stops after %s: %s',
            error_text.duration(self._clock() - self._began),
            self._requests.reason if exc is None else error_text.one_line(exc),
        )


def about() -> str:
    """Return a line about this daemon, for the state directory."""
    return (
        f'compute-agent {importlib.metadata.version("compute-agent")}, process '
        f'{os.getpid()}, begun {error_text.moment(time.time())}'
    )


def _started(conf: cfg.ConfigOpts) -> str:
    """Return the line about an agent that starts; it has no credentials."""
    interval = conf.update_resources_interval
    rhythm = 'one cycle' if interval < 0 else 'a cycle every {} s'
    return (
        f'compute-agent {importlib.metadata.version("compute-agent")} starts '
        f'as process {os.getpid()}: driver {", ".join(conf.compute_driver)}, '
        f'{placement.found_at(conf)}, state in '
        f'{agent_settings.state_path(conf)}, '
        f'{rhythm.format(interval or DEFAULT_INTERVAL)}'
    )
