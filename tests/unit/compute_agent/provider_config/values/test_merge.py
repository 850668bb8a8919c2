# SPDX-License-Identifier: Apache-2.0
"""The assertions of operators' files onto a tree, and claims that end."""

import pytest

from compute_agent.ownership import resolve
from compute_agent.ownership.policy import Policy
from compute_agent.ownership.record import Record
from compute_agent.provider_config.values import merge as merging
from compute_agent.provider_config.values.entry import Entry, combine
from compute_agent.tree import assertion, names, provider, provider_tree
from compute_agent.tree.inventory import Inventory

NODE = '11111111-1111-4111-8111-111111111111'
CHILD = '22222222-2222-4222-8222-222222222222'
SHARED = '33333333-3333-4333-8333-333333333333'
TRAIT, CLASS = assertion.Kind.TRAIT, assertion.Kind.INVENTORY
A, B = '/etc/pc/a.yaml', '/etc/pc/b.yaml'
FROM_A, FROM_B = f'file:{A}', f'file:{B}'


def placed(uuid=NODE, name='cn1', parent=None, traits=(), classes=()):
    return provider.Provider(
        uuid=uuid,
        name=name,
        parent_uuid=parent,
        generation=1,
        traits=frozenset(traits),
        inventories={rc: Inventory(total=9) for rc in classes},
    )


def tree_of(*providers):
    return provider_tree.ProviderTree.from_providers(providers or [placed()])


def entry(*traits, path=A, line=4, uuid=None, name=None, **classes):
    return Entry(
        path=path,
        line=line,
        uuid=uuid,
        name=name,
        traits=dict.fromkeys(traits, line + 1),
        inventories={rc: {'total': n} for rc, n in classes.items()},
        lines_of_classes=dict.fromkeys(classes, line + 2),
    )


def recorded(created=(), ours=(), **held):
    """Return a record of the node; ``CUSTOM_A=FROM_A`` is a claim."""
    by_source: dict[str, frozenset[str]] = {}
    for name, source in held.items():
        by_source[source] = by_source.get(source, frozenset()) | {name}
    return Record(
        created=frozenset(created),
        ours={(NODE, TRAIT): frozenset(ours)},
        claims={(NODE, TRAIT): by_source},
    )


def merge(tree, *entries, record=None):
    return merging.merge(
        tree,
        NODE,
        record or Record(),
        combine(entries),
    )


def said(tree, uuid=NODE, kind=TRAIT):
    return {
        source: set(one.names)
        for source, one in tree.assertions.get((uuid, kind), {}).items()
    }


# --- which provider -----------------------------------------------------------


def test_every_root_gets_what_is_for_every_root():
    tree = tree_of()
    one = entry('CUSTOM_A', CUSTOM_X=3)
    assert merge(tree, one) == [one]
    assert said(tree) == {FROM_A: {'CUSTOM_A'}}
    assert said(tree, kind=CLASS) == {FROM_A: {'CUSTOM_X'}}
    assert tree.data(NODE).inventory['CUSTOM_X'] == {'total': 3}
    assert not tree.notes
    assert not tree.faults


@pytest.mark.parametrize('who', [{'uuid': NODE}, {'name': 'cn1'}])
def test_a_root_with_an_entry_of_its_own_gets_that_one_alone(who):
    tree = tree_of()
    every, own = entry('CUSTOM_A'), entry('CUSTOM_B', line=9, **who)
    assert merge(tree, every, own) == [own]
    assert said(tree) == {FROM_A: {'CUSTOM_B'}}


@pytest.mark.parametrize('who', [{'uuid': CHILD}, {'name': 'nic'}])
def test_a_child_is_found_by_uuid_and_by_name_whoever_made_it(who):
    tree = tree_of(placed(), placed(CHILD, 'nic', parent=NODE))
    merge(tree, entry('CUSTOM_A'), entry('CUSTOM_B', line=9, **who))
    assert said(tree) == {FROM_A: {'CUSTOM_A'}}
    assert said(tree, CHILD) == {FROM_A: {'CUSTOM_B'}}


def test_a_child_that_the_driver_makes_in_this_cycle_is_found():
    tree = tree_of()
    tree.new_child('gpu', NODE, uuid=CHILD)
    merge(tree, entry('CUSTOM_B', name='gpu'))
    assert said(tree, CHILD) == {FROM_A: {'CUSTOM_B'}}


