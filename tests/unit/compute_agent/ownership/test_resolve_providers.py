# SPDX-License-Identifier: Apache-2.0
"""Which providers are written, moved and deleted, and which are left alone."""

import pytest

from compute_agent.ownership import resolve as ownership
from compute_agent.ownership.policy import Policy
from compute_agent.ownership.record import Record
from compute_agent.tree import inventory, provider, provider_tree
from compute_agent.tree.assertion import Kind


def uuid_of(number):
    return f'00000000-0000-0000-0000-{number:012}'


ROOT, CHILD, LEAF, SHARED, OTHER, NEW = map(uuid_of, range(1, 7))
AGG = uuid_of(99)


def held(uuid, name, parent=None):
    """A provider with something of each kind, all of it another's."""
    return provider.Provider(
        uuid=uuid,
        name=name,
        parent_uuid=parent,
        generation=5,
        inventories={'VCPU': inventory.Inventory(total=8)},
        traits=frozenset('A'),
        aggregates=frozenset({AGG}),
    )


HOME = [
    held(ROOT, 'root'),
    held(CHILD, 'child', ROOT),
    held(LEAF, 'leaf', CHILD),
]
ABROAD = [held(SHARED, 'shared', OTHER)]


def resolve(edit, created=(), seen=(*HOME, *ABROAD), ours=None):
    """Resolve an edit of these providers; SHARED stands as a lone root."""
    tree = provider_tree.ProviderTree.from_providers(seen, detached={SHARED})
    edit(tree)
    return ownership.resolve(
        tree,
        ROOT,
        Record(created=frozenset(created), ours=ours or {}),
        Policy(),
        outsiders={SHARED: ()},
    )


def fill(tree, who):
    tree.update_inventory(who, {'DISK_GB': {'total': 1}})
    tree.update_traits(who, ['B'])
    tree.update_aggregates(who, [ROOT])


FILLED = {
    'inventories': {'DISK_GB': inventory.Inventory(total=1)},
    'traits': frozenset('B'),
    'aggregates': frozenset({ROOT}),
}


def is_filled(one):
    return all(getattr(one, field) == FILLED[field] for field in FILLED)


# --- new providers -----------------------------------------------------------


def test_a_new_node_is_what_is_said_of_it():
    def boot(tree):
        tree.new_root('root', ROOT)
        fill(tree, 'root')
        tree.new_child('child', 'root', CHILD)
        tree.declare_traits('child', 'A')

    wanted = resolve(boot, seen=())
    assert wanted.after == {
        ROOT: provider.Provider(uuid=ROOT, name='root', **FILLED),
        CHILD: provider.Provider(
            uuid=CHILD, name='child', parent_uuid=ROOT, traits=frozenset('A')
        ),
    }
    assert list(wanted.after) == [ROOT, CHILD]
    assert wanted.after[ROOT].generation is None
    assert wanted.foreign == {}
    assert wanted.notes == ()


def test_a_new_root_beside_the_node_is_made_too():
    def edit(tree):
        tree.new_root('new', NEW)
        fill(tree, 'new')

    wanted = resolve(edit)
    assert is_filled(wanted.after[NEW])
    assert wanted.after[NEW].parent_uuid is None


def test_generations_are_those_that_were_read():
    wanted = resolve(lambda tree: tree.declare_traits('root', 'B'))
    assert wanted.after[ROOT].generation == 5


# --- sharing providers and other providers of others -------------------------


def test_a_sharing_provider_of_others_is_written_and_keeps_what_is_theirs():
    wanted = resolve(lambda tree: fill(tree, 'shared'))
    (old,) = ABROAD
    after = wanted.after[SHARED]
    assert after.traits == {'A', 'B'}
    assert after.aggregates == {AGG, ROOT}
    assert after.inventories == {**old.inventories, **FILLED['inventories']}
    assert (after.name, after.parent_uuid) == (old.name, OTHER)
    assert (wanted.foreign, wanted.notes, wanted.needs) == ({}, (), {})


