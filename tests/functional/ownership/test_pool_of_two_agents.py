# SPDX-License-Identifier: Apache-2.0
"""One pool that the drivers of two agents describe (seed 004's figure).

It belongs to both: each writes it, and neither takes it from the other. The
last one takes it away.
"""

import itertools

import pytest
from agents import NAME, NODE, Driver, meddle
from crashing import Killed

from compute_agent.cycle.resource_tracker import Status
from compute_agent.tree.node import Node
from compute_agent.virt.driver import Existence

OTHER, OTHER_NAME = '22222222-2222-4222-8222-222222222222', 'node-2'
POOL = '33333333-3333-4333-8333-333333333333'
AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
SHARES = 'MISC_SHARES_VIA_AGGREGATE'
SSD = 'STORAGE_DISK_SSD'
HOSTS = {'h1': {NODE: NAME}, 'h2': {OTHER: OTHER_NAME}}


class Host:
    """What the driver of one host says of the pool.

    :ivar size: the pool's disk; None while it says nothing of it
    :ivar cpus: its node's processors
    :ivar removes: it removes the pool where it sees it
    :ivar reaches: its node is in the pool's aggregate
    """

    def __init__(self, size=100) -> None:
        self.size = size
        self.cpus = 8
        self.traits = {SHARES, SSD}
        self.more = {}
        self.removes = False
        self.reaches = True

    def __call__(self, tree, node):
        tree.update_inventory(node, {'VCPU': {'total': self.cpus}})
        tree.declare_aggregates(node, *[AGGREGATE] * self.reaches)
        if self.removes and tree.exists(POOL):
            tree.remove(POOL)
        elif self.size is not None and not self.removes:
            if not tree.exists(POOL):
                tree.new_root('pool', POOL)
            records = {'DISK_GB': {'total': self.size}, **self.more}
            tree.update_inventory(POOL, records)
            tree.update_traits(POOL, self.traits)
            tree.update_aggregates(POOL, [AGGREGATE])
        elif tree.exists(POOL):
            tree.declare_inventory(POOL, {})
            tree.declare_traits(POOL)
            tree.declare_aggregates(POOL)


@pytest.fixture
def said():
    return {'h1': Host(), 'h2': Host()}


@pytest.fixture
def start(agent_factory, said):
    """Start the agent of a host, or start it again on its record."""

    def start(host, kept=None, **options):
        return agent_factory(
            said[host], nodes=HOSTS[host], state=kept, **options
        )

    return start


@pytest.fixture
def agents(start):
    """Two agents that both have said all."""
    made = {host: start(host) for host in HOSTS}
    settle(made)
    return made


def settle(agents, times=2):
    for _ in range(times):
        for agent in agents.values():
            agent.done()
    for agent in agents.values():
        (result,) = agent.done()
        assert result.applied == ()


def disk(operator):
    return operator.inventories(POOL)['DISK_GB']['total']


def exists(operator):
    return 'pool' in operator.holdings()


def whole(operator, size=100):
    assert disk(operator) == size
    assert operator.traits(POOL) == {SHARES, SSD}
    assert operator.aggregates(POOL) == {AGGREGATE}


def pool_notes(result):
    return [note for note in result.notes if note.startswith('pool (')]


def leave(agent, host):
    ((uuid, name),) = HOSTS[host].items()
    (result,) = agent.tracker.leave([Node(uuid=uuid, name=name)], writing=True)
    return result


# --- each writes it -----------------------------------------------------------


def test_the_one_that_did_not_create_it_lets_it_grow(agents, said, operator):
    said['h2'].size = 120
    (result,) = agents['h2'].done()
    assert disk(operator) == 120
    assert pool_notes(result) == []
    said['h1'].size = 120
    settle(agents)
    whole(operator, 120)


def test_the_survivor_writes_it_after_the_creator_left(agents, said, operator):
    result = leave(agents['h1'], 'h1')
    assert not result.reason
    whole(operator)
    said['h2'].size = 120
    settle({'h2': agents['h2']})
    whole(operator, 120)


def test_a_pool_in_step_is_described_without_a_note(agents):
    for agent in agents.values():
        (result,) = agent.plan()
        assert pool_notes(result) == []


