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
