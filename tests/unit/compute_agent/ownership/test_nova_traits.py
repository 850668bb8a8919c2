# SPDX-License-Identifier: Apache-2.0
"""The table of the traits that nova decides."""

import os_traits
import pytest

from compute_agent.ownership import nova_traits

STANDARD = frozenset(os_traits.get_traits())


@pytest.mark.parametrize(
    'name',
    [name for row in nova_traits.TABLE for name in row.traits],
)
def test_each_name_and_prefix_of_the_table_is_standard(name):
    if name.endswith('*'):
        assert any(t.startswith(name[:-1]) for t in STANDARD)
    else:
        assert name in STANDARD


@pytest.mark.parametrize('row', nova_traits.TABLE)
def test_each_row_names_its_release_and_its_place_in_nova(row):
    assert row.since >= '2023.1'
    assert not row.until or row.until >= row.since
    assert row.source.startswith('nova/')


@pytest.mark.parametrize(
    'trait',
    [
        *('COMPUTE_NODE', 'COMPUTE_STATUS_DISABLED', 'COMPUTE_OF_NEXT_YEAR'),
        *('OWNER_NOVA', 'HW_CPU_X86_SSE3', 'HW_CPU_X86_AMXTILE'),
        *('HW_CPU_HYPERTHREADING', 'HW_ARCH_AARCH64', 'HW_CPU_X86_AMD_SEV'),
    ],
)
def test_traits_of_any_release_are_nova_s(trait):
    assert nova_traits.is_novas(trait)


@pytest.mark.parametrize(
    'trait',
    [
        *('CUSTOM_COMPUTE_NODE', 'HW_CPU_X86_PDPE1GB', 'HW_NIC_SRIOV'),
        *('OWNER_CYBORG', 'HW_CPU_AARCH64_SVE', 'STORAGE_DISK_SSD'),
    ],
)
def test_traits_that_no_table_of_nova_has_are_free(trait):
    assert not nova_traits.is_novas(trait)


def test_hardware_traits_say_nothing_of_nova_on_a_child():
    assert not nova_traits.says_nova('HW_CPU_X86_AMD_SEV')
    assert nova_traits.says_nova('COMPUTE_MANAGED_PCI_DEVICE')
