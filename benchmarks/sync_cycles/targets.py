# SPDX-License-Identifier: Apache-2.0
"""The targets of this agent, and the figures of a run for them. Pure.

A ratio is nova's wall time divided by ours in the same run. Requests that
create or read names (traits, resource classes) are sent once for any number of
nodes; limits per node leave them out.
"""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence

from . import cloud, measurement, scenarios, summary

NODES, MANY = 1000, 10_000
_OF_NAMES = (
    'GET /resource_classes',
    'GET /traits',
    'PUT /resource_classes/{name}',
    'PUT /traits/{name}',
)
# The shape of a cloud, and its nodes.
_Place = tuple[scenarios.Shape, int]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What was measured on one database, by cloud.

    :ivar cells: the cells of its table
    :ivar floors: seconds to read the list of all providers, and to parse it
    """

    cells: Mapping[_Place, summary.Cells]
    floors: Mapping[_Place, float]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One figure and its limit.

    :ivar value: returns the figure, or None if it was not measured
    :ivar at_least: True if the limit is a minimum, not a maximum
    """

    title: str
    limit: float
    value: Callable[[Measured], float | None]
    at_least: bool = False

    def is_met(self, value: float) -> bool:
        """Return True if a value keeps the limit."""
        return value >= self.limit if self.at_least else value <= self.limit


def judged(
    measurements: Sequence[measurement.Measurement],
    floors: Sequence[measurement.Floor],
    database: str,
) -> Iterator[tuple[Target, float]]:
    """Yield each measured target with its value."""
    measured = Measured(
        cells={
            (place.shape, place.nodes): summary.cells(measurements, place)
            for place in summary.places(measurements)
            if place.database == database
        },
        floors={
            (place.shape, place.nodes): one.whole
            for place, one in summary.least_floors(floors).items()
            if place.database == database
        },
    )
    for target in TARGETS:
        value = target.value(measured)
        if value is not None:
            yield target, value


def _field(
    name: str,
    scenario: scenarios.Scenario = scenarios.STEADY,
    shape: scenarios.Shape = scenarios.Shape.FLAT,
    nodes: int = NODES,
) -> Callable[[Measured], float | None]:
    """Return a function that finds a field of one of our cells."""

    def find(measured: Measured) -> float | None:
        cell = measured.cells.get((shape, nodes), {}).get(
            (scenario.name, scenarios.OURS)
        )
        value: float | None = None if cell is None else getattr(cell, name)
        return value

    return find


def _ratio(
    scenario: scenarios.Scenario,
) -> Callable[[Measured], float | None]:
    """Return a function that divides nova's wall time by ours."""
    place = (scenarios.Shape.FLAT, NODES)
    return lambda measured: summary.ratio(
        measured.cells.get(place, {}), scenario.name
    )


def _by_list(
    scenario: scenarios.Scenario, nodes: int
) -> Callable[[Measured], float | None]:
    """Return a function that divides our wall time by the floor."""
    wall = _field('wall', scenario, nodes=nodes)

    def find(measured: Measured) -> float | None:
        floor = measured.floors.get((scenarios.Shape.FLAT, nodes))
        took = wall(measured)
        return took / floor if floor and took else None

    return find


def _without_names(
    scenario: scenarios.Scenario,
) -> Callable[[Measured], float | None]:
    """Return a function that counts our requests that are not for names."""

    def find(measured: Measured) -> float | None:
        place = (scenarios.Shape.FLAT, NODES)
        key = (scenario.name, scenarios.OURS)
        cell = measured.cells.get(place, {}).get(key)
        if cell is None:
            return None
        return sum(n for r, n in cell.routes.items() if r not in _OF_NAMES)

    return find


def _growth(measured: Measured) -> float | None:
    """Return the factor for a steady cycle of ten times as many nodes."""
    few = _field('wall')(measured)
    many = _field('wall', nodes=MANY)(measured)
    return many / few if few and many else None


_CHANGED = cloud.changed(NODES)
_CROWD = (scenarios.STEADY, scenarios.Shape.CROWDED, scenarios.CROWDED_NODES)
TARGETS = (
    Target(title='steady cycle, requests', limit=2, value=_field('requests')),
    Target(
        title='steady cycle, wall, nova / ours',
        limit=35,
        value=_ratio(scenarios.STEADY),
        at_least=True,
    ),
    Target(
        title='the same after 300 s',
        limit=240,
        value=_ratio(scenarios.STALE),
        at_least=True,
    ),
    Target(
        title='restart, requests',
        limit=2,
        value=_field('requests', scenarios.RESTART),
    ),
    Target(
        title='restart, wall, nova / ours',
        limit=60,
        value=_ratio(scenarios.RESTART),
        at_least=True,
    ),
    Target(
        title='first sync, requests but those for names',
        limit=4 * NODES + 2,
        value=_without_names(scenarios.FIRST),
    ),
    Target(
        title='first sync, wall, nova / ours',
        limit=2.8,
        value=_ratio(scenarios.FIRST),
        at_least=True,
    ),
    *(
        Target(
            title=f'{nodes:,} nodes, {title}, wall by the bare list',
            limit=limit,
            value=_by_list(scenario, nodes),
        )
        for nodes in (NODES, MANY)
        for title, scenario, limit in (
            ('steady cycle', scenarios.STEADY, 2),
            ('restart', scenarios.RESTART, 8),
        )
    ),
    Target(
        title='1 % changed one trait, requests but those for names',
        limit=2 * _CHANGED + 2,
        value=_without_names(scenarios.TRAIT),
    ),
    Target(
        title='1 % changed a trait and inventory, the same',
        limit=4 * _CHANGED + 2,
        value=_without_names(scenarios.CONTENTS),
    ),
    Target(
        title='100 nodes among 50,000 providers, steady, seconds',
        limit=0.5,
        value=_field('wall', *_CROWD),
    ),
    Target(
        title='the same, peak memory, MiB',
        limit=150,
        value=_field('peak_mib', *_CROWD),
    ),
    Target(
        title='10,000 nodes, steady, client CPU seconds',
        limit=1.5,
        value=_field('cpu', nodes=MANY),
    ),
    Target(
        title='the same, peak memory, MiB',
        limit=120,
        value=_field('peak_mib', nodes=MANY),
    ),
    Target(
        title='the same, wall by that of 1,000 nodes',
        limit=12,
        value=_growth,
    ),
    Target(
        title='tree of 50, first sync, requests',
        limit=155,
        value=_field('requests', scenarios.FIRST, scenarios.Shape.NESTED, 1),
    ),
    Target(
        title='tree of 50, restart, requests',
        limit=2,
        value=_field('requests', scenarios.RESTART, scenarios.Shape.NESTED, 1),
    ),
)
