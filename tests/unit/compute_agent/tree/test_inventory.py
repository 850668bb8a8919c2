# SPDX-License-Identifier: Apache-2.0
"""A record is whole and within placement's bounds, or it is not made."""

import fractions

import pytest

from compute_agent import errors
from compute_agent.tree.inventory import MAX_INT, Inventory

INTEGERS = ['total', 'reserved', 'min_unit', 'max_unit', 'step_size']
HINT = '; leave out a class whose total is 0'


def record(**fields):
    return {'total': 8, **fields}


def test_what_a_record_leaves_out_has_placements_defaults():
    assert Inventory.from_record({'total': 8}).to_record() == {
        'total': 8,
        'reserved': 0,
        'min_unit': 1,
        'max_unit': 2147483647,
        'step_size': 1,
        'allocation_ratio': 1.0,
    }


def test_what_a_record_gives_it_keeps():
    given = {
        'total': 8,
        'reserved': 2,
        'min_unit': 2,
        'max_unit': 4,
        'step_size': 2,
        'allocation_ratio': 1.5,
    }
    assert Inventory.from_record(given).to_record() == given


@pytest.mark.parametrize('field', INTEGERS)
@pytest.mark.parametrize('value', [1, 5, MAX_INT])
def test_whole_numbers_up_to_placements_largest_are_taken(field, value):
    fields = {'total': MAX_INT, field: value}
    assert getattr(Inventory.from_record(fields), field) == value


@pytest.mark.parametrize('field', INTEGERS)
@pytest.mark.parametrize(
    'value', [-1, MAX_INT + 1, 1.0, '1', None, True, False, [1]]
)
def test_any_other_number_is_refused_with_its_bounds(field, value):
    with pytest.raises(errors.TreeError) as caught:
        Inventory.from_record(record(**{field: value}))
    low = 0 if field == 'reserved' else 1
    is_int = type(value) is int
    advice = (HINT if field == 'total' else '') if is_int else '; give an int'
    assert str(caught.value) == (
        f'{field} {value!r} must be a whole number from {low} to {MAX_INT}'
        f'{advice}'
    )


def test_a_total_of_none_says_to_leave_the_class_out():
    with pytest.raises(errors.TreeError, match=f'total 0 must be .*{HINT}'):
        Inventory.from_record({'total': 0})


def test_nothing_reserved_is_a_number():
    assert Inventory.from_record(record(reserved=0)).reserved == 0


def test_all_may_be_reserved():
    assert Inventory.from_record(record(reserved=8)).capacity == 0


def test_no_more_than_all_may_be_reserved():
    with pytest.raises(
        errors.TreeError, match='^reserved 9 is more than total 8: to offer'
    ):
        Inventory.from_record(record(reserved=9))


@pytest.mark.parametrize('ratio', [0.1, 1, 16.0, 3.4e38])
def test_a_ratio_is_a_float_from_then_on(ratio):
    made = Inventory.from_record(record(allocation_ratio=ratio))
    assert made.allocation_ratio == ratio
    assert type(made.allocation_ratio) is float


@pytest.mark.parametrize(
    'ratio',
    [
        -0.1,
        float('nan'),
        float('inf'),
        3.5e38,  # placement's schema ends at single precision
        # JSON has integers that no float can hold
        pytest.param(10**400, id='10**400'),
        True,
        '1.0',
        None,
        fractions.Fraction(3, 2),
    ],
)
def test_another_ratio_is_refused(ratio):
    with pytest.raises(errors.TreeError, match=r'^allocation_ratio .* must'):
        Inventory.from_record(record(allocation_ratio=ratio))


def test_a_record_needs_a_total():
    with pytest.raises(
        errors.TreeError,
        match="^an inventory record needs a total: add 'total'",
    ):
        Inventory.from_record({'reserved': 1})


def test_unknown_fields_are_named():
    with pytest.raises(
        errors.TreeError,
        match='^unknown inventory field step, used; the fields',
    ):
        Inventory.from_record(record(used=1, step=2))


@pytest.mark.parametrize('given', [None, 8, 'total', [('total', 8)]])
def test_what_is_no_record_is_refused(given):
    with pytest.raises(
        errors.TreeError, match='is not an inventory record: give a mapping'
    ):
        Inventory.from_record(given)


def test_a_refused_record_is_a_value_error():
    with pytest.raises(ValueError, match='needs a total'):
        Inventory.from_record({})


def test_a_record_is_made_of_plain_numbers():
    made = Inventory(total=8, max_unit=4)
    assert Inventory.from_record(made.to_record()) == made


def test_a_value_does_not_change():
    with pytest.raises(AttributeError):
        Inventory(total=8).total = 9


@pytest.mark.parametrize('digits', [500, 5000])
@pytest.mark.parametrize('field', ['total', 'allocation_ratio'])
def test_a_huge_number_is_refused_without_its_digits(field, digits):
    with pytest.raises(errors.TreeError) as caught:
        Inventory.from_record(record(**{field: 10**digits}))
    assert len(str(caught.value)) < 250


def test_fields_that_are_no_strings_are_named():
    with pytest.raises(
        errors.TreeError, match='^unknown inventory field 7, used; the fields'
    ):
        Inventory.from_record({**record(used=1), 7: 2})


def test_of_many_unknown_fields_some_are_named():
    unknown = dict.fromkeys(('x' * 5000, 10**5000), 1)
    with pytest.raises(errors.TreeError) as caught:
        Inventory.from_record({**record(), **unknown})
    assert len(str(caught.value)) < 200
