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
