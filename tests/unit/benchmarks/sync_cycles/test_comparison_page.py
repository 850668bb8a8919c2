# SPDX-License-Identifier: Apache-2.0
"""The page that compares the agent with nova has the figures of the kept run."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[4]
PAGE = (ROOT / 'docs/comparison.md').read_text()
# The newest one: each is named after its day.
KEPT = max((ROOT / 'benchmarks/results').glob('2*.md')).read_text()
UNITS = {'s': 1.0, 'ms': 0.001}
MANY, ONE = '1,000 nodes', '1 node'
# The row of the page, and the scenario of the run.
ROWS = [
    ('first sync', MANY, 'first sync'),
    ('restart, nothing changed', MANY, 'restart, nothing changed'),
    ('cycle, nothing changed', MANY, 'steady cycle'),
    ('one node in a hundred got a new trait', MANY, '1 % changed one trait'),
    ('one node, nothing changed', ONE, 'steady cycle'),
    ('one node, a trait changed', ONE, '1 % changed one trait'),
    (
        'one node, a trait and an inventory changed',
        ONE,
        '1 % changed a trait and inventory',
    ),
    ('one node, first sync', ONE, 'first sync'),
]


def cells(text, *first):
    """Return the other cells of the row that begins with these."""
    head = re.escape(f'| {" | ".join(first)} |')
    (row,) = re.findall(f'^{head}(.*)\\|$', text, re.MULTILINE)
    return [cell.strip() for cell in row.split('|')]


def measured(nodes, scenario, agent):
    """Return the requests and the seconds in the kept run."""
    (section,) = re.findall(
        f'^## {nodes}, postgresql$(.*?)^## ', KEPT, re.MULTILINE | re.DOTALL
    )
    requests, wall = cells(section, scenario, agent)[:2]
    return requests, seconds(wall)


def seconds(text):
    number, unit = text.split()
    return float(number) * UNITS[unit]


@pytest.mark.parametrize(('row', 'nodes', 'scenario'), ROWS)
def test_each_figure_is_that_of_the_newest_run(row, nodes, scenario):
    for told, agent in zip(
        cells(PAGE, row), ('compute-agent', 'nova'), strict=True
    ):
        requests, wall = re.fullmatch(r'(\S+) requests?, (.+)', told).groups()
        found, took = measured(nodes, scenario, agent)
        assert requests == found
        assert seconds(wall) == pytest.approx(took, rel=0.05)
