# SPDX-License-Identifier: Apache-2.0
"""Nodes that leave their driver's list: gone, moved, or nobody can tell."""

import pytest
from agents import Clock, Driver

from compute_agent import errors
from compute_agent.cycle import resource_tracker
from compute_agent.cycle.departures import questions
from compute_agent.virt import driver as virt

Status = resource_tracker.Status
NODES = {
    f'{number}{number * 7}-1111-4111-8111-111111111111': f'node-{number}'
    for number in map(str, range(1, 4))
}
ONE, TWO, THREE = NODES
CONSUMER = '99999999-9999-4999-8999-999999999999'


class Rack(Driver):
    """A driver whose nodes come and go."""

    def __init__(self):
        super().__init__(self._describe_all, nodes=NODES)

    @staticmethod
    def _describe_all(tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 4}})
        tree.declare_traits(node, 'CUSTOM_RACK')

    def lose(self, uuid, answer=virt.Existence.NO):
        self.existing[self.nodes.pop(uuid)] = answer


@pytest.fixture
def rack():
    return Rack()


@pytest.fixture
def agent(agent_factory, rack):
    agent = agent_factory(rack)
    agent.done()
    return agent


def of(results, name):
    (found,) = [r for r in results if r.node.name == name]
    return found


def test_a_node_that_is_gone_is_deleted(placement, agent, rack, operator):
    rack.lose(TWO)
    results = agent.done()
    assert [str(op.uuid) for op in of(results, 'node-2').applied] == [TWO]
    assert set(operator.holdings()) == {'node-1', 'node-3'}
    placement.clear()
    assert len(agent.done()) == 2
    agent.done()
    assert rack.asked == ['node-2', 'node-2']
    assert placement.writes == []


def test_a_plan_says_so_and_deletes_nothing(agent, rack, operator):
    rack.lose(TWO)
    planned = of(agent.plan(), 'node-2')
    assert [type(op).__name__ for op in planned.plan.operations] == [
        'DeleteProvider'
    ]
    assert 'node-2' in operator.holdings()


@pytest.mark.catches(
    'an unlisted node counts as gone without asking the driver'
)
@pytest.mark.parametrize(
    'answer',
    [
        virt.Existence.UNKNOWN,
        errors.Unavailable('the list is away'),
        errors.UnknownState('an odd answer'),
        RuntimeError('boom'),
    ],
)
def test_what_cannot_be_told_removes_nothing(
    placement, agent, rack, operator, answer
):
    rack.lose(TWO, answer)
    placement.clear()
    for _ in range(2):
        result = of(agent.sync(), 'node-2')
        assert result.status is Status.LEFT
        assert 'cannot be told' in result.reason
        assert str(getattr(answer, 'args', ('',))[0]) in result.reason
    assert placement.writes == []
    assert rack.asked == ['node-2', 'node-2']
    rack.existing['node-2'] = virt.Existence.NO
    agent.done()
    assert 'node-2' not in operator.holdings()


def test_a_node_that_moved_is_left_and_asked_for_seldom(
    placement, agent_factory, operator
):
    rack, clock = Rack(), Clock()
    agent = agent_factory(rack, clock=clock)
    agent.done()
    rack.lose(TWO, virt.Existence.YES)
    placement.clear()
    note = of(agent.done(), 'node-2').notes[0]
    assert 'another agent reports it now' in note
    for _ in range(2):
        assert of(agent.done(), 'node-2').status is Status.LEFT
    assert rack.asked == ['node-2']
    assert placement.writes == []

    clock.now += 3601
    rack.existing['node-2'] = virt.Existence.NO
    agent.done()
    assert rack.asked == ['node-2'] * 3  # again just before it is deleted
    assert 'node-2' not in operator.holdings()


def test_a_node_that_comes_back_is_one_of_the_list_again(agent, rack):
    rack.lose(TWO, virt.Existence.YES)
    agent.done()
    rack.nodes[TWO] = 'node-2'
    assert of(agent.done(), 'node-2').notes == ()
    rack.lose(TWO, virt.Existence.YES)
    agent.done()
    assert rack.asked == ['node-2', 'node-2']


def test_a_node_with_allocations_is_reserved_until_they_are_gone(
    placement, agent, rack, operator
):
    operator.allocate(CONSUMER, 'VCPU', TWO)
    rack.lose(TWO)
    for _ in range(2):
        result = of(agent.sync(), 'node-2')
        assert result.status is Status.FAILED
        assert f'allocated to {CONSUMER}' in result.reason
        left = operator.inventories(TWO)['VCPU']
        assert left['reserved'] == left['total']
    placement.delete(f'/allocations/{CONSUMER}')
    agent.done()
    assert 'node-2' not in operator.holdings()