def test_one_that_nothing_is_said_of_is_not_mentioned():
    wanted = resolve(lambda tree: tree.declare_traits('root', 'B'))
    assert wanted.after[SHARED] == ABROAD[0]
    assert not [note for note in wanted.notes if SHARED in note]


def test_a_sharing_provider_of_our_own_is_written_where_it_stands():
    wanted = resolve(lambda tree: fill(tree, 'shared'), created={SHARED})
    assert wanted.after[SHARED].traits == {'A', 'B'}
    assert wanted.after[SHARED].parent_uuid == OTHER
    assert wanted.notes == ()


def test_others_children_below_the_node_are_written_but_not_emptied():
    def edit(tree):
        tree.update_traits('child', ['B'])
        tree.update_aggregates('child', [])

    wanted = resolve(edit)
    assert wanted.after[CHILD].traits == {'A', 'B'}
    assert wanted.after[CHILD].aggregates == {AGG}


# --- removals ----------------------------------------------------------------


def test_what_we_created_is_deleted_with_what_we_created_below_it():
    wanted = resolve(lambda tree: tree.remove('child'), {CHILD, LEAF})
    assert list(wanted.after) == [ROOT, SHARED]
    assert wanted.notes == ()


def test_what_another_created_stays_as_it_is_and_that_is_said():
    wanted = resolve(lambda tree: tree.remove('leaf'), {CHILD})
    assert wanted.after[LEAF] == HOME[2]
    (note,) = wanted.notes
    assert note.startswith(f'leaf ({LEAF}): not deleted')
    assert f'run "compute-agent resource provider adopt {LEAF}"' in note


def test_anothers_child_keeps_all_that_is_above_it_reserved():
    wanted = resolve(lambda tree: tree.remove('child'), {CHILD})
    root, child, leaf = HOME
    assert wanted.after == provider.snapshot(
        [root, child.fully_reserved(), leaf, *ABROAD]
    )
    (fault,) = wanted.faults
    assert fault.startswith(f'child ({CHILD}): the driver removed it, but')
    assert fault.endswith(
        f'run "compute-agent resource provider adopt {LEAF}"'
    )
    (note,) = wanted.notes
    assert note.startswith(
        f'leaf ({LEAF}): not deleted, and neither are the providers above'
    )


def test_anothers_grandchild_keeps_all_that_is_above_it_reserved():
    seen = [*HOME, held(NEW, 'lowest', LEAF)]
    wanted = resolve(
        lambda tree: tree.remove('child'), {CHILD, LEAF}, seen=seen
    )
    root, child, leaf, *lowest = seen
    reserved = [child.fully_reserved(), leaf.fully_reserved()]
    assert wanted.after == provider.snapshot([root, *reserved, *lowest])
    assert len(wanted.notes) == 1
    assert len(wanted.faults) == 2


def test_our_child_goes_from_below_another_that_stays():
    wanted = resolve(lambda tree: tree.remove('child'), {LEAF})
    assert list(wanted.after) == [ROOT, CHILD, SHARED]
    assert wanted.after[CHILD] == HOME[1]


def test_our_own_beside_anothers_child_goes():
    seen = [*HOME, held(NEW, 'beside', CHILD)]
    wanted = resolve(
        lambda tree: tree.remove('child'), {CHILD, NEW}, seen=seen
    )
    assert list(wanted.after) == [ROOT, CHILD, LEAF]


def test_each_of_anothers_is_said_by_itself():
    wanted = resolve(lambda tree: tree.remove('child'))
    assert [note.partition(':')[0] for note in wanted.notes] == [
        f'child ({CHILD})',
        f'leaf ({LEAF})',
    ]


def test_a_sharing_provider_of_others_stays_although_it_is_removed():
    wanted = resolve(lambda tree: tree.remove('shared'))
    assert wanted.after[SHARED] == ABROAD[0]
    assert len(wanted.notes) == 1


def test_a_sharing_provider_of_our_own_is_deleted():
    wanted = resolve(lambda tree: tree.remove('shared'), {SHARED})
    assert SHARED not in wanted.after


