# SPDX-License-Identifier: Apache-2.0
"""The removals of a node's plan, and which falls of totals count."""

import pytest

from compute_agent.limits import blast_radius
from compute_agent.tree import assertion

A = '11111111-1111-4111-8111-111111111111'
B = '22222222-2222-4222-8222-222222222222'


def removals(*, deleted=0, names=0, of=A):
    return blast_radius.Removals(
        deleted=frozenset(f'{of}-{n}' for n in range(deleted)),
        names=frozenset(
            (of, assertion.Kind.TRAIT, f'CUSTOM_{n}') for n in range(names)
        ),
    )


def test_no_removal_is_nothing():
    assert not blast_radius.NOTHING
    assert removals(deleted=1)
    assert removals(names=1)
    assert blast_radius.Removals(totals={(A, 'VCPU'): (2, 1)})
    assert not blast_radius.Removals(totals={(A, 'VCPU'): (1, 2)})


def test_less_is_what_is_all_in_the_other():
    within = blast_radius.covered
    assert within(removals(names=2), [removals(names=3, deleted=1)])
    assert not within(removals(names=2, deleted=1), [removals(names=3)])
    assert not within(removals(names=4), [removals(names=3, deleted=1)])


def test_a_total_that_falls_further_than_was_judged_is_not_covered():
    def falls_to(total):
        return blast_radius.Removals(totals={(A, 'VCPU'): (64, total)})

    assert blast_radius.covered(falls_to(8), [falls_to(8)])
    assert blast_radius.covered(falls_to(5), [falls_to(8)])
    assert not blast_radius.covered(falls_to(4), [falls_to(8)])
    assert not blast_radius.covered(falls_to(8), [])


def test_what_was_judged_of_one_node_another_may_do():
    judged = [removals(names=3), removals(deleted=1)]
    assert blast_radius.covered(removals(names=2, deleted=1), judged)
    assert not blast_radius.covered(removals(deleted=2), judged)


@pytest.mark.parametrize(
    ('before', 'after', 'is_loss'),
    [
        (100, 80, False),
        (100, 79, True),
        (100, 0, True),
        (100, 120, False),
        (251, 250, False),  # a small disk, rounded otherwise
        (24_105, 23_900, False),  # memory that moves a little
        (4, 1, False),  # three units
        (5, 1, True),
        (1, 0, True),  # a class that goes has no floor
    ],
)
def test_a_fall_beyond_a_share_of_the_node_s_total_counts(
    before, after, is_loss
):
    changes = {(A, 'VCPU'): (before, after)}
    found = blast_radius.Limits(percent=20).lost_classes(changes)
    assert found == ({'VCPU': (before, after)} if is_loss else {})


def test_a_total_that_moves_within_a_node_is_no_fall():
    moves = {(A, 'VCPU'): (64, 0), (B, 'VCPU'): (0, 64)}
    assert blast_radius.Limits().lost_classes(moves) == {}


def test_a_fall_is_compared_with_all_that_the_node_has():
    part = {(A, 'VCPU'): (8, 0), (B, 'VCPU'): (64, 64)}
    assert blast_radius.Limits().lost_classes(part) == {}


def test_zero_percent_leaves_every_fall_above_the_floor_to_a_person():
    lost = blast_radius.Limits(percent=0).lost_classes
    assert lost({(A, 'VCPU'): (1000, 997)}) == {}
    assert lost({(A, 'VCPU'): (1000, 996)})
