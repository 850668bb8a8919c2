# SPDX-License-Identifier: Apache-2.0
"""Names of traits: standard, custom, and the one that was perhaps meant."""

import os_traits
import pytest

from compute_agent import errors
from report_client.api.values import trait_names


def test_the_standard_traits_are_those_of_os_traits():
    assert trait_names.standard() == set(os_traits.get_traits())
    assert 'HW_CPU_X86_AVX2' in trait_names.standard()
    assert not any(n.startswith('CUSTOM_') for n in trait_names.standard())


@pytest.mark.parametrize('verb', ['add', 'remove'])
def test_a_standard_trait_is_nobody_s_to_add_or_remove(verb):
    with pytest.raises(errors.InvalidName) as raised:
        trait_names.check_custom('HW_CPU_X86_AVX2', verb)
    assert f'cannot {verb} HW_CPU_X86_AVX2: it is a standard trait' in str(
        raised.value
    )


@pytest.mark.parametrize(
    ('name', 'said'),
    [
        ('GOLD', 'cannot add GOLD: custom traits begin with'),
        ('CUSTOM_', 'the name of a custom trait continues after CUSTOM_'),
        ('HW_CPU_X86_AVX22', 'did you mean HW_CPU_X86_AVX2?'),
        ('custom_gold', 'did you mean CUSTOM_GOLD?'),
        ('CUSTOM_GOLD-1', 'did you mean CUSTOM_GOLD_1?'),
        ('', '1 to 255 of the characters'),
        ('CUSTOM_' + 'A' * 249, '1 to 255 of the characters'),
    ],
)
def test_a_name_that_is_not_custom_says_what_to_write(name, said):
    with pytest.raises(errors.InvalidName) as raised:
        trait_names.check_custom(name, 'add')
    assert said in str(raised.value)


@pytest.mark.parametrize('name', ['CUSTOM_A', 'CUSTOM_' + 'A' * 248])
def test_a_custom_name_passes(name):
    assert trait_names.check_custom(name, 'add') == name
    assert trait_names.is_known_here(name)


def test_a_trait_of_another_os_traits_is_not_known_here():
    assert trait_names.is_known_here('HW_CPU_X86_AVX2')
    assert not trait_names.is_known_here('HW_CPU_X86_AVX4096')


@pytest.mark.parametrize(
    ('name', 'meant'),
    [
        ('HW_CPU_X86_AVX22', 'HW_CPU_X86_AVX2'),
        ('hw_cpu_x86_avx2', 'HW_CPU_X86_AVX2'),
        ('HW-CPU-X86-AVX2', 'HW_CPU_X86_AVX2'),
        (' COMPUTE_NODE ', 'COMPUTE_NODE'),
        ('STORAGE_SSD', 'STORAGE_DISK_SSD'),
        ('custom gold', 'CUSTOM_GOLD'),
        ('CUSTOM_GLOD', 'CUSTOM_GOLD'),
        ('AVX512F', 'HW_CPU_X86_AVX512F'),
        ('gold', 'CUSTOM_GOLD'),
        ('KVM', None),
        ('CUSTOM_NONE', None),
        ('WHATEVER', None),
        ('Ω', None),
        ('', None),
    ],
)
def test_the_nearest_name_is_offered_if_it_is_near(name, meant):
    among = {*trait_names.standard(), 'CUSTOM_GOLD', 'CUSTOM_NOVA'}
    assert trait_names.nearest(name, among) == meant


def test_a_name_is_not_offered_in_its_own_place():
    assert trait_names.nearest('CUSTOM_GOLD', {'CUSTOM_GOLD'}) is None
    assert trait_names.did_you_mean('CUSTOM_GOLD') == ''


def test_a_name_too_long_is_offered_as_long_as_names_can_be():
    meant = trait_names.nearest('custom_' + 'a' * 300, ())
    assert meant == 'CUSTOM_' + 'A' * 248


# --- missing names: which can be created, and the hint ------------------------

BOTH = ['CUSTOM_A', 'HW_NEW']


@pytest.mark.parametrize(
    ('create', 'in_the_way'), [(True, ['HW_NEW']), (False, BOTH)]
)
def test_a_standard_name_is_never_created(create, in_the_way):
    found = trait_names.not_creatable(BOTH, create=create)
    assert found == in_the_way
