# SPDX-License-Identifier: Apache-2.0
"""What a node that is gone leaves, and to whom."""

import dataclasses

import pytest

from compute_agent import errors
from compute_agent.ownership import leaving
from compute_agent.tree import inventory, provider, provider_tree
from compute_agent.tree.node import Node

NODE = '11111111-1111-4111-8111-111111111111'
CHILD = '22222222-2222-4222-8222-222222222222'
POOL = '33333333-3333-4333-8333-333333333333'
BELOW = '44444444-4444-4444-8444-444444444444'
FAILED = errors.UnknownState('an odd answer')
ROOT = provider.Provider(uuid=NODE, name='node')
SEEN = provider.snapshot(
    [
        ROOT,
        provider.Provider(uuid=CHILD, name='child', parent_uuid=NODE),
        provider.Provider(uuid=POOL, name='pool'),
        provider.Provider(uuid=BELOW, name='below', parent_uuid=POOL),
    ]
)


@dataclasses.dataclass(frozen=True)
class Seen:
    providers: provider.Snapshot


NOTHING = Seen({})
POOLED = Seen({POOL: SEEN[POOL]})


def test_what_is_outside_of_the_node_s_own_tree():
    created = [NODE, CHILD, POOL, 'elsewhere']
    assert leaving.outside(NODE, SEEN, created) == [POOL]
    assert leaving.outside(NODE, {POOL: SEEN[POOL]}, created) == [POOL]


@pytest.mark.parametrize(
    ('holders', 'others', 'gone', 'heir'),
    [
        ({'b', 'c'}, {'a': POOLED, 'b': NOTHING, 'c': NOTHING}, (), 'b'),
        ({'b', 'c'}, {'c': NOTHING}, (), 'c'),
        ({'b'}, {'c': POOLED}, (), 'b'),
        ({'b'}, {'c': POOLED}, ('b',), 'c'),
        ({'b'}, {'b': FAILED}, (), 'b'),
        (set(), {'a': NOTHING, 'b': FAILED, 'c': POOLED}, (), 'c'),
        (set(), {'a': NOTHING}, (), None),
        (set(), {}, (), None),
    ],
)
def test_the_heir_asserts_something_of_it_or_reaches_it(
    holders, others, gone, heir
):
    assert leaving.heir(POOL, holders, others, gone) == heir


def test_a_node_that_could_not_be_looked_at_may_have_a_use_of_it():
    with pytest.raises(
        errors.UnknownState,
        match=r'node b, which may use it, could not be observed: .* odd',
    ):
        leaving.heir(POOL, (), {'a': NOTHING, 'b': FAILED}, ())


@pytest.mark.parametrize('seen', [SEEN, {POOL: SEEN[POOL]}])
def test_all_of_it_goes(seen):
    tree = provider_tree.ProviderTree.from_providers(seen.values())
    left = [uuid for uuid in (POOL, BELOW) if uuid in seen]
    leaving.describe_gone(tree, Node(uuid=NODE, name='node'), set(seen), left)
    assert tree.get_provider_uuids() == []
    assert tree.faults == []


@pytest.mark.parametrize(
    ('created', 'name', 'why'),
    [
        ({CHILD}, 'node', 'did not create node'),
        ({NODE, CHILD}, 'old', 'renamed or moved its provider'),
    ],
)
def test_what_this_agent_may_not_delete_is_reserved(created, name, why):
    vcpu = inventory.Inventory(total=8)
    root = dataclasses.replace(ROOT, inventories={'VCPU': vcpu})
    tree = provider_tree.ProviderTree.from_providers([root, SEEN[CHILD]])
    leaving.describe_gone(tree, Node(uuid=NODE, name=name), created)
    assert tree.data(NODE).inventory['VCPU']['reserved'] == 8
    assert why in tree.faults[0]


def test_a_child_of_another_s_is_left_as_it_is():
    tree = provider_tree.ProviderTree.from_providers([ROOT, SEEN[CHILD]])
    leaving.describe_gone(tree, Node(uuid=NODE, name='node'), {NODE})
    assert f'adopt {NODE} --subtree' in tree.faults[0]
    assert {uuid for uuid, _ in tree.assertions} == {NODE}


def test_a_root_that_this_agent_never_wrote_is_left_as_it_is():
    vcpu = inventory.Inventory(total=8)
    root = dataclasses.replace(ROOT, inventories={'VCPU': vcpu})
    tree = provider_tree.ProviderTree.from_providers([root])
    gone = Node(uuid=NODE, name='node')
    leaving.describe_gone(tree, gone, set(), is_reported=False)
    assert tree.assertions == {}
    assert tree.faults == []
    assert 'no record that it created or changed it' in tree.notes[0]
