# SPDX-License-Identifier: Apache-2.0
"""Memory is read or refused, never guessed."""

import pytest

from compute_agent import errors
from drivers.libvirt.inventory import memory

MEMINFO = 'MemTotal:        2097151 kB\nHugetlb:          524288 kB\n'
PLAIN = memory.Options()
SUBTRACTING = memory.Options(subtracts_huge_pages=True)


@pytest.mark.parametrize(
    ('libvirt', 'meminfo', 'mib'),
    [
        (None, MEMINFO, 2047),
        (2047, MEMINFO, 2047),
        # Node memory that was not touched yet is missing from libvirt's sum.
        (551, MEMINFO, 2047),
        # A container may show a smaller /proc/meminfo.
        (4096, MEMINFO, 4096),
    ],
)
def test_the_larger_number_counts(libvirt, meminfo, mib):
    assert memory.total_mib(PLAIN, libvirt, meminfo) == mib


@pytest.mark.parametrize(
    'text', [None, '', 'MemFree: 1 kB\n', 'MemTotal: lots kB\n']
)
@pytest.mark.parametrize('libvirt', [None, 2000])
def test_unreadable_memory_is_refused(libvirt, text):
    with pytest.raises(errors.DriverError, match='/proc/meminfo'):
        memory.total_mib(PLAIN, libvirt, text)


def test_huge_pages_are_subtracted_if_the_option_says_so():
    assert memory.total_mib(SUBTRACTING, 2048, MEMINFO) == 2048 - 512


def test_huge_pages_that_cannot_be_read_are_not_guessed():
    with pytest.raises(errors.DriverError, match='Hugetlb'):
        memory.total_mib(SUBTRACTING, 2048, 'MemTotal: 2097152 kB\n')
    with pytest.raises(errors.DriverError, match='cannot be read'):
        memory.total_mib(SUBTRACTING, 2048, None)


def test_memory_in_files_is_the_size_of_the_files():
    files = memory.Options(file_backed_mib=7, subtracts_huge_pages=True)
    assert memory.total_mib(files, 2048, None) == 7


FINE = {'mib': 7, 'reserved_mib': 0, 'ratio': 1.0, 'virt_type': 'kvm'}


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'virt_type': 'lxc'}, 'virt_type = kvm or qemu, not lxc'),
        ({'ratio': 1.5}, 'ram_allocation_ratio = 1.0'),
        ({'ratio': None}, 'ram_allocation_ratio = 1.0'),
        ({'reserved_mib': 512}, 'reserved_host_memory_mb = 0'),
    ],
)
def test_the_conditions_for_memory_in_files_are_nova_s(change, message):
    memory.check_file_backed(**FINE)
    memory.check_file_backed(**FINE | change | {'mib': 0})
    with pytest.raises(errors.ConfigError, match=message):
        memory.check_file_backed(**FINE | change)
