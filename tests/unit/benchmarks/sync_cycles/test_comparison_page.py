# SPDX-License-Identifier: Apache-2.0
"""The page that compares the agent with nova has the figures of the kept run."""

import json
import pathlib
import re

import pytest

from benchmarks.sync_cycles import measurement, scenarios, summary

ROOT = pathlib.Path(__file__).parents[4]
PAGE = (ROOT / 'docs/comparison.md').read_text()
# The newest one: each is named after its day.
KEPT = max((ROOT / 'benchmarks/results').glob('2*.json'))
UNITS = {'s': 1.0, 'ms': 0.001}
# The row of the page, and the nodes and the scenario of the run.
ROWS = [
    ('first sync', 1000, scenarios.FIRST),
    ('restart, nothing changed', 1000, scenarios.RESTART),
    ('cycle, nothing changed', 1000, scenarios.STEADY),
    ('one node in a hundred got a new trait', 1000, scenarios.TRAIT),
    ('one node, nothing changed', 1, scenarios.STEADY),
    ('one node, a trait changed', 1, scenarios.TRAIT),
    (
        'one node, a trait and an inventory changed',
        1,
        scenarios.CONTENTS,
    ),
    ('one node, first sync', 1, scenarios.FIRST),
]


@pytest.fixture(scope='module')
def kept():
    """The measurements of the newest kept run."""
    results = measurement.Results.parsed(json.loads(KEPT.read_text()))
    return results.measurements


def told(row):
    """Return the requests and the seconds of the agent and of nova."""
    (cells,) = re.findall(f'^\\| {row} \\|(.*)\\|$', PAGE, re.MULTILINE)
    for cell in cells.split('|'):
        pattern = r'(\S+) requests?, (\S+) (\S+)'
        requests, wall, unit = re.fullmatch(pattern, cell.strip()).groups()
        yield int(requests.replace(',', '')), float(wall) * UNITS[unit]


@pytest.mark.parametrize(('row', 'nodes', 'scenario'), ROWS)
def test_each_figure_is_that_of_the_newest_run(kept, row, nodes, scenario):
    place = measurement.Place(
        database='postgresql', shape=scenarios.Shape.FLAT, nodes=nodes
    )
    found = summary.cells(kept, place)
    for agent, (requests, wall) in zip(
        (scenarios.OURS, scenarios.NOVA), told(row), strict=True
    ):
        cell = found[scenario.name, agent]
        assert requests == cell.requests
        assert wall == pytest.approx(cell.wall, rel=0.05)
