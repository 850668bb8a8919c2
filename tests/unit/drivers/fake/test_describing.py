# SPDX-License-Identifier: Apache-2.0
"""The tree becomes what the file says, and what it leaves open stays."""

import pytest

from compute_agent import errors
from compute_agent.ownership import record
from compute_agent.tree import assertion

CN1 = '11111111-1111-4111-8111-111111111111'
CN2 = '22222222-2222-4222-8222-222222222222'
U = '33333333-3333-4333-8333-333333333333'
V = '44444444-4444-4444-8444-444444444444'
AGG = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
OTHER = 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb'
SHARES = 'MISC_SHARES_VIA_AGGREGATE'


@pytest.fixture
def crowded(rooted):
    """Return a tree of CN1 that others have written to as well."""
    tree = rooted()
    tree.new_child('A', CN1)
    for name in ('CN1', 'A'):
        tree.update_inventory(name, {'DISK_GB': {'total': 5}})
        tree.update_traits(name, ['CUSTOM_OTHERS'])
        tree.update_aggregates(name, [OTHER])
    tree.assertions.clear()
    return tree


def said(tree, name, kind):
    by_source = tree.assertions.get((tree.data(name).uuid, kind), {})
    return by_source.get(assertion.DRIVER)


def refused(fake, tree, told, text, nodename='CN1'):
    it = fake(text)
    with pytest.raises(errors.DriverError) as caught:
        it.update_provider_tree(tree, nodename)
    return told(caught.value)


def test_what_the_file_gives_is_added_beside_what_others_gave(fake, crowded):
    fake(
        f'nodes: [{{name: CN1, traits: [CUSTOM_A], aggregates: [{AGG}]}}]\n'
    ).update_provider_tree(crowded, 'CN1')
    data = crowded.data('CN1')
    assert data.traits == {'CUSTOM_OTHERS', 'CUSTOM_A'}
    assert data.aggregates == {OTHER, AGG}
    assert said(crowded, 'CN1', assertion.Kind.TRAIT) == assertion.Assertion(
        names=frozenset({'CUSTOM_A'}), declared=True
    )


def test_inventory_is_always_given_whole(fake, crowded):
    fake(
        'nodes: [{name: CN1, inventories: {VCPU: 8}}]\n'
    ).update_provider_tree(crowded, 'CN1')
    assert crowded.data('CN1').inventory == {'VCPU': {'total': 8}}


def test_a_ratio_left_out_stays_left_out(fake, crowded):
    fake(
        'nodes: [{name: CN1, inventories: {VCPU: {total: 8, reserved: 1},'
        ' PCPU: {total: 2, allocation_ratio: 1.5}}}]\n'
    ).update_provider_tree(crowded, 'CN1')
    assert crowded.data('CN1').inventory == {
        'VCPU': {'total': 8, 'reserved': 1},
        'PCPU': {'total': 2, 'allocation_ratio': 1.5},
    }


def test_an_exclusive_provider_has_only_what_the_file_gives(fake, crowded):
    fake(
        'nodes: [{name: CN1, exclusive: true, traits: [CUSTOM_A],'
        f' aggregates: [{AGG}]}}]\n'
    ).update_provider_tree(crowded, 'CN1')
    data = crowded.data('CN1')
    assert (data.traits, data.aggregates) == ({'CUSTOM_A'}, {AGG})
    assert said(crowded, 'CN1', assertion.Kind.TRAIT).exclusive
    assert said(crowded, 'CN1', assertion.Kind.AGGREGATE).exclusive


def test_what_the_file_is_silent_on_is_not_visited(fake, crowded):
    before = crowded.data('A')
    fake(
        'nodes: [{name: CN1, exclusive: true, children: [{name: A}]}]\n'
    ).update_provider_tree(crowded, 'CN1')
    assert crowded.data('A') == before
    assert crowded.assertions == {}


def test_keep_says_unknown_this_time_of_each_kind(fake, crowded):
    before = crowded.data('CN1')
    fake(
        'nodes: [{name: CN1, exclusive: true, inventories: keep, traits: keep,'
        ' aggregates: keep, children: [{name: A}]}]\n'
    ).update_provider_tree(crowded, 'CN1')
    assert crowded.data('CN1') == before
    kept = assertion.Assertion(keep=True)
    assert [said(crowded, 'CN1', kind) for kind in assertion.Kind] == [
        kept
    ] * 3