def test_a_description_in_vain_of_both_is_contended_and_said(
    agents, said, operator
):
    said['h2'].size = 120
    for _ in range(5):
        results = [agent.cycle() for agent in agents.values()]
    before = operator.generation(POOL)
    (waiting,) = (r for r in results if r.status is Status.WAITING)
    assert 'described differently by several hosts' in waiting.reason
    assert f'inventory DISK_GB of pool ({POOL})' in waiting.reason
    for agent in agents.values():
        agent.cycle()
    assert operator.generation(POOL) == before
    whole(operator, 120)
    said['h1'].size = 120
    settle(agents)
    whole(operator, 120)


def test_a_whole_list_takes_off_only_what_its_own_agent_claimed(
    agents, said, operator
):
    said['h2'].traits = {SHARES, SSD, 'CUSTOM_RED'}
    said['h2'].more = {'SRIOV_NET_VF': {'total': 4}}
    agents['h2'].done()
    (result,) = agents['h1'].done()
    assert result.applied == ()
    assert operator.traits(POOL) == {SHARES, SSD, 'CUSTOM_RED'}
    assert set(operator.inventories(POOL)) == {'DISK_GB', 'SRIOV_NET_VF'}


def test_a_trait_that_the_driver_removes_stays_if_another_put_it_there(
    agents, said, operator
):
    said['h2'].traits = {SHARES, SSD, 'CUSTOM_RED'}
    agents['h2'].done()

    def removing(tree, node):
        said['h1'](tree, node)
        tree.declare_traits(POOL, SHARES, SSD)
        tree.remove_traits(POOL, 'CUSTOM_RED')

    agents['h1'].driver.describe = removing
    agents['h1'].done()
    assert operator.traits(POOL) == {SHARES, SSD, 'CUSTOM_RED'}


# --- neither takes it from the other ------------------------------------------


@pytest.mark.parametrize('host', HOSTS)
@pytest.mark.parametrize('way', ['says nothing', 'removes it', 'leaves it'])
def test_it_stays_whole_when_one_stops_to_describe_it(
    agents, said, operator, host, way
):
    (other,) = HOSTS.keys() - {host}
    said[host].size = None
    said[host].removes = way == 'removes it'
    said[host].reaches = way != 'leaves it'
    (result,) = agents[host].done()
    whole(operator)
    (note,) = pool_notes(result)
    ((uuid, name),) = HOSTS[other].items()
    assert f'{name} ({uuid})' in note
    before = operator.generation(POOL)
    for _ in range(3):
        settle(agents)
    assert operator.generation(POOL) == before


@pytest.mark.parametrize('host', HOSTS)
@pytest.mark.parametrize('way', ['says nothing', 'removes it', 'leave'])
def test_the_last_one_takes_it_away(agents, said, operator, host, way):
    (other,) = HOSTS.keys() - {host}
    assert not leave(agents[host], host).reason
    whole(operator)
    said[other].size = None
    said[other].removes = way == 'removes it'
    if way == 'leave':
        assert not leave(agents[other], other).reason
    else:
        settle({other: agents[other]})
    if way == 'says nothing':
        assert operator.inventories(POOL) == {}
        assert operator.traits(POOL) == operator.aggregates(POOL) == set()
    else:
        assert not exists(operator)


@pytest.mark.catches('names that another agent added stay on a pool')
@pytest.mark.catches(
    'a claimed name whose removal fails stays on its pool for good'
)
def test_the_last_one_takes_it_away_although_its_first_try_fails(
    agents, said, operator, placement
):
    leave(agents['h1'], 'h1')
    said['h2'].size = None
    placement.fault(f'PUT */{POOL}/inventories', 503)
    agents['h2'].sync()
    assert disk(operator) == 100
    settle({'h2': agents['h2']})
    assert operator.inventories(POOL) == {}
    assert operator.traits(POOL) == operator.aggregates(POOL) == set()


def test_a_class_that_one_drops_stays_while_the_other_is_there(
    agents, said, operator
):
    for host in said.values():
        host.more = {'SRIOV_NET_VF': {'total': 4}}
    settle(agents)
    said['h1'].more = {}
    (result,) = agents['h1'].done()
    assert set(operator.inventories(POOL)) == {'DISK_GB', 'SRIOV_NET_VF'}
    (note,) = pool_notes(result)
    assert 'SRIOV_NET_VF' in note
    assert OTHER in note
    settle(agents)


