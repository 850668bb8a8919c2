# SPDX-License-Identifier: Apache-2.0
"""The report of a run: tables for people, data for a file, and a plot."""

import dataclasses
import json
from xml.etree import ElementTree as ET

import measured_cycles as made
import pytest

from benchmarks.sync_cycles import measurement, plot, report, scenarios

SVG = '{http://www.w3.org/2000/svg}'


def rows(text, agent):
    """Return the cells of this agent's rows, without the scenario."""
    lines = [line for line in text.splitlines() if f'| {agent} |' in line]
    return [[c.strip() for c in line.split('|')[2:-1]] for line in lines]


def bars(text):
    """Return the widths of the bars in a plot, those of a colour each."""
    found = {colour: [] for colour in plot.COLOURS.values()}
    for one in ET.fromstring(text).iter(f'{SVG}rect'):
        is_legend = one.get('y') == '12'
        if one.get('fill') in found and not is_legend:
            found[one.get('fill')].append(float(one.get('width')))
    return found


def test_results_survive_the_file():
    floor = measurement.Floor(
        place=made.FLAT, wall=0.02, parse=0.003, length=4096
    )
    failure = measurement.Failure(group='this one', why='it ended')
    before = made.results(
        made.measured(), made.nova(), floors=[floor], failures=[failure]
    )
    data = json.loads(json.dumps(before.data()))
    assert measurement.Results.parsed(data) == before


def test_a_place_is_a_group_s_cloud():
    group = scenarios.Group(
        database='postgresql',
        shape=scenarios.Shape.FLAT,
        nodes=100,
        agent=scenarios.OURS,
        repeat=2,
    )
    assert measurement.Place.of(group) == made.FLAT


def test_a_row_has_what_a_cycle_took_and_ours_the_ratios():
    text = report.markdown(
        made.results(made.measured(), made.nova(wall=5.0, cpu=1.0)), 'a.svg'
    )
    (nova,), (ours,) = (rows(text, agent) for agent in scenarios.AGENTS)
    assert nova[1:4] == ['1', '5 s', '5 s to 5 s (1)']
    assert ours[1:4] == ['1', '500 ms', '500 ms to 500 ms (1)']
    assert [nova[4], *nova[5:8]] == ['1 s', '200 ms', '50 ms', '80 MiB']
    assert (nova[8:], ours[8:]) == (['', ''], ['10x', '10x'])
    assert '![Wall time and requests](a.svg)' in text
    assert '* machine: a small one' in text


def test_every_line_of_a_table_has_as_many_cells():
    text = report.markdown(made.results(made.measured(), made.nova()), '')
    counts = {x.count('|') for x in text.splitlines() if x.startswith('| ')}
    assert counts == {12}


def test_who_was_not_measured_has_no_row_and_no_ratio():
    text = report.markdown(made.results(made.measured()), '')
    assert rows(text, scenarios.NOVA) == []
    assert rows(text, scenarios.OURS)[0][-2:] == ['', '']


def test_a_failure_stands_before_the_tables():
    failure = measurement.Failure(group='nova, 1', why='placement said 500')
    text = report.markdown(
        made.results(made.measured(), failures=[failure]), ''
    )
    where = text.index('**Not measured**: nova, 1: `placement said 500`')
    assert where < text.index('## 100 nodes')


def test_the_floor_is_the_least_of_the_runs_and_the_cycle_a_multiple():
    floors = [
        measurement.Floor(place=made.FLAT, wall=w, parse=0.05, length=2048)
        for w in (0.2, 0.9)
    ]
    text = report.markdown(made.results(made.measured(), floors=floors), '')
    assert '(2 KiB) in 200 ms' in text
    assert 'parsing it takes 50 ms. A steady cycle takes 2 times' in text


def test_a_floor_needs_a_steady_cycle_to_be_compared_with():
    floor = measurement.Floor(place=made.FLAT, wall=1, parse=1, length=1)
    first = made.measured('first')
    text = report.markdown(made.results(first, floors=[floor]), '')
    assert 'The floor' not in text


def test_requests_an_hour_follow_where_they_are_known():
    text = report.markdown(
        made.results(
            made.measured('steady'),
            made.measured('stale', routes={'any': 2}),
            made.measured('full_read', routes={'any': 301}),
            made.nova('steady'),
        ),
        '',
    )
    assert '| compute-agent | 372 | 72 |' in text
    assert '| nova | ' not in text.partition('requests an hour')[2]


def test_the_routes_of_each_cycle_are_listed():
    text = report.markdown(made.results(made.nova()), '')
    assert '* steady cycle, nova: 1 `GET /resource_providers`' in text


@pytest.mark.parametrize(
    ('place', 'title'),
    [
        (made.FLAT, '100 nodes, postgresql'),
        (
            dataclasses.replace(
                made.FLAT, shape=scenarios.Shape.NESTED, nodes=1
            ),
            '1 node of 50 providers, nested, postgresql',
        ),
        (
            dataclasses.replace(made.FLAT, shape=scenarios.Shape.CROWDED),
            '100 nodes in a cloud of 50,000 providers, postgresql',
        ),
    ],
)
def test_a_place_has_a_title(place, title):
    assert report.title(place) == title


@pytest.mark.parametrize(
    ('value', 'text'),
    [(0.01234, '0.0123'), (1.2345, '1.23'), (12.345, '12.3'), (8023, '8,023')],
)
def test_numbers_have_the_digits_that_count(value, text):
    assert report.number(value) == text


def test_the_plot_compares_the_largest_cloud_that_both_did():
    small = dataclasses.replace(made.FLAT, nodes=1)
    large = dataclasses.replace(made.FLAT, nodes=10000)
    nested = dataclasses.replace(made.FLAT, shape=scenarios.Shape.NESTED)
    drawn = plot.svg(
        made.results(
            made.measured(),
            made.nova(),
            *(made.measured(place=p) for p in (small, large, nested)),
            *(made.nova(place=p) for p in (small, nested)),
        )
    )
    assert '>100 nodes, postgresql<' in drawn


def test_a_bar_is_as_long_as_the_logarithm_of_its_value():
    drawn = plot.svg(
        made.results(
            made.measured(wall=0.1, routes={'a': 1}),
            made.nova(wall=10.0, routes={'a': 100}),
        )
    )
    found = bars(drawn)
    ours = found[plot.COLOURS[scenarios.OURS]]
    nova = found[plot.COLOURS[scenarios.NOVA]]
    assert ours == [1, 1]  # the least there is, and still to be seen
    assert nova == [260, 260]


def test_a_cycle_without_requests_is_drawn_too():
    drawn = plot.svg(made.results(made.measured(routes={}), made.nova()))
    assert len(bars(drawn)[plot.COLOURS[scenarios.OURS]]) == 2


def test_a_scenario_that_one_did_has_one_bar():
    drawn = plot.svg(
        made.results(made.measured(), made.nova(), made.measured('full_read'))
    )
    found = bars(drawn)
    assert len(found[plot.COLOURS[scenarios.OURS]]) == 4
    assert len(found[plot.COLOURS[scenarios.NOVA]]) == 2


def test_a_plot_of_nothing_says_so():
    assert 'nothing to compare' in plot.svg(made.results(made.measured()))
