# SPDX-License-Identifier: Apache-2.0
"""Times as a person writes them."""

import datetime as dt

import pytest

from compute_agent import errors
from compute_agent.cmd import history

NOW = dt.datetime(2026, 11, 23, 10, 30, tzinfo=dt.UTC).timestamp()


def at(text):
    return dt.datetime.fromisoformat(f'{text}+00:00').timestamp()


@pytest.mark.parametrize(
    ('text', 'begin', 'end'),
    [
        ('2h', '2026-11-23 08:30', '2026-11-23 08:30'),
        ('90 min', '2026-11-23 09:00', '2026-11-23 09:00'),
        ('1w', '2026-11-16 10:30', '2026-11-16 10:30'),
        ('today', '2026-11-23', '2026-11-24'),
        ('Yesterday', '2026-11-22', '2026-11-23'),
        ('2026-11-22', '2026-11-22', '2026-11-23'),
        ('2026-11-22 10:15', '2026-11-22 10:15', '2026-11-22 10:15'),
        ('2026-11-22T10:15:30Z', '2026-11-22 10:15:30', '2026-11-22 10:15:30'),
        ('2026-11-22T12:15+02:00', '2026-11-22 10:15', '2026-11-22 10:15'),
    ],
)
def test_a_time_has_a_beginning_and_an_end(text, begin, end):
    assert history.since(text, NOW) == at(begin)
    assert history.until(text, NOW) == at(end)


@pytest.mark.parametrize(
    'text', ['', 'soon', '2', '2 years', '2026-13-01', '9999999h']
)
def test_what_is_no_time_is_refused_in_one_line(text):
    with pytest.raises(errors.ConfigError, match='is no time: give "2h"'):
        history.since(text, NOW)


def test_a_moment_is_shown_in_utc():
    assert history.shown(NOW) == '2026-11-23 10:30:00Z'