@pytest.mark.catches('a pool is taken away although others may use it')
def test_a_host_without_an_agent_keeps_it_too(agents, said, operator):
    leave(agents['h2'], 'h2')
    theirs = '44444444-4444-4444-8444-444444444444'
    operator.create(theirs, 'by-nova')
    operator.set_aggregates(AGGREGATE, uuid=theirs)
    said['h1'].removes = True
    (result,) = agents['h1'].done()
    whole(operator)
    (note,) = pool_notes(result)
    assert f'by-nova ({theirs})' in note


def test_another_writer_deletes_it_and_one_of_them_makes_it_again(
    agents, operator
):
    operator.delete(POOL)
    agents['h2'].done()
    whole(operator)
    settle(agents)
    whole(operator)


# --- an outsider's pool --------------------------------------------------------


@pytest.fixture
def outsiders(operator):
    operator.create(POOL, 'pool')
    operator.set_inventories({'DISK_GB': {'total': 50}}, uuid=POOL)
    operator.add_traits(SHARES, uuid=POOL)
    operator.set_aggregates(AGGREGATE, uuid=POOL)


@pytest.mark.usefixtures('outsiders')
def test_the_first_write_to_an_outsiders_pool_needs_a_yes(start, operator):
    agent = start('h1', takes_over=False)
    for _ in range(3):
        (result,) = agent.sync()
    assert result.status is Status.WAITING
    assert (
        f'the first write to pool ({POOL}) waits for approval' in result.reason
    )
    assert disk(operator) == 50
    assert {op.uuid for op in result.plan.operations} == {POOL}
    start('h1', agent.state, takes_over=True).done()
    assert disk(operator) == 100
    (result,) = start('h1', agent.state, takes_over=False).done()
    assert result.applied == ()


@pytest.mark.catches(
    'a pool that the agent found as described waits for a yes'
)
@pytest.mark.usefixtures('outsiders')
def test_an_outsiders_pool_as_described_needs_no_yes(start, said, operator):
    said['h1'].size = 50
    operator.add_traits(SSD, uuid=POOL)
    agent = start('h1', takes_over=False)
    for _ in range(2):
        (result,) = agent.done()
    assert result.applied == ()
    assert pool_notes(result) == []
    said['h1'].size = 60  # the pool that it found as described grows
    agent.done()
    assert disk(operator) == 60


@pytest.mark.usefixtures('outsiders')
@pytest.mark.parametrize('removes', [False, True])
def test_to_empty_an_outsiders_pool_needs_a_yes(
    start, said, operator, removes
):
    said['h1'].size = 50
    operator.add_traits(SSD, uuid=POOL)
    agent = start('h1', takes_over=False)
    for _ in range(2):
        agent.done()
    said['h1'].size, said['h1'].removes = None, removes
    (result,) = agent.sync()
    assert result.status is Status.WAITING
    assert (
        f'the first write to pool ({POOL}) waits for approval' in result.reason
    )
    assert disk(operator) == 50


@pytest.mark.catches(
    'a first write to a pool that waits is allowed one cycle later'
)
@pytest.mark.usefixtures('outsiders')
def test_a_first_write_waits_on_while_the_node_itself_is_written(
    start, said, operator
):
    said['h1'].size = 50
    operator.add_traits(SSD, uuid=POOL)
    agent = start('h1', takes_over=False)
    for _ in range(2):
        agent.done()
    said['h1'].size = None
    for said['h1'].cpus in (9, 10, 11):
        (result,) = agent.sync()
        assert (
            f'the first write to pool ({POOL}) waits for approval'
            in result.reason
        )
        assert operator.inventories()['VCPU']['total'] == said['h1'].cpus
        whole(operator, 50)
    start('h1', agent.state, takes_over=True).done()
    assert operator.inventories(POOL) == {}


@pytest.fixture
def partly(operator, agent_factory):
    """An operator's pool of which the agent claims one trait, its own."""
    operator.create(POOL, 'pool')
    operator.set_inventories({'DISK_GB': {'total': 50}}, uuid=POOL)
    operator.add_traits(SHARES, 'CUSTOM_OPS', uuid=POOL)
    operator.set_aggregates(AGGREGATE, uuid=POOL)

    def describe(tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 8}})
        tree.declare_aggregates(node, AGGREGATE)
        if tree.exists(POOL):
            tree.declare_traits(POOL, 'CUSTOM_T')

    agent = agent_factory(Driver(describe, nodes=HOSTS['h1']), takes_over=True)
    for _ in range(3):
        agent.done()
    assert operator.traits(POOL) == {SHARES, 'CUSTOM_OPS', 'CUSTOM_T'}
    return agent


