# SPDX-License-Identifier: Apache-2.0
"""The results of a run as a plot: bars in SVG, on logarithmic scales.

Pure. Two bars a scenario need no plotting library, and text can be compared.
"""

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from xml.sax import saxutils

from . import measurement, report, scenarios, summary

COLOURS = {scenarios.NOVA: '#c2602b', scenarios.OURS: '#2b6cb0'}
_LABELS, _BARS, _VALUES = 230, 260, 70  # widths
_FONT = 'font-family="sans-serif" font-size="12"'
_ROW, _BAR, _TOP = 34, 12, 64


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One quantity: scenario's title → agent → value."""

    title: str
    unit: str
    rows: Mapping[str, Mapping[str, float]]


def svg(results: measurement.Results) -> str:
    """Return the plot of the largest flat cloud that both agents did."""
    place = _largest(results.measurements)
    panels = [] if place is None else _panels(results.measurements, place)
    width = (_LABELS + _BARS + _VALUES) * max(1, len(panels))
    rows = max((len(panel.rows) for panel in panels), default=0)
    height = _TOP + rows * _ROW + 12
    heading = 'nothing to compare' if place is None else report.title(place)
    size = f'width="{width}" height="{height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {_FONT}>',
        '<rect width="100%" height="100%" fill="white"/>',
        _text(12, 22, heading, 'font-weight="bold" font-size="15"'),
        *_legend(width),
    ]
    for number, panel in enumerate(panels):
        left = number * (_LABELS + _BARS + _VALUES)
        lines += [f'<g transform="translate({left} 0)">', *_drawn(panel)]
        lines.append('</g>')
    return '\n'.join([*lines, '</svg>', ''])


def _largest(
    measured: Sequence[measurement.Measurement],
) -> measurement.Place | None:
    agents: dict[measurement.Place, set[str]] = {}
    for one in measured:
        if one.place.shape is scenarios.Shape.FLAT:
            agents.setdefault(one.place, set()).add(one.agent)
    both = [p for p, some in agents.items() if some == set(scenarios.AGENTS)]
    return max(both, key=lambda place: place.nodes, default=None)


def _panels(
    measured: Sequence[measurement.Measurement], place: measurement.Place
) -> list[Panel]:
    found = summary.cells(measured, place)
    return [
        Panel(title=title, unit=unit, rows=_values(found, field))
        for title, unit, field in (
            ('wall time of a cycle, seconds', ' s', 'wall'),
            ('requests of a cycle', '', 'requests'),
        )
    ]


def _values(found: summary.Cells, field: str) -> dict[str, dict[str, float]]:
    return {
        scenario.title: {
            agent: getattr(found[name, agent], field)
            for agent in scenarios.AGENTS
            if (name, agent) in found
        }
        for name, scenario in scenarios.BY_NAME.items()
        if any((name, agent) in found for agent in scenarios.AGENTS)
    }


def _drawn(panel: Panel) -> Iterator[str]:
    values = [v for row in panel.rows.values() for v in row.values() if v]
    low = math.floor(math.log10(min(values, default=1)))
    high = max(low + 1, math.ceil(math.log10(max(values, default=1))))
    yield _text(_LABELS, 44, f'{panel.title}, logarithmic', 'fill="#444"')
    yield from _axis(low, high, _TOP + len(panel.rows) * _ROW)
    for row, (title, by_agent) in enumerate(panel.rows.items()):
        top = _TOP + row * _ROW
        yield _text(_LABELS - 8, top + 17, title, 'text-anchor="end"')
        for place, (agent, value) in enumerate(by_agent.items()):
            share = (math.log10(value) - low) / (high - low) if value else 0
            said = f'{report.number(value)}{panel.unit}'
            y = top + 2 + place * (_BAR + 1)
            yield from _bar(y, share * _BARS, COLOURS[agent], said)


def _axis(low: int, high: int, bottom: float) -> Iterator[str]:
    """Yield a line for each power of ten."""
    for power in range(low, high + 1):
        x = _LABELS + (power - low) * _BARS / (high - low)
        ends = f'x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 6}" y2="{bottom}"'
        yield f'<line {ends} stroke="#ddd"/>'
        style = 'font-size="9" text-anchor="middle"'
        yield _text(x, _TOP - 9, f'{10.0**power:g}', style)


def _bar(y: float, length: float, colour: str, said: str) -> Iterator[str]:
    seen = max(1.0, length)
    size = f'width="{seen:.1f}" height="{_BAR}"'
    yield f'<rect x="{_LABELS}" y="{y}" {size} fill="{colour}"/>'
    yield _text(_LABELS + seen + 4, y + 10, said, 'font-size="10"')


def _legend(width: float) -> Iterator[str]:
    for number, (agent, colour) in enumerate(COLOURS.items()):
        x = width - 240 + number * 90
        yield f'<rect x="{x}" y="12" width="12" height="12" fill="{colour}"/>'
        yield _text(x + 17, 22, agent)


def _text(x: float, y: float, words: str, style: str = '') -> str:
    escaped = saxutils.escape(words)
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escaped}</text>'
