# SPDX-License-Identifier: Apache-2.0
"""The tree remembers who said what of which provider, in which order."""

import pytest

from compute_agent.tree import assertion, provider, provider_tree

ROOT = '00000000-0000-0000-0000-000000000001'
CHILD = '00000000-0000-0000-0000-000000000002'
AGG1 = '00000000-0000-0000-0000-0000000000a1'
AGG2 = '00000000-0000-0000-0000-0000000000a2'
ONE = {'total': 1}
FILE = 'file:/etc/nova/provider_config/a.yaml'

TRAIT = (ROOT, assertion.Kind.TRAIT)
AGGREGATE = (ROOT, assertion.Kind.AGGREGATE)
INVENTORY = (ROOT, assertion.Kind.INVENTORY)


@pytest.fixture
def tree():
    """root with trait A and class VCPU in placement, and its child."""
    return provider_tree.ProviderTree.from_providers(
        [
            provider.Provider(
                uuid=ROOT,
                name='root',
                traits=frozenset({'A'}),
                aggregates=frozenset({AGG1}),
            ),
            provider.Provider(uuid=CHILD, name='child', parent_uuid=ROOT),
        ]
    )


def said(names=(), removed=(), **flags):
    return assertion.Assertion(
        names=frozenset(names), removed=frozenset(removed), **flags
    )


KINDS = [
    (
        TRAIT,
        lambda t: t.add_traits('root', 'X', 'Y'),
        said(['X', 'Y']),
    ),
    (
        TRAIT,
        lambda t: t.update_traits('root', ['X']),
        said(['X'], exclusive=True),
    ),
    (
        TRAIT,
        lambda t: t.remove_traits('root', 'X'),
        said(removed=['X']),
    ),
    (
        TRAIT,
        lambda t: t.declare_traits('root', 'X', 'Y'),
        said(['X', 'Y'], declared=True),
    ),
    (
        TRAIT,
        lambda t: t.keep_traits('root'),
        said(keep=True),
    ),
    (
        AGGREGATE,
        lambda t: t.add_aggregates('root', AGG2),
        said([AGG2]),
    ),
    (
        AGGREGATE,
        lambda t: t.update_aggregates('root', [AGG2]),
        said([AGG2], exclusive=True),
    ),
    (
        AGGREGATE,
        lambda t: t.remove_aggregates('root', AGG2),
        said(removed=[AGG2]),
    ),
    (
        AGGREGATE,
        lambda t: t.declare_aggregates('root', AGG2),
        said([AGG2], declared=True),
    ),
    (
        AGGREGATE,
        lambda t: t.keep_aggregates('root'),
        said(keep=True),
    ),
    (
        INVENTORY,
        lambda t: t.declare_inventory('root', {'VCPU': ONE}),
        said(['VCPU'], declared=True),
    ),
    (
        INVENTORY,
        lambda t: t.update_inventory('root', {'VCPU': ONE}),
        said(['VCPU'], exclusive=True),
    ),
    (
        INVENTORY,
        lambda t: t.keep_inventory('root'),
        said(keep=True),
    ),
]


@pytest.mark.parametrize(('key', 'edit', 'sum_of_it'), KINDS)
def test_an_edit_is_the_drivers_word_unless_another_speaks(
    tree, key, edit, sum_of_it
):
    edit(tree)
    assert tree.assertions == {key: {'driver': sum_of_it}}


@pytest.mark.parametrize(('key', 'edit', 'sum_of_it'), KINDS)
def test_an_edit_is_anothers_word_while_it_speaks(tree, key, edit, sum_of_it):
    with tree.asserting(FILE) as same:
        assert same is tree
        edit(tree)
    assert tree.assertions == {key: {FILE: sum_of_it}}


@pytest.mark.parametrize(
    'edit',
    [
        lambda t: t.add_traits('root'),
        lambda t: t.remove_traits('root'),
        lambda t: t.add_aggregates('root'),
        lambda t: t.remove_aggregates('root'),
    ],
)
def test_an_empty_call_visits(tree, edit):
    edit(tree)
    assert list(tree.assertions.values()) == [{'driver': said()}]


@pytest.mark.parametrize(
    'edit',
    [
        lambda t: t.declare_traits('root'),
        lambda t: t.declare_aggregates('root'),
        lambda t: t.declare_inventory('root', {}),
    ],
)
def test_an_empty_declaration_claims_nothing(tree, edit):
    edit(tree)
    assert list(tree.assertions.values()) == [{'driver': said(declared=True)}]
    assert tree.data('root').traits == {'A'}
    assert tree.data('root').aggregates == {AGG1}


def test_reading_visits_nothing(tree):
    tree.data('root')
    tree.has_traits('root', ['A'])
    tree.have_traits_changed('root', [])
    tree.has_inventory_changed('root', {})
    tree.in_aggregates('root', [])
    tree.get_provider_uuids()
    assert tree.assertions == {}


def test_shaping_and_a_drivers_resources_visit_nothing(tree):
    tree.new_child('new', 'root')
    tree.update_resources('root', {'CUSTOM_PMEM': {1}})
    tree.remove('child')
    assert tree.assertions == {}


def test_what_is_added_then_removed_is_removed(tree):
    tree.add_traits('root', 'X', 'Y')
    tree.remove_traits('root', 'X')
    assert tree.assertions[TRAIT]['driver'] == said(['Y'], ['X'])


