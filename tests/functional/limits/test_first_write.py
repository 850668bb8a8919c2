# SPDX-License-Identifier: Apache-2.0
"""The first write to a provider that another writer created needs a yes."""

import json

import agents
import pytest
from agents import NODE

from compute_agent.cycle.resource_tracker import Status
from compute_agent.ownership import policy
from compute_agent.state.values import node_record
from compute_agent.virt import driver as virt

OTHER = '22222222-2222-4222-8222-222222222222'
CHILD = '33333333-3333-4333-8333-333333333333'
# The root as nova-compute left it.
LEFT = {
    'VCPU': {'total': 8},
    'PCPU': {'total': 4},
    'MEM_ENCRYPTION_CONTEXT': {'total': 2},
    'DISK_GB': {'total': 81920},
}


def describe(tree, node):
    tree.update_inventory(
        node, {'VCPU': {'total': 8}, 'DISK_GB': {'total': 251}}
    )
    tree.update_traits(node, {'HW_CPU_X86_AVX'})


def by_nova(operator, uuid=NODE, name='node-1'):
    operator.create(uuid, name)
    operator.set_inventories(LEFT, uuid)
    operator.add_traits(
        'COMPUTE_NODE', 'OWNER_NOVA', 'COMPUTE_VOLUME_EXTEND', uuid=uuid
    )


@pytest.fixture
def left(operator):
    """The providers after nova-compute left."""
    by_nova(operator)
    return operator.holdings()


@pytest.fixture
def asking(agent_factory):
    """An agent that asks before it takes a provider over."""
    return agent_factory(describe, takes_over=False)


@pytest.mark.catches("a first write to another's root asks nobody")
def test_a_root_as_nova_compute_left_it_is_not_written(
    asking, operator, placement, left
):
    placement.clear()
    result = asking.cycle()
    assert result.status is Status.WAITING
    assert result.applied == ()
    assert placement.writes == []
    assert operator.holdings() == left


@pytest.fixture
def metal(agent_factory, operator):
    """An agent of a bare-metal node that another reported as free."""
    operator.create(NODE, 'node-1')
    operator.set_inventories(
        {'CUSTOM_GOLD': {'total': 1}, 'VCPU': {'total': 8}}
    )
    operator.add_traits('CUSTOM_OTHERS')
    said = {'CUSTOM_GOLD': {'total': 1, 'reserved': 1}}

    def metal(tree, node):
        tree.update_inventory(node, said)
        tree.update_traits(node, {'CUSTOM_OURS'})

    agent = agent_factory(metal, takes_over=False)
    agent.says = said
    return agent


@pytest.mark.catches('maintenance waits for a yes to the first write')
def test_what_a_first_write_reserves_as_a_whole_is_reserved_at_once(
    metal, operator, placement
):
    """A node in maintenance, on the root that another agent left."""
    before = operator.holdings()['node-1']
    metal.plan()
    assert operator.holdings()['node-1'] == before
    result = metal.cycle()
    assert (result.status, len(result.applied)) == (Status.WAITING, 1)
    after = operator.holdings()['node-1']
    assert after['inventories']['CUSTOM_GOLD']['reserved'] == 1
    assert after['inventories']['VCPU'] == before['inventories']['VCPU']
    assert after['traits'] == before['traits']
    placement.clear()
    assert metal.cycle().status is Status.WAITING
    assert placement.writes == []
    # It is still another's: to offer it again needs the yes, too.
    metal.says['CUSTOM_GOLD'] = {'total': 1}
    assert metal.cycle().status is Status.WAITING
    assert operator.inventories()['CUSTOM_GOLD']['reserved'] == 1


def test_a_part_that_a_first_write_reserves_waits(metal, operator, placement):
    """How much of a host is for its guests, the creator may decide."""
    metal.says['VCPU'] = {'total': 8, 'reserved': 2}
    metal.says['CUSTOM_GOLD'] = {'total': 1}
    placement.clear()
    assert metal.cycle().status is Status.WAITING
    assert placement.writes == []


