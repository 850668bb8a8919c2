# SPDX-License-Identifier: Apache-2.0
"""The daemon's health: how old its last good cycle is, and why.

Pure: no I/O, configuration or logging; the cycles know their ages. An outage
of placement is told from a cycle that hangs: to start the daemon again helps
only the second. A cycle hangs at systemd's limit, not at one of this module:
the first cycle of thousands of nodes may take many intervals. ``server.py``
answers probes with it.

``Cycles`` and ``FinishedCycle`` are the daemon's cycles, as far as metrics and
health need to know them; ``cmd/run/status.py`` keeps the values.
"""

import dataclasses
import datetime as dt
import enum
from collections.abc import Mapping
from typing import Any, Protocol

from ... import error_text


class FinishedCycle(Protocol):
    """A cycle that came to its end, whatever its result."""

    @property
    def began(self) -> float:
        """Seconds since the epoch."""

    @property
    def ended(self) -> float:
        """Seconds since the epoch."""

    @property
    def seconds(self) -> float:
        """The seconds that it took; a change of the date does not change them."""

    @property
    def trouble(self) -> str:
        """Why placement, or the drivers, could not be asked; or empty."""

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of nodes by status; ``left`` is one of these."""


class Cycles(Protocol):
    """The last cycle of the daemon, and the one that runs.

    A change of the date changes the moments, but no age.
    """

    @property
    def started(self) -> float:
        """When the daemon began, in seconds since the epoch."""

    @property
    def running_since(self) -> float | None:
        """When the cycle that runs began; None between two."""

    @property
    def last(self) -> FinishedCycle | None:
        """The last cycle that finished."""

    @property
    def last_good(self) -> float | None:
        """The moment at which a cycle last finished without trouble."""

    @property
    def role(self) -> str:
        """``holder`` or ``standby`` of a share; empty without a share."""

    @property
    def standby(self) -> str:
        """A line about the agent that reports, if this one stands by."""

    def age(self) -> float:
        """Return the seconds since the daemon began."""

    def runs_for(self) -> float | None:
        """Return how long the present cycle has run; None between two."""

    def good_age(self) -> float | None:
        """Return the age of the last good cycle; None before the first."""


INTERVALS = 5  # a good cycle that is older than so many intervals is too old
LEAST = 60.0  # seconds; short intervals leave a cycle this time
LONGEST = 1200.0  # seconds of one cycle, if systemd gives no limit


_LEFT = 'left'  # a status of nodes, and a state of the daemon


class State(enum.Enum):
    """The states of a daemon; the value is the word that programs read."""

    #: The last good cycle is young.
    OK = 'ok'
    #: Another agent reports the share, and this one could take its place.
    STANDBY = 'standby'
    #: The daemon began a short time ago, and no cycle was good yet.
    STARTING = 'starting'
    #: Cycles finish, but placement or the drivers cannot be asked.
    OUTAGE = 'outage'
    #: A cycle runs for longer than a cycle may.
    HANG = 'hang'
    #: All nodes left their driver's list, and none is in it.
    LEFT = _LEFT
    #: No cycle finished for too long; none runs, or one that does not hang.
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
        return self.state in {State.OK, State.STANDBY, State.STARTING}

    @property
    def is_alive(self) -> bool:
        """False if a cycle hangs; a restart may help."""
        return self.state is not State.HANG

    @property
    def is_ready(self) -> bool:
        """True once a cycle was good, or a standby could report."""
        return self.cycles.last_good is not None

    def data(self) -> dict[str, Any]:
        """Return it as programs read it."""
        last = self.cycles.last
        role = self.cycles.role
        return {
            'status': self.state.value,
            **({'role': role} if role else {}),
            'why': self.why,
            'age_seconds': round(self.age, 1),
            'threshold_seconds': self.threshold,
            'last_good_cycle': _moment(self.cycles.last_good),
            'last_cycle': last
            and {
                'began': _moment(last.began),
                'seconds': round(last.seconds, 3),
                'trouble': last.trouble,
                'nodes': dict(last.counts),
            },
            'running_since': _moment(self.cycles.running_since),
        }


def judge(cycles: Cycles, interval: float, longest: float = LONGEST) -> Health:
    """Return the health of the daemon.

    :param interval: seconds from one cycle to the next; below 0 for a single
        good cycle
    :param longest: seconds from which on a cycle hangs
    """
    good, last = cycles.good_age(), cycles.last
    age = cycles.age() if good is None else good
    threshold: float | None = max(INTERVALS * interval, LEAST)
    if interval < 0 and good is not None and not (last and last.trouble):
        threshold = None
    running = cycles.runs_for() or 0.0
    if running >= longest:
        state, why = State.HANG, f'{_old(age)}: {_long(running)}'
    elif threshold is None or age < threshold:
        state, why = State.OK, ''
        if good is None:
            state, why = State.STARTING, 'no cycle was good yet'
        elif cycles.standby:
            state, why = State.STANDBY, cycles.standby
        elif last is not None:
            state, why = _departed(last.counts)
    else:
        long = running if running >= threshold else 0.0
        state, why = _unwell(cycles, age, long)
    return Health(
        state=state, why=why, age=age, threshold=threshold, cycles=cycles
    )


def _departed(counts: Mapping[str, int]) -> tuple[State, str]:
    """Return the state and its reason if nodes left their driver's list."""
    left, every = counts.get(_LEFT, 0), sum(counts.values())
    if not left:
        return State.OK, ''
    why = (
        f"{left} of {every} nodes left their driver's list and may exist "
        'elsewhere: check the options that choose nodes'
    )
    return State.LEFT if left == every else State.OK, why


def _unwell(cycles: Cycles, age: float, long: float) -> tuple[State, str]:
    """Return the state and its reason if the last good cycle is too old.

    :param long: the seconds after which a cycle takes too long; 0 means never
    """
    last = cycles.last
    if long:
        return State.LATE, f'{_old(age)}: {_long(long)}'
    if last is not None and last.trouble:
        return State.OUTAGE, f'{_old(age)}: {last.trouble}'
    return State.LATE, f'{_old(age)}, and no cycle finished since'


def _old(age: float) -> str:
    return f'no good cycle for {error_text.duration(age)}'


def _long(running: float) -> str:
    return (
        f'a cycle runs for {error_text.duration(running)}; SIGUSR2 makes the '
        'daemon write where it stands'
    )


def _moment(seconds: float | None) -> str | None:
    """Return a moment in UTC, as ISO 8601 has it."""
    if seconds is None:
        return None
    when = dt.datetime.fromtimestamp(seconds, dt.UTC)
    return f'{when:%Y-%m-%dT%H:%M:%SZ}'
