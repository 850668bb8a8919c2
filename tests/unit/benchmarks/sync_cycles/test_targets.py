# SPDX-License-Identifier: Apache-2.0
"""What the agent is meant to reach, judged by a run."""

import dataclasses

import measured_cycles as made
import pytest

from benchmarks.sync_cycles import (
    measurement,
    report,
    scenarios,
    targets,
)

THOUSAND = dataclasses.replace(made.FLAT, nodes=1000)


def judged(*measurements, floors=()):
    return {
        target.title: (value, target.is_met(value))
        for target, value in targets.judged(measurements, floors, 'postgresql')
    }


def floor(wall, place=THOUSAND):
    return measurement.Floor(place=place, wall=wall, parse=0.05, length=1)


def ours(scenario='steady', place=THOUSAND, **fields):
    return made.measured(scenario, place=place, **fields)


@pytest.mark.parametrize(('wall', 'met'), [(17.5, True), (17.0, False)])
def test_a_ratio_must_be_at_least_the_limit(wall, met):
    found = judged(ours(), made.nova(place=THOUSAND, wall=wall))
    assert found['steady cycle, wall, nova / ours'] == (2 * wall, met)


@pytest.mark.parametrize(('count', 'met'), [(2, True), (3, False)])
def test_requests_must_be_at_most_the_limit(count, met):
    found = judged(ours(routes={'GET /resource_providers': count}))
    assert found['steady cycle, requests'] == (count, met)


def test_requests_for_names_are_left_out_where_the_limit_is_by_the_node():
    routes = {
        'PUT /resource_providers/{uuid}/traits': 22,
        'PUT /traits/{name}': 1,
        'GET /traits': 1,
    }
    found = judged(ours('trait', routes=routes))
    title = '1 % changed one trait, requests but those for names'
    assert found[title] == (22, True)


@pytest.mark.parametrize(('wall', 'met'), [(6.0, True), (6.1, False)])
def test_ten_times_the_nodes_may_take_twelve_times_as_long(wall, met):
    many = dataclasses.replace(made.FLAT, nodes=10_000)
    found = judged(ours(), ours(place=many, wall=wall))
    title = 'the same, wall by that of 1,000 nodes'
    assert found[title] == (wall / 0.5, met)


@pytest.mark.parametrize(
    ('scenario', 'title', 'met'),
    [('steady', 'steady cycle', False), ('restart', 'restart', True)],
)
def test_a_cycle_is_judged_by_the_quickest_read_of_the_bare_list(
    scenario, title, met
):
    floors = [floor(0.3), floor(0.15), floor(0.4)]
    found = judged(ours(scenario), floors=floors)
    whole = f'1,000 nodes, {title}, wall by the bare list'
    assert found[whole] == (pytest.approx(2.5), met)


def test_what_was_not_measured_is_not_judged():
    assert judged(made.measured()) == {}
    assert not list(targets.judged([ours()], (), 'sqlite'))
    assert not any('bare list' in title for title in judged(ours()))


def test_every_target_is_judged_where_all_was_measured():
    places = [
        THOUSAND,
        dataclasses.replace(THOUSAND, nodes=10_000),
        dataclasses.replace(
            THOUSAND, shape=scenarios.Shape.CROWDED, nodes=100
        ),
        dataclasses.replace(THOUSAND, shape=scenarios.Shape.NESTED, nodes=1),
    ]
    every = [
        made.measured(scenario, agent, place=place)
        for place in places
        for scenario in scenarios.BY_NAME
        for agent in scenarios.AGENTS
    ]
    floors = [floor(0.1, place) for place in places]
    judged = targets.judged(every, floors, 'postgresql')
    found = [target for target, _ in judged]
    assert found == list(targets.TARGETS)


def test_the_report_says_what_was_reached():
    nova = made.nova(place=THOUSAND, wall=1.0)
    text = report.markdown(made.results(ours(), nova), '')
    assert '| steady cycle, requests | most: 2 | 1 | yes |' in text
    assert '| least: 35 | 2 | **no** |' in text
