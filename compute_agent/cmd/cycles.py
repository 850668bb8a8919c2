# SPDX-License-Identifier: Apache-2.0
"""The daemon's cycles: when they begin, and what a SIGHUP changes between two.

The configuration and the operator's files are taken over each as a whole, or
not at all. ``report_client/apply/progress.py`` makes it, and calls it from the thread of the cycles.
"""

import logging
from collections.abc import Callable, Sequence

from oslo_config import cfg

from .. import errors
from ..conf import default
from ..cycle import node_result, schedule
from .app import configuration, signals
from .wiring import agent

LOG = logging.getLogger(__name__)


class Cycles:
    """Does the cycles, the first after a SIGHUP by what the files say then.

    What is wrong at that time stays as it was.
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        anew: Callable[[], cfg.ConfigOpts],
        agent: agent.Agent,
        wishes: signals.Wishes,
    ) -> None:
        self._conf = conf
        self._anew = anew
        self._agent = agent
        self._wishes = wishes

    def interval(self) -> float:
        """Return the seconds from one cycle to the next."""
        seconds: int = self._conf.update_resources_interval
        return seconds or default.DEFAULT_INTERVAL

    def keep_apart(self) -> None:
        """Wait, so that agents started together do not come together.

        A placement of our own has no other agents. What a SIGHUP asks for is
        done when the wait is over.

        :raises errors.ConfigError: the operator's files are wrong, which is
            found before the wait
        """
        longest = self._conf.periodic_fuzzy_delay
        if self._conf.placement.embedded or not longest:
            return
        self._agent.files.begin()
        seconds = schedule.fuzzy_delay(longest, self.interval())
        LOG.info(
            'the first cycle begins in %.1f s (periodic_fuzzy_delay)',
            seconds,
        )
        self._wishes.wait_for_end(seconds)

    def sync(self) -> Sequence[node_result.NodeResult]:
        """Do one cycle."""
        return self._agent.tracker.sync()

    def reload_if_asked(self) -> None:
        """Read the files anew, if somebody wishes it."""
        if not self._wishes.take_reload():
            return
        wrong = [_wrong(self._mutate), _wrong(self._read)]
        for exc in filter(None, wrong):
            LOG.error('not taken over, and what was in force stays: %s', exc)
        if not any(wrong):
            LOG.info('configuration and provider-config files read anew')

    def _mutate(self) -> None:
        """Take over the options that can be changed while it runs."""
        self._anew()  # a mistake is found before anything is taken over
        with configuration.explained():
            self._conf.mutate_config_files()

    def _read(self) -> None:
        self._agent.client.invalidate()
        self._agent.files.reload()


def _wrong(read: Callable[[], None]) -> errors.ConfigError | None:
    """Read; return what is wrong, if anything is.

    It is returned and not said here: inside of an ``except`` oslo.log would
    say it twice.
    """
    try:
        read()
    except errors.ConfigError as exc:
        return exc
    return None
