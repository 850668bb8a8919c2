# SPDX-License-Identifier: Apache-2.0
"""The table of metrics in docs/monitoring.md is the registry's."""

import pathlib
import re

import pytest
from agents import Clock
from monitored import Monitored

DOCS = pathlib.Path(__file__).parents[3] / 'docs/monitoring.md'
ROW = re.compile(r'\| `(compute_agent_\w+)` \| (\w+) \| ([^|]*?) ?\| (.+) \|')


@pytest.fixture
def families(placement, agent_factory):
    """The metrics of an agent that has sent requests and named a node."""
    clock = Clock()
    agent = agent_factory(
        lambda tree, node: tree.update_traits(node, ['HW_CPU_X86_AVX']),
        clock=clock,
    )
    with Monitored.of(agent, placement, clock, names=1) as one:
        one.cycle()
        yield list(one.metrics.registry.collect())


def test_the_table_of_metrics_is_complete_and_true(families):
    documented = [match.groups() for match in ROW.finditer(DOCS.read_text())]
    assert documented == [
        (
            family.name + '_total' * (family.type == 'counter'),
            family.type,
            ', '.join(
                dict.fromkeys(
                    label
                    for sample in family.samples
                    for label in sample.labels
                    if label != 'le'
                )
            ),
            family.documentation,
        )
        for family in families
    ]


def test_the_number_of_series_is_as_the_page_says(families):
    (least,) = re.findall(r'is bounded: about (\d+)', DOCS.read_text())
    count = sum(len(family.samples) for family in families)
    assert abs(count - int(least)) < 50
