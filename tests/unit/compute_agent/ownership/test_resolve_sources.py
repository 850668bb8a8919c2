# SPDX-License-Identifier: Apache-2.0
"""Several sources, several cycles: what each holds, and what that leads to."""

import dataclasses

import pytest

from compute_agent import errors
from compute_agent.ownership import resolve as ownership
from compute_agent.ownership.policy import Policy
from compute_agent.ownership.record import Record
from compute_agent.tree import inventory, provider, provider_tree
from compute_agent.tree.assertion import Kind

ROOT = '00000000-0000-0000-0000-000000000001'
CHILD = '00000000-0000-0000-0000-000000000002'
AGG = '00000000-0000-0000-0000-0000000000a1'
TRAITS = (ROOT, Kind.TRAIT)
FILE = 'file:/etc/nova/provider_config/a.yaml'


@pytest.fixture
def seen():
    """Root with traits A and B, an aggregate, a class, and a child alike."""
    contents = {
        'traits': frozenset('AB'),
        'aggregates': frozenset({AGG}),
        'inventories': {'VCPU': inventory.Inventory(total=8)},
    }
    return [
        provider.Provider(uuid=ROOT, name='root', **contents),
        provider.Provider(
            uuid=CHILD, name='child', parent_uuid=ROOT, **contents
        ),
    ]


def resolve(seen, edit, record=None, **policy):
    tree = provider_tree.ProviderTree.from_providers(seen)
    edit(tree)
    return ownership.resolve(
        tree,
        ROOT,
        record or Record(),
        Policy(**policy),
    )


def recorded(ours='', created=(), **held):
    """A record of the root's traits; sources give the names they hold."""
    named = {'driver': held.get('driver'), FILE: held.get('file')}
    return Record(
        created=frozenset(created),
        ours={TRAITS: frozenset(ours)},
        claims={
            TRAITS: {
                source: frozenset(names)
                for source, names in named.items()
                if names is not None
            }
        },
    )


def test_where_nothing_is_said_nothing_changes(seen):
    wanted = resolve(seen, lambda tree: None)
    assert wanted == ownership.Resolution(
        after=provider.snapshot(seen), claims={}, foreign={}
    )


def test_saying_what_was_said_before_leaves_nothing_to_record(seen):
    wanted = resolve(
        seen,
        lambda tree: tree.declare_traits('root', 'A'),
        recorded('A', driver='A'),
    )
    assert wanted.claims == {}


def test_a_visit_to_one_kind_of_one_provider_touches_no_other(seen):
    keys = [(u, k) for u in (ROOT, CHILD) for k in Kind]
    everything = Record(
        created=frozenset({CHILD}),
        ours={
            (one.uuid, kind): one.names_of(kind)
            for one in seen
            for kind in Kind
        },
        claims={
            (one.uuid, kind): {'driver': one.names_of(kind)}
            for one in seen
            for kind in Kind
        },
    )
    wanted = resolve(
        seen, lambda tree: tree.update_traits('child', []), everything
    )
    assert wanted.after[ROOT] == seen[0]
    assert wanted.after[CHILD].traits == frozenset()
    assert wanted.after[CHILD].aggregates == {AGG}
    assert set(wanted.after[CHILD].inventories) == {'VCPU'}
    assert set(wanted.claims) == {(CHILD, Kind.TRAIT)}
    assert set(wanted.claims) < set(keys)


@pytest.mark.catches(
    'a name that one source drops is removed although others claim it'
)
def test_a_name_that_two_hold_goes_with_the_second(seen):
    def driver_leaves(tree):
        tree.declare_traits('root', 'B')

    def file_leaves(tree):
        with tree.asserting(FILE):
            tree.declare_traits('root')

    first = resolve(seen, driver_leaves, recorded('AB', driver='AB', file='A'))
    assert first.after[ROOT].traits == {'A', 'B'}
    assert first.claims[TRAITS] == {
        'driver': frozenset('B'),
        FILE: frozenset('A'),
    }
    second = resolve(seen, file_leaves, recorded('AB', driver='B', file='A'))
    assert second.after[ROOT].traits == {'B'}


def test_a_name_that_goes_from_one_source_to_another_stays(seen):
    def handed_over(tree):
        tree.declare_traits('root', 'B')
        with tree.asserting(FILE):
            tree.declare_traits('root', 'A')

    wanted = resolve(seen, handed_over, recorded('AB', driver='AB'))
    assert wanted.after[ROOT].traits == {'A', 'B'}


def test_what_was_there_before_we_asserted_it_is_not_ours(seen):
    held = resolve(seen, lambda tree: tree.declare_traits('root', 'A')).claims
    assert held == {TRAITS: {'driver': frozenset('A')}}
    left = resolve(
        seen,
        lambda tree: tree.declare_traits('root'),
        Record(claims=held),
    )
    assert left.after[ROOT].traits == {'A', 'B'}


def test_a_whole_set_leaves_what_another_source_holds(seen):
    def both(tree):
        tree.update_traits('root', ['C'])
        with tree.asserting(FILE):
            tree.declare_traits('root', 'A')

    wanted = resolve(seen, both)
    assert wanted.after[ROOT].traits == {'A', 'C'}
    assert wanted.foreign == {TRAITS: frozenset('B')}


def test_a_whole_set_leaves_what_a_silent_source_held(seen):
    wanted = resolve(
        seen,
        lambda tree: tree.update_traits('root', ['C']),
        recorded('A', file='A'),
    )
    assert wanted.after[ROOT].traits == {'A', 'C'}


