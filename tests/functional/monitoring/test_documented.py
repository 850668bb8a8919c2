# SPDX-License-Identifier: Apache-2.0
"""The declared metrics, which the documentation lists, are the registry's."""

import pathlib
import re

import memory_leases
import pytest
from agents import Clock
from monitored import Monitored

from compute_agent.monitoring.values import declared_metrics

PAGE = pathlib.Path(__file__).parents[3] / 'docs/monitoring.md'


@pytest.fixture
def registered(placement, agent_factory):
    """The metrics of an agent that has sent requests and named a node."""
    clock = Clock()
    agent = agent_factory(
        lambda tree, node: tree.update_traits(node, ['HW_CPU_X86_AVX']),
        clock=clock,
    )
    lease = memory_leases.member(
        memory_leases.MemoryLeases(), 'one', memory_leases.Uptime()
    )
    with Monitored.of(agent, placement, clock, names=1, lease=lease) as one:
        one.cycle()
        one.metrics.committed(0.1)
        yield list(one.metrics.registry.collect())


def labels(family, name):
    return {
        sample.labels[name]
        for sample in family.samples
        if name in sample.labels
    }


def test_each_metric_is_declared_and_is_what_its_declaration_says(registered):
    assert {
        one.full_name: (one.kind.value, one.text, set(one.labels))
        for one in declared_metrics.ALL
    } == {
        family.name + '_total' * (family.type == 'counter'): (
            family.type,
            family.documentation,
            {label for s in family.samples for label in s.labels} - {'le'},
        )
        for family in registered
    }
    assert len({one.full_name for one in declared_metrics.ALL}) == len(
        declared_metrics.ALL
    )


def test_a_label_has_the_values_of_its_declaration(registered):
    """As far as the declaration lists them."""
    seen = {family.name: family for family in registered}
    compared = 0
    for one in declared_metrics.ALL:
        for label, bound in one.labels.items():
            if label not in {'kind', 'cause', 'state', 'outcome', 'service'}:
                continue
            if one in (declared_metrics.WRITES, declared_metrics.NODE_STATE):
                continue  # in words
            values = labels(seen[f'compute_agent_{one.name}'], label)
            assert values <= set(bound.split(', ')), one.name
            compared += 1
    assert compared >= 9


def test_each_series_has_a_name_of_its_family(registered):
    assert {s.name for family in registered for s in family.samples} == {
        name for one in declared_metrics.ALL for name in one.series
    }


def test_the_number_of_series_is_as_the_page_says(registered):
    (least,) = re.findall(
        r'is bounded:\s+about\s+(\d+)', PAGE.read_text().replace('\n', ' ')
    )
    count = sum(len(family.samples) for family in registered)
    assert abs(count - int(least)) < 50
