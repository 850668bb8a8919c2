# SPDX-License-Identifier: Apache-2.0
"""The history stays within its bounds, and so does the file."""

import contextlib
import itertools
import sqlite3

import pytest

from compute_agent import errors
from compute_agent.plan.change import Change
from compute_agent.plan.history_entry import Entry, What
from compute_agent.state import state as state_module
from compute_agent.state.history import rotation
from compute_agent.tree import assertion

NODE = '11111111-1111-4111-8111-111111111111'
DAY = 86_400.0
KIB = 1024
COUNT = 'select total(size) from history'


class Clock:
    now = 1_700_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def state(tmp_path, clock):
    opened = state_module.State.open(tmp_path, 'here')
    opened.history.clock = clock
    with contextlib.closing(opened):
        yield opened


def entry(number, names=30):
    return Entry(
        what=What.TRAITS,
        node_uuid=NODE,
        uuid=NODE,
        provider='cn1',
        changes=tuple(
            Change(
                uuid=NODE,
                kind=assertion.Kind.TRAIT,
                name=f'CUSTOM_{number}_{n}',
                existed=False,
                exists=True,
            )
            for n in range(names)
        ),
        text=str(number),
    )


def numbers(state):
    return [int(past.entry.text) for past in state.history.entries()]


def write(state, begin, end):
    """Write in transactions of a hundred entries."""
    for first in range(begin, end, 100):
        state.history.add(map(entry, range(first, min(first + 100, end))))


def file_size(path):
    return sum(file.stat().st_size for file in path.glob('state.sqlite*'))


def test_far_more_than_the_bound_leaves_the_newest_and_a_bounded_file(
    state, tmp_path
):
    state.history.keep(rotation.Bounds(size=512 * KIB))
    write(state, 0, 2_000)
    first = file_size(tmp_path)
    write(state, 2_000, 8_000)  # some 7 MiB in all
    kept = numbers(state)
    assert kept == list(range(8_000 - len(kept), 8_000))
    assert len(kept) > 200
    assert file_size(tmp_path) <= first + 512 * KIB


def test_what_is_too_old_goes_when_something_is_written(state, clock):
    state.history.keep(rotation.Bounds(days=2))
    state.history.add([entry(1)])
    clock.now += DAY
    state.history.add([entry(2)])
    clock.now += 1.5 * DAY
    assert numbers(state) == [1, 2]
    state.history.add([entry(3)])
    assert numbers(state) == [1, 2, 3]
    clock.now += 0.1 * DAY
    state.history.add([entry(4)])
    assert numbers(state) == [2, 3, 4]
    clock.now += 30 * DAY
    state.history.add([entry(5)])
    clock.now += 0.1 * DAY
    state.history.add([entry(6)])
    assert numbers(state) == [5, 6]


def test_a_clock_far_ahead_for_one_write_drops_nothing(state, clock):
    state.history.add([entry(1)])
    clock.now += 3_650 * DAY
    state.history.add([entry(2)])
    clock.now -= 3_650 * DAY
    state.history.add([entry(3)])
    clock.now += DAY
    state.history.add([entry(4)])
    assert numbers(state) == [1, 2, 3, 4]


def test_one_turn_drops_a_part_and_the_next_ones_the_rest(
    state, clock, monkeypatch
):
    monkeypatch.setattr(rotation, '_MOST', 16 * KIB)
    write(state, 0, 200)
    state.history.keep(rotation.Bounds(size=32 * KIB))
    clock.now += DAY / 2
    left = [200]
    while not left[1:] or left[-1] < left[-2]:
        state.history.add([entry(200 + len(left))])
        left.append(len(numbers(state)))
    dropped = [a - b for a, b in itertools.pairwise(left[:-1])]
    assert len(dropped) > 5
    assert max(dropped) < 25
    assert 10 < left[-1] < 50


def test_one_turn_drops_a_part_of_what_is_too_old(state, clock, monkeypatch):
    monkeypatch.setattr(rotation, '_ROWS', 10)
    write(state, 0, 25)
    clock.now += 200 * DAY
    left = []
    for number in range(100, 105):
        state.history.add([entry(number)])
        left.append(len([n for n in numbers(state) if n < 100]))
        clock.now += 0 if left[1:] else DAY / 12
    assert left == [25, 15, 5, 0, 0]


def test_all_entries_are_counted_once_a_day_only(state, clock, monkeypatch):
    counted = []
    size = rotation._size
    monkeypatch.setattr(
        rotation, '_size', lambda db: counted.append(1) or size(db)
    )
    for number in range(23):
        state.history.add([entry(number)])
        clock.now += DAY / 24
    assert len(counted) == 1
    clock.now += DAY / 12
    state.history.add([entry(23)])
    assert len(counted) == 2


def steps(db, statement):
    """Return the steps of SQLite's plan that touch the history."""
    rows = db.execute(f'explain query plan {statement}').fetchall()
    return [detail for *_, detail in rows if 'history' in detail]


def test_no_statement_of_a_turn_reads_the_whole_table(state, clock):
    """It searches, or it reads the oldest rows up to a number."""
    state.history.keep(rotation.Bounds(days=2, size=32 * KIB))
    write(state, 0, 40)
    sent = []
    with state._database.writing() as db:
        db.set_trace_callback(sent.append)
    clock.now += DAY / 2
    write(state, 40, 60)  # too many
    clock.now += 2 * DAY
    state.history.add([entry(60)])
    clock.now += DAY / 12
    state.history.add([entry(61)])  # too old
    with state._database.writing() as db:
        db.set_trace_callback(None)
        found = {sql: steps(db, sql) for sql in sent if 'from history' in sql}
        counted = found.pop(COUNT)
    assert counted == ['SCAN history']
    assert sent.count(COUNT) == 1  # it is for once a day
    assert len([sql for sql in found if sql.startswith('delete')]) > 1
    for sql, plan in found.items():
        for step in plan:
            is_bounded = step == 'SCAN history' and ' limit ' in sql
            assert is_bounded or step.startswith('SEARCH history'), sql


def test_a_clock_that_is_set_back_loses_nothing(state, clock):
    state.history.add([entry(1)])
    clock.now -= 10 * DAY
    state.history.add([entry(2)])
    clock.now += 11 * DAY
    state.history.add([entry(3)])
    assert numbers(state) == [1, 2, 3]


def fail_after(state, entries):
    for attempt in state.history.transactions():
        with attempt as db:
            state.history.record(db, entries)
            raise sqlite3.OperationalError('database is full')


def test_what_was_rolled_back_does_not_count(state, clock):
    write(state, 0, 50)
    for _ in range(9):
        with pytest.raises(errors.Unavailable):
            fail_after(state, list(map(entry, range(100, 200))))
    state.history.keep(rotation.Bounds(size=256 * KIB))
    clock.now += DAY / 24
    state.history.add([entry(50)])
    assert numbers(state) == list(range(51))


def test_zero_days_are_no_history(state):
    state.history.keep(rotation.Bounds(days=0))
    state.history.add([entry(1)])
    assert numbers(state) == []
