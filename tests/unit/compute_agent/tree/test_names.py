# SPDX-License-Identifier: Apache-2.0
"""Names are taken as placement takes them, or refused with a reason."""

import os_resource_classes
import os_traits
import pytest

from compute_agent import error_text, errors
from compute_agent.tree import names

UUID = '5f0b2a3e-9d54-4a0e-8c58-0d3f6f3f2c11'

NO_SYMBOLS = [
    '',
    'hw_cpu',
    'HW-CPU',
    'HW CPU',
    ' VCPU',
    'VCPU\n',
    'CUSTOM_Ä',
    '\N{FULLWIDTH LATIN CAPITAL LETTER A}',
    'A' * 256,
    None,
    7,
    b'VCPU',
    ('VCPU',),
]
NO_UUIDS = [
    '',
    'node1',
    None,
    7,
    UUID[:-1],
    UUID + '0',
    UUID.replace('-', ''),
    '{' + UUID + '}',
    'urn:uuid:' + UUID,
    UUID + '\n',
    UUID.replace('5', '\N{FULLWIDTH DIGIT FIVE}'),
]


@pytest.mark.parametrize('name', ['A', '0', '_', 'VCPU', 'A' * 255])
def test_a_name_within_the_grammar_is_returned(name):
    assert names.check_symbol(name, 'trait') == name


def test_every_standard_name_is_within_the_grammar():
    standard = {*os_traits.get_traits(), *os_resource_classes.STANDARDS}
    assert all(names.check_symbol(n, 'name') for n in standard)


@pytest.mark.parametrize('name', NO_SYMBOLS)
def test_what_is_no_name_is_refused_and_shown(name):
    with pytest.raises(errors.InvalidName) as caught:
        names.check_symbol(name, 'resource class')
    assert str(caught.value).startswith(
        f'resource class {error_text.excerpt(name)} is not a name placement takes: '
        'use 1 to 255 of the characters A-Z, 0-9 and _'
    )


def test_a_refused_name_is_a_value_error():
    with pytest.raises(ValueError, match="trait 'x' is not a name"):
        names.check_symbol('x', 'trait')


@pytest.mark.parametrize(
    'given', [['A', 'B', 'A'], ('B', 'A'), {'A', 'B'}, iter('AB')]
)
def test_traits_come_in_any_collection(given):
    assert names.check_traits(given) == frozenset('AB')


def test_no_traits_are_an_empty_set():
    assert names.check_traits([]) == frozenset()


def test_one_bad_trait_refuses_them_all():
    with pytest.raises(errors.InvalidName, match="trait 'b' is not a name"):
        names.check_traits(['A', 'b'])


@pytest.mark.parametrize('check', [names.check_traits, names.check_aggregates])
@pytest.mark.parametrize('text', ['HW_CPU_X86_AVX2', UUID, ''])
def test_a_bare_string_is_not_taken_for_its_letters(check, text):
    with pytest.raises(
        errors.InvalidName, match='is one string where a collection'
    ):
        check(text)


@pytest.mark.parametrize('check', [names.check_traits, names.check_aggregates])
@pytest.mark.parametrize('given', [None, 7, b'HW_CPU_X86_AVX2', len])
def test_what_is_no_collection_is_refused(check, given):
    with pytest.raises(errors.InvalidName, match=r'is no collection where'):
        check(given)


@pytest.mark.parametrize(
    'check',
    [
        lambda text: names.check_symbol(text, 'trait'),
        lambda text: names.check_uuid(text, 'provider'),
        names.check_provider_name,
        names.check_traits,
    ],
)
@pytest.mark.parametrize('given', ['a' * 5000, 10**5000], ids=['text', 'int'])
def test_what_is_refused_is_shown_in_part(check, given):
    with pytest.raises(errors.InvalidName) as caught:
        check(given)
    assert len(str(caught.value)) < 200


def test_aggregates_are_uuids_in_lower_case():
    assert names.check_aggregates([UUID.upper(), UUID]) == {UUID}


def test_an_aggregate_that_is_no_uuid_is_refused():
    with pytest.raises(errors.InvalidName) as caught:
        names.check_aggregates([UUID, 'rack1'])
    assert str(caught.value) == (
        "aggregate 'rack1' is not a uuid: write it as 32 hexadecimal digits "
        'in five groups'
    )


@pytest.mark.parametrize('text', [UUID, UUID.upper()])
def test_a_uuid_is_spelled_in_lower_case(text):
    assert names.is_uuid(text)
    assert names.check_uuid(text, 'provider') == UUID


@pytest.mark.parametrize('text', NO_UUIDS)
def test_any_other_spelling_is_no_uuid(text):
    assert not names.is_uuid(text)
    with pytest.raises(errors.InvalidName, match=r'provider .* is not a uuid'):
        names.check_uuid(text, 'provider')


@pytest.mark.parametrize('name', ['n', 'n' * 200, 'compute 1', '0000:81:00.0'])
def test_a_provider_may_have_any_name_of_up_to_200_characters(name):
    assert names.check_provider_name(name) == name


@pytest.mark.parametrize('name', ['', 'n' * 201, None, 7, b'node1'])
def test_another_provider_name_is_refused(name):
    with pytest.raises(errors.InvalidName) as caught:
        names.check_provider_name(name)
    assert str(caught.value) == (
        f'provider name {error_text.excerpt(name)} is not one placement takes: use 1 '
        'to 200 characters'
    )


@pytest.mark.parametrize(
    ('name', 'custom'),
    [
        ('CUSTOM_GOLD', True),
        ('CUSTOM__', True),
        ('CUSTOM_', False),
        ('CUSTOM', False),
        ('VCPU', False),
        ('HW_CUSTOM_GOLD', False),
    ],
)
def test_a_custom_name_has_the_prefix_and_more(name, custom):
    assert names.is_custom(name) is custom


def test_no_standard_name_is_custom():
    standard = {*os_traits.get_traits(), *os_resource_classes.STANDARDS}
    assert not any(names.is_custom(n) for n in standard)


@pytest.mark.parametrize(
    ('text', 'name'),
    [
        ('gold', 'CUSTOM_GOLD'),
        ('Gold Plan-2', 'CUSTOM_GOLD_PLAN_2'),
        ('a.-./b', 'CUSTOM_A_B'),
        ('a_b', 'CUSTOM_A_B'),
        ('-a-', 'CUSTOM__A_'),
        ('größe', 'CUSTOM_GR_E'),
        ('baremetal\n', 'CUSTOM_BAREMETAL_'),
        ('CUSTOM_GOLD', 'CUSTOM_CUSTOM_GOLD'),
        ('x' * 248, 'CUSTOM_' + 'X' * 248),
    ],
)
def test_any_text_becomes_a_custom_name(text, name):
    assert names.custom_name(text) == name


@pytest.mark.parametrize('text', ['gold', 'Gold Plan-2', 'a.-./b', 'größe'])
def test_the_custom_name_of_a_class_is_the_one_nova_makes(text):
    nova = os_resource_classes.normalize_name(text)
    assert names.custom_name(text) == nova


@pytest.mark.parametrize('text', ['x' * 249, ''])
def test_text_that_makes_no_name_placement_takes_is_refused(text):
    with pytest.raises(errors.InvalidName, match='is not a name placement'):
        names.custom_name(text)
