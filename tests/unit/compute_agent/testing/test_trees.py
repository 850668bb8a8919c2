# SPDX-License-Identifier: Apache-2.0
"""Trees from plain data, and the data that is refused."""

import pytest

from compute_agent import errors, testing
from compute_agent.tree import provider_tree

AGGREGATE = '0f7f2c51-6a4b-4c0e-8a51-1d1f0e6f2a22'
TEXT = f"""
rack1:
  inventories:
    VCPU: 64
    CUSTOM_POWER: {{total: 3000, allocation_ratio: 1.5}}
  traits: [CUSTOM_RACK]
  aggregates: [{AGGREGATE}]
rack1-nic:
  parent: rack1
"""


def test_a_tree_is_as_placement_holds_it_with_nothing_asserted():
    tree = testing.tree(TEXT)
    rack = tree.data('rack1')
    assert rack.inventory['VCPU']['total'] == 64
    assert rack.inventory['CUSTOM_POWER']['allocation_ratio'] == 1.5
    assert rack.traits == {'CUSTOM_RACK'}
    assert rack.aggregates == {AGGREGATE}
    assert tree.assertions == {}
    assert tree.data('rack1-nic').uuid == provider_tree.derived_uuid(
        rack.uuid, 'rack1-nic'
    )


def test_a_tree_becomes_the_plain_data_that_it_was_made_of(tmp_path):
    file = tmp_path / 'rack.yaml'
    file.write_text(TEXT, 'utf-8')
    tree = testing.tree(file)
    testing.assert_providers(tree, TEXT)
    again = testing.tree(testing.plain_tree(tree))
    assert again.description() == tree.description()


@pytest.mark.parametrize(
    ('data', 'problem'),
    [
        (
            {'rack1': {'trait': ['CUSTOM_A']}},
            "these are no providers: rack1: the key 'trait' is unknown",
        ),
        (
            'rack1: {traits: CUSTOM_A}',
            'these are no providers: the YAML text:1: rack1.traits: ',
        ),
        ({'rack1': {'traits': ['hot']}}, 'rack1: traits: '),
        (
            {'rack1': {'inventories': {'VCPU': 0}}},
            'rack1: inventories: VCPU: total 0 must be a whole number',
        ),
        (
            {'nic': {'parent': 'rack1'}},
            'nic: there is no provider rack1 above it: write the parent',
        ),
        (
            {'rack1': {'traits': object}},
            "these are no providers: <class 'object'> is no plain data",
        ),
    ],
)
def test_wrong_data_is_refused_with_one_line(data, problem):
    with pytest.raises(errors.TreeError) as caught:
        testing.tree(data)
    assert str(caught.value).startswith(problem)
    assert '\n' not in str(caught.value)


def test_an_absent_file_is_refused_with_its_path(tmp_path):
    with pytest.raises(errors.TreeError, match='does not exist'):
        testing.tree(tmp_path / 'none.yaml')
