# SPDX-License-Identifier: Apache-2.0
"""What the operator orders: masked traits, and names to prune."""

import pytest

from compute_agent import errors
from compute_agent.ownership import policy
from compute_agent.ownership import resolve as ownership
from compute_agent.ownership.policy import Policy
from compute_agent.ownership.record import Record
from compute_agent.tree import inventory, provider, provider_tree
from compute_agent.tree.assertion import AGENT, Kind

ROOT = '00000000-0000-0000-0000-000000000001'
SHARED = '00000000-0000-0000-0000-000000000004'
AGG = '00000000-0000-0000-0000-0000000000a1'
TRAITS = (ROOT, Kind.TRAIT)
MASKED = 'masked by [compute_agent] masked_traits'


def resolve(edit, traits=(), record=None, authority=(), **orders):
    """Return what is wanted of a root with these traits."""
    one = provider.Provider(
        uuid=ROOT,
        name='root',
        traits=frozenset(traits),
        aggregates=frozenset({AGG}),
        inventories={'CUSTOM_GPU': inventory.Inventory(total=1)},
    )
    tree = provider_tree.ProviderTree.from_providers([one])
    edit(tree)
    return ownership.resolve(
        tree,
        ROOT,
        record or Record(),
        Policy(
            authority={'driver': authority},
            orders=policy.Orders(**orders),
        ),
    )


def add(*names):
    return lambda tree: tree.declare_traits(ROOT, *names)


def silent(_tree):
    pass


def keep(tree):
    tree.keep_traits(ROOT)


def exclusive(*names):
    return lambda tree: tree.update_traits(ROOT, names)


def ours(*names, claims=()):
    return Record(
        ours={TRAITS: frozenset(names)},
        claims={TRAITS: {'driver': frozenset(claims)}},
    )


def wanted(*args, **more):
    return set(resolve(*args, **more).after[ROOT].traits)


# --- masks -------------------------------------------------------------------


@pytest.mark.parametrize('mask', ['', 'hw_cpu', 'HW-CPU', 'HW_[A]', 'A B'])
def test_a_mask_that_matches_no_trait_is_refused(mask):
    with pytest.raises(errors.InvalidName, match='matches no trait'):
        policy.Orders(masked=[mask])


@pytest.mark.parametrize(
    ('mask', 'left'),
    [
        ('HW_A', {'HW_AB', 'CUSTOM_HW_A'}),
        ('HW_A?', {'HW_A', 'CUSTOM_HW_A'}),
        ('HW_*', {'CUSTOM_HW_A'}),
        ('*', set()),
    ],
)
def test_a_mask_is_a_glob_over_the_whole_name(mask, left):
    names = ('HW_A', 'HW_AB', 'CUSTOM_HW_A')
    assert wanted(add(*names), masked=[mask]) == left


def test_what_is_masked_is_not_added_nor_held_and_said():
    found = resolve(add('HW_A', 'HW_B'), masked=['HW_A'])
    assert found.after[ROOT].traits == {'HW_B'}
    assert found.claims[TRAITS] == {'driver': {'HW_B'}}
    assert found.notes == (f'root ({ROOT}): not reported, {MASKED}: HW_A',)


@pytest.mark.parametrize('edit', [add('HW_A'), silent, keep])
def test_a_masked_trait_of_ours_goes_whatever_is_said(edit):
    record = ours('HW_A', claims=('HW_A',))
    found = resolve(edit, ['HW_A', 'HW_B'], record, masked=['HW_A'])
    assert found.after[ROOT].traits == {'HW_B'}
    assert found.foreign == {}
    assert MASKED in found.notes[0]
    assert found.claims[TRAITS] == {'driver': frozenset()}


@pytest.mark.parametrize('edit', [add('HW_A'), keep])
def test_a_masked_trait_in_the_authority_goes_where_the_driver_spoke(edit):
    record = ours(claims=('HW_A',))
    some = {'authority': ['HW_*'], 'masked': ['HW_A']}
    assert wanted(edit, ['HW_A'], record, **some) == set()
    assert wanted(silent, ['HW_A'], record, **some) == {'HW_A'}


def test_an_unknown_trait_that_nobody_held_stays_though_it_is_masked():
    assert wanted(
        keep, ['HW_A', 'HW_B'], authority=['HW_*'], masked=['HW_A']
    ) == {'HW_A', 'HW_B'}


def test_a_masked_trait_of_another_stays():
    found = resolve(add('HW_A', 'HW_B'), ['HW_A'], masked=['HW_A'])
    assert found.after[ROOT].traits == {'HW_A', 'HW_B'}
    assert [note for note in found.notes if 'keeps' in note] == []


def test_a_whole_set_takes_a_masked_trait_away_as_any_it_leaves_out():
    found = resolve(exclusive('HW_A'), ['HW_A'], masked=['HW_A'])
    assert found.after[ROOT].traits == set()
    assert found.foreign == {TRAITS: {'HW_A'}}


def test_the_agent_s_own_traits_can_be_masked_too():
    def own(tree):
        with tree.asserting(AGENT):
            tree.declare_traits(ROOT, 'COMPUTE_NODE')

    assert wanted(own, masked=['COMPUTE_*']) == set()


def test_a_mask_is_for_traits_alone():
    found = resolve(
        lambda tree: tree.declare_inventory(
            ROOT, {'CUSTOM_GPU': {'total': 1}}
        ),
        masked=['CUSTOM_*'],
    )
    assert set(found.after[ROOT].inventories) == {'CUSTOM_GPU'}
    assert found.notes == ()


# --- prune -------------------------------------------------------------------


def test_only_the_names_that_are_listed_go_and_are_marked():
    found = resolve(silent, ['CUSTOM_A', 'CUSTOM_B'], prune=['CUSTOM_A'])
    assert found.after[ROOT].traits == {'CUSTOM_B'}
    assert found.foreign == {TRAITS: {'CUSTOM_A'}}


def test_classes_and_aggregates_are_names_as_well():
    found = resolve(silent, prune=['CUSTOM_GPU', AGG])
    assert found.after[ROOT].inventories == {}
    assert found.after[ROOT].aggregates == set()


def test_what_a_source_holds_is_not_pruned():
    for edit in (add('CUSTOM_A'), exclusive('CUSTOM_A')):
        assert wanted(edit, ['CUSTOM_A'], prune=['CUSTOM_A']) == {'CUSTOM_A'}
    record = ours(claims=('CUSTOM_A',))
    assert wanted(keep, ['CUSTOM_A'], record, prune=['CUSTOM_A']) == {
        'CUSTOM_A'
    }


@pytest.mark.parametrize('name', ['COMPUTE_STATUS_DISABLED', 'OWNER_CYBORG'])
def test_what_others_decide_by_is_not_pruned(name):
    with pytest.raises(
        errors.ConfigError, match='resource provider trait remove'
    ):
        policy.Orders(prune=[name])
