# SPDX-License-Identifier: Apache-2.0
"""The log lines of the daemon's start and stop.

The first line says which agent begins to work for which placement, the last
one why it ends and how long it ran. ``run.py`` calls it, and never inside an
``except`` block, where oslo.log would log the error twice.
"""

import importlib.metadata
import logging
import os
import time
from collections.abc import Callable

from oslo_config import cfg

from ... import error_text
from ...conf.default import DEFAULT_INTERVAL
from ..app import signals
from ..wiring import agent_settings, placement
from . import nova_files

LOG = logging.getLogger(__name__)


class Lifetime:
    """Logs the start of the daemon, and its stop.

    :param clock: a monotonic clock, in seconds
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        requests: signals.DaemonSignals,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._conf = conf
        self._requests = requests
        self._clock = clock
        self._began = clock()

    def started(self) -> None:
        """Log that the daemon starts, and which files it shares with nova."""
        LOG.info('%s', _started(self._conf))
        for line in nova_files.lines(self._conf):
            LOG.warning('%s', line)

    def stopped(self, exc: BaseException | None = None) -> None:
        """Log that the daemon stops, because of an error or a request."""
        LOG.log(
            logging.INFO if exc is None else logging.ERROR,
            'compute-agent stops after %s: %s',
            error_text.duration(self._clock() - self._began),
            self._requests.reason if exc is None else error_text.one_line(exc),
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
