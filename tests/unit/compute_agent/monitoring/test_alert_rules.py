# SPDX-License-Identifier: Apache-2.0
"""The alert rules name metrics that exist, and headings that say what to do."""

import pathlib
import re

import pytest
import yaml

from compute_agent.monitoring.values import declared_metrics

ROOT = pathlib.Path(__file__).parents[4]
FILE = ROOT / 'etc/prometheus/compute-agent.rules.yaml'
PAGE = (ROOT / 'docs/monitoring.md').read_text()
# What is declared; a functional test compares it with the registry.
METRICS = {name for one in declared_metrics.ALL for name in one.series}
OTHERS = {'up', 'node_textfile_mtime_seconds'}  # Prometheus', node_exporter's
(GROUP,) = yaml.safe_load(FILE.read_text())['groups']
RULES = GROUP['rules']


@pytest.mark.parametrize('rule', RULES, ids=lambda rule: rule['alert'])
def test_an_alert_asks_for_metrics_that_exist(rule):
    words = set(re.findall(r'[a-z]\w+(?=[\s{)\[])', f'{rule["expr"]}\n'))
    asked = {w for w in words if '_' in w or w in OTHERS}
    assert asked
    assert asked <= METRICS | OTHERS


@pytest.mark.parametrize('rule', RULES, ids=lambda rule: rule['alert'])
def test_an_alert_says_what_happened_and_what_to_do(rule):
    notes = rule['annotations']
    assert {'summary', 'description', 'runbook_url'} <= notes.keys()
    name = rule['alert']
    assert notes['runbook_url'] == f'docs/monitoring.md#{name.lower()}'
    assert f'\n### {name}\n\n' in PAGE
    assert rule['labels']['severity'] in {'warning', 'critical'}


def test_each_heading_of_an_alert_has_its_rule():
    headings = re.findall(r'^### (ComputeAgent\w+)$', PAGE, re.MULTILINE)
    assert headings == [rule['alert'] for rule in RULES]