def test_a_companion_reserves_nothing_of_nova_s_root(
    agent_factory, operator, placement
):
    operator.create(NODE, 'node-1')
    operator.set_inventories({'CUSTOM_GOLD': {'total': 1}})
    operator.add_traits('COMPUTE_NODE', 'OWNER_NOVA')

    def metal(tree, node):
        tree.update_inventory(
            node, {'CUSTOM_GOLD': {'total': 1, 'reserved': 1}}
        )

    agent = agent_factory(metal, takes_over=False, mode=policy.Mode.COMPANION)
    agent.cycle()
    assert operator.inventories()['CUSTOM_GOLD']['reserved'] == 0


def test_a_refused_reservation_is_said(metal, operator, placement):
    placement.fault('PUT *inventories', 400, times=None)
    result = metal.cycle()
    assert result.status is Status.FAILED
    assert 'HTTP 400' in result.reason
    assert 'waits for approval' in result.reason


def test_another_writer_meanwhile_is_seen_before_the_reservation(
    metal, operator, placement
):
    agents.meddle(placement, lambda: operator.add_traits('CUSTOM_MEANWHILE'))
    assert metal.cycle().status is Status.WAITING
    assert operator.inventories()['CUSTOM_GOLD']['reserved'] == 1
    assert 'CUSTOM_MEANWHILE' in operator.traits()


def test_the_line_says_the_losses_the_creator_and_each_way_out(asking, left):
    line = asking.cycle().reason
    assert (
        'nova-compute (by its trait COMPUTE_VOLUME_EXTEND) created it' in line
    )
    assert 'remove the inventory of MEM_ENCRYPTION_CONTEXT, PCPU' in line
    assert 'lower the total of DISK_GB' in line
    assert 'remove COMPUTE_VOLUME_EXTEND' in line
    assert '81920' not in line  # no number that changes each cycle
    assert '"compute-agent approve" shows what waits, and allows it' in line
    assert 'resource provider adopt' not in line
    assert '[compute_agent] adopt_existing_roots' in line
    assert '\n' not in line


def test_the_plan_shows_all_that_the_write_would_change(asking, left):
    (planned,) = asking.plan()
    assert planned.status is Status.WAITING
    names = [type(op).__name__ for op in planned.plan.operations]
    assert names == ['SetInventories', 'SetTraits']


def test_a_yes_is_asked_once(agent_factory, operator, left, tmp_path):
    agent_factory(describe, state=tmp_path, takes_over=True).done()
    assert operator.inventories()['DISK_GB']['total'] == 251

    def more(tree, node):
        describe(tree, node)
        tree.update_inventory(node, {'VCPU': {'total': 4}})

    again = agent_factory(more, state=tmp_path, takes_over=False)
    again.done()
    assert set(operator.inventories()) == {'VCPU'}


def test_a_yes_does_not_make_the_provider_ours(agent_factory, left):
    agent = agent_factory(describe)
    agent.done()
    assert agent.state.records.record([NODE], NODE).created == frozenset()


def test_an_adopted_root_needs_no_other_yes(asking, left, operator):
    generation = operator.generation(NODE)
    asking.state.journal.adopt(NODE, {NODE: generation})
    asking.done()


def test_a_root_that_has_what_it_should_is_done_and_still_asks_later(
    agent_factory, operator
):
    ours = agent_factory(describe)
    ours.done()
    asking = agent_factory(describe, takes_over=False)  # with no record
    asking.done()
    operator.change_inventory('DISK_GB', total=9)
    assert asking.cycle().status is Status.WAITING


def test_a_root_without_inventory_needs_no_yes(asking, operator):
    operator.create(NODE, 'node-1')
    operator.add_traits('COMPUTE_VOLUME_EXTEND')
    asking.done()
    assert set(operator.inventories()) == {'VCPU', 'DISK_GB'}


def test_a_root_of_our_own_needs_no_yes(asking, operator):
    asking.done()
    operator.change_inventory('DISK_GB', total=9)
    asking.done()


def test_another_node_goes_on(agent_factory, operator):
    by_nova(operator)
    agent = agent_factory(
        describe,
        nodes={NODE: 'node-1', OTHER: 'node-2'},
        takes_over=False,
    )
    waiting, done = agent.sync()
    assert (waiting.status, done.status) == (Status.WAITING, Status.DONE)
    assert 'DISK_GB' in operator.inventories(OTHER)


