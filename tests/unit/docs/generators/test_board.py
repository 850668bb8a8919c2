# SPDX-License-Identifier: Apache-2.0
"""The Grafana board asks for metrics that exist, on the agents chosen.

``tests/full/prometheus/test_board.py`` has Prometheus judge its queries.
"""

import html
import itertools
import json
import re

import pytest
import yaml

from compute_agent.monitoring.values import declared_metrics
from docs.generators import board

BOARD = board.read()
PANELS = board.panels(BOARD)
METRICS = {name for one in declared_metrics.ALL for name in one.series}
QUERIES = [
    pytest.param(query.given, id=f'{panel.title} {number}')
    for panel in PANELS
    for number, query in enumerate(panel.queries)
]
ANNOTATIONS = [one['expr'] for one in BOARD['annotations']['list']]
CHOSEN = 'job=~"$job", instance=~"$instance"'
# A panel that turns red, and the alert about the same metric.
ALERTS = {
    'Agents in an outage': 'ComputeAgentManyOutages',
    'Oldest good cycle': 'ComputeAgentNoGoodCycle',
    'Age of the last good cycle': 'ComputeAgentNoGoodCycle',
    'Node that has not been done for longest': 'ComputeAgentNodeNotDone',
    'Part of the time spent in cycles': 'ComputeAgentCyclesLate',
    'Cycle that runs now': 'ComputeAgentCycleHangs',
    'Requests that fail': 'ComputeAgentRequestsFail',
}
# Their alerts fire for each agent or name, so one is red.
COUNTED = {'Agents that do not answer', 'Contended items'}
RULES = board.FILE.parents[1] / 'prometheus/compute-agent.rules.yaml'
INTERVAL = 'compute_agent_cycle_interval_seconds'
# All others that PromQL or Grafana has in these queries.
WORDS = {
    *('bottomk', 'by', 'changes', 'code', 'count', 'driver', 'call', 'done'),
    *('histogram_quantile', 'instance', 'job', 'kind', 'cause', 'le', 'max'),
    *('method', 'none', 'or', 'outcome', 'rate', 'route', 'service', 'state'),
    *('share', 'sum', 'time', 'topk', 'vector', '__rate_interval'),
    *('and', 'increase', '__range'),
}


@pytest.mark.parametrize('expr', [*QUERIES, *ANNOTATIONS])
def test_a_query_asks_for_metrics_that_exist_and_of_chosen_agents(expr):
    asked = re.findall(r'(\w+)\{([^}]*)\}', expr)
    assert asked
    for name, labels in asked:
        assert name in METRICS | {'up'}
        assert labels.startswith(CHOSEN)
    words = set(re.findall(r'[a-zA-Z_]\w+', expr))
    assert words - WORDS == {name for name, _ in asked}


@pytest.mark.parametrize('expr', [*QUERIES, *ANNOTATIONS])
def test_a_label_is_one_of_its_metric(expr):
    by_series = {
        name: one for one in declared_metrics.ALL for name in one.series
    }
    own = {'job', 'instance', 'le'}
    known = {
        label
        for name in re.findall(r'(\w+)\{', expr)
        if name in by_series
        for label in by_series[name].labels
    }
    used = re.findall(r'(\w+)(?:=~|!=|=)"', expr)
    for group in re.findall(r'by \(([^)]*)\)', expr):
        used += group.split(', ')
    assert set(used) <= known | own


def test_each_metric_with_a_state_of_the_agent_is_on_the_board():
    """The board leaves out a metric that it shows in another form.

    And those of the hardware, which say nothing of the agent.
    """
    text = json.dumps([*(q.values[0] for q in QUERIES), *ANNOTATIONS])
    missing = {
        one.name
        for one in declared_metrics.ALL
        if not any(f'{name}{{' in text for name in one.series)
    }
    assert missing == {
        'last_cycle_timestamp_seconds',
        'cycle_interval_seconds',
        'node_last_success_timestamp_seconds',
        'unnamed_nodes',
        'set_aside_providers',
        'driver_value',
        'process_virtual_memory_bytes',
        'process_start_time_seconds',
        'process_max_fds',
    }


@pytest.mark.parametrize('panel', PANELS, ids=lambda panel: panel.title)
def test_a_panel_says_what_it_shows_and_in_which_unit(panel):
    assert panel.data['description'].endswith('.')
    assert panel.unit
    assert panel.data['datasource']['uid'] == '${datasource}'
    legends = {label for q in panel.queries for label in _names(q.legend)}
    grouped = {
        label
        for q in panel.queries
        for group in re.findall(r'by \(([^)]*)\)', q.expr)
        for label in group.split(', ')
    }
    assert legends <= grouped | {'instance'}


def _names(legend):
    return re.findall(r'\{\{(\w+)\}\}', legend)


def test_a_panel_turns_red_at_the_limit_of_an_alert():
    (group,) = yaml.safe_load(RULES.read_text())['groups']
    rules = {one['alert']: one['expr'] for one in group['rules']}
    red = {
        one.title: (one, step['value'])
        for one in PANELS
        for step in one.data['fieldConfig']['defaults']['thresholds']['steps']
        if step['color'] == 'red'
    }
    assert red.keys() == ALERTS.keys() | COUNTED
    assert {red[title][1] for title in COUNTED} == {1}
    for title, alert in ALERTS.items():
        panel, limit = red[title]
        assert limit in _numbers(rules[alert]), title
        asked = _metrics(rules[alert]) - {INTERVAL}
        assert asked <= _metrics(panel.queries[0].expr), title


def _numbers(expr):
    """Return the last number of each line: a limit, and not a period."""
    found = re.findall(r'([0-9.]+)(?:\)| \* \w+)?$', expr, re.MULTILINE)
    return {float(number) for number in found}


def _metrics(expr):
    """Return the metrics of a query; parts of a histogram are one."""
    return set(re.findall('compute_agent_[a-z_]+', expr))


def test_no_datasource_job_or_host_is_fixed():
    variables = {one['name']: one for one in BOARD['templating']['list']}
    assert list(variables) == ['datasource', 'job', 'instance']
    found = re.findall(r'"uid": "([^"]+)"', json.dumps(BOARD))
    assert set(found) == {'compute-agent', '${datasource}'}
    assert not re.search(r'(job|instance)=~?\\"(?!\$)', json.dumps(BOARD))


def test_no_panel_covers_another():
    cells = [
        (x, y)
        for one in BOARD['panels']
        for x, y in itertools.product(
            range(
                one['gridPos']['x'], one['gridPos']['x'] + one['gridPos']['w']
            ),
            range(
                one['gridPos']['y'], one['gridPos']['y'] + one['gridPos']['h']
            ),
        )
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) == 23
    ids = [one['id'] for one in BOARD['panels']]
    assert len(ids) == len(set(ids))


def test_the_picture_has_all_panels():
    """``make board-picture`` draws it anew."""
    picture = (board.FILE.parents[2] / 'docs/pictures/board.svg').read_text()
    drawn = {
        html.unescape(text) for text in re.findall('>([^<>]+)</text>', picture)
    }
    assert {one['title'] for one in BOARD['panels']} <= drawn
