# SPDX-License-Identifier: Apache-2.0
"""Who decides an allocation ratio: forced, placement, initial, else 1.0."""

import itertools

import pytest

from compute_agent.tree import inventory

FORCED = {'VCPU': 2.0}
INITIAL = {'VCPU': 4.0}
HELD = inventory.Inventory(total=8, allocation_ratio=16.0)


def completed(forced=None, current=None, initial=None, rc='VCPU', **fields):
    configured = inventory.Ratios(forced=forced or {}, initial=initial or {})
    return configured.complete(rc, {'total': 8, **fields}, current)


@pytest.mark.parametrize(
    ('forced', 'held', 'initial', 'ratio'),
    [
        (FORCED, HELD, INITIAL, 2.0),
        (FORCED, HELD, None, 2.0),
        (FORCED, None, INITIAL, 2.0),
        (FORCED, None, None, 2.0),
        (None, HELD, INITIAL, 16.0),
        (None, HELD, None, 16.0),
        (None, None, INITIAL, 4.0),
        (None, None, None, 1.0),
    ],
)
def test_a_silent_record_takes_the_first_there_is(
    forced, held, initial, ratio
):
    assert completed(forced, held, initial).allocation_ratio == ratio


@pytest.mark.parametrize(
    ('forced', 'held', 'initial'),
    list(
        itertools.product((None, FORCED), (None, HELD), (None, INITIAL)),
    ),
)
def test_a_ratio_in_the_record_stands_unless_one_is_forced(
    forced, held, initial
):
    made = completed(forced, held, initial, allocation_ratio=1.5)
    assert made.allocation_ratio == (2.0 if forced else 1.5)


def test_another_classes_ratio_is_not_taken():
    assert completed(FORCED, None, INITIAL, 'DISK_GB').allocation_ratio == 1.0


def test_only_the_ratio_is_taken_from_placement():
    held = inventory.Inventory(
        total=8, reserved=2, max_unit=4, allocation_ratio=16.0
    )
    assert completed(current=held) == inventory.Inventory(
        total=8, allocation_ratio=16.0
    )


def test_the_record_itself_stays_as_it_was():
    record = {'total': 8}
    inventory.Ratios().complete('VCPU', record, HELD)
    assert record == {'total': 8}
