# SPDX-License-Identifier: Apache-2.0
"""What a ProviderTree answers: by name or uuid, in nova's order, in copies."""

import copy

import pytest

from compute_agent import errors
from compute_agent.tree import inventory, provider, provider_tree

ROOT = '00000000-0000-0000-0000-000000000001'
LEFT = '00000000-0000-0000-0000-000000000002'
LEAF = '00000000-0000-0000-0000-000000000003'
RIGHT = '00000000-0000-0000-0000-000000000004'
SHARED = '00000000-0000-0000-0000-000000000005'
AGG1 = '00000000-0000-0000-0000-0000000000a1'
AGG2 = '00000000-0000-0000-0000-0000000000a2'
VCPU = {
    'total': 8,
    'reserved': 0,
    'min_unit': 1,
    'max_unit': 8,
    'step_size': 1,
    'allocation_ratio': 16.0,
}


@pytest.fixture
def tree():
    """root > (left > leaf, right), and shared as a second root."""
    tree = provider_tree.ProviderTree()
    tree.new_root('root', ROOT, generation=3)
    tree.new_child('left', 'root', LEFT)
    tree.new_root('shared', SHARED)
    tree.new_child('right', ROOT, RIGHT)
    tree.new_child('leaf', LEFT, LEAF)
    tree.update_inventory('root', {'VCPU': VCPU})
    tree.update_traits('root', ['A', 'B'])
    tree.update_aggregates('root', [AGG1, AGG2])
    return tree


READS = [
    lambda tree, who: tree.data(who),
    lambda tree, who: tree.get_provider_uuids(who),
    lambda tree, who: tree.get_provider_uuids_in_tree(who),
    lambda tree, who: tree.has_inventory(who),
    lambda tree, who: tree.has_inventory_changed(who, {}),
    lambda tree, who: tree.has_traits(who, ['A']),
    lambda tree, who: tree.have_traits_changed(who, ['A']),
    lambda tree, who: tree.in_aggregates(who, [AGG1]),
    lambda tree, who: tree.have_aggregates_changed(who, [AGG1]),
]


@pytest.mark.parametrize('read', READS)
def test_a_name_reads_what_its_uuid_reads(tree, read):
    assert read(tree, 'root') == read(tree, ROOT)
    assert read(tree, 'leaf') == read(tree, LEAF)


@pytest.mark.parametrize('read', READS)
@pytest.mark.parametrize('who', ['nobody', AGG1, ''])
def test_an_unknown_provider_is_a_value_error_that_names_it(tree, read, who):
    with pytest.raises(ValueError, match=f'^No such provider {who} ') as found:
        read(tree, who)
    assert isinstance(found.value, errors.TreeError)


@pytest.mark.parametrize('who', ['root', ROOT, 'leaf', LEAF, 'shared'])
def test_a_provider_exists_by_name_and_by_uuid(tree, who):
    assert tree.exists(who) is True


@pytest.mark.parametrize('who', ['nobody', AGG1, ''])
def test_no_other_does(tree, who):
    assert tree.exists(who) is False


def test_data_is_all_there_is_of_a_provider(tree):
    assert tree.data('root') == provider_tree.ProviderData(
        uuid=ROOT,
        name='root',
        generation=3,
        parent_uuid=None,
        inventory={'VCPU': VCPU},
        traits={'A', 'B'},
        aggregates={AGG1, AGG2},
        resources={},
    )


def test_data_of_a_new_child_is_empty_but_for_its_place(tree):
    assert tree.data(LEAF) == provider_tree.ProviderData(
        uuid=LEAF,
        name='leaf',
        generation=None,
        parent_uuid=LEFT,
        inventory={},
        traits=set(),
        aggregates=set(),
        resources={},
    )


def test_data_cannot_be_set(tree):
    with pytest.raises(AttributeError):
        tree.data('root').name = 'other'


def test_editing_data_edits_a_copy(tree):
    before = tree.data('root')
    data = tree.data('root')
    data.inventory['VCPU']['total'] = 1
    data.inventory['DISK_GB'] = {'total': 1}
    data.traits.add('C')
    data.aggregates.clear()
    data.resources['VPMEM'] = {1}
    assert tree.data('root') == before


def test_a_drivers_resources_are_copied_both_ways(tree):
    mine = {'CUSTOM_PMEM': {'a'}}
    tree.update_resources('root', mine)
    mine['CUSTOM_PMEM'].add('b')
    tree.data('root').resources['CUSTOM_PMEM'].add('c')
    assert tree.data('root').resources == {'CUSTOM_PMEM': {'a'}}


