# SPDX-License-Identifier: Apache-2.0
"""An approval covers a change that was shown, and no other."""

import pytest

from compute_agent.limits import approval

KIND = approval.Kind.NAMES
ONE = ('a', 'trait', 'CUSTOM_X')


@pytest.mark.parametrize(
    'other', [(), ('b', 'trait', 'CUSTOM_X'), ('a', 'traitCUSTOM_X')]
)
def test_another_change_is_another_subject(other):
    assert approval.subject(KIND, other) != approval.subject(KIND, ONE)
    assert approval.subject(KIND, ONE) == approval.subject(KIND, ONE)


def test_the_same_change_of_another_kind_is_another_subject():
    assert approval.subject(approval.Kind.DELETIONS, ONE) != (
        approval.subject(KIND, ONE)
    )


def test_a_name_that_is_no_unicode_has_a_digest():
    assert approval.subject(KIND, ('\ud800',)).digest


def test_a_person_who_approved_several_changes_is_named_once():
    assert approval.persons(['bob', 'alice', 'bob']) == 'alice and bob'


@pytest.mark.parametrize(
    ('age', 'valid'),
    [(0, True), (86_399, True), (86_400, False), (-1, False)],
)
def test_an_approval_holds_for_a_day(age, valid):
    assert approval.is_valid(1000.0, 1000.0 + age) is valid


@pytest.mark.parametrize(
    ('age', 'valid'),
    [(86_399, True), (86_400, False), (-86_400, True), (-86_401, False)],
)
def test_the_clock_of_another_machine_may_be_ahead_by_a_day(age, valid):
    now = 1e9 + age
    assert approval.is_valid(1e9, now, by_another_clock=True) is valid