def test_a_node_that_another_created_is_reserved_and_said(
    agent_factory, rack, operator
):
    operator.create(TWO, 'node-2')
    agent = agent_factory(rack)
    agent.done()
    rack.lose(TWO)
    result = of(agent.sync(), 'node-2')
    assert result.status is Status.FAILED
    assert 'its inventory is to be reserved' in result.reason
    assert 'because this agent did not create node-2;' in result.reason
    assert f'resource provider adopt {TWO} --subtree' in result.reason
    left = operator.inventories(TWO)['VCPU']
    assert left['reserved'] == left['total']
    assert 'its inventory is reserved' in of(agent.sync(), 'node-2').reason


def test_a_child_of_anothers_keeps_a_gone_node_there(agent, rack, operator):
    child = '44444444-4444-4444-8444-444444444444'
    operator.create(child, 'nic', TWO)
    operator.set_inventories({'SRIOV_NET_VF': {'total': 8}}, child)
    rack.lose(TWO)
    result = of(agent.sync(), 'node-2')
    assert 'its inventory is to be reserved' in result.reason
    assert 'because this agent did not create nic;' in result.reason
    assert operator.inventories(child)['SRIOV_NET_VF']['reserved'] == 0
    left = operator.inventories(TWO)['VCPU']
    assert left['reserved'] == left['total']


def test_many_nodes_gone_at_once_are_deleted_only_on_demand(
    placement, agent_factory, operator
):
    rack = Rack()
    agent = agent_factory(rack, max_removed_percent=0)
    agent.done()
    rack.lose(TWO)
    rack.lose(THREE)
    results = agent.sync()
    for name in ('node-2', 'node-3'):
        result = of(results, name)
        assert result.status is Status.WAITING
        assert f'delete {result.node}: waits for appr' in result.reason
        assert 'compute-agent approve' in result.reason
        left = operator.inventories(result.node.uuid)['VCPU']
        assert left['reserved'] == left['total']
    assert of(results, 'node-1').status is Status.DONE
    placement.clear()
    agent.sync()
    assert placement.writes == []
    agent_factory(rack, state=agent.state, max_removed_percent=None).done()
    assert set(operator.holdings()) == {'node-1'}


@pytest.mark.catches('an empty node list deletes every node')
def test_the_whole_list_gone_needs_consent_however_short(
    placement, agent_factory, rack, operator
):
    agent = agent_factory(rack)
    agent.done()
    for uuid in NODES:
        rack.lose(uuid)
    placement.clear()
    results = agent.sync()
    assert {r.status for r in results} == {Status.WAITING}
    assert 'is that the right service?' in results[0].reason
    assert placement.writes == []
    agent_factory(rack, state=agent.state, max_removed_percent=None).done()
    assert operator.holdings() == {}


def test_what_cannot_be_deleted_does_not_delay_a_departure(
    placement, agent_factory, operator
):
    rack = Rack()
    operator.create(ONE, 'node-1')
    agent = agent_factory(rack)
    agent.done()
    operator.allocate(CONSUMER, 'VCPU', TWO)
    for lost in (ONE, TWO):
        rack.lose(lost)
        agent.sync()
        left = operator.inventories(lost)['VCPU']
        assert left['reserved'] == left['total']
    asked = len(rack.asked)
    results = agent.sync()
    assert 'did not create' in of(results, 'node-1').reason
    assert 'allocated to' in of(results, 'node-2').reason
    assert len(rack.asked) == asked  # nothing of them is to be touched
    rack.nodes['55555555-1111-4111-8111-111111111111'] = 'node-5'
    rack.lose(THREE)
    agent.sync()
    assert THREE not in {h['uuid'] for h in operator.holdings().values()}


def test_a_node_that_comes_back_before_the_deletion_stays(
    placement, agent, rack, operator
):
    rack.lose(TWO)
    answers = [virt.Existence.NO, virt.Existence.YES]
    rack.node_exists = lambda _: answers.pop(0)
    placement.clear()
    result = of(agent.sync(), 'node-2')
    assert result.status is Status.WAITING
    assert 'is there again' in result.reason
    assert placement.writes == []
    assert of(agent.done(), 'node-2').status is Status.LEFT
    assert 'node-2' in operator.holdings()


