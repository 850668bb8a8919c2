# SPDX-License-Identifier: Apache-2.0
"""Who is who, seen from placement: found, said exactly, never written wrongly.

Each trouble names the command that mends it, and after it the next cycle goes
on by itself.
"""

import pytest
from agents import NAME, NODE

from compute_agent.cycle.resource_tracker import Status

CHILD = '33333333-3333-4333-8333-333333333333'
OTHER = '44444444-4444-4444-8444-444444444444'
THEIRS = '55555555-5555-4555-8555-555555555555'


def describe(tree, node):
    tree.update_inventory(node, {'VCPU': {'total': 8}})
    if not tree.exists('numa0'):
        tree.new_child('numa0', node, CHILD)
    tree.update_inventory('numa0', {'MEMORY_MB': {'total': 64}})


@pytest.fixture
def agent(agent_factory):
    return agent_factory(describe)


@pytest.fixture
def change(placement):
    """Rename or move a provider, as another does it."""

    def put(uuid, name, parent):
        placement.put(
            f'/resource_providers/{uuid}',
            {'name': name, 'parent_provider_uuid': parent},
        )

    return put


def refused(agent, placement):
    """Do a cycle that fails and writes nothing; return why."""
    placement.clear()
    result = agent.cycle()
    assert result.status is Status.FAILED
    assert placement.writes == []
    return result.reason


def test_a_name_taken_by_another_uuid(agent, operator, placement):
    operator.create(OTHER, NAME)
    why = refused(agent, placement)
    assert f'belongs to provider {OTHER}' in why
    assert f'knows {NAME} as {NODE}' in why
    assert 'have the driver give it that uuid' in why
    assert f'"compute-agent resource provider rename {OTHER} NEW_NAME"' in why
    operator.delete(OTHER)
    agent.done()
    assert operator.inventories()['VCPU']['total'] == 8


def test_a_uuid_that_got_another_name(agent, operator, placement, change):
    agent.done()
    change(NODE, 'old-name', None)
    why = refused(agent, placement)
    assert 'as old-name' in why
    assert f'calls it {NAME}' in why
    assert f'"compute-agent resource provider rename {NODE}"' in why
    change(NODE, NAME, None)
    agent.done()


def test_a_node_that_another_put_below_its_own(
    agent, operator, placement, change
):
    agent.done()
    operator.create(OTHER, 'rack')
    change(NODE, NAME, OTHER)
    why = refused(agent, placement)
    assert f'is a child of {OTHER}' in why
    assert '"parent_provider_uuid": null' in why
    change(NODE, NAME, None)
    agent.done()
    assert set(operator.holdings()) == {NAME, 'numa0', 'rack'}


@pytest.mark.parametrize('parent', [OTHER, None], ids=['another', 'root'])
def test_a_child_that_another_moved_away(
    agent, operator, placement, change, parent
):
    agent.done()
    operator.create(OTHER, 'rack')
    change(CHILD, 'numa0', parent)
    operator.change_inventory('MEMORY_MB', uuid=CHILD, total=4)
    operator.remove_traits('OWNER_NOVA', uuid=CHILD)
    for _ in range(2):
        why = refused(agent, placement)
        assert f'numa0 ({CHILD}), which this agent created below' in why
        assert ('is a root now' if parent is None else OTHER) in why
        assert f'"compute-agent resource provider delete {CHILD}"' in why
    operator.change_inventory('VCPU', total=2)
    result = agent.cycle()  # the rest of the node is kept in step
    assert [op.uuid for op in result.applied] == [NODE]
    change(CHILD, 'numa0', NODE)
    agent.done()
    assert operator.inventories(CHILD)['MEMORY_MB']['total'] == 64
    assert 'OWNER_NOVA' in operator.traits(CHILD)


def test_a_child_moved_away_that_is_deleted_is_made_anew(
    agent, operator, change
):
    agent.done()
    change(CHILD, 'numa0', None)
    assert agent.cycle().status is Status.FAILED
    operator.delete(CHILD)
    agent.done()
    assert operator.holdings()['numa0']['parent'] == NAME


def test_a_child_moved_away_goes_with_its_own_children(
    agent_factory, operator, placement, change
):
    def deep(tree, node):
        describe(tree, node)
        if not tree.exists('pci'):
            tree.new_child('pci', 'numa0', THEIRS)
        tree.update_inventory('pci', {'PCI_DEVICE': {'total': 1}})

    agent = agent_factory(deep)
    agent.done()
    change(CHILD, 'numa0', None)
    why = refused(agent, placement)
    assert why.count('which this agent created') == 1


