# SPDX-License-Identifier: Apache-2.0
"""The removals of a node's plan, and which names and classes count."""

import pytest

from compute_agent.limits import blast_radius
from compute_agent.tree import assertion, inventory, provider

A = '11111111-1111-4111-8111-111111111111'


def removals(*, deleted=0, names=0, of=A):
    return blast_radius.Removals(
        deleted=frozenset(f'{of}-{n}' for n in range(deleted)),
        names=frozenset(
            (of, assertion.Kind.TRAIT, f'CUSTOM_{n}') for n in range(names)
        ),
    )


def record(total=8, **more):
    return inventory.Inventory(total=total, **more)


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


def test_names_of_every_kind_are_counted():
    one = provider.Provider(
        uuid=A,
        name='a',
        inventories={'VCPU': record()},
        traits=frozenset({'HW_GPU', 'CUSTOM_A'}),
        aggregates=frozenset({A}),
    )
    assert blast_radius.name_counts({A: one}) == {A: 4}


@pytest.mark.catches(
    'a class that becomes fully reserved does not count as removed',
    case='before1-after1-True',
)
@pytest.mark.parametrize(
    ('before', 'after', 'lost'),
    [
        (record(), None, True),
        (record(), record(reserved=8), True),
        (record(), record(4, reserved=4), True),
        (record(reserved=8), record(reserved=8), False),
        (record(reserved=8), None, True),
        (record(), record(reserved=7), False),
        (record(), record(4), False),
        (None, record(reserved=8), False),
    ],
)
def test_a_class_is_lost_when_nothing_can_be_had_of_it_any_more(
    before, after, lost
):
    def held(one):
        return {} if one is None else {'VCPU': one}

    found = blast_radius.lost_classes(held(before), held(after))
    assert found == ({'VCPU'} if lost else set())
