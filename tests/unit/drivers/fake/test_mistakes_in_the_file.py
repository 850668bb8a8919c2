# SPDX-License-Identifier: Apache-2.0
"""A file that placement would not take is refused, line by line."""

import jsonschema
import pytest

from compute_agent import errors, yaml_file
from drivers.fake.tree import tree_file

A = '6f0b2b5e-93a1-4c7e-8a54-0d9c6f1f2a3b'

MISTAKES = {
    'nothing at all': (
        '',
        (
            'f.yaml:1: the file is empty; write a mapping with nodes: and a list '
            'of compute nodes'
        ),
    ),
    'no nodes': (
        'authority: []\n',
        (
            'f.yaml:1: the key nodes is missing; add it with a list of compute '
            'nodes, [] for none'
        ),
    ),
    'nodes without a value': (
        'nodes:\n',
        (
            'f.yaml:1: nodes: an empty value is wrong here; write a list of '
            'compute nodes, [] for none'
        ),
    ),
    'a node without a name': (
        f'nodes:\n- uuid: {A}\n',
        (
            'f.yaml:2: nodes[0]: the key name is missing; add it with the name of '
            'the provider as text'
        ),
    ),
    'a node that is no mapping': (
        'nodes:\n- CN1\n',
        (
            "f.yaml:2: nodes[0]: 'CN1' is wrong here; write a provider: a mapping "
            'with a name'
        ),
    ),
    'a number for a name': (
        'nodes:\n- name: 1\n',
        (
            'f.yaml:2: nodes[0].name: 1 is wrong here; write the name of the '
            'provider as text'
        ),
    ),
    'a key without a value': (
        'nodes:\n- uuid: null\n  name: ""\n',
        (
            'f.yaml:2: nodes[0].uuid: an empty value is wrong here; write the '
            'uuid of the provider as text'
        ),
    ),
    'an empty name': (
        'nodes:\n- name: ""\n',
        (
            "f.yaml:2: provider name '' is not one placement takes: use 1 to 200 "
            'characters'
        ),
    ),
    'a uuid that is none': (
        'nodes:\n- name: CN1\n  uuid: CN1\n',
        (
            "f.yaml:3: provider uuid 'CN1' is not a uuid: write it as 32 "
            'hexadecimal digits in five groups'
        ),
    ),
    'a misspelt key': (
        'nodes:\n- name: CN1\n  children:\n  - name: A\n    trait:\n    - B\n',
        (
            "f.yaml:5: nodes[0].children[0]: the key 'trait' is unknown here; "
            'write traits'
        ),
    ),
    'one trait without its list': (
        'nodes:\n- name: CN1\n  traits: CUSTOM_GOLD\n',
        (
            "f.yaml:3: nodes[0].traits: 'CUSTOM_GOLD' is wrong here; write a list "
            'of trait names, or keep'
        ),
    ),
    'a trait outside the grammar': (
        'nodes:\n- name: CN1\n  traits:\n  - CUSTOM_A\n  - custom-b\n',
        (
            "f.yaml:5: trait 'custom-b' is not a name placement takes: use 1 to "
            '255 of the characters A-Z, 0-9 and _'
        ),
    ),
    'an aggregate that is no uuid': (
        f'nodes:\n- name: CN1\n  aggregates:\n  - {A}\n  - agg1\n',
        (
            "f.yaml:5: aggregate 'agg1' is not a uuid: write it as 32 hexadecimal "
            'digits in five groups'
        ),
    ),
    'a resource class outside the grammar': (
        'nodes:\n- name: CN1\n  inventories:\n    vcpu:\n      total: 1\n',
        (
            "f.yaml:4: resource class 'vcpu' is not a name placement takes: use "
            '1 to 255 of the characters A-Z, 0-9 and _'
        ),
    ),
    'inventory as a list': (
        'nodes:\n- name: CN1\n  inventories: [VCPU]\n',
        (
            'f.yaml:3: nodes[0].inventories: a list is wrong here; write a mapping '
            'of resource class to total, or keep'
        ),
    ),
    'a total in words': (
        'nodes:\n- name: CN1\n  inventories:\n    VCPU: many\n',
        (
            "f.yaml:4: nodes[0].inventories.VCPU: 'many' is wrong here; write the "
            'total, or a mapping of inventory fields'
        ),
    ),
    'a record without a total': (
        'nodes:\n- name: CN1\n  inventories:\n    VCPU:\n      reserved: 1\n',
        (
            'f.yaml:5: nodes[0].inventories.VCPU: the key total is missing; add '
            'it with a number'
        ),
    ),
    'an unknown field': (
        (
            'nodes:\n- name: CN1\n  inventories:\n    VCPU:\n      total: 1\n'
            '      reservd: 1\n'
        ),
        (
            "f.yaml:6: nodes[0].inventories.VCPU: the key 'reservd' is unknown "
            'here; write reserved'
        ),
    ),
    'a field that is no number': (
        'nodes:\n- name: CN1\n  inventories:\n    VCPU:\n      total: yes\n',
        (
            'f.yaml:5: nodes[0].inventories.VCPU.total: true is wrong here; write '
            'a number'
        ),
    ),
    'a total of nothing': (
        'nodes:\n- name: CN1\n  inventories: {VCPU: 0}\n',
        (
            'f.yaml:3: inventory of VCPU: total 0 must be a whole number from 1 '
            'to 2147483647; leave out a class whose total is 0'
        ),
    ),
    'more reserved than there is': (
        (
            'nodes:\n- name: CN1\n  inventories:\n    VCPU: 1\n    MEMORY_MB:\n'
            '      total: 1\n      reserved: 2\n'
        ),
        'f.yaml:5: inventory of MEMORY_MB: reserved 2 is more than total 1',
    ),
    'a ratio without end': (
        (
            'nodes:\n- name: CN1\n  inventories:\n'
            '    VCPU: {total: 1, allocation_ratio: .inf}\n'
        ),
        (
            'f.yaml:4: inventory of VCPU: allocation_ratio inf must be a number '
            'from 0 to 3.40282e+38'
        ),
    ),
    'a name used below and again': (
        'nodes:\n- name: CN1\n  children:\n  - name: A\n- name: A\n',
        (
            "f.yaml:5: provider name 'A' is already on line 4; give each "
            'provider a name of its own'
        ),
    ),
    'a name used by a sharing provider': (
        'nodes:\n- name: A\nsharing_providers:\n- name: A\n',
        (
            "f.yaml:4: provider name 'A' is already on line 2; give each "
            'provider a name of its own'
        ),
    ),
    'a uuid used twice, in two spellings': (
        (
            f'nodes:\n- name: A\n  uuid: {A}\n  children:\n  - name: B\n'
            f'    uuid: {A.upper()}\n'
        ),
        (
            f"f.yaml:6: provider uuid '{A}' is already on line 3; give each "
            'provider a uuid of its own'
        ),
    ),
    'a sharing provider with children': (
        'nodes: []\nsharing_providers:\n- name: A\n  children: []\n',
        (
            "f.yaml:4: sharing_providers[0]: the key 'children' is unknown here; "
            'write one of name, uuid, inventories, traits, aggregates, exclusive'
        ),
    ),
    'foreign children in other words': (
        'nodes:\n- name: A\n  foreign_children: keep\n',
        (
            "f.yaml:3: nodes[0].foreign_children: 'keep' is wrong here; write "
            'remove or leave'
        ),
    ),
    'exclusive in other words': (
        'nodes:\n- name: A\n  exclusive: sure\n',
        (
            "f.yaml:3: nodes[0].exclusive: 'sure' is wrong here; write true or "
            'false'
        ),
    ),
    'authority over all traits': (
        "nodes: []\nauthority:\n- CUSTOM_A\n- '*'\n",
        (
            "f.yaml:4: trait '' is not a name placement takes: use 1 to 255 of "
            'the characters A-Z, 0-9 and _'
        ),
    ),
    'a star in the middle': (
        "nodes: []\nauthority: ['HW_*_X']\n",
        (
            "f.yaml:2: trait 'HW_*_X' is not a name placement takes: use 1 to 255 "
            'of the characters A-Z, 0-9 and _'
        ),
    ),
    'authority as one name': (
        'nodes: []\nauthority: CUSTOM_A\n',
        (
            "f.yaml:2: authority: 'CUSTOM_A' is wrong here; write a list of trait "
            'names, or prefixes that end in *'
        ),
    ),
    'the same key twice': (
        'nodes:\n- name: A\n  traits: [CUSTOM_A]\n  traits: [CUSTOM_B]\n',
        (
            "f.yaml:4: the key 'traits' is given twice, first on line 3; keep one "
            'of them'
        ),
    ),
    'several at once': (
        'nodes:\n- name: 1\n- nme: A\n- name: B\n  traits: 7\n',
        (
            'f.yaml:3: nodes[1]: the key name is missing; add it with the name of '
            'the provider as text (and 3 more errors)'
        ),
    ),
}


def parsed(text):
    return tree_file.parse(yaml_file.parse(text, 'f.yaml', tree_file.SCHEMA))


@pytest.mark.parametrize(
    ('text', 'expected'), MISTAKES.values(), ids=MISTAKES.keys()
)
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
