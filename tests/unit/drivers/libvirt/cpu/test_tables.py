# SPDX-License-Identifier: Apache-2.0
"""The tables name every trait once, and spell each source's words."""

import inspect

import cpuinfo.cpuinfo
import os_traits
import pytest

from drivers.libvirt.cpu import cpu_traits

CPU_ROWS = [row for rows in cpu_traits.ROWS.values() for row in rows]


def test_every_cpu_trait_has_a_row_or_a_reason():
    rows = [row.trait for row in CPU_ROWS]
    assert sorted([*rows, *cpu_traits.NOT_REPORTABLE]) == sorted(
        os_traits.get_traits('HW_CPU_')
    )


def test_every_architecture_trait_has_a_row():
    rows = [row.trait for row in cpu_traits.ARCH_TRAITS]
    assert rows == sorted(os_traits.get_traits('HW_ARCH_'))


@pytest.mark.parametrize('family', cpu_traits.ROWS)
def test_rows_are_sorted_and_unique(family):
    traits = [row.trait for row in cpu_traits.ROWS[family]]
    assert traits == sorted(set(traits))


def test_families_and_reasons_are_sorted():
    assert list(cpu_traits.ROWS) == sorted(cpu_traits.ROWS)
    assert list(cpu_traits.NOT_REPORTABLE) == sorted(cpu_traits.NOT_REPORTABLE)


def test_every_reason_is_words():
    assert all(' ' in text for text in cpu_traits.NOT_REPORTABLE.values())


def test_values_are_always_tuples_of_words():
    for row in CPU_ROWS:
        for column in (row.kernel, row.pycpuinfo, row.libvirt, row.vendors):
            assert isinstance(column, tuple)
            assert all(word and ' ' not in word for word in column)
    for row in cpu_traits.ARCH_TRAITS:
        assert isinstance(row.machines, tuple)
        assert row.machines


def test_no_machine_name_has_two_traits():
    machines = [m for row in cpu_traits.ARCH_TRAITS for m in row.machines]
    assert len(machines) == len(set(machines))


def test_every_family_is_of_a_machine_with_an_architecture_trait():
    machines = [m for row in cpu_traits.ARCH_TRAITS for m in row.machines]
    families = {cpu_traits.family(m) for m in machines} - {None}
    assert families == set(cpu_traits.ROWS) - {cpu_traits.ANY}


def test_every_row_has_something_to_look_at():
    assert all(
        row.kernel or row.switch or (row.libvirt and row.hidden)
        for row in CPU_ROWS
    )


def test_py_cpuinfo_decodes_every_word_of_its_column():
    source = inspect.getsource(cpuinfo.cpuinfo.CPUID.get_flags)
    words = {word for row in CPU_ROWS for word in row.pycpuinfo}
    assert {word for word in words if f"'{word}'" not in source} == set()


def test_only_x86_asks_py_cpuinfo():
    asking = [f for f in cpu_traits.ROWS if cpu_traits.asks_pycpuinfo(f)]
    assert asking == [cpu_traits.X86]
    assert not cpu_traits.asks_pycpuinfo(None)