def test_empty_is_a_visit_that_holds_nothing(fake, crowded):
    fake(
        'nodes: [{name: CN1, inventories: {}, traits: [], aggregates: []}]\n'
    ).update_provider_tree(crowded, 'CN1')
    assert crowded.data('CN1').inventory == {}
    assert crowded.data('CN1').traits == {'CUSTOM_OTHERS'}
    for kind in (assertion.Kind.TRAIT, assertion.Kind.AGGREGATE):
        assert said(crowded, 'CN1', kind) == assertion.Assertion(declared=True)


def test_missing_children_are_created_below_their_parents(fake, rooted):
    tree = rooted()
    fake(
        f'nodes: [{{name: CN1, children: [{{name: A, uuid: {U},'
        ' children: [{name: B}]}]}]\n'
    ).update_provider_tree(tree, 'CN1')
    assert tree.data('A').uuid == U
    assert tree.data('A').parent_uuid == CN1
    assert tree.data('B').parent_uuid == U


def test_a_child_without_uuid_is_known_by_its_name(fake, rooted):
    tree = rooted()
    tree.new_child('A', CN1, uuid=U)
    fake(
        'nodes: [{name: CN1, children: [{name: A, traits: [CUSTOM_A]}]}]\n'
    ).update_provider_tree(tree, 'CN1')
    assert tree.data(U).traits == {'CUSTOM_A'}


def test_a_child_the_file_lacks_is_removed_with_all_below_it(fake, rooted):
    tree = rooted()
    tree.new_child('A', CN1)
    tree.new_child('B', 'A')
    fake('nodes: [{name: CN1}]\n').update_provider_tree(tree, 'CN1')
    assert tree.get_provider_uuids() == [CN1]


def test_foreign_children_are_spared_below_the_parent_that_says_so(
    fake, rooted, observed
):
    tree = rooted()
    tree.new_child('A', CN1)
    tree.new_child('foreign', CN1)
    tree.new_child('below foreign', 'foreign')
    tree.new_child('foreign too', 'A')
    own = tree.new_child('own', CN1)
    tree = observed(tree)
    tree.own = lambda: record.Record(created=frozenset([own]))
    fake(
        'nodes: [{name: CN1, foreign_children: leave, children: [{name: A}]}]\n'
    ).update_provider_tree(tree, 'CN1')
    assert tree.exists('foreign')
    assert tree.exists('below foreign')
    assert not tree.exists('foreign too')
    assert not tree.exists('own')


def test_a_provider_may_be_set_aside_with_the_reason(fake, rooted):
    tree = rooted()
    fake(
        'nodes: [{name: CN1, drained: it moves, children: '
        '[{name: A, unhealthy: no fan}]}]\n'
    ).update_provider_tree(tree, 'CN1')
    assert sorted(map(str, tree.set_aside.values())) == [
        'A: unhealthy (no fan), so all of it is reserved',
        'CN1: drained (it moves), so all of it is reserved',
    ]


def test_another_uuid_has_a_child_made_anew_wherever_it_stood(fake, rooted):
    tree = rooted()
    tree.new_child('A', CN1)
    tree.new_child('B', 'A', uuid=U)
    fake(
        f'nodes: [{{name: CN1, children: [{{name: A}},'
        f' {{name: B, uuid: {V}}}]}}]\n'
    ).update_provider_tree(tree, 'CN1')
    assert not tree.exists(U)
    assert tree.data('B').uuid == V
    assert tree.data('B').parent_uuid == CN1


def test_the_trees_of_other_nodes_are_left_alone(fake, rooted):
    tree = rooted()
    tree.new_root('CN2', CN2)
    tree.new_child('A2', CN2)
    fake('nodes: [{name: CN1}, {name: CN2}]\n').update_provider_tree(
        tree, 'CN1'
    )
    assert tree.exists('A2')


MOVED = (
    'f.yaml:{line}: provider B ({uuid}) is {there} in the tree and {here} '
    'here; this driver moves no provider: write it there or give it '
    'another uuid'
)


@pytest.mark.parametrize(
    ('text', 'line', 'here'),
    [
        (
            'nodes:\n- name: CN1\n  children:\n  - name: A\n  - name: B\n',
            5,
            'below CN1',
        ),
        (
            (
                'nodes:\n- name: CN1\n  children:\n  - name: A\n  - name: C\n'
                f'    children:\n    - name: B\n      uuid: {U}\n'
            ),
            7,
            'below C',
        ),
        (
            'nodes:\n- name: CN1\nsharing_providers:\n- name: B\n',
            4,
            'a root',
        ),
    ],
    ids=['below another', 'below a new one', 'as a root'],
)
def test_a_provider_is_not_moved_and_nothing_is_edited(
    fake, rooted, told, observed, text, line, here
):
    tree = rooted()
    tree.new_child('A', CN1)
    tree.new_child('B', 'A', uuid=U)
    before = observed(tree).baseline
    assert refused(fake, tree, told, text) == MOVED.format(
        line=line, uuid=U, there='below A', here=here
    )
    assert observed(tree).baseline == before