def test_the_caller_keeps_what_it_gave(tree):
    records, traits, aggregates = {'VCPU': dict(VCPU)}, {'A'}, {AGG1}
    tree.update_inventory('left', records)
    tree.update_traits('left', traits)
    tree.update_aggregates('left', aggregates)
    records['VCPU']['total'] = 1
    traits.add('B')
    aggregates.clear()
    data = tree.data('left')
    assert (data.inventory, data.traits, data.aggregates) == (
        {'VCPU': VCPU},
        {'A'},
        {AGG1},
    )


@pytest.mark.parametrize(
    ('who', 'uuids'),
    [
        (None, [ROOT, LEFT, LEAF, RIGHT, SHARED]),
        ('root', [ROOT, LEFT, LEAF, RIGHT]),
        (LEFT, [LEFT, LEAF]),
        ('leaf', [LEAF]),
        ('shared', [SHARED]),
    ],
)
def test_uuids_come_parents_first_in_the_order_they_were_added(
    tree, who, uuids
):
    assert tree.get_provider_uuids(who) == uuids


@pytest.mark.parametrize('who', ['root', LEFT, 'leaf', RIGHT])
def test_the_whole_tree_is_the_same_from_wherever_one_asks(tree, who):
    assert tree.get_provider_uuids_in_tree(who) == [ROOT, LEFT, LEAF, RIGHT]


def test_a_lone_root_is_a_tree_of_one(tree):
    assert tree.get_provider_uuids_in_tree('shared') == [SHARED]


def test_an_empty_tree_has_no_uuids():
    assert provider_tree.ProviderTree().get_provider_uuids() == []


def test_roots_are_copies_of_those_without_a_parent(tree):
    assert [root.uuid for root in tree.roots] == [ROOT, SHARED]
    tree.roots[0].traits.clear()
    assert tree.data(ROOT).traits == {'A', 'B'}


def test_a_tree_is_copied_whole(tree):
    other = copy.deepcopy(tree)
    other.remove('left')
    other.add_traits('root', 'C')
    assert tree.get_provider_uuids('left') == [LEFT, LEAF]
    assert tree.data('root').traits == {'A', 'B'}


def test_inventory_is_there_or_not(tree):
    assert tree.has_inventory('root') is True
    assert tree.has_inventory('left') is False


@pytest.mark.parametrize(
    ('traits', 'answer'),
    [([], True), (['A'], True), (('A', 'B'), True), ({'A', 'C'}, False)],
)
def test_all_of_the_traits_are_there_or_not(tree, traits, answer):
    assert tree.has_traits('root', traits) is answer


@pytest.mark.parametrize(
    ('traits', 'answer'), [(['B', 'A', 'A'], False), (['A'], True), ([], True)]
)
def test_traits_have_changed_when_the_sets_differ(tree, traits, answer):
    assert tree.have_traits_changed('root', traits) is answer


@pytest.mark.parametrize(
    ('aggregates', 'answer'),
    [
        ([], True),
        ([AGG2], True),
        ([AGG2, AGG1], True),
        ([SHARED], False),
        ([AGG1, SHARED], False),
    ],
)
def test_all_of_the_aggregates_are_there_or_not(tree, aggregates, answer):
    assert tree.in_aggregates('root', aggregates) is answer


@pytest.mark.parametrize(
    ('aggregates', 'answer'), [([AGG2, AGG1], False), ([AGG1], True)]
)
def test_aggregates_have_changed_when_the_sets_differ(
    tree, aggregates, answer
):
    assert tree.have_aggregates_changed('root', aggregates) is answer


@pytest.mark.parametrize(
    ('records', 'answer'),
    [
        ({'VCPU': VCPU}, False),
        ({'VCPU': {**VCPU, 'allocation_ratio': 16}}, False),
        ({'VCPU': {**VCPU, 'total': 9}}, True),
        ({}, True),
        ({'VCPU': VCPU, 'DISK_GB': {'total': 1}}, True),
        ({'DISK_GB': VCPU}, True),
    ],
)
def test_inventory_has_changed_when_any_record_differs(tree, records, answer):
    assert tree.has_inventory_changed('root', records) is answer


