# SPDX-License-Identifier: Apache-2.0
"""Processors and memory are counted or refused, never guessed."""

import pytest

from compute_agent import errors
from drivers.libvirt import inventory


@pytest.mark.parametrize(
    ('text', 'count'),
    [('0\n', 1), ('0-3\n', 4), ('0-3,5\n', 5), ('0,2,4-7', 6), ('7-7', 1)],
)
def test_a_list_of_processors_is_counted(text, count):
    assert inventory.count_online(text) == count


@pytest.mark.parametrize('text', ['', '\n', '0-', '3-1', 'all', '0,,1', '-1'])
def test_what_is_no_list_of_processors_is_refused(text):
    with pytest.raises(
        errors.DriverError, match='/sys/devices/system/cpu/online contains'
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
