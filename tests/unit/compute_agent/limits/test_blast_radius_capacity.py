# SPDX-License-Identifier: Apache-2.0
"""Totals that fall: which of them are too much for one cycle."""

import pytest

from compute_agent.limits import blast_radius

A, B = 'a', 'b'


@pytest.mark.parametrize(
    ('before', 'after', 'found'),
    [
        (100, 80, {}),
        (100, 79, {'VCPU': False}),
        (100, 0, {'VCPU': True}),
        (100, 120, {}),
        (251, 250, {}),  # a small disk, rounded otherwise
        (24_105, 23_900, {}),  # memory that moves a little
        (4, 1, {}),  # three units
        (5, 1, {'VCPU': False}),
        (1, 0, {'VCPU': True}),  # a class that goes has no floor
    ],
)
def test_the_limit_is_met_exactly(before, after, found):
    changes = {(A, 'VCPU'): (before, after)}
    assert (
        blast_radius.exceeded_classes([changes], {(A, 'VCPU'): before}, 20)
        == found
    )


def test_the_falls_of_all_nodes_count_together():
    totals = {(node, 'VCPU'): 64 for node in map(str, range(60))}
    changes = [{total: (64, 1)} for total in totals]
    assert blast_radius.exceeded_classes(changes, totals, 20) == {
        'VCPU': False
    }
    assert blast_radius.exceeded_classes(changes[:12], totals, 20) == {}
    assert blast_radius.exceeded_classes(changes[:13], totals, 20) == {
        'VCPU': False
    }


def test_a_total_that_moves_within_a_node_is_no_fall():
    moves = {(A, 'VCPU'): (64, 0), (B, 'VCPU'): (0, 64)}
    assert blast_radius.exceeded_classes([moves], {(A, 'VCPU'): 64}, 20) == {}


def test_growth_of_another_node_does_not_make_up_for_a_fall():
    totals = {(A, 'VCPU'): 64, (B, 'VCPU'): 64}
    changes = [{(A, 'VCPU'): (64, 1)}, {(B, 'VCPU'): (64, 127)}]
    assert blast_radius.exceeded_classes(changes, totals, 20) == {
        'VCPU': False
    }


def test_a_class_that_goes_from_one_node_and_comes_to_another_is_not_gone():
    changes = [{(A, 'CUSTOM_X'): (1, 0)}, {(B, 'CUSTOM_X'): (0, 1)}]
    assert (
        blast_radius.exceeded_classes(changes, {(A, 'CUSTOM_X'): 1}, 20) == {}
    )


def test_a_provider_that_two_nodes_change_counts_once():
    totals = {(A, 'DISK_GB'): 30, (B, 'DISK_GB'): 170}
    change = {(A, 'DISK_GB'): (30, 0)}
    assert blast_radius.exceeded_classes([change, change], totals, 20) == {}


def test_a_hundred_percent_is_no_limit():
    change = {(A, 'VCPU'): (64, 0)}
    assert (
        blast_radius.exceeded_classes([change], {(A, 'VCPU'): 64}, 100) == {}
    )


def test_zero_percent_leaves_every_fall_above_the_floor_to_a_person():
    totals = {(A, 'VCPU'): 1000}
    assert (
        blast_radius.exceeded_classes([{(A, 'VCPU'): (1000, 997)}], totals, 0)
        == {}
    )
    assert blast_radius.exceeded_classes(
        [{(A, 'VCPU'): (1000, 996)}], totals, 0
    )
