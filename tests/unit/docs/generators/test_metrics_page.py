# SPDX-License-Identifier: Apache-2.0
"""The page of metrics has all that the program declares of them."""

import pathlib
import re

import pytest

from compute_agent.monitoring.values import declared_metrics
from compute_agent.monitoring.values.declared_metrics import Family
from docs.generators import metrics_page

ROOT = pathlib.Path(__file__).parents[4]
ENTRY = re.compile(
    r'^``(compute_agent_\w+)``\n((?:   .*\n|\n)+)', re.MULTILINE
)
ENTRIES = dict(ENTRY.findall(metrics_page.text() + '\n'))


@pytest.mark.parametrize('one', declared_metrics.ALL, ids=lambda one: one.name)
def test_a_metric_has_an_entry_with_all_that_is_declared(one):
    entry = ENTRIES[one.full_name].replace('\\', '')
    lines = [line.strip() for line in entry.splitlines()]
    assert one.text in lines
    assert f':unit: {one.unit}' in lines
    assert any(line.startswith(f':type: {one.kind.value}') for line in lines)
    assert [
        f':label {label}: {bound}' for label, bound in one.labels.items()
    ] == [line for line in lines if line.startswith(':label ')]


def test_the_page_is_part_of_the_site_and_replaces_the_list():
    page = (ROOT / 'docs/reference/metrics.rst').read_text()
    assert '\n.. metrics::\n' in page
    assert 'reference/metrics' in (ROOT / 'docs/index.md').read_text()
    guide = (ROOT / 'docs/monitoring.md').read_text()
    assert '(reference/metrics.rst)' in guide
    assert not re.search(r'^\| `compute_agent_', guide, re.MULTILINE)


@pytest.mark.parametrize('one', declared_metrics.ALL, ids=lambda one: one.name)
def test_a_unit_is_the_one_in_the_name(one):
    in_name = {
        '_timestamp_seconds': 'seconds since the epoch',
        '_start_time_seconds': 'seconds since the epoch',
        '_bytes': 'bytes',
        '_seconds': 'seconds',
    }
    expected = [
        unit for end, unit in in_name.items() if f'_{one.name}'.endswith(end)
    ]
    assert one.unit == (expected or [one.unit])[0]


def test_words_are_no_markup(monkeypatch):
    one = Family(name='a', unit='u', text='by update_ and *')
    monkeypatch.setattr(declared_metrics, 'SUBJECTS', {'Subject': (one,)})
    assert r'by update\_ and \*' in metrics_page.text()
