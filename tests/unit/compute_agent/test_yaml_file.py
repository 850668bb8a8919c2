# SPDX-License-Identifier: Apache-2.0
"""An operator's file is read as a whole, or refused in one helpful line."""

import os
import pickle

import pytest
import wrong_files
import yaml

from compute_agent import errors, yaml_file

SCHEMA = {
    'description': 'a mapping with hosts',
    'type': 'object',
    'required': ['hosts'],
    'additionalProperties': False,
    'properties': {
        'hosts': {
            'type': 'array',
            'description': 'a list of hosts',
            'items': {
                'type': 'object',
                'required': ['name'],
                'additionalProperties': False,
                'properties': {
                    'name': {'type': 'string', 'description': 'a name'},
                    'cores': {'type': 'integer', 'maximum': 512},
                    'size': {
                        'description': 'small, or a number of disks',
                        'anyOf': [{'const': 'small'}, {'type': 'integer'}],
                    },
                    'limits': {
                        'anyOf': [
                            {'type': 'integer'},
                            {
                                'type': 'object',
                                'additionalProperties': False,
                                'properties': {'most': {'type': 'integer'}},
                            },
                        ]
                    },
                    'labels': {
                        'type': 'object',
                        'patternProperties': {'^x-': {}},
                        'additionalProperties': False,
                    },
                    'never': False,
                },
            },
        }
    },
}


def said(text, schema=SCHEMA):
    with pytest.raises(yaml_file.FileError) as caught:
        yaml_file.parse(text, 'f.yaml', schema)
    return str(caught.value)


@wrong_files.cases('schema')
def test_a_breach_of_the_schema_is_told_with_its_line_and_a_remedy(
    text, expected
):
    assert said(text) == expected


@wrong_files.cases('unusable')
def test_what_is_no_usable_yaml_is_refused_with_its_line(text, expected):
    told = said(text)
    assert told.startswith(expected)
    assert len(told.splitlines()) == 1


REMEDIES = [
    ('hosts:\n\t- name: a\n', 'indent with spaces; quote text that begins so'),
    (
        'hosts:\n- name: a: b\n',
        'quote text that holds ": ", or fix the indentation',
    ),
    (
        'hosts: *h\n',
        'define its anchor above, or quote text that begins *',
    ),
    ('a: &x 1\nb: &x 2\n', 'give each anchor a name of its own'),
    ('a: !x 1\n', 'remove the tag, or quote the text'),
    ('a: "b\n', 'close the quotation'),
    ('a: [b\n', 'close the bracket, or add the comma'),
    ('a: {b\n', 'close the bracket, or add the comma'),
    ('- a\nb: 1\n', 'fix the indentation or the punctuation here'),
]


@pytest.mark.parametrize(('text', 'remedy'), REMEDIES)
def test_a_slip_of_the_syntax_comes_with_what_to_do(text, remedy):
    told = said(text)
    assert told.endswith(f'; {remedy}')


@pytest.mark.parametrize(('text', 'remedy'), REMEDIES)
def test_the_parser_written_in_python_is_understood_as_well(
    text, remedy, monkeypatch
):
    monkeypatch.setattr(yaml_file, '_LOADER', yaml.SafeLoader)
    told = said(text)
    assert told.startswith('f.yaml:')
    assert told.endswith(f'; {remedy}')


def test_aliases_that_multiply_are_refused_before_they_are_unfolded():
    lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]']
    for i in range(1, 12):
        copies = ', '.join([f'*a{i - 1}'] * 10)
        lines.append(f'a{i}: &a{i} [{copies}]')
    told = said('\n'.join(lines))
    assert (
        'aliases repeat more than 1000000 values or characters so far; use '
        'fewer aliases'
    ) in told


def test_aliases_that_multiply_a_text_are_refused():
    copies = ', '.join(['*a'] * 100)
    told = said(f'a: &a {"x" * 20_000}\nb: [{copies}]\n')
    assert told.startswith('f.yaml:1: aliases repeat more than 1000000 ')


@pytest.mark.parametrize(
    'number', ['18446744073709551616', f'-0x{"f" * 5000}', '9:' * 999 + '9']
)
def test_a_whole_number_that_no_program_holds_is_refused(number):
    """Python prints none of more than 4,300 digits."""
    told = said(f'a: {number}\n')
    assert f"the number '{number[:20]}" in told
    assert told.endswith(
        'is too large; write one from -9223372036854775808 to '
        '18446744073709551615'
    )


def test_aliases_that_deepen_each_other_are_refused():
    lines = ['a0: &a0 ' + '[' * 60 + ']' * 60]
    lines.append('a1: ' + '[' * 60 + '*a0' + ']' * 60)
    assert said('\n'.join(lines)) == (
        'f.yaml:1: this is nested deeper than 100 levels; write it flatter'
    )


