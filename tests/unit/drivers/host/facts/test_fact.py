# SPDX-License-Identifier: Apache-2.0
"""Facts have names that rules can write, and a family may be incomplete."""

import pytest

from drivers.host.facts import fact

RACK = fact.Fact(name='local.rack', value='r12', source='facts.d/rack.yaml')


@pytest.mark.parametrize(
    'name', ['cpu', 'Cpu.flags', 'cpu.flags.avx', 'cpu.', '.flags', 'cpu.a-b']
)
def test_a_name_that_no_rule_can_write_is_refused(name):
    with pytest.raises(ValueError, match='is not the name of a fact'):
        fact.Fact(name=name, value=1, source='/proc/cpuinfo')


def _in_lists(levels):
    value = 1
    for _ in range(levels):
        value = (value,)
    return value


@pytest.mark.catches('a value of any size reaches the library of the rules')
@pytest.mark.parametrize(
    ('value', 'why'),
    [
        (1 << 64, 'it is not from -9223372036854775808 to 18446744073709551615'),
        (-(1 << 63) - 1, 'it is not from -9223372036854775808 to'),
        ((1, 16**5000), 'it is not from'),
        ('x' * 1_000_001, 'it has more than 1000000 characters and items'),
        ((1,) * 1_000_001, 'it has more than 1000000 characters and items'),
        ({'x' * 1_000_001: 1}, 'it has more than 1000000 characters and'),
        (_in_lists(9), 'it has lists in lists in more than 8 levels'),
        (_in_lists(100_000), 'it has lists in lists in more than 8 levels'),
    ],
)  # fmt: skip
def test_a_value_that_is_too_large_for_a_rule_is_unknown(value, why):
    """The library of the rules ends the process for some of them."""
    found = fact.Fact(name='local.x', value=value, source='x')
    assert found.unknown.startswith(why)
    assert found.value is None


@pytest.mark.parametrize(
    'value', [(1 << 64) - 1, -(1 << 63), 'x' * 1_000_000, _in_lists(8), True]
)
def test_the_largest_values_are_known(value):
    assert not fact.Fact(name='local.x', value=value, source='x').unknown


def test_a_fact_has_a_family_and_an_attribute():
    assert (RACK.family, RACK.attribute) == ('local', 'rack')


def test_a_fact_that_is_not_listed_does_not_exist():
    facts = fact.Facts(facts={RACK.name: RACK}, devices={})
    assert facts.get('local.rack') is RACK
    assert facts.get('local.row') is None


def test_a_fact_that_an_incomplete_family_may_have_is_unknown():
    facts = fact.Facts(
        facts={RACK.name: RACK},
        devices={},
        incomplete={'local': 'facts.d/row.yaml is a symbolic link'},
    )
    assert facts.get('local.rack') is RACK
    row = facts.get('local.row')
    assert row is not None
    assert row.unknown == 'facts.d/row.yaml is a symbolic link'
    assert facts.get('cpu.flags') is None