def test_an_entry_of_another_tree_matches_nothing():
    tree = tree_of()
    others = [entry('CUSTOM_A', uuid=CHILD), entry('CUSTOM_A', name='cn2')]
    assert not merge(tree, *others)
    assert not tree.assertions
    assert not tree.notes


def test_a_uuid_is_no_name_and_a_name_no_uuid():
    tree = tree_of(placed(name=CHILD))
    assert not merge(tree, entry('CUSTOM_A', uuid=CHILD))
    assert not merge(tree, entry('CUSTOM_A', name=NODE))


@pytest.mark.parametrize('created', [[], [SHARED]])
def test_a_sharing_provider_is_written_whoever_created_it(created):
    tree = tree_of(placed(), placed(SHARED, 'nfs'))
    record = recorded(created=created)
    merge(tree, entry('CUSTOM_A', uuid=SHARED), record=record)
    assert said(tree, SHARED) == {FROM_A: {'CUSTOM_A'}}
    assert not tree.notes


def test_no_provider_becomes_nova_s_by_being_in_a_file():
    tree = tree_of(placed(), placed(CHILD, 'nic', parent=NODE))
    merge(tree, entry('CUSTOM_A', uuid=CHILD))
    assert names.OWNER_NOVA not in tree.data(CHILD).traits


# --- what is in the way -------------------------------------------------------


def test_a_class_of_the_driver_keeps_its_value_and_that_is_a_fault():
    tree = tree_of()
    tree.update_inventory(NODE, {'CUSTOM_X': {'total': 1}})
    merge(tree, entry('CUSTOM_A', CUSTOM_X=5, CUSTOM_Y=2))
    assert tree.data(NODE).inventory['CUSTOM_X'] == {'total': 1}
    assert said(tree, kind=CLASS)[FROM_A] == {'CUSTOM_Y'}
    assert said(tree) == {FROM_A: {'CUSTOM_A'}}
    (fault,) = tree.faults
    assert fault == (
        f'cn1 ({NODE}): CUSTOM_X at {A}:6 is not applied, because the driver '
        'reports that class itself; remove it from the file'
    )


@pytest.mark.parametrize('keeps', [True, False])
def test_a_class_that_the_driver_held_is_its_until_it_visits(keeps):
    tree = tree_of()
    if keeps:
        tree.keep_inventory(NODE)
    held = {(NODE, CLASS): {'driver': frozenset({'CUSTOM_X'})}}
    merge(tree, entry(CUSTOM_X=5), record=Record(claims=held))
    assert len(tree.faults) == 1


@pytest.mark.parametrize(
    ('source', 'is_free'), [('driver', False), (FROM_A, True)]
)
def test_a_class_that_the_driver_holds_for_another_node_is_its(
    source, is_free
):
    tree = tree_of(placed(), placed(SHARED, 'nfs', classes=['DISK_GB']))
    others = {(SHARED, CLASS): {(source, CHILD): frozenset({'DISK_GB'})}}
    record = Record(created=frozenset({SHARED}), others=others)
    merge(tree, entry(uuid=SHARED, DISK_GB=4), record=record)
    assert bool(tree.faults) is not is_free
    assert bool(said(tree, SHARED, CLASS)) is is_free


def test_a_class_that_the_driver_gave_up_is_free():
    tree = tree_of()
    tree.update_inventory(NODE, {})
    held = {(NODE, CLASS): {'driver': frozenset({'CUSTOM_X'})}}
    merge(tree, entry(CUSTOM_X=5), record=Record(claims=held))
    assert not tree.faults
    assert said(tree, kind=CLASS)[FROM_A] == {'CUSTOM_X'}


def test_one_provider_by_name_and_by_uuid_is_a_fault_that_loses_nothing():
    tree = tree_of()
    first = entry('CUSTOM_A', uuid=NODE, CUSTOM_X=1)
    second = entry(
        'CUSTOM_A', 'CUSTOM_B', path=B, name='cn1', CUSTOM_X=2, CUSTOM_Y=3
    )
    assert merge(tree, first, second) == [first, second]
    assert said(tree) == {
        FROM_A: {'CUSTOM_A'},
        FROM_B: {'CUSTOM_A', 'CUSTOM_B'},
    }
    data = tree.data(NODE).inventory
    assert (data['CUSTOM_X'], data['CUSTOM_Y']) == ({'total': 1}, {'total': 3})
    (fault,) = tree.faults
    assert fault == (
        f'cn1 ({NODE}): two entries match it, {A}:4 and {B}:4; put all '
        'additions into one entry'
    )


