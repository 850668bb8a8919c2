# SPDX-License-Identifier: Apache-2.0
"""Placement restored from a backup, and servers that lag behind.

A backup is a copy of placement's database, which the fixture keeps in memory,
so these tests look into the fixture.
"""

import logging
import shutil

import agents
import pytest
from agents import NAME, NODE

from compute_agent.cycle import resource_tracker
from compute_agent.virt import driver as virt

Status = resource_tracker.Status
CHILD = 'cccccccc-cccc-4ccc-8ccc-cccccccccccc'
TWO = '22222222-2222-4222-8222-222222222222'
POOL = '66666666-6666-4666-8666-666666666666'
AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
WAIT = 120


class Described:
    """What the driver describes; a test changes it."""

    def __init__(self, *traits, child=False):
        self.traits, self.child = traits, child
        self.gpu = False

    def __call__(self, tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 8}})
        tree.declare_traits(node, *self.traits)
        if self.child and not tree.exists(CHILD):
            tree.new_child(f'{node}-child', node, CHILD)
        if self.child:
            tree.update_inventory(CHILD, {'VGPU': {'total': 1}})
        elif tree.exists(CHILD):
            tree.remove(CHILD)
        if self.gpu and not tree.exists(f'{node}-gpu'):
            tree.new_child(f'{node}-gpu', node)


class Backup:
    """A copy of placement's database."""

    def __init__(self, placement):
        self._placement = placement
        self._copy = placement.save()

    def restore(self):
        self._placement.restore(self._copy)


@pytest.fixture
def driver():
    return Described('CUSTOM_A')


@pytest.fixture
def agent(agent_factory, clock, driver):
    made = agent_factory(driver, clock=clock, fall_wait=WAIT)
    made.done()
    return made


def settle(agent, clock):
    """Let the agent see the lower generation for long enough."""
    (result,) = agent.sync()
    assert result.status is Status.WAITING
    clock.now += WAIT
    return agent.done()


def own(operator, uuid=NODE):
    return {t for t in operator.traits(uuid) if t.startswith('CUSTOM_')}


@pytest.mark.catches(
    'a restored placement counts as providers that were created again'
)
def test_a_name_that_the_backup_brings_back_is_removed_again(
    placement, agent, operator, clock, driver, caplog
):
    backup = Backup(placement)
    driver.traits = ('CUSTOM_B',)
    agent.done()
    driver.traits = ('CUSTOM_B', 'CUSTOM_C')
    agent.done()
    backup.restore()
    assert own(operator) == {'CUSTOM_A'}
    caplog.clear()
    settle(agent, clock)
    assert own(operator) == {'CUSTOM_B', 'CUSTOM_C'}
    said = [r for r in caplog.records if 'restored from' in r.getMessage()]
    assert [r.levelno for r in said] == [logging.WARNING]
    assert 'created again' not in caplog.text
    placement.clear()
    agent.done()
    agent.done()
    assert placement.writes == []
    driver.traits = ()
    agent.done()
    assert own(operator) == set()


def test_an_operator_s_name_is_not_ours_after_it(
    placement, agent, operator, clock, driver
):
    operator.add_traits('CUSTOM_THEIRS')
    agent.done()
    backup = Backup(placement)
    operator.remove_traits('CUSTOM_THEIRS')
    driver.traits = ('CUSTOM_B',)
    agent.done()
    backup.restore()
    settle(agent, clock)
    assert own(operator) == {'CUSTOM_B', 'CUSTOM_THEIRS'}


@pytest.mark.catches('a lower generation is believed at once')
def test_too_short_a_time_decides_nothing(
    placement, agent, operator, clock, driver
):
    backup = Backup(placement)
    driver.traits = ('CUSTOM_A', 'CUSTOM_B')
    agent.done()
    backup.restore()
    placement.clear()
    for _ in range(3):
        assert agent.cycle().status is Status.WAITING
        clock.now += WAIT / 4
    assert placement.writes == []


