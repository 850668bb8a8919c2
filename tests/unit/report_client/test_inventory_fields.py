# SPDX-License-Identifier: Apache-2.0
"""Fields of inventories as a person writes them."""

import pytest

from compute_agent import errors
from report_client import inventory_fields


@pytest.mark.parametrize(
    ('words', 'fields'),
    [
        ([], {}),
        (['VCPU=8'], {'VCPU': {'total': 8}}),
        (['VCPU:total=8'], {'VCPU': {'total': 8}}),
        (
            ['VCPU=8', 'MEMORY_MB=512', 'VCPU:reserved=1'],
            {'VCPU': {'total': 8, 'reserved': 1}, 'MEMORY_MB': {'total': 512}},
        ),
        (
            ['CUSTOM_X:allocation_ratio=1.5'],
            {'CUSTOM_X': {'allocation_ratio': 1.5}},
        ),
        (['VCPU=-8'], {'VCPU': {'total': -8}}),
    ],
)
def test_fields_are_read(words, fields):
    assert inventory_fields.parse(words) == fields


@pytest.mark.parametrize(
    ('word', 'said'),
    [
        ('VCPU', 'write RC=TOTAL or RC:FIELD=VALUE'),
        ('VCPU:reserved', 'write RC=TOTAL or RC:FIELD=VALUE'),
        ('vcpu=8', "resource class 'vcpu' is not a name"),
        ('=8', "resource class '' is not a name"),
        ('VCPU:spare=8', "has no 'spare'; it has allocation_ratio, max_unit"),
        ('VCPU:=8', "has no ''"),
        ('VCPU=eight', "VCPU: total 'eight' is no whole number"),
        ('VCPU=1.5', 'is no whole number'),
        ('VCPU=', 'is no whole number'),
        ('VCPU:allocation_ratio=much', 'is no number'),
    ],
)
def test_what_is_no_field_is_refused(word, said):
    with pytest.raises(errors.InvalidName, match=said):
        inventory_fields.parse([word])


def test_a_field_is_given_once():
    with pytest.raises(errors.InvalidName, match='VCPU:total is given twice'):
        inventory_fields.parse(['VCPU=8', 'VCPU:total=9'])
