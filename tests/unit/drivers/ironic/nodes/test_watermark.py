# SPDX-License-Identifier: Apache-2.0
"""A walk reads down to the mark and the overlap, and no further."""

import dataclasses
import datetime as dt

import pytest

from compute_agent import errors
from drivers.ironic.nodes import answers, watermark

BEGIN = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
UPDATED = watermark.UPDATED


def at(seconds):
    return BEGIN + dt.timedelta(seconds=seconds)


def mark(newest, **fields):
    time = None if newest is None else at(newest)
    fields = {'seen': 0.0, 'read': 0.0, **fields}
    return watermark.Mark(newest=time, **fields)


def walk(before=None, now=100.0, most=1000):
    return watermark.Walk(UPDATED, before, overlap=10.0, now=now, most=most)


@pytest.fixture
def page(make_row):
    def page(*times, more=True):
        rows = []
        for number, time in enumerate(times, 1):
            text = None if time is None else at(time).isoformat()
            rows.append(make_row(number, updated_at=text))
        return answers.Page(
            rows=rows, marker=rows[-1]['uuid'] if more else None
        )

    return page


def fed(made, *pages):
    """Return what the walk asked for, once it has taken the pages."""
    asked = []
    for one in pages:
        asked.append(made.ask)
        made.add(made.ask, one)
    return asked


def test_the_first_walk_reads_the_newest_time(page):
    made = walk()
    (asked,) = fed(made, page(50))
    assert asked == watermark.Ask(limit=1)
    assert made.ask is None
    assert made.moved(None, 101.0, 10.0) == mark(50, seen=101.0, read=100.0)


def test_the_overlap_is_read_until_the_mark_stood_still_for_as_long(page):
    before = mark(50, seen=80.0, read=90.0)
    made = walk(before)
    _, second = fed(made, page(50), page(49, 41, 39))
    assert second.marker
    assert made.ask is None
    after = made.moved(before, 101.0, 10.0)
    assert after == mark(50, seen=80.0, read=100.0, rows=4)
    made = walk(after, now=105.0)
    fed(made, page(50))
    assert made.ask is None
    still = dataclasses.replace(after, rows=2)
    assert made.moved(after, 106.0, 10.0) == still


def test_a_mark_that_was_not_read_since_is_read_again(page):
    """A walk a minute later has not read what appeared in that minute."""
    made = walk(mark(50, seen=30.0, read=30.0), now=100.0)
    fed(made, page(50))
    assert made.ask is not None


def test_a_new_time_is_read_down_to_the_mark_before(page):
    before = mark(50, seen=0.0, read=90.0)
    made = walk(before)
    asked = fed(made, page(60), page(58, 55, 50), page(45, 40, 39.9))
    assert [one.limit for one in asked] == [1, 4, 8]
    assert made.ask is None
    assert len(made.found) == 3  # the rows of these pages have the same uuids
    after = made.moved(before, 101.0, 10.0)
    # 60, 58 and 55 came since; these and 50 are within the overlap, 45 is not.
    assert after == mark(60, seen=101.0, read=100.0, rows=8)


def test_a_mark_that_may_move_is_read_with_the_rows_that_are_likely():
    """So most walks need one page while something changes."""
    busy = mark(50, seen=95.0, read=95.0, rows=7, nulls=2)
    assert walk(busy).ask == watermark.Ask(limit=9)
    assert walk(busy, most=5).ask == watermark.Ask(limit=5)
    still = dataclasses.replace(busy, read=105.1)
    assert walk(still).ask == watermark.Ask(limit=3)


@pytest.mark.catches('a new node that shows late is not read')
def test_no_node_was_created_while_the_last_one_is_the_same():
    still = mark(50, seen=80.0, read=90.1, last='u')
    assert still.is_quiet('u', 10.0)
    assert not still.is_quiet('v', 10.0)
    assert not still.is_quiet(None, 10.0)
    assert not still.is_quiet('u', 20.0)  # one may yet appear below it


def test_a_time_at_the_end_of_the_overlap_is_read(page):
    made = walk(mark(50))
    fed(made, page(50), page(40))
    assert made.ask is not None


def test_the_end_of_the_list_ends_the_walk(page):
    made = walk(mark(50))
    fed(made, page(50, more=False))
    assert made.ask is None


