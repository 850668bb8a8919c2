# SPDX-License-Identifier: Apache-2.0
"""Children that another moved away or renamed: found, and not written."""

import dataclasses

import pytest

from compute_agent import errors
from compute_agent.ownership import taken_away
from compute_agent.ownership.record import Record
from compute_agent.tree import assertion, names, provider, provider_tree

NODE = '11111111-1111-4111-8111-111111111111'
GPU = provider_tree.derived_uuid(NODE, 'gpu')
BELOW = '33333333-3333-4333-8333-333333333333'
RACK = '44444444-4444-4444-8444-444444444444'
TRAIT = assertion.Kind.TRAIT
ROOT = provider.Provider(uuid=NODE, name='node')
CHILD = provider.Provider(uuid=GPU, name='gpu', parent_uuid=NODE)
DEEP = provider.Provider(uuid=BELOW, name='pci', parent_uuid=GPU)
AWAY = dataclasses.replace(CHILD, parent_uuid=RACK)
ALONE = dataclasses.replace(CHILD, parent_uuid=None)
OURS = frozenset({names.OWNER_NOVA})


def tree_of(*others):
    return provider_tree.ProviderTree.from_providers([ROOT, *others])


def record(claims=OURS, created=(GPU, BELOW)):
    return Record(
        created=frozenset(created),
        claims={
            (uuid, TRAIT): {assertion.AGENT: claims} for uuid in (GPU, BELOW)
        },
    )


def left(tree, known=None):
    """Describe the child, leave what was moved; return what was said."""
    tree.declare_traits(GPU, 'CUSTOM_A')
    taken_away.leave(tree, NODE, known or record())
    return tree.faults


@pytest.mark.parametrize(
    ('child', 'said'),
    [(AWAY, f'is below {RACK} now'), (ALONE, 'is a root now')],
)
def test_one_that_was_moved_away_is_left_and_said(child, said):
    tree = tree_of(child)
    (fault,) = left(tree)
    assert (
        f'gpu ({GPU}), which this agent created below this node, {said}'
        in (fault)
    )
    assert tree.assertions == {}


def test_what_is_above_it_now_is_named_if_it_is_known():
    rack = provider.Provider(uuid=RACK, name='rack')
    assert f'is below rack ({RACK}) now' in left(tree_of(rack, AWAY))[0]


def test_of_a_branch_only_the_top_is_named():
    faults = left(tree_of(ALONE, DEEP))
    assert [fault.partition(' ')[0] for fault in faults] == ['gpu']


@pytest.mark.parametrize(
    ('child', 'known'),
    [
        (CHILD, record()),
        (ALONE, record(claims=frozenset())),
        (ALONE, Record(created=frozenset({GPU}))),
        (ALONE, record(created=())),
    ],
    ids=['in place', 'sharing', 'sharing and new', 'of another'],
)
def test_others_are_described_as_ever(child, known):
    tree = tree_of(child)
    assert left(tree, known) == []
    assert (GPU, TRAIT) in tree.assertions


def test_one_that_the_driver_takes_back_goes_on():
    tree = tree_of(AWAY)
    tree.remove('gpu')
    tree.new_child('gpu', NODE)
    assert left(tree) == []
    assert tree.data('gpu').uuid == GPU


# --- renamed ------------------------------------------------------------------

CARD = dataclasses.replace(CHILD, name='card')
RENAMED = (
    rf'knows provider {GPU} as card, the driver calls it my gpu: .*'
    rf"resource provider rename {GPU} 'my gpu'"
)


def test_a_uuid_that_placement_knows_by_another_name_is_not_made_again():
    for make in (
        lambda t: t.new_child('my gpu', NODE, GPU),
        lambda t: t.new_root('my gpu', GPU),
    ):
        tree = tree_of(CARD)
        with pytest.raises(errors.Renamed, match=RENAMED):
            make(tree)
        assert tree.get_provider_uuids() == [NODE, GPU]


def test_nor_is_one_that_would_be_derived():
    with pytest.raises(
        errors.Renamed, match=f'resource provider rename {GPU} gpu"'
    ):
        tree_of(CARD).new_child('gpu', NODE)


def test_what_the_driver_itself_gave_another_name_is_made_again():
    tree = tree_of(CHILD)
    given = [{'uuid': GPU, 'name': 'card', 'parent_provider_uuid': NODE}]
    tree.populate_from_iterable(given)
    assert tree.new_child('gpu', NODE) == provider_tree.derived_uuid(
        NODE, 'gpu#1'
    )


def test_a_name_that_is_there_is_taken_whoever_was_renamed():
    other = provider.Provider(uuid=BELOW, name='gpu', parent_uuid=NODE)
    with pytest.raises(errors.TreeError, match='already exists'):
        tree_of(CARD, other).new_child('gpu', NODE)