# --- what a file gives up -----------------------------------------------------


def test_a_file_that_says_no_more_of_a_provider_visits_with_nothing():
    tree = tree_of(placed(traits=['CUSTOM_A']))
    record = recorded(ours=['CUSTOM_A'], CUSTOM_A=FROM_A)
    merge(tree, record=record)
    assert said(tree) == {FROM_A: set()}
    assert not tree.notes


def test_what_a_file_held_goes_when_its_name_goes():
    tree = tree_of(placed(traits=['CUSTOM_A', 'CUSTOM_B']))
    record = recorded(
        ours=['CUSTOM_A', 'CUSTOM_B'], CUSTOM_A=FROM_A, CUSTOM_B=FROM_A
    )
    merge(tree, entry('CUSTOM_B'), record=record)
    wanted = resolve.resolve(tree, NODE, record, Policy())
    assert wanted.after[NODE].traits == {'CUSTOM_B'}


def test_what_moved_to_another_file_stays():
    tree = tree_of(placed(traits=['CUSTOM_A']))
    record = recorded(ours=['CUSTOM_A'], CUSTOM_A=FROM_A)
    merge(tree, entry('CUSTOM_A', path=B), record=record)
    assert said(tree) == {FROM_A: set(), FROM_B: {'CUSTOM_A'}}
    wanted = resolve.resolve(tree, NODE, record, Policy())
    assert wanted.after[NODE].traits == {'CUSTOM_A'}
    assert not tree.notes


@pytest.mark.parametrize('visits', [True, False])
def test_what_no_file_names_and_another_added_stays_and_is_noted(visits):
    tree = tree_of(placed(traits=['CUSTOM_A', 'CUSTOM_D']))
    record = recorded(CUSTOM_A=FROM_A, CUSTOM_D='driver')
    if visits:
        tree.declare_traits(NODE, 'CUSTOM_D')
    merge(tree, record=record)
    (note,) = tree.notes
    assert note == (
        f'cn1 ({NODE}): keeps CUSTOM_A, which {A} no longer has, because '
        'this agent did not add it; if it should go, remove it with '
        '"sync --prune"'
    )


def test_nothing_is_noted_of_what_the_driver_holds_or_is_not_there():
    tree = tree_of(placed(traits=['CUSTOM_D']))
    tree.keep_traits(NODE)
    both = {FROM_A: frozenset({'CUSTOM_D', 'CUSTOM_GONE'})}
    both['driver'] = frozenset({'CUSTOM_D'})
    record = Record(claims={(NODE, TRAIT): both})
    merge(tree, record=record)
    assert not tree.notes


def test_nothing_is_noted_of_what_is_held_for_another_node():
    tree = tree_of(placed(traits=['CUSTOM_A']))
    key, some = (NODE, TRAIT), frozenset({'CUSTOM_A'})
    record = Record(
        claims={key: {FROM_A: some}}, others={key: {(FROM_B, SHARED): some}}
    )
    merge(tree, record=record)
    assert not tree.notes


def test_a_provider_that_is_not_there_is_not_visited():
    tree = tree_of(placed())
    held = {(CHILD, TRAIT): {FROM_A: frozenset({'CUSTOM_A'})}}
    merge(tree, record=Record(claims=held))
    assert not tree.assertions


def test_a_source_that_held_nothing_is_not_visited_again():
    tree = tree_of()
    held = {(NODE, TRAIT): {FROM_A: frozenset(), 'driver': frozenset('A')}}
    merge(tree, record=Record(claims=held))
    assert not tree.assertions


def test_the_record_of_a_provider_made_anew_says_nothing_of_what_is_there():
    tree = tree_of()
    tree.new_child('gpu', NODE, uuid=CHILD)
    held = {(CHILD, TRAIT): {FROM_A: frozenset({'CUSTOM_A'})}}
    merge(tree, record=Record(claims=held))
    assert said(tree, CHILD) == {FROM_A: set()}
    assert not tree.notes
