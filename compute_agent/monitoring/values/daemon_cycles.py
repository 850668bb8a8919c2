# SPDX-License-Identifier: Apache-2.0
"""The daemon's cycles, as far as metrics and health need to know them.

Protocols only; ``cmd/run/status.py`` keeps the values.
"""

from typing import Protocol, TypeAlias

from ...cycle.node import node_result

NodeResult: TypeAlias = node_result.NodeResult


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

    def age(self) -> float:
        """Return the seconds since the daemon began."""

    def runs_for(self) -> float | None:
        """Return how long the present cycle has run; None between two."""

    def good_age(self) -> float | None:
        """Return the age of the last good cycle; None before the first."""