def test_the_deepest_nesting_allowed_fits_the_stack():
    schema = {'anyOf': [{'type': 'array', 'items': {'$ref': '#'}}]}
    text = '[' * yaml_file.MAX_DEPTH + ']' * yaml_file.MAX_DEPTH
    yaml_file.parse(text, 'f.yaml', schema)


def test_aliases_and_merged_keys_are_honest_yaml():
    text = 'hosts:\n- &a {name: a, cores: 1}\n- <<: *a\n  name: b\n- *a\n'
    document = yaml_file.parse(text, 'f.yaml', SCHEMA)
    assert document.data['hosts'] == [
        {'name': 'a', 'cores': 1},
        {'name': 'b', 'cores': 1},
        {'name': 'a', 'cores': 1},
    ]
    assert document.line('hosts', 1, 'name') == 4
    assert document.line('hosts', 1, 'cores') == 2


def test_a_document_knows_the_lines_of_its_values_and_keys():
    text = 'hosts:\n- name: a\n  labels:\n    x-a: 1\n'
    document = yaml_file.parse(text, 'f.yaml', SCHEMA)
    place = ('hosts', 0, 'labels')
    assert document.line() == 1
    assert document.line(*place) == 4
    assert document.key_line(*place) == 3
    assert str(document.error('no', *place)) == 'f.yaml:4: no'
    assert str(document.key_error('no', *place)) == 'f.yaml:3: no'


@pytest.mark.parametrize(
    'beyond', [('cores',), ('name', 0), ('name', 'x'), ('labels', 'x-b')]
)
def test_a_place_that_is_not_there_has_the_line_of_what_is_around(beyond):
    text = 'hosts:\n- {name: a, labels: {}}\n'
    document = yaml_file.parse(text, 'f.yaml', SCHEMA)
    assert document.line('hosts', 0, *beyond) == 2
    assert document.line('hosts', 5) == 2


def test_a_file_that_fits_is_read(tmp_path):
    path = tmp_path / 'f.yaml'
    path.write_bytes('\ufeffhosts:\r\n- name: Zürich\r\n'.encode())
    document = yaml_file.read(str(path), SCHEMA)
    assert document.data == {'hosts': [{'name': 'Zürich'}]}
    assert document.line('hosts', 0) == 2
    assert document.path == str(path)


def told_of(path):
    with pytest.raises(errors.ConfigError) as caught:
        yaml_file.read(str(path), SCHEMA)
    return str(caught.value).removeprefix(str(path))


def test_a_missing_file_is_told(tmp_path):
    assert told_of(tmp_path / 'f.yaml') == (
        ': the file does not exist; create it or correct the path'
    )


def test_a_directory_is_told(tmp_path):
    assert told_of(tmp_path) == (
        ': this is a directory; give the path of a file in it'
    )


def test_a_file_below_a_file_is_told(tmp_path):
    (tmp_path / 'f').touch()
    assert told_of(tmp_path / 'f' / 'g') == (
        ': it cannot be read (Not a directory); correct the path'
    )


def test_a_file_one_may_not_read_is_told(monkeypatch, tmp_path):
    # The tests may run as root, whom no mode keeps out.
    def refuse(path, *_how):
        raise PermissionError(13, 'Permission denied', path)

    monkeypatch.setattr(os, 'open', refuse)
    assert told_of(tmp_path / 'f.yaml') == (
        ': permission denied; give this user the right to read it'
    )


def test_another_encoding_is_told_with_its_line(tmp_path):
    path = tmp_path / 'f.yaml'
    path.write_bytes('hosts:\n- name: Zürich\n'.encode('latin-1'))
    assert told_of(path) == ':2: byte 0xfc is not UTF-8; save it as UTF-8'


def test_a_schema_without_words_still_gives_one_line():
    assert said('', {}) == 'f.yaml:1: the file is empty'
    schema = {'type': 'object', 'required': ['a']}
    assert said('b: 1', schema) == 'f.yaml:1: the key a is missing; add it'
    assert said('[]', schema) == "f.yaml:1: [] is not of type 'object'"
    told = said(f'[{"x" * 500}]', schema)
    assert len(told) < 220


def test_an_error_keeps_its_parts_and_travels_between_processes():
    error = yaml_file.FileError('f.yaml', 3, 'no')
    again = pickle.loads(pickle.dumps(error))
    assert (again.path, again.line, again.problem) == ('f.yaml', 3, 'no')
    assert str(again) == 'f.yaml:3: no'
