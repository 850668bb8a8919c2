# SPDX-License-Identifier: Apache-2.0
"""Summaries of the runs of a case, ratios, and requests per hour. Pure."""

import dataclasses
import statistics
from collections.abc import Mapping, Sequence

from . import measurement, routes, scenarios

# Cycles other than steady ones, and the seconds from one to the next.
_RARE = (
    (scenarios.STALE, scenarios.REFRESH),
    (scenarios.SLOW_READ, scenarios.FULL_READ),
)
Cells = Mapping[tuple[str, str], 'Cell']  # (scenario, agent) → its cost


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The medians of several runs, and their least and greatest wall time."""

    count: int
    wall: float
    least: float
    most: float
    cpu: float
    peak_mib: float
    placement_cpu: float
    database_cpu: float
    requests: float
    routes: Mapping[str, int]


def places(
    measured: Sequence[measurement.Measurement],
) -> list[measurement.Place]:
    """Return the places of the measurements, in order."""
    return list(dict.fromkeys(each.place for each in measured))


def least_floors(
    floors: Sequence[measurement.Floor],
) -> dict[measurement.Place, measurement.Floor]:
    """Return the quickest floor of each place."""
    found: dict[measurement.Place, measurement.Floor] = {}
    for one in floors:
        known = found.setdefault(one.place, one)
        if one.whole < known.whole:
            found[one.place] = one
    return found


def cells(
    measured: Sequence[measurement.Measurement], place: measurement.Place
) -> dict[tuple[str, str], Cell]:
    """Return the measurements at one place, by scenario and agent."""
    runs: dict[tuple[str, str], list[measurement.Measurement]] = {}
    for each in measured:
        if each.place == place:
            runs.setdefault((each.scenario, each.agent), []).append(each)
    return {key: _cell(group) for key, group in runs.items()}


def ratio(found: Cells, scenario: str, field: str = 'wall') -> float | None:
    """Return nova's value divided by this agent's."""
    ours = found.get((scenario, scenarios.OURS))
    nova = found.get((scenario, scenarios.NOVA))
    if ours is None or nova is None or not getattr(ours, field):
        return None
    quotient: float = getattr(nova, field) / getattr(ours, field)
    return quotient


def requests_an_hour(
    found: Cells, agent: str, *, slow_reads: bool
) -> float | None:
    """Return the requests that an agent sends in an hour without changes.

    There is one cycle per minute. None if a kind of cycle was not measured.

    :param slow_reads: include the cycles that read everything again: nova's
        every 300 s, this agent's every hour. This agent's requests for sharing
        providers every 300 s are always included.
    """
    slow = scenarios.SLOW_READ if agent == scenarios.OURS else scenarios.STALE
    rare = {
        one: 3600 // every
        for one, every in _RARE
        if agent in one.agents and (slow_reads or one is not slow)
    }
    steady = 3600 // scenarios.PERIOD - sum(rare.values())
    requests = 0.0
    for one, times in {scenarios.STEADY: steady, **rare}.items():
        cell = found.get((one.name, agent))
        if cell is None:
            return None
        requests += times * cell.requests
    return requests


def _cell(runs: Sequence[measurement.Measurement]) -> Cell:
    walls = [run.wall for run in runs]
    totals = [routes.total(run.routes) for run in runs]
    middle = {
        field: statistics.median(getattr(run, field) for run in runs)
        for field in ('cpu', 'peak_mib', 'placement_cpu', 'database_cpu')
    }
    return Cell(
        count=len(runs),
        wall=statistics.median(walls),
        least=min(walls),
        most=max(walls),
        requests=statistics.median(totals),
        routes=runs[0].routes,
        **middle,
    )