def test_what_is_removed_then_added_is_held(tree):
    tree.remove_traits('root', 'A')
    tree.add_traits('root', 'A')
    assert tree.assertions[TRAIT]['driver'] == said(['A'])
    assert tree.data('root').traits == {'A'}


def test_a_whole_set_begins_anew(tree):
    tree.add_traits('root', 'X')
    tree.remove_traits('root', 'A')
    tree.keep_traits('root')
    tree.update_traits('root', ['Y'])
    assert tree.assertions[TRAIT]['driver'] == said(
        ['Y'], ['A'], exclusive=True
    )


def test_a_declaration_begins_anew(tree):
    tree.add_traits('root', 'X')
    tree.remove_traits('root', 'A')
    tree.keep_traits('root')
    tree.declare_traits('root', 'Y')
    assert tree.assertions[TRAIT]['driver'] == said(
        ['Y'], ['A'], declared=True
    )
    assert tree.data('root').traits == {'Y'}


def test_what_follows_a_declaration_alters_it(tree):
    tree.declare_traits('root', 'X', 'Y')
    tree.add_traits('root', 'Z')
    tree.remove_traits('root', 'X')
    assert tree.assertions[TRAIT]['driver'] == said(
        ['Y', 'Z'], ['X'], declared=True
    )
    assert tree.data('root').traits == {'A', 'Y', 'Z'}


def test_another_declaration_takes_back_the_one_before(tree):
    with tree.asserting(FILE):
        tree.declare_traits('root', 'Y')
        tree.declare_inventory('root', {'CUSTOM_Y': ONE})
    for names in ('AXY', 'Z'):
        tree.declare_traits('root', *names)
        tree.declare_inventory('root', {f'CUSTOM_{n}': ONE for n in names})
    tree.declare_aggregates('root', AGG1, AGG2)
    tree.declare_aggregates('root')
    data = tree.data('root')
    assert data.traits == {'A', 'Y', 'Z'}
    assert set(data.inventory) == {'CUSTOM_Y', 'CUSTOM_Z'}
    assert data.aggregates == {AGG1}


def test_what_follows_a_whole_set_alters_it(tree):
    tree.update_traits('root', ['X', 'Y'])
    tree.add_traits('root', 'Z')
    tree.remove_traits('root', 'X')
    assert tree.assertions[TRAIT]['driver'] == said(
        ['Y', 'Z'], ['X'], exclusive=True
    )


def test_a_declared_inventory_takes_the_place_of_a_whole_one(tree):
    tree.update_inventory('root', {'VCPU': ONE})
    tree.declare_inventory('root', {'DISK_GB': ONE})
    assert tree.assertions[INVENTORY]['driver'] == said(
        ['DISK_GB'], declared=True
    )
    assert set(tree.data('root').inventory) == {'DISK_GB'}


def test_keeping_leaves_what_was_said_before(tree):
    tree.add_traits('root', 'X')
    tree.keep_traits('root')
    assert tree.assertions[TRAIT]['driver'] == said(['X'], keep=True)


def test_each_source_is_remembered_by_itself(tree):
    tree.update_traits('root', ['X'])
    with tree.asserting(FILE):
        tree.add_traits('root', 'Y')
        with tree.asserting('agent'):
            tree.add_traits('root', 'Z')
        tree.remove_traits('root', 'X')
    tree.add_traits('root', 'W')
    assert tree.assertions == {
        TRAIT: {
            'driver': said(['W', 'X'], exclusive=True),
            FILE: said(['Y'], ['X']),
            'agent': said(['Z']),
        }
    }


def test_a_source_that_fails_has_stopped_speaking(tree):
    with pytest.raises(ValueError, match='No such'), tree.asserting(FILE):
        tree.add_traits('nobody', 'X')
    tree.add_traits('root', 'X')
    assert list(tree.assertions[TRAIT]) == ['driver']


def test_providers_and_kinds_are_remembered_apart(tree):
    tree.add_traits('root', 'X')
    tree.add_traits('child', 'Y')
    tree.add_aggregates('child', AGG1)
    assert set(tree.assertions) == {
        TRAIT,
        (CHILD, assertion.Kind.TRAIT),
        (CHILD, assertion.Kind.AGGREGATE),
    }


def test_what_was_said_of_a_removed_provider_goes_with_it(tree):
    tree.add_traits('root', 'X')
    tree.add_traits('child', 'X')
    tree.update_inventory('child', {'VCPU': ONE})
    tree.remove('root')
    assert tree.assertions == {}


def test_what_a_source_said_outlives_anothers_whole_set(tree):
    with tree.asserting(FILE):
        tree.declare_inventory('root', {'CUSTOM_GOLD': ONE})
        tree.add_traits('root', 'X')
        tree.add_aggregates('root', AGG2)
    tree.update_inventory('root', {'VCPU': ONE})
    tree.update_traits('root', ['Y'])
    tree.update_aggregates('root', [])
    assert tree.assertions[INVENTORY][FILE] == said(
        ['CUSTOM_GOLD'], declared=True
    )
    assert tree.assertions[TRAIT][FILE] == said(['X'])
    assert tree.assertions[AGGREGATE][FILE] == said([AGG2])
