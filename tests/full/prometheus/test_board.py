# SPDX-License-Identifier: Apache-2.0
"""Grafana knows each field of the board, and Prometheus can answer its queries.

The agent has a driver that changes, fails and hangs, and an operator who
undoes its work, so no panel is empty.
"""

import json

import memory_leases
import promtool
import pytest
import yaml
from agents import Clock
from grafana_foundation_sdk.cog import encoder, plugins
from grafana_foundation_sdk.models import dashboard
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


# Grafana's data source of Prometheus reads these fields; the library drops them.
OF_PROMETHEUS = {'definition', 'step', 'textFormat', 'titleFormat'}


def read_by_grafana(data):
    """Return what Grafana's library keeps of a board."""
    plugins.register_default_plugins()
    read = dashboard.Dashboard.from_json(data)
    return json.loads(json.dumps(read, cls=encoder.JSONEncoder))


def unknown(given, kept, path=''):
    """Yield the fields with a value that the library dropped or changed."""
    if isinstance(given, dict) and isinstance(kept, dict):
        for name, value in given.items():
            if value is not None and name not in OF_PROMETHEUS:
                yield from unknown(value, kept.get(name), f'{path}/{name}')
    elif isinstance(given, list) and isinstance(kept, list):
        for number, (one, other) in enumerate(zip(given, kept, strict=True)):
            yield from unknown(one, other, f'{path}/{number}')
    elif given != kept:
        yield path


def test_grafana_s_library_knows_each_field():
    assert list(unknown(BOARD, read_by_grafana(BOARD))) == []


@pytest.mark.parametrize(
    ('place', 'field'),
    [(('panels', 1), 'fieldConfigs'), (('panels', 1, 'options'), 'orient')],
    ids=['of a panel', 'of its options'],
)
def test_grafana_s_library_does_not_know_any_field(place, field):
    board_with_it = json.loads(json.dumps(BOARD))
    holder = board_with_it
    for step in place:
        holder = holder[step]
    holder[field] = 'x'
    found = list(unknown(board_with_it, read_by_grafana(board_with_it)))
    assert found == ['/' + '/'.join(map(str, (*place, field)))]


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
    lease = memory_leases.member(memory_leases.MemoryLeases(), 'one', clock)
    with Monitored.of(agent, placement, clock, names=1, lease=lease) as one:
        for turn in range(10):
            extra ^= {'HW_CPU_X86_SSE'}
            lease.look()
            one.metrics.committed(0.01)
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