def test_a_refused_removal_leaves_the_record_as_it_is():
    def edit(tree):
        tree.update_traits('leaf', ['B'])
        tree.remove('leaf')

    key = (LEAF, Kind.TRAIT)
    wanted = resolve(edit, ours={key: frozenset('A')})
    assert wanted.after[LEAF] == HOME[2]
    assert (wanted.claims, wanted.foreign) == ({}, {})


# --- moves and renames -------------------------------------------------------


def test_a_child_that_is_removed_and_added_elsewhere_moves_with_contents():
    def edit(tree):
        tree.remove('leaf')
        tree.new_child('leaf', 'root', LEAF)

    after = resolve(edit).after
    assert after[LEAF].parent_uuid == ROOT
    assert after[LEAF].traits == {'A'}
    assert after[LEAF].inventories == HOME[2].inventories


def test_a_child_of_others_may_move_out_of_what_is_deleted():
    def edit(tree):
        tree.remove('child')
        tree.new_child('leaf', 'root', LEAF)

    wanted = resolve(edit, {CHILD})
    assert list(wanted.after) == [ROOT, LEAF, SHARED]
    assert wanted.notes == ()


def test_a_child_that_comes_back_by_another_name_is_renamed():
    def edit(tree):
        tree.remove('leaf')
        tree.new_child('renamed', 'child', LEAF)

    after = resolve(edit).after
    assert after[LEAF].name == 'renamed'
    assert after[LEAF].traits == {'A'}


def test_a_child_that_comes_back_as_a_root_is_one():
    def edit(tree):
        tree.remove('leaf')
        tree.new_root('leaf', LEAF)

    assert resolve(edit).after[LEAF].parent_uuid is None


def test_a_child_may_become_a_root_when_its_parent_is_deleted():
    def edit(tree):
        tree.remove('child')
        tree.new_root('leaf', LEAF)

    wanted = resolve(edit, {CHILD})
    assert CHILD not in wanted.after
    assert wanted.after[LEAF].parent_uuid is None


def test_a_sharing_provider_stays_where_it_is_although_it_stands_alone():
    wanted = resolve(lambda tree: tree.declare_traits('shared', 'B'), {SHARED})
    assert wanted.after[SHARED].parent_uuid == OTHER


@pytest.mark.parametrize(
    'edit',
    [
        lambda tree: tree.new_child('leaf', 'root', NEW),
        lambda tree: (
            tree.remove('child'),
            tree.new_child('leaf', 'root', CHILD),
        ),
    ],
    ids=['a new provider', 'a renamed one'],
)
def test_the_name_of_what_may_not_be_deleted_is_not_taken(edit):
    def take(tree):
        tree.remove('leaf')
        edit(tree)

    wanted = resolve(take, {CHILD})
    names = [one.name for one in wanted.after.values()]
    assert sorted(names) == sorted(set(names))
    assert wanted.after[LEAF].name == 'leaf'
    assert any('leaf' in note for note in wanted.notes)


def below_a_new_one(tree):
    """leaf's name goes to a new provider, other moves below that."""
    tree.remove('leaf')
    tree.remove('child')
    tree.new_child('leaf', 'root', NEW)
    tree.new_child('other', 'leaf', OTHER)


def into_a_name_given_up(tree):
    """other takes leaf's name, and a new provider takes other's."""
    tree.remove('leaf')
    tree.remove('other')
    tree.new_child('leaf', 'root', OTHER)
    tree.new_child('other', 'root', NEW)


def upside_down_below_a_new_one(tree):
    """leaf's name goes to a new provider, other and its parent below it."""
    tree.remove('leaf')
    tree.remove('child')
    tree.new_child('leaf', 'root', NEW)
    tree.new_child('other', 'leaf', OTHER)
    tree.new_child('child', 'other', CHILD)


