# SPDX-License-Identifier: Apache-2.0
"""A flavor file is read whole, or the line that is wrong is named."""

import json

import pytest

from compute_agent import yaml_file
from compute_agent.cmd.candidates import flavor_file


def read(folder, text, name='flavor.yaml'):
    path = folder / name
    path.write_text(text)
    return flavor_file.read(str(path))


def test_json_is_read_as_well(tmp_path):
    text = json.dumps({'vcpus': 2, 'properties': {'resources:VGPU': 1}})
    found = read(tmp_path, text, 'flavor.json')
    assert found.amounts == {'VCPU': 2}
    assert found.properties == {'resources:VGPU': '1'}


def test_the_same_said_twice_is_said_once(tmp_path):
    found = read(
        tmp_path,
        'vcpus: 2\n'
        'resources: {VCPU: 2}\n'
        'extra_specs: {"trait:CUSTOM_A": required}\n'
        'trait:CUSTOM_A: required\n',
    )
    assert found.amounts == {'VCPU': 2}
    assert found.properties == {'trait:CUSTOM_A': 'required'}


@pytest.mark.parametrize(
    ('text', 'line', 'words'),
    [
        ('', 1, 'the file is empty; write resources and extra_specs'),
        ('- VCPU\n', 1, 'a list is wrong here; write resources and extra_spe'),
        ('resource: {}\n', 1, "key 'resource' is unknown here; write resour"),
        (
            'resources:\n  VCPU: two\n',
            2,
            "resources.VCPU: 'two' is wrong here; write a whole number",
        ),
        (
            'resources:\n  MEMORY_MB: 1\n  VCPU: -1\n',
            3,
            'resources.VCPU: -1 is wrong here; write a whole number',
        ),
        ('resources: 2\n', 1, 'write a mapping of resource class to amount'),
        ('resources:\n  vcpu: 2\n', 2, 'did you mean VCPU?'),
        (
            'vcpus: 1\nresources:\n  VCPU: 2\n',
            3,
            'VCPU: 2 here, but 1 in the si',
        ),
        ('vcpus: true\n', 1, 'vcpus: true is wrong here; write a whole numb'),
        ('swap: none\n', 1, "swap: 'none' is wrong here; write a whole numb"),
        (
            'extra_specs:\n\n  trait:CUSTOM_A: [required]\n',
            3,
            'a list is wrong here; write text or a number',
        ),
        (
            'extra_specs:\n  a: b\n  trait:CUSTOM_A: wanted\n',
            3,
            'trait:CUSTOM_A=wanted: write required or forbidden after the',
        ),
        ('trait:CUSTOM a: required\n', 1, "trait 'CUSTOM a' is not a name"),
        ('resources:VCPU: two\n', 1, 'write a whole number after the "="'),
        ('properties:\n  resource:VCPU: 1\n', 2, 'did you mean resources:VC'),
        (
            'extra_specs:\n  resources:VCPU: 1\nresources:VCPU: 2\n',
            3,
            'resources:VCPU has two values: keep one of them',
        ),
        ('vcpus: 1\nvcpus: 2\n', 2, "the key 'vcpus' is given twice"),
    ],
)
def test_what_is_wrong_is_one_line_with_its_place(tmp_path, text, line, words):
    with pytest.raises(yaml_file.FileError) as refused:
        read(tmp_path, text)
    assert refused.value.line == line
    assert words in str(refused.value)
    assert '\n' not in str(refused.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(yaml_file.FileError, match='the file does not exist'):
        flavor_file.read(str(tmp_path / 'none.yaml'))