def test_a_root_that_waited_is_left_when_its_node_departs(
    asking, operator, placement, left
):
    assert asking.cycle().status is Status.WAITING
    asking.driver.nodes = {}
    asking.driver.missing = virt.Existence.NO
    placement.clear()
    (result,) = asking.sync()
    assert result.status is Status.DONE
    assert 'is left as it is' in result.notes[0]
    assert asking.sync() == []
    assert placement.writes == []
    assert operator.holdings() == left


def with_child(tree, node):
    describe(tree, node)
    if not tree.exists('gpu'):
        tree.new_child('gpu', node, CHILD)
    tree.update_inventory('gpu', {'VGPU': {'total': 2}})


def test_a_child_of_another_writer_waits_alone(agent_factory, operator):
    agent = agent_factory(describe, takes_over=False)
    agent.done()
    operator.create(CHILD, 'gpu', NODE)
    operator.set_inventories({'VGPU': {'total': 4}}, CHILD)
    operator.remove_traits('HW_CPU_X86_AVX')
    agent.driver.describe = with_child
    result = agent.cycle()
    assert result.status is Status.WAITING
    assert (
        f'the first write to gpu ({CHILD}) waits for approval' in result.reason
    )
    assert 'another writer created it' in result.reason
    assert [op.subject for op in result.applied] == [NODE]
    assert operator.inventories(CHILD)['VGPU']['total'] == 4
    assert agent.state.records.record([CHILD], NODE).claims == {}

    agent_factory(with_child, state=agent.state).done()
    assert operator.inventories(CHILD)['VGPU']['total'] == 2


def test_a_node_that_waits_costs_no_more_than_a_quiet_one(
    asking, left, placement
):
    for _ in range(3):
        asking.cycle()
    placement.clear()
    assert asking.cycle().status is Status.WAITING
    assert len(placement.requests) == 1


def test_an_imported_record_brings_the_yes(agent_factory, operator, left):
    before = agent_factory(describe)
    before.done()
    (node,) = before.tracker.nodes()
    handed = json.dumps(
        node_record.data(before.state.handover.export_record(node))
    )
    heir = agent_factory(describe, takes_over=False)
    heir.state.handover.import_records(
        [node_record.from_data(json.loads(handed))]
    )
    operator.change_inventory('DISK_GB', total=9)
    heir.done()


def test_a_provider_made_again_by_another_asks_again(
    agent_factory, operator, left
):
    agent = agent_factory(describe)
    agent.done()
    operator.delete(NODE)
    agent.state.journal.forget([NODE])  # as a cycle that sees it gone
    by_nova(operator)
    asking = agent_factory(describe, state=agent.state, takes_over=False)
    assert asking.cycle().status is Status.WAITING


# --- the commands ---------------------------------------------------------------


@pytest.fixture
def nova_root(cli):
    """The command line's node, as nova-compute left it."""
    cli.others.create(NODE, 'cn1')
    cli.others.set_inventories(
        NODE, {'VCPU': {'total': 8}, 'PCPU': {'total': 2}}
    )


def classes(cli):
    return set(cli.others.inventories(NODE))


def test_plan_and_sync_say_that_a_yes_is_missing(cli, nova_root):
    planned = cli.run('plan')
    assert planned.code == 1
    assert '-PCPU' in planned.out
    assert 'not done: the first write to its root provider' in planned.out
    synced = cli.run('sync')
    assert synced.code == 1
    assert f'cn1 ({NODE}): waiting: the first write to its root' in synced.out
    assert classes(cli) == {'VCPU', 'PCPU'}


def test_sync_yes_gives_it_once(cli, nova_root):
    assert cli.run('sync', '--yes').code == 0
    assert classes(cli) == {'VCPU', 'MEMORY_MB'}
    cli.fake_file.write_text(
        cli.fake_file.read_text().replace('VCPU: 8', 'VCPU: 9')
    )
    assert cli.run('sync').code == 0


def test_the_option_gives_it_for_all(cli, nova_root):
    cli.configure(agent={'adopt_existing_roots': 'true'})
    assert cli.run('plan').code == 2
    assert cli.run('sync').code == 0
    assert classes(cli) == {'VCPU', 'MEMORY_MB'}


def test_provider_adopt_gives_it(cli, nova_root):
    assert cli.run('resource', 'provider', 'adopt', NODE, '--yes').code == 0
    assert cli.run('sync').code == 0
    assert classes(cli) == {'VCPU', 'MEMORY_MB'}
