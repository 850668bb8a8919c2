# SPDX-License-Identifier: Apache-2.0
"""The published schema of the protocol is the one that the driver checks by."""

import json
import pathlib

import jsonschema
import pytest

from compute_agent import yaml_file
from drivers.exec import answers

DOCS = pathlib.Path(__file__).parents[4] / 'docs'


def test_the_published_schema_is_that_of_the_driver():
    published = json.loads((DOCS / 'exec-protocol.json').read_text())
    assert published == answers.PROTOCOL, (
        'write drivers.exec.answers.PROTOCOL to docs/exec-protocol.json'
    )


def test_it_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(answers.PROTOCOL)


@pytest.mark.parametrize('text', ['', '\n', ' \n\n', '\x85', '\u2028x'])
def test_no_answer_at_all_is_one_line(text):
    with pytest.raises(yaml_file.FileError) as caught:
        answers.read_list(text, 'PROGRAM list')
    assert 'is not the answer; print only that on' in str(caught.value)
    assert str(caught.value).isprintable()


def test_what_only_json_has_is_read():
    text = '{"version": 1, "nodes": [{"name": "a", "title": "\\ud83d\\ude00",'
    found = answers.read_list(f'{text} "facts": [1e5, 2]}}]}}', 'PROGRAM list')
    assert found['a'].title == '\U0001f600'
    assert found['a'].facts == [100000.0, 2]


def test_a_number_of_too_many_digits_is_one_line():
    with pytest.raises(yaml_file.FileError, match='has too many digits'):
        answers.read_list(f'{{"version": {"1" * 5000}}}', 'PROGRAM list')


@pytest.mark.parametrize('call', ['info', 'list'])
def test_a_question_fits_its_schema(call):
    asked = json.loads(answers.question(call))
    schema = {**answers.PROTOCOL, '$ref': f'#/$defs/{call}_question'}
    jsonschema.validate(asked, schema)


def test_the_example_of_the_manual_fits_its_schema():
    text = (DOCS / 'exec-driver.md').read_text()
    example = json.loads(text.split('```json\n')[1].split('```')[0])
    schema = {**answers.PROTOCOL, '$ref': '#/$defs/describe_answer'}
    jsonschema.validate(example, schema)