def test_what_one_removes_and_another_holds_stays(seen):
    def both(tree):
        tree.remove_traits('root', 'A', 'B')
        with tree.asserting(FILE):
            tree.declare_traits('root', 'A')

    wanted = resolve(seen, both, recorded('A', driver='A'))
    assert wanted.after[ROOT].traits == {'A'}
    assert wanted.foreign == {TRAITS: frozenset('B')}


def test_removing_what_is_not_there_is_nothing(seen):
    wanted = resolve(seen, lambda tree: tree.remove_traits('root', 'X'))
    assert wanted.after == provider.snapshot(seen)
    assert wanted.foreign == {}


def test_a_held_name_that_another_deleted_comes_back(seen):
    wanted = resolve(
        seen,
        lambda tree: tree.declare_traits('root', 'C'),
        recorded('C', driver='C'),
    )
    assert wanted.after[ROOT].traits == {'A', 'B', 'C'}
    assert wanted.claims == {}


def test_a_held_name_that_another_deleted_stays_away_while_unknown(seen):
    wanted = resolve(
        seen,
        lambda tree: tree.keep_traits('root'),
        recorded('C', driver='C'),
    )
    assert wanted.after[ROOT].traits == {'A', 'B'}


def test_an_unknown_and_an_addition_hold_both(seen):
    def more(tree):
        tree.declare_traits('root', 'C')
        tree.keep_traits('root')

    wanted = resolve(seen, more, recorded('A', driver='A'))
    assert wanted.after[ROOT].traits == {'A', 'B', 'C'}
    assert wanted.claims == {TRAITS: {'driver': frozenset('AC')}}


def test_without_a_record_names_are_added_and_none_removed(seen):
    def edit(tree):
        tree.declare_traits('root', 'C')
        tree.declare_aggregates('root')
        tree.declare_inventory('root', {'DISK_GB': {'total': 1}})

    wanted = resolve(seen, edit)
    assert wanted.after[ROOT].traits == {'A', 'B', 'C'}
    assert wanted.after[ROOT].aggregates == {AGG}
    assert set(wanted.after[ROOT].inventories) == {'DISK_GB', 'VCPU'}
    assert wanted.foreign == {}


def test_authority_is_a_name_or_the_beginning_of_one():
    policy = Policy(authority={'driver': ('HW_CPU_*', 'COMPUTE_NODE')})
    assert policy.decides('driver', 'HW_CPU_X86_AVX')
    assert policy.decides('driver', 'COMPUTE_NODE')
    assert not policy.decides('driver', 'HW_GPU_API_VULKAN')
    assert not policy.decides('driver', 'HW_CPUS')
    assert not policy.decides('driver', 'COMPUTE_NODE_X')
    assert not Policy().decides('driver', 'HW_CPU_X86_AVX')


@pytest.mark.parametrize(
    'authority',
    [
        'HW_CPU_*',
        None,
        5,
        ['*'],
        ['HW_CPU_?'],
        ['hw_cpu_*'],
        [''],
        ['A', None],
        ['**'],
    ],
)
def test_an_authority_that_claims_what_nobody_meant_is_refused(authority):
    with pytest.raises(errors.DriverError, match='^authority .* is neither'):
        Policy(authority={'driver': authority})


def test_an_authority_that_its_driver_changes_is_another_in_the_next_cycle():
    given = ['HW_CPU_*']
    policy = Policy(authority={'driver': given})
    given.append('CUSTOM_*')
    assert policy != Policy(authority={'driver': given})
    assert not policy.decides('driver', 'CUSTOM_A')


@pytest.mark.parametrize(
    'name', ['COMPUTE_STATUS_DISABLED', 'OWNER_CYBORG', 'OWNER_NOVA']
)
def test_no_authority_decides_by_what_others_decide(name):
    policy = Policy(
        authority={'driver': (name, f'{name[:8]}*', f'{name[:4]}*')},
    )
    assert not policy.decides('driver', name)


def test_authority_reaches_no_further_than_the_kind_and_where_it_spoke(seen):
    seen = [
        dataclasses.replace(one, traits=frozenset({'A', 'HW_OLD'}))
        for one in seen
    ]
    wanted = resolve(
        seen,
        lambda tree: (
            tree.declare_traits('root', 'A'),
            tree.declare_aggregates('root'),
            tree.declare_inventory('root', {'HW_NEW': {'total': 1}}),
        ),
        authority={'driver': ('HW_*', 'VCPU')},
    )
    assert wanted.after[ROOT].traits == {'A'}
    assert wanted.after[ROOT].aggregates == {AGG}
    assert set(wanted.after[ROOT].inventories) == {'HW_NEW', 'VCPU'}
    assert wanted.after[CHILD] == seen[1]
    assert wanted.foreign == {}


@pytest.mark.parametrize('form', ['declare_traits', 'update_traits'])
def test_what_is_held_for_another_node_stays_whatever_is_said(seen, form):
    held = {TRAITS: {('driver', CHILD): frozenset('A')}}
    record = dataclasses.replace(
        recorded('AB', created=[ROOT], driver='AB'), others=held
    )

    def edit(tree):
        given = [()] if form == 'update_traits' else []
        getattr(tree, form)('root', *given)

    wanted = resolve(seen, edit, record)
    assert wanted.after[ROOT].traits == {'A'}
    assert wanted.claims == {TRAITS: {'driver': frozenset()}}


def test_a_class_that_is_named_like_a_decided_trait_is_still_anothers(seen):
    wanted = resolve(
        seen,
        lambda tree: tree.update_inventory('root', {}),
        authority={'driver': ('VCPU', 'VC*')},
    )
    assert wanted.after[ROOT].inventories == {}
    assert wanted.foreign == {
        (ROOT, Kind.INVENTORY): frozenset({'VCPU'}),
    }
