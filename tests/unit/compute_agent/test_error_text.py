# SPDX-License-Identifier: Apache-2.0
"""Why a request got no answer, in a few words."""

import pytest
from keystoneauth1 import exceptions

from compute_agent import error_text


def wrapped(inner, outer):
    try:
        try:
            raise inner
        except type(inner) as exc:
            raise outer from exc
    except type(outer) as exc:
        return exc


@pytest.mark.parametrize(
    ('seconds', 'said'),
    [
        (0.4, '0 s'),
        (119, '119 s'),
        (120, '2 min'),
        (3599, '1 h 0 min'),
        (90_000, '25 h 0 min'),
    ],
)
def test_a_duration_is_in_seconds_minutes_or_hours(seconds, said):
    assert error_text.duration(seconds) == said


def test_request_ids_are_left_out_of_a_comparison():
    one = 'req-0f1c2d3e-1111-4222-8333-444455556666'
    assert (
        error_text.without_request_ids(f'HTTP 400: no [{one}]; {one} again')
        == 'HTTP 400: no; again'
    )


ONE_ID = 'req-0f1c2d3e-1111-4222-8333-444455556666'


@pytest.mark.parametrize(
    ('found', 'shown'),
    [
        ('', ''),
        (ONE_ID, f' [{ONE_ID}]'),
        (ONE_ID.upper().replace('REQ', 'req'), None),
        ('req-0123456789abcdef0123456789abcdef', None),
        ('12345', ' [request id 12345]'),
        ('a] b [c', ' [request id a b [c]'),
        ('x' * 99, f' [request id {"x" * 60}]'),
    ],
)
def test_an_id_of_any_shape_is_recognized_in_a_message(found, shown):
    message = f'HTTP 500: no{error_text.request_id(found)}'
    assert error_text.without_request_ids(message) == 'HTTP 500: no'
    assert shown is None or error_text.request_id(found) == shown


@pytest.mark.parametrize('text', ['CUSTOM_req-1', 'my-req-host', '[DEFAULT]'])
def test_a_name_is_no_request_id(text):
    assert error_text.without_request_ids(text) == text


@pytest.mark.parametrize(
    ('exc', 'expected'),
    [
        (OSError('[Errno 111] Connection refused'), 'Connection refused'),
        (
            exceptions.ConnectFailure(
                'Unable to establish: [Errno -2] Name or service not known'
            ),
            'Name or service not known',
        ),
        (
            exceptions.ConnectTimeout('Request to x timed out'),
            'no answer in time',
        ),
        (wrapped(OSError('the end'), RuntimeError('outer')), 'the end'),
        (RuntimeError(), 'RuntimeError'),
        (RuntimeError('a\n b'), 'a b'),
        (RuntimeError('x' * 500), 'x' * 117 + '...'),
    ],
    ids=str,
)
def test_the_cause_is_the_innermost_word(exc, expected):
    assert error_text.cause(exc) == expected


def test_the_end_of_an_iterator_is_no_cause():
    exc = wrapped(StopIteration(0), ValueError('no JSON'))
    assert error_text.cause(exc) == 'no JSON'


def test_a_short_or_misspelled_name_of_a_host_means_the_host():
    known = ['cn1.example.com', 'cn2.example.com', 'CN3']
    for word, meant in (
        ('cn2', 'cn2.example.com'),
        ('cn2.example.org', 'cn2.example.com'),
        ('cn3', 'CN3'),
        ('cn2example.com', 'cn2.example.com'),
        ('cn02.example.com', 'cn2.example.com'),
    ):
        assert error_text.similar_hosts(word, known) == [meant]
    for other in ('storage', 'cn4.example.com'):
        assert error_text.similar_hosts(other, known) == []