@pytest.mark.catches('a pool of which one trait is claimed is deleted whole')
@pytest.mark.parametrize('way', ['removes it', 'leave', 'gone'])
def test_of_an_operators_pool_only_the_claimed_trait_goes(
    partly, operator, way
):
    if way == 'leave':
        assert not leave(partly, 'h1').reason
    elif way == 'gone':
        partly.driver.nodes = {OTHER: OTHER_NAME}
        partly.driver.describe = lambda tree, node: tree.update_inventory(
            node, {'VCPU': {'total': 8}}
        )
        partly.driver.missing = Existence.NO
        partly.sync()
        partly.sync()
        assert NAME not in operator.holdings()
    else:

        def removing(tree, node):
            tree.update_inventory(node, {'VCPU': {'total': 8}})
            tree.remove(POOL)

        partly.driver.describe = removing
        partly.done()
        partly.done()
    assert disk(operator) == 50
    assert operator.traits(POOL) == {SHARES, 'CUSTOM_OPS'}
    assert operator.aggregates(POOL) == {AGGREGATE}


@pytest.mark.catches('a node that moved counts as the own one')
@pytest.mark.parametrize('missing', [Existence.YES, Existence.UNKNOWN])
def test_a_node_that_moved_to_another_agent_keeps_the_pool(
    start, said, operator, missing
):
    agent = start('h1')
    agent.driver.nodes = {NODE: NAME, OTHER: OTHER_NAME}
    agent.driver.missing = missing
    for _ in range(3):
        agent.sync()
    agent.driver.nodes = {NODE: NAME}
    agent.sync()
    said['h1'].removes = True
    agent.sync()
    agent.sync()
    whole(operator)


# --- requests ------------------------------------------------------------------


def test_the_members_are_asked_for_only_when_something_would_go(
    agents, said, placement
):
    asked = []
    for size in (120, None, None):
        said['h1'].size = size
        placement.clear()
        agents['h1'].done()
        lists = [r.path for r in placement.requests if 'member_of' in r.path]
        asked.append([path for path in lists if SHARES not in path])
    members = f'/resource_providers?member_of=in:{AGGREGATE}'
    assert asked == [[], [members], []]


# --- every order ---------------------------------------------------------------


EVENTS = ('join', 'grow', 'leave', 'crash')


@pytest.mark.parametrize(
    'order', list(itertools.permutations(EVENTS)), ids='-'.join
)
def test_it_is_right_in_every_order(start, said, operator, placement, order):
    """H1 is there; h2 joins, the pool grows, h1 leaves, a writer dies."""
    living, size = {'h1': start('h1')}, 100
    settle(living)
    for event in order:
        if event == 'join':
            living['h2'] = start('h2')
        elif event == 'grow':
            size = said['h1'].size = said['h2'].size = size + 20
        elif event == 'leave':
            assert not leave(living.pop('h1'), 'h1').reason
        else:
            crash(placement, living, start)
        settle(living)
        if living:
            whole(operator, size)
        else:
            assert not exists(operator)
    settle(living)
    assert not leave(living['h2'], 'h2').reason
    assert operator.holdings() == {}


def crash(placement, living, start):
    """Kill each agent between two writes of a cycle that makes all anew."""
    for host, agent in living.items():

        def die():
            raise Killed

        meddle(placement, die, match='PUT */traits')
        placement.others.remove_traits(POOL, SSD)
        with pytest.raises(Killed):
            agent.sync()
        living[host] = start(host, agent.state)
        living[host].done()


@pytest.mark.catches('a pool that another agent made again counts as restored')
def test_a_pool_that_the_other_made_again_is_the_others(agents, operator):
    one, two = agents['h1'], agents['h2']
    assert POOL in one.state.records.record([POOL], NODE).created
    operator.add_traits('CUSTOM_LATER', uuid=POOL)
    one.sync()
    operator.delete(POOL)
    two.done()
    for _ in range(2):
        one.sync()  # the first one waits, because the generation fell
    assert POOL not in one.state.records.record([POOL], NODE).created
