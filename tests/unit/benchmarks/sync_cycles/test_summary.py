# SPDX-License-Identifier: Apache-2.0
"""What the runs of one case come to."""

import dataclasses

import measured_cycles as made
import pytest

from benchmarks.sync_cycles import scenarios, summary


def cells(*measurements):
    return summary.cells(measurements, made.FLAT)


def test_the_median_is_not_moved_by_one_slow_run():
    runs = [made.measured(wall=wall) for wall in (0.4, 0.5, 60.0)]
    (cell,) = cells(*runs).values()
    assert (cell.count, cell.wall) == (3, 0.5)
    assert (cell.least, cell.most) == (0.4, 60.0)


def test_requests_are_those_of_all_routes():
    routes = {'GET /a': 2, 'PUT /b': 3}
    (cell,) = cells(made.measured(routes=routes)).values()
    assert (cell.requests, cell.routes) == (5, routes)


def test_what_was_measured_elsewhere_is_not_mixed_in():
    elsewhere = dataclasses.replace(made.FLAT, nodes=1)
    other = made.measured(place=elsewhere, wall=9.0)
    one = made.measured()
    assert cells(one, other)['steady', scenarios.OURS].wall == 0.5
    assert summary.places([one, other, one]) == [made.FLAT, elsewhere]


def test_a_ratio_is_how_many_times_as_much_nova_takes():
    found = cells(made.measured(cpu=0.1), made.nova(wall=5.0, cpu=0.3))
    assert summary.ratio(found, 'steady') == 10
    assert summary.ratio(found, 'steady', 'cpu') == pytest.approx(3)


@pytest.mark.parametrize(
    'measurements',
    [
        [made.measured()],
        [made.nova()],
        [made.measured(wall=0.0), made.nova()],
        [made.measured('restart'), made.nova('steady')],
    ],
)
def test_there_is_no_ratio_without_both(measurements):
    assert summary.ratio(cells(*measurements), 'steady') is None


def test_of_sixty_cycles_an_hour_twelve_ask_for_more_and_one_reads_all():
    found = cells(
        made.measured('steady', routes={'list': 2}),
        made.measured('stale', routes={'list': 3}),
        made.measured('full_read', routes={'list': 302}),
    )
    hourly = [
        summary.requests_an_hour(found, scenarios.OURS, slow_reads=slow)
        for slow in (True, False)
    ]
    assert hourly == [47 * 2 + 12 * 3 + 302, 48 * 2 + 12 * 3]


def test_nova_reads_all_twelve_times_an_hour():
    found = cells(
        made.nova('steady', routes={'any': 100}),
        made.nova('stale', routes={'any': 600}),
    )
    hourly = [
        summary.requests_an_hour(found, scenarios.NOVA, slow_reads=slow)
        for slow in (True, False)
    ]
    assert hourly == [48 * 100 + 12 * 600, 6000]


def test_an_hour_is_unknown_where_a_kind_of_cycle_was_not_measured():
    found = cells(
        made.measured('steady'), made.measured('stale'), made.nova('stale')
    )
    asked = summary.requests_an_hour
    assert asked(found, scenarios.OURS, slow_reads=True) is None
    assert asked(found, scenarios.OURS, slow_reads=False) == 60
    assert asked(found, scenarios.NOVA, slow_reads=False) is None