def test_the_questions_end_with_the_first_that_nobody_answers(
    placement, agent_factory
):
    rack = Rack()
    agent = agent_factory(rack)
    agent.done()
    for lost in (TWO, THREE):
        rack.lose(lost, errors.Unavailable('away'))
    results = agent.sync()
    assert of(results, 'node-1').status is Status.DONE
    for name in ('node-2', 'node-3'):
        assert '(away)' in of(results, name).reason
    assert len(rack.asked) == 1


@pytest.mark.catches('only some of the departed nodes are asked about')
def test_all_are_asked_about_at_once_and_again_in_turn(
    agent_factory, monkeypatch, operator
):
    monkeypatch.setattr(questions, 'ASKED_AGAIN_AT_ONCE', 1)
    rack, clock = Rack(), Clock()
    agent = agent_factory(rack, clock=clock)
    agent.done()
    rack.lose(TWO, virt.Existence.UNKNOWN)
    rack.lose(THREE, virt.Existence.UNKNOWN)
    for _ in range(3):
        agent.sync()
        clock.now += 60
    assert sorted(rack.asked[:2]) == sorted(rack.asked[2:])
    rack.lose(ONE)
    agent.sync()
    assert 'node-1' not in operator.holdings()


def test_a_gone_node_that_somebody_renamed_is_reserved(
    placement, agent, rack, operator
):
    placement.put(f'/resource_providers/{TWO}', {'name': 'kept'})
    rack.lose(TWO)
    result = of(agent.sync(), 'node-2')
    assert 'somebody renamed or moved its provider' in result.reason
    left = operator.inventories(TWO)['VCPU']
    assert left['reserved'] == left['total']


def test_a_node_that_left_is_called_as_people_call_it(agent_factory, rack):
    rack.get_titles = lambda: {
        name: f'rack1-{name}' for name in NODES.values()
    }
    agent = agent_factory(rack)
    agent.done()
    rack.lose(TWO, virt.Existence.YES)
    assert str(of(agent.done(), 'node-2').node) == f'rack1-node-2 ({TWO})'


def test_a_list_that_fails_takes_nobody_for_gone(
    placement, agent, rack, monkeypatch
):
    def fail():
        raise errors.Unavailable('no list')

    monkeypatch.setattr(rack, 'get_available_nodes', fail)
    placement.clear()
    with pytest.raises(errors.Unavailable):
        agent.sync()
    assert placement.requests == []
    assert rack.asked == []


def test_another_driver_s_nodes_are_not_looked_for(
    agent_factory, agent, operator
):
    class Other(Rack):
        pass

    other = Other()
    other.nodes.clear()
    agent_factory(other, state=agent.state).done()
    assert other.asked == []
    assert set(operator.holdings()) == set(NODES.values())


def test_a_restart_remembers_who_was_there(agent_factory, tmp_path, operator):
    agent_factory(Rack(), state=tmp_path).done()
    rack = Rack()
    rack.lose(THREE)
    agent_factory(rack, state=tmp_path).done()
    assert set(operator.holdings()) == {'node-1', 'node-2'}


def test_a_node_deleted_in_placement_too_is_forgotten(
    placement, agent, rack, operator
):
    operator.delete(TWO)
    rack.lose(TWO)
    placement.clear()
    assert len(agent.done()) == 2
    agent.done()
    assert rack.asked == ['node-2']
    assert placement.writes == []


# --- what was created for a node outside of its own tree ----------------------

POOL = '88888888-8888-4888-8888-888888888888'
AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
SHARES = 'MISC_SHARES_VIA_AGGREGATE'


def describes_pool(tree):
    if not tree.exists('pool'):
        tree.new_root('pool', POOL)
    tree.update_inventory('pool', {'DISK_GB': {'total': 64}})
    tree.declare_traits('pool', SHARES)
    tree.declare_aggregates('pool', AGGREGATE)


@pytest.fixture
def pooled(rack, agent):
    """Node 2 describes a pool; the test says who else has a use of it.

    :ivar describing: the names of the nodes that describe it
    :ivar reaching: the names of the nodes that are in its aggregate
    """
    rack.describing, rack.reaching = {'node-2'}, {'node-2'}

    def describe(tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 4}})
        tree.update_aggregates(
            node, {AGGREGATE} if node in rack.reaching else set()
        )
        if node in rack.describing:
            describes_pool(tree)

    rack.describe = describe
    return rack


def is_known(agent, uuid):
    return uuid in {node.uuid for node in agent.state.nodes.all()}


