# SPDX-License-Identifier: Apache-2.0
"""What counts as a change of inventory, and as less of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compute_agent.tree.inventory import MAX_INT, Inventory

PLAIN = {'total': 100, 'max_unit': 10}


def ratio(value):
    return Inventory(total=8, allocation_ratio=value)


def one(**fields):
    return Inventory(**{**PLAIN, **fields})


@pytest.mark.parametrize(
    ('driver', 'database'),
    [
        (16.0, 16.0),
        (1.3, 1.2999999523162842),  # 1.3 in single precision
        (16.1, 16.100000381469727),
        (0.123456789, 0.123457),  # six significant digits, as MySQL shows it
        (1234567.0, 1234570.0),
    ],
)
def test_a_databases_rounding_is_no_change(driver, database):
    assert ratio(driver) == ratio(database)
    assert hash(ratio(driver)) == hash(ratio(database))


@pytest.mark.parametrize(
    ('before', 'after'), [(1.0, 1.001), (16.0, 16.01), (0.1, 0.1001), (2, 1)]
)
def test_a_ratio_an_operator_would_write_is_a_change(before, after):
    assert ratio(before) != ratio(after)


@pytest.mark.parametrize(
    'field', ['total', 'reserved', 'min_unit', 'max_unit', 'step_size']
)
def test_one_more_of_any_field_is_a_change(field):
    plain = one(min_unit=5, step_size=5, reserved=5)
    more = one(
        **{
            'min_unit': 5,
            'step_size': 5,
            'reserved': 5,
            field: getattr(plain, field) + 1,
        }
    )
    assert plain != more


def test_an_inventory_equals_no_record():
    assert Inventory(total=8) != {'total': 8}


@pytest.mark.parametrize(
    ('fields', 'capacity'),
    [
        ({}, 100),
        ({'reserved': 10}, 90),
        ({'reserved': 10, 'allocation_ratio': 2.0}, 180),
        ({'reserved': 100, 'allocation_ratio': 2.0}, 0),
    ],
)
def test_capacity_is_what_is_not_reserved_times_the_ratio(fields, capacity):
    assert one(**fields).capacity == capacity


LESS = [
    ('fewer in all', {}, {'total': 99}),
    ('some reserved', {}, {'reserved': 1}),
    ('all reserved', {}, {'reserved': 100}),
    ('a lower ratio', {'allocation_ratio': 2.0}, {'allocation_ratio': 1.9}),
    (
        'more in all and more than that reserved',
        {},
        {'total': 110, 'reserved': 11},
    ),
    (
        'one of very many reserved',
        {'total': 1_000_000},
        {'total': 1_000_000, 'reserved': 1},
    ),
    ('smaller portions', {}, {'max_unit': 9}),
    ('larger least portions', {}, {'min_unit': 2}),
    ('coarser steps', {}, {'step_size': 2}),
    ('steps that miss earlier ones', {'step_size': 3}, {'step_size': 2}),
    ('more, in smaller portions', {}, {'total': 200, 'max_unit': 9}),
    ('more, in larger least portions', {}, {'total': 200, 'min_unit': 2}),
    ('larger portions at both ends', {}, {'min_unit': 2, 'max_unit': 20}),
    ('larger portions in coarser steps', {}, {'step_size': 2, 'max_unit': 20}),
]
NOT_LESS = [
    ('the same', {}, {}),
    ('more in all', {}, {'total': 101}),
    ('less reserved', {'reserved': 2}, {'reserved': 1}),
    ('a higher ratio', {}, {'allocation_ratio': 1.1}),
    (
        'a ratio rounded down by a database',
        {'allocation_ratio': 1.3},
        {'allocation_ratio': 1.2999999523162842},
    ),
    ('larger portions', {}, {'max_unit': 11}),
    ('smaller least portions', {'min_unit': 2}, {}),
    ('finer steps', {'step_size': 4}, {'step_size': 2}),
]


@pytest.mark.parametrize(
    ('before', 'after'),
    [case[1:] for case in LESS],
    ids=[case[0] for case in LESS],
)
def test_what_may_refuse_a_request_it_took_before_offers_less(before, after):
    assert one(**before).limited_to(one(**after)) != one(**before)


@pytest.mark.parametrize(
    ('before', 'after'),
    [case[1:] for case in NOT_LESS],
    ids=[case[0] for case in NOT_LESS],
)
def test_what_takes_every_request_it_took_before_offers_no_less(before, after):
    assert one(**before).limited_to(one(**after)) == one(**before)


small = st.integers(1, 6)
records = st.builds(
    Inventory,
    total=st.just(12),
    reserved=st.integers(0, 12),
    min_unit=small,
    max_unit=st.integers(1, 12),
    step_size=small,
    allocation_ratio=st.sampled_from([1.0, 1.5, 2.0]),
)


def fits(record, used, amount):
    """Whether placement would allocate this amount on top of what is used."""
    return (
        record.min_unit <= amount <= record.max_unit
        and amount % record.step_size == 0
        and used + amount <= record.capacity
    )


@given(records, records, st.integers(0, 24), st.integers(1, 24))
def test_what_is_left_takes_exactly_the_requests_that_both_take(
    before, after, used, amount
):
    left = before.limited_to(after)
    both = fits(before, used, amount) and fits(after, used, amount)
    assert fits(left, used, amount) == both


def test_steps_that_meet_nowhere_within_bounds_stay_a_valid_record():
    coarse = one(step_size=MAX_INT).limited_to(one(step_size=2))
    assert coarse.step_size == MAX_INT
