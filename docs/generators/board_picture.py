# SPDX-License-Identifier: Apache-2.0
"""The Grafana board as a picture, without Grafana: ``make board-picture``.

Titles, places, units, limits and queries are read from the board. Prometheus
answers the queries, from the metrics of agents (``eventful_day.py``), and
matplotlib draws the answers. So the picture shows what the board shows, not
how Grafana paints it.
"""

import pathlib
import re
import sys
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import matplotlib as mpl

mpl.use('svg')

from matplotlib import dates, ticker
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from . import board, eventful_day, prometheus, units
from .board import Panel
from .prometheus import Prometheus

FILE = pathlib.Path(__file__).parents[1] / 'pictures' / 'board.svg'
COLUMN, ROW = 0.65, 0.36  # inches of a cell of Grafana's grid
COLUMNS, HEADER = 24, 2  # cells
BEGIN = eventful_day.BEGIN
END = BEGIN + (eventful_day.MINUTES - 1) * 60
STEP = 120.0
MOST = 8  # series in a legend
SHORT = 22  # characters of a name of which four fit in a line
COLORS = {
    'green': '#56a64b',
    'yellow': '#e0b400',
    'orange': '#ff780a',
    'red': '#e02f44',
    'blue': '#3274d9',
}
NOTE = (
    'Drawn by "make board-picture" from the queries of the board, which '
    'Prometheus answered from the metrics of three agents; no screenshot.'
)
Series = list[dict[str, Any]]


class Picture:
    """A figure with the cells of the board."""

    def __init__(self, data: Mapping[str, Any], server: Prometheus) -> None:
        self._board = data
        self._server = server
        places = [one['gridPos'] for one in data['panels']]
        self._rows = HEADER + max(p['y'] + p['h'] for p in places)
        size = (COLUMNS * COLUMN, self._rows * ROW)
        self._figure = Figure(figsize=size, facecolor='white')

    def draw(self) -> Figure:
        """Return the figure."""
        self._say(0.2, 0.8, self._board['title'], fontsize=15, weight='bold')
        self._say(0.2, 1.6, NOTE, fontsize=8, color='#666666')
        for one in self._board['panels']:
            if one['type'] == 'row':
                y = HEADER + one['gridPos']['y'] + 0.7
                self._say(0.2, y, one['title'], fontsize=11, weight='bold')
        for panel in board.panels(self._board):
            self._panel(panel)
        return self._figure

    def _say(self, x: float, y: float, words: str, **how: Any) -> None:
        self._figure.text(x / COLUMNS, 1 - y / self._rows, words, **how)

    def _panel(self, panel: Panel) -> None:
        place = panel.place
        x, y = place['x'] + 0.2, HEADER + place['y'] + 0.8
        self._say(x, y, panel.title, fontsize=8.5, weight='bold')
        left = 0.25 if panel.kind != 'timeseries' else 1.35
        low = 0.3 if panel.kind != 'timeseries' else 2.6
        box = (
            (place['x'] + left) / COLUMNS,
            1 - (HEADER + place['y'] + place['h'] - low) / self._rows,
            (place['w'] - left - 0.35) / COLUMNS,
            (place['h'] - low - 1.1) / self._rows,
        )
        axes = self._figure.add_axes(box)
        {'stat': self._stat, 'table': self._table}.get(
            panel.kind, self._graph
        )(axes, panel)

    def _stat(self, axes: Axes, panel: Panel) -> None:
        (query,) = panel.queries
        found = self._server.at(query.expr, END)
        value = float(found[0]['value'][1]) if found else None
        said = 'none' if value is None else units.text(value, panel.unit)
        axes.set_facecolor(_color(panel, value or 0.0))
        axes.set(xticks=[], yticks=[])
        axes.text(
            0.5,
            0.5,
            said,
            color='white',
            fontsize=16,
            weight='bold',
            ha='center',
            va='center',
        )

    def _table(self, axes: Axes, panel: Panel) -> None:
        axes.axis('off')
        (change,) = panel.data['transformations']
        shown = change['options']['renameByName']
        (query,) = panel.queries
        found = self._server.at(query.expr, END)
        rows = sorted(
            [one['metric'].get(label, '') for label in shown] for one in found
        )
        if not rows:
            axes.text(0.5, 0.5, 'none', ha='center', va='center', fontsize=9)
            return
        made = axes.table(
            rows, colLabels=list(shown.values()), loc='upper left'
        )
        made.auto_set_font_size(False)
        made.set_fontsize(7)

    def _graph(self, axes: Axes, panel: Panel) -> None:
        lines = [
            (_legend(query.legend, one['metric']), one['values'])
            for query in panel.queries
            for one in self._server.between(
                query.expr, begin=BEGIN, end=END, step=STEP
            )
        ]
        custom = panel.data['fieldConfig']['defaults']['custom']
        if custom['stacking']['mode'] == 'normal':
            _stack(axes, panel, lines)
        else:
            for number, (name, values) in enumerate(sorted(lines)):
                axes.plot(
                    *_points(values),
                    label=name,
                    linewidth=1,
                    color=_fixed(panel, name) or f'C{number % 10}',
                    drawstyle='steps-post'
                    if custom['lineInterpolation'] == 'stepAfter'
                    else 'default',
                )
        _dress(axes, panel)


