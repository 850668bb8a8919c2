# SPDX-License-Identifier: Apache-2.0
"""How much one cycle may remove: counted over all its nodes."""

import pytest

from compute_agent.limits import blast_radius
from compute_agent.tree import assertion, inventory, provider

LIMITS = blast_radius.Limits()
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


@pytest.mark.parametrize(
    ('deleted', 'names', 'seen', 'option'),
    [
        (10, 0, 1000, None),
        (11, 0, 1000, 'max_deletions'),
        (0, 49, 60, None),
        (0, 50, 250, None),
        (0, 50, 249, 'max_removed_percent'),
        (0, 51, 255, None),
        (0, 1000, 5000, None),
        (0, 1001, 5000, 'max_removed_percent'),
        (11, 1001, 5000, 'max_deletions'),
    ],
)
def test_the_limits_are_met_exactly(deleted, names, seen, option):
    why = blast_radius.exceeded_limit(
        [removals(deleted=deleted, names=names)], {A: seen}, LIMITS
    )
    assert (why is None) is (option is None)
    if option:
        assert f'[compute_agent] {option}' in why
        assert '"compute-agent sync --yes"' in why


@pytest.mark.catches('any number of providers may be deleted')
def test_what_every_node_removes_counts_together():
    every = [removals(deleted=6, of='a'), removals(deleted=5, of='b')]
    assert blast_radius.exceeded_limit(every[:1], {A: 9}, LIMITS) is None
    assert 'max_deletions' in blast_radius.exceeded_limit(
        every, {A: 9}, LIMITS
    )


def test_a_sharing_provider_that_two_nodes_see_counts_once():
    same = [removals(deleted=6), removals(deleted=6)]
    assert blast_radius.exceeded_limit(same, {A: 9}, LIMITS) is None


def test_a_hundred_percent_is_no_limit():
    limits = blast_radius.Limits(percent=100)
    every = [removals(names=90)]
    assert blast_radius.exceeded_limit(every, {A: 90}, limits) is None


def test_no_removal_is_nothing():
    assert not blast_radius.NOTHING
    assert removals(deleted=1)
    assert removals(names=1)


def test_less_is_what_is_all_in_the_other():
    within = blast_radius.covered
    assert within(removals(names=2), [removals(names=3, deleted=1)])
    assert not within(removals(names=2, deleted=1), [removals(names=3)])
    assert not within(removals(names=4), [removals(names=3, deleted=1)])


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