def test_a_lone_root_is_not_moved_into_the_tree(fake, rooted, told):
    tree = rooted()
    tree.new_root('B', U)
    text = 'nodes: [{name: CN1, children: [{name: B}]}]\n'
    assert refused(fake, tree, told, text) == MOVED.format(
        line=1, uuid=U, there='a root', here='below CN1'
    )


def test_a_provider_is_not_renamed(fake, rooted, told):
    tree = rooted()
    tree.new_child('A', CN1, uuid=U)
    text = f'nodes:\n- name: CN1\n  children:\n  - name: B\n    uuid: {U}\n'
    assert refused(fake, tree, told, text) == (
        f'f.yaml:4: provider {U} is named A in the tree; this '
        'driver renames no provider: write that name or another uuid'
    )


def test_a_name_held_by_a_spared_child_is_told(fake, rooted, observed, told):
    tree = rooted()
    tree.new_child('A', CN1, uuid=U)
    tree = observed(tree)
    tree.own = record.Record
    text = (
        'nodes:\n- name: CN1\n  foreign_children: leave\n  children:\n'
        f'  - name: A\n    uuid: {V}\n'
    )
    assert refused(fake, tree, told, text) == (
        'f.yaml:5: Provider A already exists and stays; write another name or '
        'uuid'
    )


def test_a_tree_without_the_root_is_told(fake, rooted, told):
    text = f'nodes:\n- name: CN1\n- name: CN2\n  uuid: {U}\n'
    assert refused(fake, rooted(), told, text, 'CN2') == (
        f'f.yaml:3: the tree has no root CN2 ({U})'
    )


def test_a_root_under_another_uuid_is_told(fake, rooted, told):
    text = f'nodes:\n- name: CN1\n  uuid: {U}\n'
    assert refused(fake, rooted(), told, text) == (
        f'f.yaml:2: the tree has CN1 under uuid {CN1}; write that uuid'
    )


SHARING = (
    'nodes: [{name: CN1}, {name: CN2}]\n'
    f'sharing_providers: [{{name: SSP, uuid: {U}, aggregates: [{AGG}],'
    ' inventories: {DISK_GB: 9}, traits: [CUSTOM_A]}]\n'
)


def test_a_sharing_provider_comes_with_the_first_node(fake, rooted):
    tree = rooted()
    fake(SHARING).update_provider_tree(tree, 'CN1')
    data = tree.data('SSP')
    assert (data.uuid, data.parent_uuid) == (U, None)
    assert data.inventory == {'DISK_GB': {'total': 9}}
    assert data.traits == {'CUSTOM_A', SHARES}
    assert data.aggregates == {AGG}


def test_a_sharing_provider_is_not_touched_with_the_second_node(fake, rooted):
    tree = rooted('CN2', CN2)
    tree.new_root('SSP', U)
    fake(SHARING).update_provider_tree(tree, 'CN2')
    assert tree.data('SSP').traits == set()
    assert tree.assertions == {}


def test_a_sharing_provider_that_is_there_is_updated(fake, rooted):
    tree = rooted()
    tree.new_root('SSP', U)
    with tree.asserting('another'):
        tree.add_traits('SSP', 'CUSTOM_OTHERS')
    fake(SHARING).update_provider_tree(tree, 'CN1')
    assert tree.data('SSP').traits == {'CUSTOM_OTHERS', 'CUSTOM_A', SHARES}


@pytest.mark.parametrize(
    ('more', 'expected'),
    [
        ('', assertion.Assertion(names=frozenset({SHARES}))),
        (
            ', traits: keep',
            assertion.Assertion(names=frozenset({SHARES}), keep=True),
        ),
        (
            ', traits: [CUSTOM_A], exclusive: true',
            assertion.Assertion(
                names=frozenset({SHARES, 'CUSTOM_A'}), exclusive=True
            ),
        ),
    ],
    ids=['silent', 'keep', 'exclusive'],
)
def test_a_sharing_provider_shares_whatever_else_is_said(
    fake, rooted, more, expected
):
    tree = rooted()
    fake(
        f'nodes: [{{name: CN1}}]\nsharing_providers: [{{name: SSP{more}}}]\n'
    ).update_provider_tree(tree, 'CN1')
    assert said(tree, 'SSP', assertion.Kind.TRAIT) == expected
    assert SHARES in tree.data('SSP').traits
