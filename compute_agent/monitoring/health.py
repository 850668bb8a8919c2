# SPDX-License-Identifier: Apache-2.0
"""The daemon's health: how old its last good cycle is, and why.

Pure: no I/O, configuration, logging or clock. An outage of placement is told
from a cycle that hangs: to start the daemon again helps only the second.
``server.py`` answers probes with it.
"""

import dataclasses
import datetime as dt
import enum
from typing import Any

from .. import error_text
from .state import Cycles

INTERVALS = 5  # a good cycle that is older than so many intervals is too old
LEAST = 60.0  # seconds; short intervals leave a cycle this time


class State(enum.Enum):
    """The states of a daemon; the value is the word that programs read."""

    #: The last good cycle is young.
    OK = 'ok'
    #: The daemon began a short time ago, and no cycle was good yet.
    STARTING = 'starting'
    #: Cycles finish, but placement or the drivers cannot be asked.
    OUTAGE = 'outage'
    #: A cycle runs for too long.
    HANG = 'hang'
    #: No cycle finished for too long, and none runs.
    LATE = 'late'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """The daemon's health at one moment.

    :ivar why: one line; empty if all is well
    :ivar age: seconds since the last good cycle, or since the start
    :ivar threshold: the age in seconds from which on the daemon is unhealthy;
        None if it runs a single cycle and that was good
    """

    state: State
    why: str
    age: float
    threshold: float | None
    cycles: Cycles

    @property
    def is_healthy(self) -> bool:
        """True if the last good cycle, or the start, is young enough."""
        return self.state in {State.OK, State.STARTING}

    @property
    def is_alive(self) -> bool:
        """False if a cycle hangs: another start may help."""
        return self.state is not State.HANG

    @property
    def is_ready(self) -> bool:
        """True once a cycle was good."""
        return self.cycles.last_good is not None

    def data(self) -> dict[str, Any]:
        """Return it as programs read it."""
        last = self.cycles.last
        return {
            'status': self.state.value,
            'why': self.why,
            'age_seconds': round(self.age, 1),
            'threshold_seconds': self.threshold,
            'last_good_cycle': _moment(self.cycles.last_good),
            'last_cycle': last
            and {
                'began': _moment(last.began),
                'seconds': round(last.seconds, 3),
                'trouble': last.trouble,
            },
            'running_since': _moment(self.cycles.running_since),
        }


def judge(cycles: Cycles, interval: float, now: float) -> Health:
    """Return the health of the daemon.

    :param interval: seconds from one cycle to the next; below 0 for a single
        good cycle
    :param now: seconds since the epoch
    """
    good, last = cycles.last_good, cycles.last
    age = max(now - (cycles.started if good is None else good), 0.0)
    threshold: float | None = max(INTERVALS * interval, LEAST)
    if interval < 0 and good is not None and not (last and last.trouble):
        threshold = None
    state, why = _state(cycles, threshold, age, now)
    return Health(
        state=state, why=why, age=age, threshold=threshold, cycles=cycles
    )


def _state(
    cycles: Cycles, threshold: float | None, age: float, now: float
) -> tuple[State, str]:
    running, last = cycles.running_since, cycles.last
    if threshold is None or age < threshold:
        if cycles.last_good is not None:
            return State.OK, ''
        return State.STARTING, 'no cycle was good yet'
    good = f'no good cycle for {error_text.duration(age)}'
    if running is not None and now - running >= threshold:
        for_long = error_text.duration(now - running)
        return State.HANG, (
            f'{good}: a cycle runs for {for_long}; SIGUSR2 makes the daemon '
            'write where it stands'
        )
    if last is not None and last.trouble:
        return State.OUTAGE, f'{good}: {last.trouble}'
    return State.LATE, f'{good}, and no cycle finished since'


def _moment(seconds: float | None) -> str | None:
    """Return a moment in UTC, as ISO 8601 has it."""
    if seconds is None:
        return None
    when = dt.datetime.fromtimestamp(seconds, dt.UTC)
    return f'{when:%Y-%m-%dT%H:%M:%SZ}'
