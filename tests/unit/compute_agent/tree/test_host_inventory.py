# SPDX-License-Identifier: Apache-2.0
"""A host's inventory is made of its counts, and refused where it cannot be."""

import os_resource_classes
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compute_agent import errors
from compute_agent.tree import host_inventory, inventory


def records(*, vcpus=8, memory_mb=16384, disk_gb=100, **reserved):
    return host_inventory.records(
        vcpus=vcpus,
        memory_mb=memory_mb,
        disk_gb=disk_gb,
        reserved=host_inventory.Reserved(**reserved),
    )


def test_a_record_gives_all_but_the_ratio():
    assert records()['VCPU'] == {
        'total': 8,
        'reserved': 0,
        'min_unit': 1,
        'max_unit': 8,
        'step_size': 1,
    }


def test_disk_is_reserved_in_gib_rounded_up():
    assert records(disk_mb=1)['DISK_GB']['reserved'] == 1
    assert records(disk_mb=1024)['DISK_GB']['reserved'] == 1
    assert records(disk_mb=1025)['DISK_GB']['reserved'] == 2


def test_a_class_of_which_there_is_none_is_left_out():
    assert set(records(disk_gb=0, disk_mb=5)) == {'VCPU', 'MEMORY_MB'}


@pytest.mark.parametrize(
    ('field', 'value', 'option'),
    [
        ('cpus', 9, 'reserved_host_cpus'),
        ('memory_mb', 16385, 'reserved_host_memory_mb'),
        ('disk_mb', 100 * 1024 + 1, 'reserved_host_disk_mb'),
    ],
)
def test_reserving_more_than_there_is_names_the_option(field, value, option):
    with pytest.raises(errors.DriverError, match=option):
        host_inventory.records(
            vcpus=8,
            memory_mb=16384,
            disk_gb=100,
            reserved=host_inventory.Reserved(**{field: value}),
        )


def test_all_may_be_reserved():
    assert records(memory_mb=512)['MEMORY_MB']['reserved'] == 0
    kept = host_inventory.records(
        vcpus=1,
        memory_mb=512,
        disk_gb=1,
        reserved=host_inventory.Reserved(memory_mb=512),
    )
    assert kept['MEMORY_MB']['reserved'] == 512


def test_the_classes_are_standard_ones():
    assert set(records()) <= set(os_resource_classes.STANDARDS)


@given(
    vcpus=st.integers(0, 4096),
    memory_mb=st.integers(0, 2**31 - 1),
    disk_gb=st.integers(0, 2**31 - 1),
    kept=st.integers(0, 4096),
)
def test_every_record_is_one_placement_takes(vcpus, memory_mb, disk_gb, kept):
    try:
        found = host_inventory.records(
            vcpus=vcpus,
            memory_mb=memory_mb,
            disk_gb=disk_gb,
            reserved=host_inventory.Reserved(
                cpus=kept, memory_mb=kept, disk_mb=kept
            ),
        )
    except errors.DriverError:
        return
    for record in found.values():
        inventory.Inventory.from_record(record)
