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
        (RuntimeError('x' * 500), 'x' * 120),
    ],
    ids=str,
)
def test_the_cause_is_the_innermost_word(exc, expected):
    assert error_text.cause(exc) == expected
