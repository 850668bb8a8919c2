# SPDX-License-Identifier: Apache-2.0
"""The smallest failing sets are found with few questions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from report_client.candidates.why_not import search

PARTS = 'abcdefg'


class Judge:
    """Says no to parts among which one of the bad sets is."""

    def __init__(self, *bad: str) -> None:
        self.bad = [frozenset(some) for some in bad]
        self.asked = []

    def __call__(self, some):
        assert some
        self.asked.append(''.join(some))
        return not any(bad <= set(some) for bad in self.bad)


def found(judge, parts=PARTS):
    return [''.join(some) for some in search.minimal_sets(list(parts), judge)]


@pytest.mark.parametrize(
    ('bad', 'sets'),
    [
        ([], []),
        (['c'], ['c']),
        (['a', 'g'], ['a', 'g']),
        (['ab'], ['ab']),
        (['bg'], ['bg']),
        (['bdf'], ['bdf']),
        (['c', 'ab'], ['c', 'ab']),
        (['ab', 'bc'], ['ab']),
        (['ab', 'cd'], ['ab', 'cd']),
        (list(PARTS), list(PARTS)),
        ([PARTS], [PARTS]),
    ],
)
def test_sets_are_found_until_the_rest_fits(bad, sets):
    assert found(Judge(*bad)) == sets


def test_of_nothing_nothing_is_asked():
    judge = Judge()
    assert found(judge, '') == []
    assert judge.asked == []


def test_one_part_costs_one_question():
    judge = Judge('a')
    assert found(judge, 'a') == ['a']
    assert judge.asked == ['a']


@given(bad=st.lists(st.sets(st.sampled_from(PARTS), min_size=1).map(''.join)))
def test_each_set_is_one_that_fails_and_none_is_left(bad):
    judge = Judge(*bad)
    sets = found(judge)
    n = len(PARTS)
    assert len(judge.asked) <= (n + 1) * (n + 2) / 2
    named = ''.join(sets)
    assert len(set(named)) == len(named)
    rest = [part for part in PARTS if part not in named]
    assert not rest or judge(rest)
    for some in sets:
        assert not judge(some)
        for part in some:
            fewer = some.replace(part, '')
            assert not fewer or judge(fewer)
