# SPDX-License-Identifier: Apache-2.0
"""A file that placement would not take is refused, line by line."""

import jsonschema
import pytest
import wrong_files

from compute_agent import errors, yaml_file
from drivers.tree_file import tree_file

A = '6f0b2b5e-93a1-4c7e-8a54-0d9c6f1f2a3b'


def parsed(text):
    return tree_file.parse(yaml_file.parse(text, 'f.yaml', tree_file.SCHEMA))


@wrong_files.cases('fake_driver')
def test_a_mistake_is_told_in_one_line_with_its_place(text, expected):
    with pytest.raises(errors.ConfigError) as caught:
        parsed(text)
    assert str(caught.value) == expected


def test_a_given_uuid_may_not_be_the_one_made_for_another_root():
    made = parsed('nodes: [{name: A}]\n').nodes['A'].root_uuid
    with pytest.raises(errors.ConfigError) as caught:
        parsed(f'nodes:\n- name: A\n- name: B\n  uuid: {made}\n')
    assert str(caught.value) == (
        f"f.yaml:4: provider uuid '{made}' is already on line 2; give "
        'each provider a uuid of its own'
    )


def test_no_nodes_may_be_said_outright():
    assert parsed('nodes: []\n').nodes == {}


def test_a_total_may_stand_for_the_record():
    file = parsed('nodes: [{name: A, inventories: {VCPU: 8}}]\n')
    assert file.nodes['A'].inventories == {'VCPU': {'total': 8}}


def test_the_uuid_of_a_root_left_out_is_always_the_same():
    one, other = (parsed('nodes: [{name: A}]\n') for _ in range(2))
    assert one.nodes['A'].root_uuid == other.nodes['A'].root_uuid
    assert one.nodes['A'].uuid is None


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(tree_file.SCHEMA)