def test_a_replica_that_lags_behind_does_no_harm(
    placement, agent, operator, clock, driver, caplog
):
    old = Backup(placement)
    driver.traits = ('CUSTOM_B',)
    agent.done()
    new = Backup(placement)
    old.restore()
    assert agent.cycle().status is Status.WAITING
    clock.now += WAIT / 2
    new.restore()
    agent.done()
    clock.now += WAIT
    agent.done()
    assert 'restored from' not in caplog.text
    assert 'created again' not in caplog.text
    driver.traits = ()
    agent.done()
    assert own(operator) == set()


def test_even_a_very_late_replica_loses_no_record(
    placement, agent, operator, clock, driver
):
    old = Backup(placement)
    driver.traits = ('CUSTOM_B',)
    agent.done()
    new = Backup(placement)
    old.restore()
    agent.cycle()
    clock.now += WAIT
    (planned,) = agent.plan()
    assert planned.plan.operations
    new.restore()
    agent.done()
    driver.traits = ()
    agent.done()
    assert own(operator) == set()


def test_a_child_that_the_backup_brings_back_is_deleted_again(
    placement, agent, operator, clock, driver
):
    driver.child = True
    agent.done()
    backup = Backup(placement)
    driver.child = False
    agent.done()
    assert f'{NAME}-child' not in operator.holdings()
    backup.restore()
    assert f'{NAME}-child' in operator.holdings()
    agent.sync()
    clock.now += WAIT
    agent.done()
    assert f'{NAME}-child' not in operator.holdings()


def test_a_provider_that_was_created_again_is_not_restored(
    agent, operator, clock, driver, caplog
):
    operator.delete(NODE)
    operator.create(NODE, NAME)
    operator.add_traits('CUSTOM_A')
    settle(agent, clock)
    assert 'created again' in caplog.text
    driver.traits = ()
    agent.done()
    assert own(operator) == {'CUSTOM_A'}


class WithPool:
    """A node of an agent, and perhaps the pool that another agent shares too."""

    def __init__(self):
        self.pools = True

    def __call__(self, tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 8}})
        tree.declare_aggregates(node, AGGREGATE)
        if self.pools:
            if not tree.exists(POOL):
                tree.new_root('pool', POOL)
            tree.declare_traits(POOL, 'MISC_SHARES_VIA_AGGREGATE')
            tree.declare_aggregates(POOL, AGGREGATE)
            tree.update_inventory(POOL, {'DISK_GB': {'total': 100}})
        elif tree.exists(POOL):
            tree.remove(POOL)


@pytest.mark.parametrize('goes_first', [False, True])
def test_a_pool_that_another_agent_made_again_is_not_restored(
    agent_factory, operator, clock, caplog, goes_first
):
    """Both make it with the same requests: it looks as it did before."""
    mine, its = WithPool(), WithPool()
    agent = agent_factory(mine, clock=clock, fall_wait=WAIT)
    other = agent_factory(its, nodes={TWO: 'two'}, clock=clock)
    agent.done()
    if not goes_first:  # the pool would stay for the other
        other.done()
    operator.add_traits('CUSTOM_OPERATOR', uuid=POOL)
    agent.done()
    if goes_first:  # the agent deletes the pool itself, and knows it was its
        operator.remove_traits('CUSTOM_OPERATOR', uuid=POOL)
        mine.pools = False
        agent.done()
        assert 'pool' not in operator.holdings()
    else:
        operator.delete(POOL)
    other.done()
    pool = operator.holdings()['pool']
    for _ in range(3):
        agent.sync()
        clock.now += WAIT
    mine.pools = False
    agent.sync()
    assert operator.holdings()['pool'] == pool
    assert 'restored from' not in caplog.text


def test_a_root_that_another_created_later_is_not_this_agent_s_by_a_restore(
    placement, agent_factory, operator, clock, driver
):
    """It counted as this agent's once, in a former life."""
    host = agents.Driver(
        driver, nodes={NODE: NAME, TWO: 'two'}, missing=virt.Existence.NO
    )
    agent = agent_factory(host, clock=clock, fall_wait=WAIT)
    agent.done()
    del host.nodes[NODE]
    agent.done()
    assert NAME not in operator.holdings()
    operator.create(NODE, NAME)
    host.nodes[NODE] = NAME
    agent.done()
    backup = Backup(placement)
    driver.traits = ('CUSTOM_B',)
    agent.done()
    backup.restore()
    agent.sync()
    clock.now += WAIT
    agent.done()
    assert own(operator) == {'CUSTOM_B'}
    del host.nodes[NODE]
    agent.sync()
    assert NAME in operator.holdings()


