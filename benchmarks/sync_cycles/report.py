# SPDX-License-Identifier: Apache-2.0
"""The results of a run as Markdown. Pure."""

from collections.abc import Iterator, Sequence

from . import measurement, scenarios, summary, targets

_HEADER = (
    'scenario',
    'agent',
    'requests',
    'wall',
    'least to most',
    'client CPU',
    'placement CPU',
    'database CPU',
    'peak memory',
    'wall, nova / ours',
    'CPU, nova / ours',
)


def markdown(results: measurement.Results, plot: str) -> str:
    """Return the whole report.

    :param plot: the address of the plot, beside the report
    """
    lines = ['# Cycles of compute-agent beside nova-compute', '']
    lines += [f'* {name}: {value}' for name, value in results.machine.items()]
    lines += ['', f'![Wall time and requests]({plot})', '']
    for one in results.failures:
        lines += [f'**Not measured**: {one.group}: `{one.why[-300:]}`', '']
    places = summary.places(results.measurements)
    for database in dict.fromkeys(place.database for place in places):
        lines += _targets(results, database)
    for place in places:
        lines += _section(results, place)
    return '\n'.join(lines)


def title(place: measurement.Place) -> str:
    """Return the title of a place."""
    kinds = {
        scenarios.Shape.FLAT: '',
        scenarios.Shape.NESTED: ' of 50 providers, nested',
        scenarios.Shape.CROWDED: ' in a cloud of 50,000 providers',
    }
    nodes = f'{place.nodes:,} node{"" if place.nodes == 1 else "s"}'
    return f'{nodes}{kinds[place.shape]}, {place.database}'


def number(value: float) -> str:
    """Return a number with three significant digits."""
    return f'{value:,.0f}' if value >= 100 else f'{value:.3g}'


def _targets(results: measurement.Results, database: str) -> Iterator[str]:
    """Yield a table of the targets that were measured."""
    rows = [
        (
            target.title,
            f'{"least" if target.at_least else "most"}: {target.limit:,g}',
            number(value),
            'yes' if target.is_met(value) else '**no**',
        )
        for target, value in targets.judged(
            results.measurements, results.floors, database
        )
    ]
    if rows:
        yield from (f'## Targets, {database}', '')
        yield from _table(('', 'to reach', 'measured', 'reached'), rows, 1)


def _section(
    results: measurement.Results, place: measurement.Place
) -> Iterator[str]:
    found = summary.cells(results.measurements, place)
    yield from ('', f'## {title(place)}', '')
    yield from _table(_HEADER, list(_rows(found)))
    yield from _floor(results, place, found)
    yield from _hourly(found)
    yield from _routes(found)


def _rows(found: summary.Cells) -> Iterator[Sequence[str]]:
    for name, scenario in scenarios.BY_NAME.items():
        for agent in scenarios.AGENTS:
            cell = found.get((name, agent))
            if cell is not None:
                ratios = _ratios(found, name, agent)
                yield (scenario.title, agent, *_numbers(cell), *ratios)


def _ratios(
    found: summary.Cells, scenario: str, agent: str
) -> tuple[str, ...]:
    if agent != scenarios.OURS:
        return ('', '')
    return tuple(
        _times(summary.ratio(found, scenario, field))
        for field in ('wall', 'cpu')
    )


def _numbers(cell: summary.Cell) -> tuple[str, ...]:
    return (
        f'{cell.requests:,g}',
        _seconds(cell.wall),
        f'{_seconds(cell.least)} to {_seconds(cell.most)} ({cell.count})',
        _seconds(cell.cpu),
        _seconds(cell.placement_cpu),
        _seconds(cell.database_cpu),
        f'{cell.peak_mib:.0f} MiB',
    )


def _floor(
    results: measurement.Results,
    place: measurement.Place,
    found: summary.Cells,
) -> Iterator[str]:
    least = summary.least_floors(results.floors).get(place)
    steady = found.get((scenarios.STEADY.name, scenarios.OURS))
    if least is None or steady is None:
        return
    yield ''
    yield (
        f'The floor of who reads the list of all providers: placement answers '
        f'it ({least.length / 1024:,.0f} KiB) in {_seconds(least.wall)}, and '
        f'parsing it takes {_seconds(least.parse)}. A steady cycle takes '
        f'{steady.wall / least.whole:.2g} times that.'
    )


def _hourly(found: summary.Cells) -> Iterator[str]:
    rows = []
    for agent in scenarios.AGENTS:
        hourly = [
            summary.requests_an_hour(found, agent, slow_reads=slow)
            for slow in (True, False)
        ]
        if hourly[0] is not None:
            rows.append((agent, *(f'{one:,.0f}' for one in hourly if one)))
    if rows:
        yield ''
        yield from _table(
            ('requests an hour', 'with slow reads', 'without'), rows, 1
        )


def _routes(found: summary.Cells) -> Iterator[str]:
    yield from ('', '<details><summary>Requests by route</summary>', '')
    for (name, agent), cell in found.items():
        yield f'* {scenarios.BY_NAME[name].title}, {agent}: ' + ', '.join(
            f'{count:,} `{route}`' for route, count in cell.routes.items()
        )
    yield from ('', '</details>')


def _table(
    header: Sequence[str], rows: Sequence[Sequence[str]], names: int = 2
) -> Iterator[str]:
    rule = [':--' if i < names else '--:' for i in range(len(header))]
    for row in (header, rule, *rows):
        yield f'| {" | ".join(row)} |'


def _seconds(value: float) -> str:
    return f'{number(value * 1000)} ms' if value < 1 else f'{number(value)} s'


def _times(value: float | None) -> str:
    return '' if value is None else f'{number(value)}x'
