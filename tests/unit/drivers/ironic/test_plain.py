# SPDX-License-Identifier: Apache-2.0
"""Text of Ironic's is shown as it is, but for what a terminal would obey."""

import pytest

from drivers.ironic import plain


@pytest.mark.parametrize('text', ['', 'rack1-node01', 'größe 1', "a'b\\c"])
def test_what_is_printable_is_shown_as_it_is(text):
    assert plain.shown(text) == text


@pytest.mark.parametrize(
    ('text', 'shown'),
    [
        ('\x1b[31mred', r'\x1b[31mred'),
        ('a\nb\tc\r', r'a\nb\tc\r'),
        ('größe\x07', r'größe\x07'),
        ('\u202eab', r'\u202eab'),
        ('\udcff', r'\udcff'),
        ('\x9b2J', r'\x9b2J'),
    ],
)
def test_what_is_not_is_shown_as_an_escape(text, shown):
    assert plain.shown(text) == shown
