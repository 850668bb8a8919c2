# SPDX-License-Identifier: Apache-2.0
"""Processors, memory and disk are counted or refused, never guessed."""

import os_resource_classes
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compute_agent import errors
from compute_agent import inventory as agent_inventory
from drivers.libvirt import inventory


def records(*, vcpus=8, memory_mb=16384, disk_gb=100, **reserved):
    return inventory.records(
        vcpus=vcpus,
        memory_mb=memory_mb,
        disk_gb=disk_gb,
        reserved=inventory.Reserved(**reserved),
    )


@pytest.mark.parametrize(
    ('text', 'count'),
    [('0\n', 1), ('0-3\n', 4), ('0-3,5\n', 5), ('0,2,4-7', 6), ('7-7', 1)],
)
def test_a_list_of_processors_is_counted(text, count):
    assert inventory.count_online(text) == count


@pytest.mark.parametrize('text', ['', '\n', '0-', '3-1', 'all', '0,,1', '-1'])
def test_what_is_no_list_of_processors_is_refused(text):
    with pytest.raises(
        errors.DriverError, match='/sys/devices/system/cpu/online says'
    ):
        inventory.count_online(text)


def test_a_missing_list_of_processors_is_refused():
    with pytest.raises(
        errors.DriverError,
        match='/sys/devices/system/cpu/online cannot be read',
    ):
        inventory.count_online(None)


def test_memory_is_whole_mib():
    assert inventory.memory_mib('MemTotal:        2049 kB\n') == 2


@pytest.mark.parametrize(
    'text', [None, '', 'MemFree: 1 kB\n', 'MemTotal: lots kB\n']
)
def test_unreadable_memory_is_refused(text):
    with pytest.raises(errors.DriverError, match='/proc/meminfo'):
        inventory.memory_mib(text)


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
        ('vcpus', 9, 'reserved_host_cpus'),
        ('memory_mb', 16385, 'reserved_host_memory_mb'),
        ('disk_mb', 100 * 1024 + 1, 'reserved_host_disk_mb'),
    ],
)
def test_reserving_more_than_there_is_names_the_option(field, value, option):
    with pytest.raises(errors.DriverError, match=option):
        inventory.records(
            vcpus=8,
            memory_mb=16384,
            disk_gb=100,
            reserved=inventory.Reserved(**{field: value}),
        )


def test_all_may_be_reserved():
    assert records(memory_mb=512)['MEMORY_MB']['reserved'] == 0
    kept = inventory.records(
        vcpus=1,
        memory_mb=512,
        disk_gb=1,
        reserved=inventory.Reserved(memory_mb=512),
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
        found = inventory.records(
            vcpus=vcpus,
            memory_mb=memory_mb,
            disk_gb=disk_gb,
            reserved=inventory.Reserved(
                vcpus=kept, memory_mb=kept, disk_mb=kept
            ),
        )
    except errors.DriverError:
        return
    for record in found.values():
        agent_inventory.Inventory.from_record(record)