def test_all_nodes_of_one_restore_are_said_once(
    placement, agent_factory, operator, clock, driver, caplog
):
    agent = agent_factory(
        driver, clock=clock, fall_wait=WAIT, nodes={NODE: NAME, TWO: 'two'}
    )
    agent.done()
    backup = Backup(placement)
    driver.traits = ('CUSTOM_B',)
    agent.done()
    backup.restore()
    agent.sync()
    clock.now += WAIT
    agent.done()
    assert own(operator) == own(operator, TWO) == {'CUSTOM_B'}
    said = [r for r in caplog.records if 'restored from' in r.getMessage()]
    assert [r.levelno for r in said if r.levelno > logging.INFO] == [
        logging.WARNING
    ]


def test_a_restart_between_backup_and_restore_is_no_hindrance(
    placement, agent_factory, operator, clock, driver, tmp_path
):
    def started():
        return agent_factory(
            driver, clock=clock, fall_wait=WAIT, state=tmp_path
        )

    first = started()
    first.done()
    backup = Backup(placement)
    driver.traits = ('CUSTOM_B',)
    first.done()
    first.state.close()
    backup.restore()
    second = started()
    second.sync()
    second.state.close()
    clock.now += WAIT
    started().done()
    assert own(operator) == {'CUSTOM_B'}


def test_an_older_state_database_removes_nothing_that_it_does_not_know(
    placement, agent_factory, operator, clock, driver, tmp_path
):
    """A host that was restored from an image, state included."""

    def started(folder):
        return agent_factory(
            driver, clock=clock, fall_wait=WAIT, state=tmp_path / folder
        )

    first = started('host')
    first.done()
    first.state.close()
    shutil.copytree(tmp_path / 'host', tmp_path / 'image')
    driver.traits, driver.child = ('CUSTOM_B',), True
    later = started('host')
    later.done()
    later.state.close()
    driver.traits = ()
    driver.child = False
    back = started('image')
    for _ in range(2):
        back.done()
    assert own(operator) == {'CUSTOM_B'}
    assert f'{NAME}-child' in operator.holdings()
    placement.clear()
    back.done()
    assert placement.writes == []


OLDER = 'the database is older than placement'


@pytest.fixture
def rolled_back(agent_factory, clock, driver, tmp_path):
    """Start the agent of a host whose image was made before a change."""

    def started(folder):
        return agent_factory(
            driver, clock=clock, fall_wait=WAIT, state=tmp_path / folder
        )

    def rolled_back(change):
        first = started('host')
        for _ in range(2):
            first.done()
        first.state.close()
        shutil.copytree(tmp_path / 'host', tmp_path / 'image')
        change()
        later = started('host')
        for _ in range(2):
            later.done()
        later.state.close()
        return started('image')

    return rolled_back


def report_another_trait(driver):
    driver.traits = ('CUSTOM_A', 'CUSTOM_B')


def report_a_child(driver):
    driver.gpu = True


@pytest.mark.parametrize(
    ('change', 'name'),
    [(report_another_trait, 'CUSTOM_B'), (report_a_child, f'{NAME}-gpu')],
)
@pytest.mark.catches('an older state database is not named')
def test_an_older_state_database_is_said_once(
    rolled_back, operator, driver, change, name
):
    back = rolled_back(lambda: change(driver))
    before = operator.holdings()
    (planned,) = back.plan()
    (note,) = [n for n in planned.notes if OLDER in n]
    assert note.startswith(f'placement has {name}, as if this agent had added')
    assert 'resource provider adopt UUID' in note
    back.done()
    assert operator.holdings() == before


def test_a_trait_that_an_operator_adds_is_no_older_database(
    rolled_back, agent_factory, operator, driver, clock, tmp_path
):
    back = rolled_back(lambda: operator.add_traits('CUSTOM_THEIRS'))
    (result,) = back.done()
    assert not [note for note in result.notes if OLDER in note]
    lost = agent_factory(driver, clock=clock, fall_wait=WAIT)
    (result,) = lost.done()
    assert not [note for note in result.notes if OLDER in note]