def test_a_pool_that_only_a_gone_node_has_goes_with_it(
    placement, agent, pooled, operator
):
    agent.done()
    agent.done()
    pooled.lose(TWO)
    agent.done()
    assert set(operator.holdings()) == {'node-1', 'node-3'}
    agent.done()
    assert not is_known(agent, TWO)
    assert agent.state.records.created_for([TWO]).get(TWO, []) == []
    placement.clear()
    agent.done()
    assert placement.writes == []


def test_a_pool_that_another_describes_too_is_that_one_s(
    placement, agent, pooled, operator
):
    pooled.describing |= {'node-3'}
    agent.done()
    agent.done()
    pool = operator.holdings()['pool']
    pooled.lose(TWO)
    agent.done()
    agent.done()
    assert operator.holdings()['pool'] == pool
    assert not is_known(agent, TWO)
    assert POOL in agent.state.records.created_for([THREE]).get(THREE, [])
    placement.clear()
    agent.done()
    assert placement.writes == []
    pooled.describe = lambda tree, _node: (
        tree.remove('pool') if tree.exists('pool') else None
    )
    agent.done()
    assert 'pool' not in operator.holdings()


def test_a_pool_that_another_reaches_stays_as_it_is(
    placement, agent, pooled, operator
):
    pooled.reaching |= {'node-1'}
    agent.done()
    agent.done()
    pool = operator.holdings()['pool']
    pooled.lose(TWO)
    agent.done()
    assert set(operator.holdings()) == {'node-1', 'node-3', 'pool'}
    agent.done()
    assert not is_known(agent, TWO)
    assert POOL in agent.state.records.created_for([ONE]).get(ONE, [])
    placement.clear()
    agent.done()
    agent.done()
    assert placement.writes == []
    assert operator.holdings()['pool'] == pool


def test_a_pool_that_is_allocated_is_reserved_until_that_is_gone(
    placement, agent, pooled, operator
):
    agent.done()
    operator.allocate(CONSUMER, 'DISK_GB', POOL)
    pooled.lose(TWO)
    for _ in range(3):
        result = of(agent.sync(), 'node-2')
        assert result.status is Status.FAILED
        assert f'pool ({POOL}): it is not removed but to be reserved' in (
            result.reason
        )
        assert CONSUMER in result.reason
    assert set(operator.holdings()) == {'node-1', 'node-3', 'pool'}
    assert operator.inventories(POOL)['DISK_GB']['reserved'] == 64
    placement.delete(f'/allocations/{CONSUMER}')
    agent.done()
    assert 'pool' not in operator.holdings()
    agent.done()
    assert not is_known(agent, TWO)


def test_a_child_that_another_moved_away_goes_with_its_node(
    placement, agent, pooled, operator
):
    def describe(tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 4}})
        if node == 'node-2' and not tree.exists('numa0'):
            tree.new_child('numa0', node, POOL)

    pooled.describe = describe
    agent.done()
    placement.put(
        f'/resource_providers/{POOL}',
        {'name': 'numa0', 'parent_provider_uuid': None},
    )
    pooled.lose(TWO)
    agent.done()
    agent.done()
    assert set(operator.holdings()) == {'node-1', 'node-3'}
    assert not is_known(agent, TWO)


# --- while other nodes are in trouble -----------------------------------------


def test_an_outage_of_another_node_does_not_delay_a_departure(
    placement, agent, rack, operator
):
    rack.lose(TWO)
    rack.describe = lambda tree, node: tree.update_inventory(
        node, {'VCPU': {'total': 8}}
    )
    placement.fault(f'PUT /resource_providers/{ONE}/*', 503, times=None)
    results = agent.sync()
    assert of(results, 'node-1').outage
    assert of(results, 'node-2').status is Status.DONE
    assert set(operator.holdings()) == {'node-1', 'node-3'}


def test_a_departure_waits_while_placement_cannot_be_read(
    placement, agent, rack, operator
):
    rack.lose(TWO)
    placement.fault('GET /resource_providers*', 503, times=None, skip=1)
    placement.fault('PUT *', 503, times=None)
    rack.describe = lambda tree, node: tree.update_inventory(
        node, {'VCPU': {'total': 8}}
    )
    result = of(agent.sync(), 'node-2')
    assert (result.status, result.outage) == (Status.FAILED, True)
    assert 'node-2' in operator.holdings()
    placement.mend()
    agent.done()
    assert 'node-2' not in operator.holdings()