def _dress(axes: Axes, panel: Panel) -> None:
    """Give a graph its limits, units and legend."""
    high = max(
        axes.get_ylim()[1], panel.data['fieldConfig']['defaults'].get('max', 0)
    )
    axes.set_ylim(0, high if high > 0 else 1)
    axes.set_xlim(_moment(BEGIN), _moment(END))
    for step in panel.data['fieldConfig']['defaults']['thresholds']['steps']:
        if step['value'] and step['value'] <= axes.get_ylim()[1]:
            axes.axhline(
                step['value'],
                color=COLORS[step['color']],
                linestyle='--',
                linewidth=0.8,
            )
    axes.yaxis.set_major_formatter(
        ticker.FuncFormatter(lambda value, _: units.text(value, panel.unit))
    )
    axes.yaxis.set_major_locator(ticker.MaxNLocator(5))
    axes.xaxis.set_major_locator(dates.HourLocator())
    axes.xaxis.set_major_formatter(dates.DateFormatter('%H:%M'))
    axes.tick_params(labelsize=6.5, length=2)
    axes.grid(color='#e4e4e4', linewidth=0.5)
    axes.spines[['top', 'right']].set_visible(False)
    handles, labels = axes.get_legend_handles_labels()
    if labels:
        axes.legend(
            handles[:MOST],
            labels[:MOST],
            loc='upper center',
            bbox_to_anchor=(0.47, -0.16),
            ncols=4 if max(map(len, labels)) < SHORT else 2,
            fontsize=6,
            frameon=False,
        )


def _stack(
    axes: Axes, panel: Panel, lines: list[tuple[str, list[Any]]]
) -> None:
    moments = sorted({when for _, values in lines for when, _ in values})
    columns = {
        name: [float(dict(values).get(when, 0)) for when in moments]
        for name, values in sorted(lines)
    }
    axes.stackplot(
        [_moment(when) for when in moments],
        *columns.values(),
        labels=list(columns),
        colors=[
            _fixed(panel, name) or f'C{number % 10}'
            for number, name in enumerate(columns)
        ],
        alpha=0.6,
    )


def _points(values: list[Any]) -> tuple[list[datetime], list[float]]:
    """Return the points of a line; one that is missing makes a gap."""
    moments: list[datetime] = []
    numbers: list[float] = []
    last = None
    for when, number in values:
        if last is not None and when - last > STEP:
            moments.append(_moment(last + STEP))
            numbers.append(float('nan'))
        moments.append(_moment(when))
        numbers.append(float(number))
        last = when
    return moments, numbers


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _legend(pattern: str, labels: Mapping[str, str]) -> str:
    return re.sub(
        r'\{\{(\w+)\}\}', lambda found: labels.get(found[1], ''), pattern
    )


def _fixed(panel: Panel, name: str) -> str | None:
    """Return the colour that the board gives a series."""
    for one in panel.data['fieldConfig']['overrides']:
        if one['matcher']['options'] == name:
            return COLORS[one['properties'][0]['value']['fixedColor']]
    return None


def _color(panel: Panel, value: float) -> str:
    """Return the colour of a value among the limits of its panel."""
    found = 'green'
    for step in panel.data['fieldConfig']['defaults']['thresholds']['steps']:
        if step['value'] is None or value >= step['value']:
            found = step['color']
    return COLORS[found]


def main() -> None:
    """Write the picture."""
    mpl.rcParams.update(
        {'svg.fonttype': 'none', 'svg.hashsalt': 'board', 'font.size': 8}
    )
    lines = (
        pathlib.Path(sys.argv[1]).read_text().splitlines()
        if sys.argv[1:]
        else eventful_day.samples()
    )
    with (
        tempfile.TemporaryDirectory() as directory,
        prometheus.serving(lines, pathlib.Path(directory)) as server,
    ):
        figure = Picture(board.read(), server).draw()
    figure.savefig(FILE, metadata={'Date': None, 'Creator': None})


if __name__ == '__main__':
    main()