@pytest.mark.parametrize(
    'edit',
    [below_a_new_one, into_a_name_given_up, upside_down_below_a_new_one],
)
def test_a_name_not_to_be_had_leaves_a_forest_with_all_that_stays(edit):
    seen = [
        held(ROOT, 'root'),
        held(CHILD, 'child', ROOT),
        held(OTHER, 'other', CHILD),
        held(LEAF, 'leaf', ROOT),
    ]
    after = resolve(edit, {CHILD, OTHER}, seen=seen).after
    assert {ROOT, LEAF, OTHER} <= set(after)
    names = [one.name for one in after.values()]
    assert sorted(names) == sorted(set(names))
    assert all(p.parent_uuid in {None, *after} for p in after.values())


def test_what_cannot_be_made_or_moved_is_said_and_why():
    seen = [held(ROOT, 'root'), held(OTHER, 'other'), held(LEAF, 'leaf', ROOT)]

    def edit(tree):
        tree.remove('leaf')
        tree.remove('other')
        tree.new_child('leaf', 'root', NEW)
        tree.new_child('lower', 'leaf', CHILD)
        tree.new_child('other', 'lower', OTHER)

    wanted = resolve(edit, {OTHER}, seen=seen)
    assert wanted.after == provider.snapshot(seen)
    refused, *stuck = wanted.notes
    assert refused.startswith(f'leaf ({LEAF}): not deleted')
    assert stuck[0] == (
        f'leaf ({NEW}): not created, because leaf ({LEAF}) has that name and stays'
    )
    assert stuck[1].startswith(f'lower ({CHILD}): not created, because ')
    assert stuck[2].startswith(f'other ({OTHER}): not ')
    assert len(stuck) == 3


def test_what_cannot_be_renamed_is_said_and_why():
    def edit(tree):
        tree.remove('leaf')
        tree.remove('child')
        tree.new_child('leaf', 'root', CHILD)

    wanted = resolve(edit, {CHILD})
    assert wanted.notes[1] == (
        f'leaf ({CHILD}): not renamed, because leaf ({LEAF}) has that name and '
        'stays'
    )
    assert wanted.after[CHILD].name == 'child'


def test_what_is_above_one_that_stays_still_gets_its_contents():
    def edit(tree):
        into_a_name_given_up(tree)
        tree.declare_traits('root', 'B')
        tree.declare_traits('child', 'B')

    seen = [*HOME[:2], held(OTHER, 'other', CHILD), held(LEAF, 'leaf', ROOT)]
    after = resolve(edit, {OTHER}, seen=seen).after
    assert after[OTHER].parent_uuid == CHILD
    assert after[ROOT].traits == {'A', 'B'}
    assert after[CHILD].traits == {'A', 'B'}


def test_one_that_stays_keeps_a_whole_tree_above_it():
    seen = [
        held(ROOT, 'root'),
        held(LEAF, 'leaf', ROOT),
        held(OTHER, 'other'),
        held(CHILD, 'child', OTHER),
        held(SHARED, 'lower', CHILD),
    ]

    def edit(tree):
        tree.remove('leaf')
        tree.remove('other')
        tree.new_child('leaf', 'root', NEW)
        tree.new_child('lower', 'leaf', SHARED)

    tree = provider_tree.ProviderTree.from_providers(seen)
    edit(tree)
    wanted = ownership.resolve(
        tree,
        ROOT,
        Record(created=frozenset({OTHER, CHILD, SHARED})),
        Policy(),
    )
    assert wanted.after == provider.snapshot(seen)


def test_what_may_not_be_moved_keeps_what_is_above_it():
    seen = [
        held(ROOT, 'root'),
        held(OTHER, 'ours'),
        held(LEAF, 'leaf', OTHER),
    ]

    def edit(tree):
        tree.remove('ours')
        tree.new_root('leaf', LEAF)

    after = resolve(edit, {OTHER}, seen=seen).after
    assert after == provider.snapshot(seen)


def test_the_name_of_what_may_not_be_renamed_is_not_taken():
    def edit(tree):
        tree.remove('shared')
        tree.new_child('shared', 'root', NEW)
        tree.new_root('renamed', SHARED)

    wanted = resolve(edit)
    assert wanted.after == provider.snapshot([*HOME, *ABROAD])
    assert any(f'shared ({NEW}): not created' in n for n in wanted.notes)
