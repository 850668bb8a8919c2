# SPDX-License-Identifier: Apache-2.0
"""Lists of processors are read as nova and the kernel mean them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compute_agent import errors
from drivers.libvirt.inventory import cpus
from drivers.libvirtd import cpusets


@pytest.mark.parametrize(
    ('text', 'numbers'),
    [
        ('0', {0}),
        ('2-5', {2, 3, 4, 5}),
        ('2-5,^4', {2, 3, 5}),
        ('^4,2-5', {2, 3, 5}),
        ('1-8,^3-5', {1, 2, 6, 7, 8}),
        (' 1 , 3 - 4 ,, ^ 3', {1, 4}),
    ],
)
def test_a_set_is_read_as_nova_reads_it(text, numbers):
    assert cpusets.parse(text, cpus.SHARED) == numbers


@pytest.mark.parametrize('text', [None, '', '  '])
def test_an_empty_option_is_not_set(text):
    assert cpusets.parse(text, cpus.SHARED) is None


@pytest.mark.parametrize('text', ['all', '3-1', '-1', '1-', '0x3', '1;2', '²'])
def test_another_text_is_refused(text):
    with pytest.raises(errors.ConfigError, match='cpu_shared_set has '):
        cpusets.parse(text, cpus.SHARED)


@pytest.mark.parametrize('text', ['1,^1', '^2', ','])
def test_a_set_without_processors_is_refused(text):
    with pytest.raises(errors.ConfigError, match='names no processor'):
        cpusets.parse(text, cpus.DEDICATED)


def test_a_typing_error_does_not_fill_the_memory():
    with pytest.raises(errors.ConfigError, match='99999999'):
        cpusets.parse('0-99999999', cpus.SHARED)


@pytest.mark.parametrize(
    ('text', 'numbers'),
    [('0\n', {0}), ('0-2\n', {0, 1, 2}), ('0-1,5\n', {0, 1, 5}), ('7-7', {7})],
)
def test_a_list_of_the_kernel_is_read(text, numbers):
    assert cpusets.from_kernel(text, cpus.ONLINE) == numbers


@pytest.mark.parametrize('text', ['', '\n', '0-', '3-1', 'all', '0,,1', '-1'])
def test_what_is_no_list_of_the_kernel_is_refused(text):
    with pytest.raises(
        errors.DriverError, match='/sys/devices/system/cpu/online contains'
    ):
        cpusets.from_kernel(text, cpus.ONLINE)


def test_a_missing_list_of_the_kernel_is_refused():
    with pytest.raises(errors.DriverError, match='present cannot be read'):
        cpusets.from_kernel(None, cpus.PRESENT)


@given(st.sets(st.integers(0, 300), min_size=1))
def test_listed_numbers_are_read_back(numbers):
    assert cpusets.from_kernel(cpusets.listed(numbers), cpus.ONLINE) == numbers
