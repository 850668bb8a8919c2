# SPDX-License-Identifier: Apache-2.0
"""One source's calls in a cycle add up in their order."""

import pytest

from compute_agent.tree.assertion import Assertion, Kind

A, B, C = frozenset('A'), frozenset('B'), frozenset('C')


@pytest.mark.parametrize(
    ('calls', 'sum_of_them'),
    [
        ([], Assertion()),
        ([('adding', A)], Assertion(names=A)),
        ([('adding', A), ('adding', B)], Assertion(names=A | B)),
        ([('removing', A)], Assertion(removed=A)),
        ([('adding', A), ('removing', A)], Assertion(removed=A)),
        ([('removing', A), ('adding', A)], Assertion(names=A)),
        (
            [('adding', A | B), ('removing', B | C)],
            Assertion(names=A, removed=B | C),
        ),
        ([('setting', A)], Assertion(names=A, exclusive=True)),
        (
            [('adding', A), ('removing', C), ('setting', B)],
            Assertion(names=B, exclusive=True),
        ),
        ([('keeping',), ('setting', A)], Assertion(names=A, exclusive=True)),
        (
            [('setting', A), ('adding', B)],
            Assertion(names=A | B, exclusive=True),
        ),
        (
            [('setting', A | B), ('removing', B)],
            Assertion(names=A, removed=B, exclusive=True),
        ),
        ([('setting', ())], Assertion(exclusive=True)),
        ([('keeping',)], Assertion(keep=True)),
        (
            [('adding', A), ('keeping',), ('removing', B)],
            Assertion(names=A, removed=B, keep=True),
        ),
        (
            [('setting', A), ('keeping',)],
            Assertion(names=A, exclusive=True, keep=True),
        ),
    ],
)
def test_calls_add_up(calls, sum_of_them):
    said = Assertion()
    for verb, *names in calls:
        said = getattr(said, verb)(*names)
    assert said == sum_of_them


def test_names_come_in_any_iterable():
    assert Assertion().adding(iter('AB')) == Assertion(names=A | B)


def test_what_was_said_before_stays_a_value_of_its_own():
    first = Assertion(names=A)
    first.removing(A)
    assert first == Assertion(names=A)


def test_there_are_three_kinds_written_as_words():
    assert [str(kind) for kind in Kind] == ['trait', 'aggregate', 'inventory']