def test_a_child_that_the_driver_itself_makes_a_root(agent, operator):
    agent.done()

    def rooted(tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 8}})
        if tree.exists('numa0') and tree.data('numa0').parent_uuid:
            tree.remove('numa0')
        if not tree.exists('numa0'):
            tree.new_root('numa0', CHILD)
        tree.update_inventory('numa0', {'MEMORY_MB': {'total': 32}})

    agent.driver.describe = rooted
    agent.done()
    agent.done()
    assert operator.holdings()['numa0']['parent'] is None
    assert operator.inventories(CHILD)['MEMORY_MB']['total'] == 32
    assert operator.traits(CHILD) == set()


@pytest.mark.parametrize('given', [CHILD, None], ids=['given', 'derived'])
def test_a_child_that_another_renamed(
    agent_factory, operator, placement, change, given
):
    def named(tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 8}})
        if not tree.exists('gpu'):
            tree.new_child('gpu', node, given)
        tree.update_inventory('gpu', {'VGPU': {'total': 4}})

    agent = agent_factory(named)
    agent.done()
    uuid = operator.holdings()['gpu']['uuid']
    change(uuid, 'card', NODE)
    for _ in range(2):
        why = refused(agent, placement)
        assert f'knows provider {uuid} as card, the driver calls it gpu' in why
        assert f'"compute-agent resource provider rename {uuid} gpu"' in why
    assert set(operator.holdings()) == {NAME, 'card'}
    change(uuid, 'gpu', NODE)
    agent.done()
    assert operator.inventories(uuid)['VGPU']['total'] == 4


def test_a_sharing_provider_that_another_renamed(
    agent_factory, operator, placement, change
):
    def sharing(tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 8}})
        if not tree.exists('pool'):
            tree.new_root('pool', CHILD)
        tree.update_inventory('pool', {'DISK_GB': {'total': 64}})

    agent = agent_factory(sharing)
    agent.done()
    change(CHILD, 'nfs', None)
    why = refused(agent, placement)
    assert f'"compute-agent resource provider rename {CHILD} pool"' in why


def test_a_child_that_the_driver_itself_renames(agent, operator):
    agent.done()

    def renamed(tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 8}})
        if tree.exists('numa0'):
            tree.remove('numa0')
            tree.new_child('cell0', node, CHILD)
        tree.update_inventory('cell0', {'MEMORY_MB': {'total': 64}})

    agent.driver.describe = renamed
    agent.done()
    agent.done()
    assert operator.holdings()['cell0']['uuid'] == CHILD


def test_a_child_of_another_s_is_left_alone_and_keeps_its_parent(
    agent, operator
):
    agent.done()
    operator.create(THEIRS, 'nic', CHILD)
    operator.add_traits('CUSTOM_PHYSNET', uuid=THEIRS)
    generation = operator.generation(THEIRS)
    agent.driver.describe = lambda tree, node: tree.remove('numa0')
    result = agent.cycle()
    assert result.status is Status.FAILED
    assert any(
        f'if it should go, run "compute-agent resource provider adopt {THEIRS}"'
        in note
        for note in result.notes
    )
    assert (
        f'run "compute-agent resource provider adopt {THEIRS}"'
        in result.reason
    )
    assert set(operator.holdings()) == {NAME, 'numa0', 'nic'}
    (memory,) = operator.inventories(CHILD).values()
    assert memory['reserved'] == memory['total']
    assert operator.generation(THEIRS) == generation


def test_one_that_was_adopted_goes_with_its_parent(agent, operator):
    agent.done()
    operator.create(THEIRS, 'nic', CHILD)
    agent.state.journal.adopt(NODE, {THEIRS: operator.generation(THEIRS)})
    agent.driver.describe = lambda tree, node: tree.remove('numa0')
    agent.done()
    assert set(operator.holdings()) == {NAME}


def test_one_that_was_adopted_and_made_anew_by_another_is_not_ours(
    agent, operator
):
    """The record dies with its provider; the generation tells."""
    operator.create(THEIRS, 'nic')
    agent.done()
    operator.add_traits('CUSTOM_A', uuid=THEIRS)
    agent.state.journal.adopt(NODE, {THEIRS: operator.generation(THEIRS)})
    agent.done()
    operator.delete(THEIRS)
    agent.done()
    operator.create(THEIRS, 'nic', NODE)
    agent.done()
    assert agent.state.records.record([THEIRS], NODE).created == set()