def test_rows_without_a_time_at_the_end_end_the_walk(page):
    made = walk(mark(50))
    fed(made, page(51), page(51, None, None))
    assert made.ask is None
    made = walk(mark(None))
    fed(made, page(51), page(None, None))
    assert made.ask is None


def test_a_list_without_any_time_has_no_newest(page):
    made = walk(mark(None))
    asked = fed(made, page(None), page(None))
    assert asked[1] == watermark.Ask(limit=1, ascending=True)
    assert made.ask is None
    assert made.moved(mark(None), 101.0, 10.0).newest is None


def test_rows_without_a_time_that_come_first_are_read_with_the_first_page(
    page,
):
    """No page begins behind one: Ironic would leave out rows with a time."""
    made = walk()
    nulls = [None] * 16
    pages = (page(None), page(7), page(*nulls[:4]), page(*nulls, 50, 49))
    asked = fed(made, *pages)
    assert [one.limit for one in asked] == [1, 1, 4, 32]
    assert {one.marker for one in asked} == {None}
    after = made.moved(None, 101.0, 10.0)
    assert after == mark(50, seen=101.0, read=100.0, nulls=16)
    assert walk(after).ask == watermark.Ask(limit=17)


def test_too_many_rows_without_a_time_end_the_walk(page):
    made = walk(mark(50, nulls=4), most=5)
    fed(made, page(*[None] * 5))
    assert made.ask is None
    assert made.gave_up == (
        '5 nodes have no updated_at, and this Ironic lists them first'
    )
    made = walk(mark(50, nulls=4), most=50)
    fed(made, page(None, None))  # this Ironic has shorter pages
    assert made.gave_up


def test_many_changes_end_the_walk(page):
    made = walk(mark(50), most=5)
    fed(made, page(90), page(89, 88, 87, 86, 85))
    assert made.ask is None
    assert made.gave_up == 'more than 5 nodes have changed'


@pytest.mark.parametrize(
    ('newest', 'went_back'), [(49, True), (50, False), (51, False)]
)
def test_an_older_newest_time_is_noticed(page, newest, went_back):
    made = walk(mark(50))
    fed(made, page(newest, more=False))
    assert made.went_back(mark(50)) is went_back
    assert not made.went_back(mark(None))
    assert not made.went_back(None)


def test_a_list_that_lost_all_times_went_back(page):
    made = walk(mark(50))
    fed(made, page(None, more=False))
    assert made.went_back(mark(50))


@pytest.mark.catches('a page that is not sorted is believed')
@pytest.mark.parametrize(
    'times', [(50, 51), (None, 50, None, 49), (50, None, 49)]
)
def test_a_page_that_is_not_sorted_is_unknown(page, times):
    with pytest.raises(errors.UnknownState, match='not sorted by updated_at'):
        fed(walk(), page(*times))


@pytest.mark.parametrize(
    'value', ['', 'yesterday', 7, True, ['2026-01-01'], '2026-13-01']
)
def test_a_row_with_no_time_is_unknown(make_row, value):
    rows = [make_row(updated_at=value)]
    with pytest.raises(
        errors.UnknownState, match='a node with the updated_at'
    ):
        fed(walk(), answers.Page(rows=rows))
    with pytest.raises(
        errors.UnknownState, match='a node with the updated_at'
    ):
        fed(walk(), answers.Page(rows=[make_row()]))


@pytest.mark.parametrize(
    'text',
    [
        '2026-01-01T00:00:07',
        '2026-01-01T00:00:07+00:00',
        '2026-01-01T02:00:07+02:00',
    ],
)
def test_a_time_without_a_zone_is_utc(make_row, text):
    assert answers.time_of({UPDATED: text}, UPDATED) == at(7)


def test_times_at_the_ends_of_time_are_no_error(make_row):
    least = '0001-01-01T00:00:00'
    most = '9999-12-31T23:59:59'
    made = walk(
        watermark.Mark(
            newest=dt.datetime.max.replace(tzinfo=dt.UTC), seen=0, read=0
        )
    )
    rows = [make_row(1, updated_at=most), make_row(2, updated_at=least)]
    fed(made, answers.Page(rows=rows, marker='x'))
    assert made.ask is None
    with pytest.raises(errors.UnknownState):
        answers.time_of({UPDATED: f'{least}+14:00'}, UPDATED)
