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
            [('adding', A), ('removing', B | C), ('setting', B)],
            Assertion(names=B, removed=C, exclusive=True),
        ),
        ([('declaring', A)], Assertion(names=A, declared=True)),
        ([('declaring', ())], Assertion(declared=True)),
        (
            [('adding', A), ('removing', B | C), ('declaring', B)],
            Assertion(names=B, removed=C, declared=True),
        ),
        (
            [('declaring', A), ('adding', B), ('removing', A)],
            Assertion(names=B, removed=A, declared=True),
        ),
        (
            [('setting', A), ('declaring', B)],
            Assertion(names=B, declared=True),
        ),
        (
            [('declaring', A), ('setting', B)],
            Assertion(names=B, exclusive=True),
        ),
        (
            [('keeping',), ('declaring', A)],
            Assertion(names=A, declared=True),
        ),
        (
            [('declaring', A), ('keeping',)],
            Assertion(names=A, declared=True, keep=True),
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
    assert Assertion().declaring(iter('AB')).names == A | B


@pytest.mark.parametrize(
    ('said', 'ends'),
    [
        (Assertion(names=A, removed=B), False),
        (Assertion(declared=True), True),
        (Assertion(exclusive=True), True),
        (Assertion(declared=True, keep=True), False),
        (Assertion(exclusive=True, keep=True), False),
    ],
)
def test_only_all_names_at_once_end_earlier_claims(said, ends):
    assert said.ends_claims is ends


def test_what_was_said_before_stays_a_value_of_its_own():
    first = Assertion(names=A)
    first.removing(A)
    assert first == Assertion(names=A)


def test_there_are_three_kinds_written_as_words():
    assert [str(kind) for kind in Kind] == ['trait', 'aggregate', 'inventory']
