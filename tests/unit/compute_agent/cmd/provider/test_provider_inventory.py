# SPDX-License-Identifier: Apache-2.0
"""Fields of inventories as a person writes them."""

import pytest

from compute_agent import errors
from compute_agent.cmd.provider import provider_change, provider_inventory


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
        (
            ['VCPU:allocation_ratio=.5', 'DISK_GB:allocation_ratio=1e2'],
            {
                'VCPU': {'allocation_ratio': 0.5},
                'DISK_GB': {'allocation_ratio': 100.0},
            },
        ),
    ],
)
def test_fields_are_read(words, fields):
    assert provider_inventory.parse_fields(words) == fields


@pytest.mark.parametrize(
    ('word', 'said'),
    [
        ('VCPU', 'write RC=TOTAL or RC:FIELD=VALUE'),
        ('VCPU:reserved', 'write RC=TOTAL or RC:FIELD=VALUE'),
        ('vcpu=8', "resource class 'vcpu' is not a name"),
        ('=8', "resource class '' is not a name"),
        ('VCPU:spare=8', "has no 'spare'; it has allocation_ratio, max_unit"),
        ('VCPU:=8', "has no ''"),
        ('VCPU=eight', "VCPU: total 'eight' is not a whole number"),
        ('VCPU=1.5', 'is not a whole number'),
        ('VCPU=', 'is not a whole number'),
        ('VCPU:allocation_ratio=much', 'is not a number'),
        ('VCPU:allocation_ratio=nan', 'is not a number'),
        ('VCPU:allocation_ratio=1_0', 'is not a number'),
        ('VCPU=٣', 'is not a whole number'),
        ('VCPU=1_000', 'is not a whole number'),
        ('VCPU= 16 ', 'is not a whole number'),
        ('VCPU=' + '9' * 20, 'longer than any whole number'),
        ('VCPU=' + '9' * 5000, 'longer than any whole number'),
        ('VCPU:allocation_ratio=' + '9' * 5000, 'longer than any number'),
        ('V' * 5000, 'write RC=TOTAL'),
        ('VCPU:' + 'f' * 5000 + '=1', "has no 'ffff"),
        ('VCPU=' + 'n' * 5000, 'is not a whole number'),
    ],
)
def test_what_is_no_field_is_refused(word, said):
    with pytest.raises(errors.InvalidName, match=said) as raised:
        provider_inventory.parse_fields([word])
    assert len(str(raised.value)) < 250


def test_a_bare_string_is_no_collection():
    with pytest.raises(errors.InvalidName, match='is one string where'):
        provider_inventory.parse_fields('VCPU=8')


def test_a_field_is_given_once():
    with pytest.raises(errors.InvalidName, match='VCPU:total is given twice'):
        provider_inventory.parse_fields(['VCPU=8', 'VCPU:total=9'])


@pytest.mark.parametrize(
    ('missing', 'hint'),
    [
        (['HW_NEW'], ''),
        (['CUSTOM_A', 'HW_NEW'], '; --create creates CUSTOM_A'),
        (['CUSTOM_A'], '; --create creates it'),
        (['CUSTOM_A', 'CUSTOM_B'], '; --create creates them'),
    ],
)
def test_what_create_would_create_is_said(missing, hint):
    assert provider_change.create_hint(missing) == hint
