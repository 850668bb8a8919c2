# SPDX-License-Identifier: Apache-2.0
"""What was refused is shown, but never more of it than a line has room for."""

import pytest

from compute_agent import error_text


@pytest.mark.parametrize(
    'value', ['', 'CUSTOM_GOLD', 'a\nb', 'x' * 60, 7, None, b'x', ('A',)]
)
def test_what_is_short_is_shown_as_it_is(value):
    assert error_text.excerpt(value) == repr(value)


def test_of_a_long_string_the_beginning_and_the_length_are_shown():
    shown = error_text.excerpt('CUSTOM_' + 'A' * 4993)
    assert shown == f"'CUSTOM_{'A' * 53}'... (5000 characters)"


def test_a_long_string_moves_no_line():
    assert '\n' not in error_text.excerpt('\n' * 100)


def test_of_another_long_value_the_beginning_is_shown():
    assert error_text.excerpt(list(range(100))).startswith('[0, 1, 2, 3')
    assert error_text.excerpt(10**500) == '1' + '0' * 59 + '...'


@pytest.mark.parametrize(
    'value', [10**5000, [10**5000]], ids=['number', 'in a list']
)
def test_a_number_that_python_does_not_print_is_named_by_its_type(value):
    kind = type(value).__name__
    assert (
        error_text.excerpt(value)
        == f'a value of type {kind}, too long to show,'
    )


@pytest.mark.parametrize(
    ('text', 'shown'),
    [
        ('café ☕', 'café ☕'),
        ('é\n\x1b[31m', 'é\\n\\x1b[31m'),
        ('\u2028', '\\u2028'),
        ('', ''),
        ("a'b\\c", "a'b\\c"),
        ('a\nb\tc\r', 'a\\nb\\tc\\r'),
        ('größe\x07', 'größe\\x07'),
        ('\u202eab', '\\u202eab'),
        ('\udcff', '\\udcff'),
        ('\x9b2J', '\\x9b2J'),
    ],
)
def test_of_a_name_only_what_moves_cursor_or_line_is_spelt_out(text, shown):
    assert error_text.printable(text) == shown
