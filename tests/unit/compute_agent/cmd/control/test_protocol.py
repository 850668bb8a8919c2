# SPDX-License-Identifier: Apache-2.0
"""The lines of the control socket: what is sent is read, all else refused."""

import json

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from compute_agent import errors
from compute_agent.cmd.control import protocol

REQUEST = protocol.Request(
    command=protocol.Command.APPROVE,
    nodes=('cn1', 'кн2'),
    digests=('0123456789abcdef', 'fedcba9876543210'),
    person='alice',
)


def test_a_request_is_read_as_it_was_sent():
    line = protocol.request_line(REQUEST)
    assert line.count(b'\n') == 1
    assert line.endswith(b'\n')
    assert protocol.request(line) == REQUEST


def test_an_answer_is_read_as_it_was_sent():
    sent = protocol.Answer(kind=protocol.Kind.HELD, data={'a': ['\n', 1.5]})
    line = protocol.answer_line(sent)
    assert line.count(b'\n') == 1
    assert protocol.answer(line) == sent


def test_later_fields_are_ignored():
    fields = json.loads(protocol.request_line(REQUEST)) | {'later': {}}
    assert protocol.request(json.dumps(fields).encode()) == REQUEST


@pytest.mark.parametrize(
    ('change', 'why'),
    [
        ({'version': 1}, 'other version 1: restart the daemon'),
        ({'version': None}, 'other version None'),
        ({'command': 'halt'}, "does not know the command 'halt'; it knows"),
        ({'command': ['status']}, 'does not know the command'),
        ({'nodes': 'cn1'}, '"nodes" of a request is a list of names'),
        ({'nodes': [1]}, '"nodes" of a request has a word that is no text'),
        ({'nodes': ['x' * 1001]}, 'at most 1000 characters'),
        ({'nodes': ['x'] * 100_001}, 'is a list of names'),
        ({'digests': None}, '"digests" of a request is a list'),
        ({'person': {}}, '"person" of a request has'),
    ],
)
def test_a_wrong_field_is_one_line_that_names_it(change, why):
    fields = json.loads(protocol.request_line(REQUEST)) | change
    with pytest.raises(errors.Refused) as refused:
        protocol.request(json.dumps(fields).encode())
    assert why in str(refused.value)
    assert '\n' not in str(refused.value)


@pytest.mark.parametrize(
    'line',
    [
        b'',
        b'\n',
        b'GET / HTTP/1.1\r\n',
        b'\xff\xfe\n',
        b'[]\n',
        b'1\n',
        b'[' * 100_000,
        b'{"version": ' + b'1' * 10_000 + b'}',
    ],
)
def test_what_is_no_request_is_refused(line):
    with pytest.raises(errors.Refused):
        protocol.request(line)
    with pytest.raises(errors.Refused):
        protocol.answer(line)


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
@settings(max_examples=examples(500))
def test_any_bytes_are_a_request_or_refused(line):
    try:
        assert isinstance(protocol.request(line), protocol.Request)
    except errors.Refused as refused:
        lines = str(refused).splitlines()
    else:
        return
    assert len(lines) == 1


@pytest.mark.parametrize(
    'fields',
    [{'kind': 'later', 'data': {}}, {'kind': 'status', 'data': []}],
)
def test_an_answer_of_another_kind_is_refused(fields):
    line = json.dumps({'version': protocol.VERSION, **fields}).encode()
    with pytest.raises(errors.Refused, match='gave a line without'):
        protocol.answer(line)


def test_too_many_names_for_one_request_are_said_by_the_command():
    request = protocol.Request(
        command=protocol.Command.CYCLE, nodes=('x' * 900,) * 2000
    )
    with pytest.raises(errors.ConfigError, match='give fewer nodes at a time'):
        protocol.request_line(request)


def test_an_answer_that_is_too_long_becomes_an_error(monkeypatch):
    monkeypatch.setattr(protocol, 'MOST_SAID', 200)
    sent = protocol.Answer(kind=protocol.Kind.STATUS, data={'a': 'x' * 200})
    assert protocol.answer(protocol.answer_line(sent)) == protocol.failed(
        'the answer is too long; name some nodes'
    )
