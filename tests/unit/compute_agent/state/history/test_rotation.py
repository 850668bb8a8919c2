# SPDX-License-Identifier: Apache-2.0
"""The history stays within its bounds, and so does the file."""

import contextlib

import pytest

from compute_agent.plan.change import Change
from compute_agent.plan.history_entry import Entry, What
from compute_agent.state import state as state_module
from compute_agent.state.history import rotation
from compute_agent.tree import assertion

NODE = '11111111-1111-4111-8111-111111111111'
DAY = 86_400.0
KIB = 1024


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
    assert numbers(state) == [2, 3]
    clock.now += 30 * DAY
    state.history.add([entry(4)])
    assert numbers(state) == [4]


def test_a_clock_that_is_set_back_loses_nothing(state, clock):
    state.history.add([entry(1)])
    clock.now -= 10 * DAY
    state.history.add([entry(2)])
    clock.now += 11 * DAY
    state.history.add([entry(3)])
    assert numbers(state) == [1, 2, 3]


def test_zero_days_are_no_history(state):
    state.history.keep(rotation.Bounds(days=0))
    state.history.add([entry(1)])
    assert numbers(state) == []