def test_a_field_left_out_is_its_default_and_so_may_be_a_change(tree):
    tree.update_inventory('root', {'VCPU': {'total': 8, 'reserved': 1}})
    assert tree.has_inventory_changed('root', {'VCPU': {'total': 8}})
    tree.update_inventory('root', {'VCPU': {'total': 8, 'reserved': 0}})
    assert not tree.has_inventory_changed('root', {'VCPU': {'total': 8}})


@pytest.mark.parametrize(
    'records', [None, 7, [], {'VCPU': None}, {'VCPU': {}}, {'VCPU': 8}]
)
def test_no_inventory_at_all_is_refused_when_asked_about(tree, records):
    with pytest.raises(ValueError, match='inventory'):
        tree.has_inventory_changed('root', records)


@pytest.mark.parametrize(
    ('trait', 'rc', 'answer'),
    [
        ('MISC_SHARES_VIA_AGGREGATE', 'DISK_GB', True),
        ('MISC_SHARES_VIA_AGGREGATE', 'VCPU', False),
        ('CUSTOM_OTHER', 'DISK_GB', False),
    ],
)
def test_a_sharing_provider_has_the_trait_and_the_class(
    tree, trait, rc, answer
):
    tree.update_inventory('shared', {'DISK_GB': {'total': 1000}})
    tree.update_traits('shared', [trait])
    assert tree.has_sharing_provider(rc) is answer


def test_trait_and_class_on_two_providers_share_nothing(tree):
    tree.update_traits('leaf', ['MISC_SHARES_VIA_AGGREGATE'])
    assert tree.has_sharing_provider('VCPU') is False


def test_a_tree_of_what_placement_holds_asserts_nothing():
    held = [
        provider.Provider(
            uuid=ROOT,
            name='root',
            generation=7,
            inventories={'VCPU': inventory.Inventory(total=8)},
            traits=frozenset({'A'}),
            aggregates=frozenset({AGG1}),
        ),
        provider.Provider(uuid=LEAF, name='leaf', parent_uuid=ROOT),
    ]
    tree = provider_tree.ProviderTree.from_providers(reversed(held))
    data = tree.data('root')
    assert (data.generation, data.traits, data.aggregates) == (
        7,
        {'A'},
        {AGG1},
    )
    assert data.inventory['VCPU']['max_unit'] == inventory.MAX_INT
    assert tree.get_provider_uuids() == [ROOT, LEAF]
    assert tree.baseline == {one.uuid: one for one in held}
    assert tree.assertions == {}


def test_what_it_was_made_of_stays_its_baseline():
    held = provider.Provider(uuid=ROOT, name='root', traits=frozenset({'A'}))
    tree = provider_tree.ProviderTree.from_providers([held])
    tree.update_traits('root', ['B'])
    tree.new_child('leaf', 'root')
    assert tree.baseline == {ROOT: held}


def test_a_provider_whose_parent_is_elsewhere_stands_as_a_lone_root():
    held = provider.Provider(uuid=SHARED, name='shared', parent_uuid=RIGHT)
    tree = provider_tree.ProviderTree.from_providers([held])
    assert tree.data('shared').parent_uuid is None
    assert tree.detached == {SHARED}


def test_one_that_is_to_stand_alone_does_so_beside_its_parent():
    held = [
        provider.Provider(uuid=ROOT, name='root'),
        provider.Provider(uuid=SHARED, name='shared', parent_uuid=ROOT),
        provider.Provider(uuid=LEAF, name='leaf', parent_uuid=SHARED),
    ]
    tree = provider_tree.ProviderTree.from_providers(held, detached={SHARED})
    assert tree.get_provider_uuids('root') == [ROOT]
    assert tree.get_provider_uuids('shared') == [SHARED, LEAF]
    assert tree.detached == {SHARED}


def test_one_that_is_removed_and_added_again_stands_alone_no_more():
    held = provider.Provider(uuid=SHARED, name='shared', parent_uuid=RIGHT)
    tree = provider_tree.ProviderTree.from_providers([held])
    tree.remove('shared')
    tree.new_root('shared', SHARED)
    assert tree.detached == set()


def test_two_providers_of_one_name_make_no_tree():
    held = [
        provider.Provider(uuid=ROOT, name='same'),
        provider.Provider(uuid=LEAF, name='same'),
    ]
    with pytest.raises(errors.TreeError, match='Provider same already exists'):
        provider_tree.ProviderTree.from_providers(held)
