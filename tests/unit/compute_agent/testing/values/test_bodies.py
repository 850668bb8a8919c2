# SPDX-License-Identifier: Apache-2.0
"""The value inside of an answer is found, and replaced."""

import io
import json

import pytest
import requests

from compute_agent.testing.values import bodies


def response():
    made = requests.Response()
    made.status_code = 200
    made._content = b'{"gpus": [1, 2]}'
    return made


def fewer(value):
    return {'gpus': value['gpus'][:1]}


@pytest.mark.parametrize(
    ('answer', 'read'),
    [
        ('{"gpus": [1, 2]}', json.loads),
        (b'{"gpus": [1, 2]}', json.loads),
        (io.BytesIO(b'{"gpus": [1, 2]}'), json.load),
        (io.StringIO('{"gpus": [1, 2]}'), json.load),
        (response(), lambda answer: answer.json()),
        ({'gpus': [1, 2]}, lambda answer: answer),
    ],
    ids=['text', 'bytes', 'stream', 'text stream', 'requests', 'plain'],
)
def test_the_value_of_an_answer_is_another_one(answer, read):
    assert read(bodies.edited(answer, fewer)) == {'gpus': [1]}


def test_a_yaml_text_keeps_its_order():
    assert bodies.edited('b: 1\na: [1]\n', lambda v: v) == 'b: 1\na:\n- 1\n'


@pytest.mark.parametrize(
    'answer', ['one word', '8\n', '{cut', b'\xff', 'a: 1\na: 2\n', None]
)
def test_an_answer_without_a_structure_is_its_own_value(answer):
    assert bodies.opened(answer)[0] == answer


@pytest.mark.parametrize('text', ['a 1\nb \xe9\n', b'a 1\nb \xe9'])
def test_a_text_of_lines_has_a_list_of_them(text):
    value, closed = bodies.opened(text, by_line=True)
    assert closed(value) == text
    assert value[0] == 'a 1\n'
    assert closed(value[:1]) == text[:4]


def test_a_stream_can_be_looked_at_and_then_read():
    kept = bodies.kept(io.BytesIO(b'a\nb\n'))
    assert bodies.text(kept) == b'a\nb\n'
    with kept as read:
        assert (read.readline(), read.read(1), read.read()) == (
            b'a\n',
            b'b',
            b'\n',
        )
    assert bodies.kept(kept) is kept


def test_a_stream_is_read_line_by_line_or_into_a_buffer():
    assert list(bodies.kept(io.BytesIO(b'a\nb\n'))) == [b'a\n', b'b\n']
    assert bodies.kept(io.BytesIO(b'a\nb')).readlines() == [b'a\n', b'b']
    buffer = bytearray(2)
    assert bodies.kept(io.BytesIO(b'abc')).readinto(buffer) == 2
    assert bodies.kept(io.BytesIO(b'abc')).read1(2) == b'ab'


def test_a_response_keeps_its_other_attributes():
    changed = bodies.edited(response(), fewer)
    assert changed.status_code == 200
    assert bodies.is_response(changed)
    assert not bodies.is_response('text')
