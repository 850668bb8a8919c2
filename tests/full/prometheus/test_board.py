# SPDX-License-Identifier: Apache-2.0
"""Prometheus can answer each query of the Grafana board, from an agent's data.

The agent has a driver that changes, fails and hangs, and an operator who
undoes its work, so no panel is empty.
"""

import promtool
import pytest
import yaml
from agents import Clock
from monitored import Monitored
from scrapes import Scrapes

from compute_agent import errors
from docs.generators import board

BOARD = board.read()
QUERIES = {
    f'{panel.title}, {number}': query.expr
    for panel in board.panels(BOARD)
    for number, query in enumerate(panel.queries)
}
ANNOTATIONS = {
    one['name']: board.filled(one['expr'])
    for one in BOARD['annotations']['list']
}


def test_promtool_accepts_each_query(tmp_path):
    rules = [
        {'record': f'board:query{number}', 'expr': expr}
        for number, expr in enumerate(
            [*QUERIES.values(), *ANNOTATIONS.values()]
        )
    ]
    file = tmp_path / 'board.yaml'
    group = {'name': 'board', 'rules': rules}
    file.write_text(yaml.safe_dump({'groups': [group]}))
    printed = promtool.run('check', 'rules', str(file))
    assert f'{len(rules)} rules found' in printed


@pytest.fixture
def scraped(placement, agent_factory, operator):
    """Ten minutes of an agent; in the last scrape, a cycle hangs."""
    clock = Clock(60.0)
    scrapes = Scrapes(clock)
    extra = set()

    def describe(tree, node):
        if turn == 8:
            raise errors.DriverError('the driver is away')
        if turn == 9:
            clock.now += 60
            scrapes.take(one)
        tree.update_traits(node, {'HW_CPU_X86_AVX', *extra})

    agent = agent_factory(describe, clock=clock)
    with Monitored.of(agent, placement, clock, names=1) as one:
        for turn in range(10):
            extra ^= {'HW_CPU_X86_SSE'}
            one.cycle()
            if turn < 9:
                scrapes.take(one)
            if turn == 6:
                operator.remove_traits('HW_CPU_X86_AVX')
    return scrapes.series()


def test_each_query_has_an_answer(scraped, tmp_path):
    promtool.ask(
        scraped,
        tmp_path,
        {
            f'clamp_max(count({expr}), 1)': {'10m': [('{}', 1)]}
            for expr in QUERIES.values()
        },
    )
