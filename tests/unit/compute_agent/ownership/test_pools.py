# SPDX-License-Identifier: Apache-2.0
"""What stays on a provider that other agents may use, and what goes."""

import dataclasses

import pytest

from compute_agent.ownership import resolve, takeover
from compute_agent.ownership.policy import Orders, Policy
from compute_agent.ownership.record import Record
from compute_agent.plan.diff import diff
from compute_agent.plan.needs import NOTHING, Known, Member
from compute_agent.plan.observation import Observation
from compute_agent.plan.plan import Wanted
from compute_agent.plan.removal import Reason
from compute_agent.tree import inventory, names, provider, provider_tree
from compute_agent.tree.assertion import Kind

NODE, POOL, BELOW, OTHER, THIRD = (
    f'00000000-0000-0000-0000-{n:012}' for n in range(1, 6)
)
AGGREGATE, SECOND = (f'00000000-0000-0000-0000-{n:012}' for n in (98, 99))
KEY = POOL, Kind.TRAIT
DISK = inventory.Inventory(total=100)
ONE = provider.Provider(
    uuid=POOL,
    name='pool',
    generation=5,
    inventories={'DISK_GB': DISK},
    traits=frozenset({'CUSTOM_A', 'CUSTOM_B'}),
    aggregates=frozenset({AGGREGATE}),
)
ROOT = provider.Provider(uuid=NODE, name='node', generation=5)
CHILD = provider.Provider(
    uuid=BELOW,
    name='below',
    parent_uuid=POOL,
    generation=5,
    aggregates=frozenset({SECOND}),
)
NOBODY = {POOL: ()}
SOMEBODY = {POOL: [Member(uuid=THIRD, name='third', root_uuid=OTHER)]}
CLAIMS = {
    (POOL, Kind.TRAIT): {'driver': frozenset({'CUSTOM_A'})},
    (POOL, Kind.INVENTORY): {'driver': frozenset({'DISK_GB'})},
}
ALL_CLAIMS = {
    key: {'driver': ONE.names_of(key[1])}
    for key in [(POOL, kind) for kind in Kind]
}
CREATED = frozenset({POOL})


def resolved(edit, record, outsiders, *, seen=(ROOT, ONE), policy=None):
    tree = provider_tree.ProviderTree.from_providers(seen)
    edit(tree)
    return resolve.resolve(
        tree,
        NODE,
        record,
        policy or Policy(),
        outsiders=outsiders,
    )


def remove(tree):
    tree.remove(POOL)


def stop(tree):
    tree.declare_traits(POOL)
    tree.declare_inventory(POOL, {})


# --- what the decision needs --------------------------------------------------


@pytest.mark.parametrize('edit', [remove, stop])
def test_before_anything_goes_the_members_of_its_aggregates_are_needed(edit):
    found = resolved(edit, Record(claims=CLAIMS), {})
    assert found.needs == {POOL: {AGGREGATE}}
    assert found.after[POOL] == ONE


@pytest.mark.parametrize(
    'edit',
    [
        lambda tree: tree.declare_traits(POOL, 'CUSTOM_A', 'CUSTOM_C'),
        lambda tree: tree.update_inventory(POOL, {'DISK_GB': {'total': 5}}),
        lambda tree: tree.update_traits(POOL, ['CUSTOM_A']),
        lambda tree: tree.remove_traits(POOL, 'CUSTOM_B'),
    ],
)
def test_a_change_that_takes_nothing_of_its_own_away_needs_nothing(edit):
    found = resolved(edit, Record(claims=CLAIMS), {})
    assert (found.needs, found.notes) == ({}, ())
    assert found.after[POOL].traits >= ONE.traits


def test_in_no_aggregate_nobody_uses_it():
    alone = provider.Provider(uuid=POOL, name='pool', generation=5)
    record = Record(created=CREATED)
    found = resolved(remove, record, {}, seen=(ROOT, alone))
    assert POOL not in found.after


def test_the_aggregates_of_what_is_below_it_count_too():
    record = Record(created=frozenset({POOL, BELOW}))
    found = resolved(remove, record, {}, seen=(ROOT, ONE, CHILD))
    assert found.needs == {POOL: {AGGREGATE, SECOND}}


# --- what stays ---------------------------------------------------------------


@pytest.mark.parametrize('created', [frozenset(), CREATED])
def test_of_a_removed_one_that_others_use_nothing_goes_and_the_claims_end(
    created,
):
    ours = {KEY: frozenset({'CUSTOM_B'})}
    record = Record(created=created, claims=ALL_CLAIMS, ours=ours)
    found = resolved(remove, record, SOMEBODY)
    assert found.after[POOL] == ONE
    assert found.faults == ()
    (note,) = found.notes
    assert note.startswith(f'pool ({POOL}): not deleted, because third (')
    assert found.claims == {
        key: {'driver': frozenset()} for key in record.claims
    }
    assert found.given_up == Record(created=created, ours=ours)


def test_of_one_described_no_more_nothing_goes_and_the_claims_end():
    ours = {KEY: frozenset({'CUSTOM_A', 'CUSTOM_B'})}
    record = Record(created=CREATED, claims=CLAIMS, ours=ours)
    found = resolved(stop, record, SOMEBODY)
    assert found.after[POOL] == ONE
    (note,) = found.notes
    kept = 'keeps CUSTOM_A, CUSTOM_B, DISK_GB'
    assert note.startswith(f'pool ({POOL}): {kept}, which this agent no')
    assert f'third ({THIRD}) may use' in note
    assert found.given_up == Record(created=CREATED, ours=ours)
    assert (found.causes.names, found.foreign) == ({}, {})


