# SPDX-License-Identifier: Apache-2.0
"""A root that another writer deleted: the agent waits before it creates it."""

import pytest
from agents import NAME, NODE

from compute_agent.cycle.resource_tracker import Status
from compute_agent.virt import driver as virt

OTHER = '22222222-2222-4222-8222-222222222222'
NODES = {NODE: NAME, OTHER: 'node-2'}


def describe(tree, node):
    tree.update_inventory(node, {'VCPU': {'total': 8}})


@pytest.fixture
def deleted(agent_factory, operator, tmp_path):
    """The state of an agent whose root another writer deleted."""
    agent = agent_factory(describe, state=tmp_path)
    agent.done()
    operator.delete(NODE)
    return agent.state


@pytest.mark.catches('a root that another deleted is created again at once')
def test_the_cycle_that_finds_a_root_deleted_waits(
    agent_factory, deleted, placement
):
    agent = agent_factory(describe, state=deleted)
    placement.clear()
    result = agent.cycle()
    assert result.status is Status.WAITING
    assert 'another writer deleted its root provider' in result.reason
    assert '[compute_agent] recreate_roots' in result.reason
    assert '\n' not in result.reason
    assert placement.writes == []


@pytest.mark.catches('a root that another deleted is created again at once')
def test_the_next_cycle_creates_the_root_if_it_is_still_gone(
    agent_factory, deleted, operator
):
    agent = agent_factory(describe, state=deleted)
    assert agent.cycle().status is Status.WAITING
    agent.done()
    assert operator.inventories()['VCPU']['total'] == 8
    assert agent.state.records.record([NODE], NODE).created == {NODE}


def test_each_deletion_waits_anew(agent_factory, deleted, operator):
    agent = agent_factory(describe, state=deleted)
    agent.cycle()
    agent.done()
    operator.delete(NODE)
    assert agent.cycle().status is Status.WAITING
    agent.done()


def test_the_wait_survives_a_restart(
    agent_factory, deleted, operator, tmp_path
):
    agent_factory(describe, state=deleted).cycle()
    deleted.close()
    again = agent_factory(describe, state=tmp_path, recreate_roots=False)
    assert again.cycle().status is Status.WAITING
    agent_factory(describe, state=again.state).done()


def test_without_the_option_the_node_waits_until_it_is_set(
    agent_factory, deleted, placement
):
    waiting = agent_factory(describe, state=deleted, recreate_roots=False)
    placement.clear()
    results = [waiting.cycle() for _ in range(3)]
    assert {result.status for result in results} == {Status.WAITING}
    (reason,) = {result.reason for result in results}
    assert 'set recreate_roots = true and send SIGHUP' in reason
    assert placement.writes == []
    agent_factory(describe, state=deleted).done()


def test_a_root_that_another_writer_creates_again_ends_the_wait(
    agent_factory, deleted, operator
):
    agent = agent_factory(describe, state=deleted, recreate_roots=False)
    assert agent.cycle().status is Status.WAITING
    operator.create(NODE, NAME)
    agent.done()
    assert agent.state.snapshot.lost_roots() == frozenset()


def test_the_records_of_the_deleted_root_are_dropped(agent_factory, deleted):
    agent = agent_factory(describe, state=deleted, recreate_roots=False)
    agent.cycle()
    record = agent.state.records.record([NODE], NODE)
    assert record.created == frozenset()
    assert not record.ours


def test_other_nodes_do_not_wait(agent_factory, operator):
    agent = agent_factory(describe, nodes=NODES)
    agent.done()
    operator.delete(NODE)
    operator.set_inventories({}, OTHER)
    statuses = {r.node.uuid: r.status for r in agent.sync()}
    assert statuses == {NODE: Status.WAITING, OTHER: Status.DONE}
    assert operator.inventories(OTHER)['VCPU']['total'] == 8


def test_a_root_without_both_traits_is_created_at_once(
    agent_factory, operator
):
    agent = agent_factory(describe)
    agent.done()
    operator.remove_traits('OWNER_NOVA')
    (seen,) = agent.client.observe([NODE]).values()
    assert 'OWNER_NOVA' not in seen.providers[NODE].traits
    operator.delete(NODE)
    agent.done()


def test_a_root_that_this_agent_deleted_is_created_at_once(
    agent_factory, operator
):
    agent = agent_factory(describe, nodes=NODES)
    agent.done()
    agent.driver.missing = virt.Existence.NO
    agent.driver.nodes = {NODE: NAME}
    agent.sync()
    agent.driver.nodes = dict(NODES)
    agent.done()
    assert operator.inventories(OTHER)['VCPU']['total'] == 8


# --- the commands -------------------------------------------------------------


def test_plan_shows_the_wait_and_writes_nothing(cli):
    assert cli.run('sync').code == 0
    (root,) = cli.providers().values()
    cli.others.delete(root)
    for _ in range(2):  # plan itself is no cycle in which it stays gone
        planned = cli.run('plan')
        assert planned.code == 1
        assert 'recreate_roots' in planned.out + planned.err
    assert cli.run('sync').code == 1
    assert cli.run('sync').code == 0
    assert list(cli.providers().values()) == [root]


def test_the_option_keeps_a_deleted_root_gone(cli):
    assert cli.run('sync').code == 0
    (root,) = cli.providers().values()
    cli.others.delete(root)
    cli.configure(agent={'recreate_roots': 'false'})
    assert cli.run('sync').code == 1
    assert cli.run('sync').code == 1
    assert cli.providers() == {}
    cli.configure(agent={'recreate_roots': 'true'})
    assert cli.run('sync').code == 0
