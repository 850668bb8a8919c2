# SPDX-License-Identifier: Apache-2.0
"""An approval covers the set that was shown, and no other."""

import pytest

from compute_agent.limits import approval

KIND = approval.Kind.NAMES
ONE, TWO = ('a', 'trait', 'CUSTOM_X'), ('b', 'trait', 'CUSTOM_X')


def test_the_order_of_the_things_does_not_matter():
    assert approval.subject(KIND, [ONE, TWO]) == approval.subject(
        KIND, [TWO, ONE, TWO]
    )


@pytest.mark.parametrize(
    'others', [[], [ONE], [ONE, TWO, ('c',)], [('a', 'traitCUSTOM_X'), TWO]]
)
def test_another_set_is_another_subject(others):
    shown = approval.subject(KIND, [ONE, TWO])
    assert approval.subject(KIND, others) != shown


def test_the_same_set_of_another_kind_is_another_subject():
    assert approval.subject(approval.Kind.DELETIONS, [ONE]) != (
        approval.subject(KIND, [ONE])
    )


def test_a_name_that_is_no_unicode_has_a_digest():
    assert approval.subject(KIND, [('\ud800',)]).digest


@pytest.mark.parametrize(
    ('age', 'valid'),
    [(0, True), (86_399, True), (86_400, False), (-1, False)],
)
def test_an_approval_holds_for_a_day(age, valid):
    assert approval.is_valid(1000.0, 1000.0 + age) is valid
