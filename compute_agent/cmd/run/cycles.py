# SPDX-License-Identifier: Apache-2.0
"""The daemon's cycles: the wait before the first, and the reload between two.

On SIGHUP, the daemon reads the configuration and the operator's files again.
Each of the two is taken over completely or not at all. ``run.py`` makes
``Cycles`` and calls it from the thread that runs the cycles.
"""

import logging
from collections.abc import Callable, Sequence

from oslo_config import cfg

from ... import errors
from ...conf import default
from ...cycle.node.node_result import NodeResult
from ...cycle.node_list import Changed
from ...cycle.resource_tracker import Progress
from ...cycle.values import schedule
from ...ownership.policy import NO_PRUNE, Prune
from ..app import configuration, plain_text, signals
from ..wiring import agent_settings
from ..wiring.agent import Agent

LOG = logging.getLogger(__name__)


class Cycles:
    """Runs cycles; the first one after a SIGHUP uses the files as they are.

    :param load_conf: reads the configuration into a new object; it finds the
        mistakes before the options in force change
    :param logs: the options of the log, which nova's files do not set
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        load_conf: Callable[[], cfg.ConfigOpts],
        agent: Agent,
        requests: signals.DaemonSignals,
        logs: cfg.ConfigOpts,
    ) -> None:
        self._conf = conf
        self._logs = logs
        self._load_conf = load_conf
        self._agent = agent
        self._requests = requests

    def interval(self) -> float:
        """Return the seconds from one cycle to the next."""
        seconds: int = self._conf.update_resources_interval
        return seconds or default.DEFAULT_INTERVAL

    def changes_interval(self) -> float:
        """Return the seconds from one question for changes to the next."""
        seconds: float = self._conf.compute_agent.changes_interval
        return seconds

    def outage_retry(self) -> float:
        """Return the longest wait, in seconds, while no server answers."""
        seconds: float = self._conf.compute_agent.outage_retry_interval
        return seconds

    def wait_before_first(self) -> None:
        """Wait a random time, so that agents do not all start at once.

        An embedded placement has no other agents, so there is no wait. A
        reload that is requested during the wait is done after it. A person who
        asks for a cycle ends the wait.

        :raises errors.ConfigError: the operator's files are wrong; they are
            read before the wait
        """
        longest = self._conf.periodic_fuzzy_delay
        if self._conf.placement.embedded or not longest:
            return
        self._agent.begin_files()
        seconds = schedule.fuzzy_delay(longest, self.interval())
        LOG.info(
            'the first cycle begins in %.1f s (periodic_fuzzy_delay)',
            seconds,
        )
        self._requests.wait_before_first(seconds)

    def sync(
        self, prune: Prune = NO_PRUNE, progress: Progress | None = None
    ) -> Sequence[NodeResult]:
        """Run one cycle.

        :param prune: the names that a person ordered to prune in it
        :param progress: hears of each node that is finished
        """
        with self._agent.pruning(prune):
            return self._agent.tracker.sync(progress)

    def sync_changed(self, names: Changed) -> Sequence[NodeResult]:
        """Run one cycle of the nodes that the drivers named."""
        return self._agent.tracker.sync_changed(names)

    def reload(self) -> None:
        """Read the files again, as SIGHUP requested it."""
        mistakes = {
            'configuration': _mistake(self._mutate),
            'provider-config files': _mistake(self._reload),
            "the driver's files": _mistake(self._agent.reload_driver),
        }
        for name, exc in mistakes.items():
            if exc is not None:
                LOG.error(
                    '%s not reloaded, the earlier version stays in force: %s',
                    name,
                    exc,
                )
        if not any(mistakes.values()):
            LOG.info('configuration and provider-config files reloaded')

    def _mutate(self) -> None:
        """Take over the options that may change while the daemon runs."""
        fresh = {*(self._load_conf().config_file or ())}
        for path in sorted(fresh ^ {*(self._conf.config_file or ())}):
            LOG.warning(
                'the configuration file %s came or went: restart the daemon, '
                'which reads the files that it read at its start',
                path,
            )
        with configuration.explained(self._conf):
            try:
                self._conf.mutate_config_files()
                self._logs.mutate_config_files()
            finally:  # oslo.log may have made handlers
                plain_text.escape_logs()

    def _reload(self) -> None:
        self._agent.reload(agent_settings.from_conf(self._conf))


def _mistake(read: Callable[[], None]) -> errors.ConfigError | None:
    """Call ``read``; return its error, or None."""
    try:
        read()
    except errors.ConfigError as exc:
        return exc
    return None