def test_one_of_which_the_agent_describes_the_rest_stays_its_own():
    record = Record(created=CREATED, claims=CLAIMS, ours={KEY: ONE.traits})
    found = resolved(lambda t: t.declare_traits(POOL), record, SOMEBODY)
    assert found.given_up == Record(ours={KEY: ONE.traits})


def test_one_that_another_node_of_the_agent_describes_stays_its_own():
    others = {KEY: {('driver', OTHER): frozenset({'CUSTOM_B'})}}
    record = Record(
        created=CREATED, claims=CLAIMS, others=others, ours={KEY: ONE.traits}
    )
    for edit in (stop, remove):
        found = resolved(edit, record, SOMEBODY)
        assert found.after[POOL] == ONE
        left = frozenset({'CUSTOM_A'})
        assert found.given_up == Record(ours={KEY: left})


def test_what_a_person_orders_goes_whoever_uses_it():
    orders = Orders(prune=['CUSTOM_A', 'CUSTOM_B'])
    policy = Policy(orders=orders)
    found = resolved(stop, Record(claims=CLAIMS), SOMEBODY, policy=policy)
    assert found.after[POOL].traits == set()
    assert 'DISK_GB' in found.after[POOL].inventories
    assert found.foreign == {KEY: {'CUSTOM_B'}}


def test_an_order_does_not_concern_one_that_nothing_describes():
    policy = Policy(orders=Orders(prune=['CUSTOM_A']))
    found = resolved(lambda _: None, Record(), NOBODY, policy=policy)
    assert found.after[POOL] == ONE


def test_one_that_the_agent_neither_made_nor_describes_is_not_deleted():
    found = resolved(remove, Record(), {})
    assert (found.after[POOL], found.needs) == (ONE, {})
    (note,) = found.notes
    assert 'neither created it nor describes all of it' in note


def test_the_authority_of_a_driver_ends_at_its_node():
    policy = Policy(authority={'driver': ['CUSTOM_*']})
    found = resolved(stop, Record(claims=CLAIMS), NOBODY, policy=policy)
    assert found.after[POOL].traits == {'CUSTOM_B'}


def test_anothers_one_under_another_name_is_not_written():
    def rename(tree):
        tree.remove(POOL)
        tree.new_root('a pool', POOL)
        tree.declare_traits(POOL, 'CUSTOM_C')

    found = resolved(rename, Record(), NOBODY)
    assert found.after[POOL] == ONE
    (note,) = found.notes
    assert f"resource provider rename {POOL} 'a pool'" in note


# --- what goes ----------------------------------------------------------------


def test_what_it_claimed_goes_if_nobody_else_is_there():
    found = resolved(stop, Record(claims=CLAIMS), NOBODY)
    after = found.after[POOL]
    assert (after.traits, after.inventories) == ({'CUSTOM_B'}, {})
    assert after.aggregates == {AGGREGATE}
    cause = found.causes.by_name(*KEY)['CUSTOM_A']
    assert cause.reason is Reason.UNCLAIMED
    assert (found.given_up, found.foreign) == (Record(), {})
    ours = {key: by['driver'] for key, by in CLAIMS.items()}
    assert found.taken == ours
    again = resolved(lambda _: None, Record(ours=ours), NOBODY)
    assert again.after[POOL] == after
    assert again.taken == {}


def test_the_last_that_described_it_deletes_it():
    found = resolved(remove, Record(claims=ALL_CLAIMS), NOBODY)
    assert POOL not in found.after
    assert found.notes == ()


def test_of_one_that_it_described_in_part_only_that_part_goes():
    found = resolved(remove, Record(claims=CLAIMS), NOBODY)
    (note,) = found.notes
    assert 'neither created it nor describes all of it' in note
    assert found.after[POOL] == dataclasses.replace(
        ONE, traits=frozenset({'CUSTOM_B'}), inventories={}
    )


def test_anothers_child_below_it_keeps_it_reserved():
    record = Record(created=CREATED)
    found = resolved(remove, record, NOBODY, seen=(ROOT, ONE, CHILD))
    assert found.after[POOL] == ONE.fully_reserved()
    assert found.after[BELOW] == CHILD
    assert 'did not create below' in found.faults[0]


# --- its first write ----------------------------------------------------------


def first_writes(edit, record):
    """Return the first writes of a plan for a pool of another writer."""
    tree = provider_tree.ProviderTree.from_providers([ROOT, ONE])
    edit(tree)
    found = resolve.resolve(tree, NODE, record, Policy(), outsiders=NOBODY)
    seen = Observation(
        node_uuid=NODE,
        providers=tree.baseline,
        home=frozenset({NODE}),
    )
    wanted = Wanted(after=found.after, causes=found.causes)
    known = Known(names=KNOWN)
    plan = diff.plan(seen, wanted, known)
    return takeover.takeovers(
        NODE, tree.baseline, tree.baseline, plan.operations, record
    )


KNOWN = names.KnownNames(
    traits=frozenset({*ONE.traits, 'CUSTOM_C'}),
    resource_classes=frozenset({'DISK_GB'}),
    read_at=0.0,
)


def size(tree):
    tree.update_inventory(POOL, {'DISK_GB': {'total': 50}})


def test_the_first_write_needs_a_yes():
    (one,) = first_writes(size, Record())
    assert not one.is_agreed
    assert 'lower the total of DISK_GB' in str(one)


def test_one_that_it_found_as_described_needs_none():
    (one,) = first_writes(size, Record(claims=CLAIMS))
    assert one.is_agreed


@pytest.mark.parametrize('edit', [remove, stop])
def test_to_take_something_away_needs_one_even_so(edit):
    (one,) = first_writes(edit, Record(claims=CLAIMS))
    assert not one.is_agreed
    assert 'remove the inventory of DISK_GB' in str(one)
    assert NOTHING.outsiders == {}
