# SPDX-License-Identifier: Apache-2.0
"""Many departures: a backlog goes on by itself, a sudden mass needs a person."""

import pytest
from agents import Driver

from compute_agent.cycle import judging, resource_tracker
from compute_agent.state import state
from compute_agent.virt import driver as virt

Status = resource_tracker.Status
RACK = {f'{n:08}-1111-4111-8111-111111111111': f'node-{n}' for n in range(20)}
UUIDS = list(RACK)


class Rack(Driver):
    """A driver whose nodes leave; those that are not listed do not exist."""

    def __init__(self):
        super().__init__(
            self._describe_all, nodes=RACK, missing=virt.Existence.NO
        )
        self.traits = {'node-0': ['CUSTOM_ONE']}

    def _describe_all(self, tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 4}})
        tree.update_traits(node, self.traits.get(node, []))

    def lose(self, *numbers):
        for number in numbers:
            self.nodes.pop(UUIDS[number])


@pytest.fixture
def rack():
    return Rack()


@pytest.fixture
def agent(agent_factory, rack, clock, tmp_path):
    agent = agent_factory(rack, clock=clock, state=tmp_path)
    agent.done()
    return agent


def there(operator):
    return set(operator.holdings())


def names(numbers):
    return {f'node-{number}' for number in numbers}


def reserved(operator):
    """Return the nodes on which nothing more can be placed."""
    found = operator.holdings()
    return {
        name
        for name, one in found.items()
        if (left := one['inventories']['VCPU'])['reserved'] == left['total']
    }


def after(clock, agent):
    clock.now += 60
    return agent.sync()


def test_a_backlog_of_small_departures_goes_without_a_person(
    agent, rack, clock, operator
):
    for number in range(5, 16):
        rack.lose(number)
        rack.missing = virt.Existence.UNKNOWN
        after(clock, agent)
    rack.missing = virt.Existence.NO
    after(clock, agent)
    assert len(there(operator)) == 9


def test_a_fifth_of_the_nodes_may_go_in_one_cycle(
    agent, rack, clock, operator
):
    rack.lose(1, 2, 3, 4)
    after(clock, agent)
    assert there(operator) == names([0, *range(5, 20)])


@pytest.mark.catches('a departed node stays on offer until somebody agrees')
@pytest.mark.catches('a mass of departures is forgotten')
def test_a_sudden_mass_is_reserved_at_once_and_deleted_with_a_yes(
    agent, agent_factory, rack, clock, operator, tmp_path, placement
):
    mass = range(10, 20)
    rack.lose(*mass)
    planned = [r for r in agent.plan() if r.held]
    assert {r.node.name for r in planned} == names(mass)
    assert not reserved(operator)
    for number in range(3):
        again = agent_factory(rack, clock=clock, state=tmp_path)
        held = [r for r in after(clock, again) if r.status is Status.WAITING]
        assert reserved(operator) == names(mass)
        assert {r.node.name for r in held} == names(mass)
        for result in held:
            assert f'delete {result.node}: waits for' in result.reason
            assert 'than 20 % of the nodes departed together' in result.reason
            assert 'compute-agent approve' in result.reason
            assert result.held
        rack.lose(number + 1)  # one node more, which is no mass
    rack.traits = {}
    after(clock, again)
    assert 'CUSTOM_ONE' not in operator.traits(UUIDS[0])
    assert not there(operator) & names([1, 2, 3])
    placement.clear()
    after(clock, again)
    assert [str(r) for r in placement.requests] == ['GET /resource_providers']


def test_a_yes_during_the_cycle_that_reserves_a_mass_is_not_used_up(
    agent, rack, clock, operator, monkeypatch
):
    rack.lose(*range(10, 20))
    held = frozenset().union(*(result.held for result in agent.plan()))
    judge = judging.Judge.judge

    def judge_and_approve(self, *args, **options):
        found = judge(self, *args, **options)
        self.approvals.grant(held, 'alice')
        return found

    with monkeypatch.context() as patch:
        patch.setattr(judging.Judge, 'judge', judge_and_approve)
        after(clock, agent)
    assert reserved(operator) == names(range(10, 20))
    after(clock, agent)
    assert there(operator) == names(range(10))


def test_all_nodes_of_a_mass_are_asked_about_in_the_first_cycle(
    agent_factory, operator
):
    """As when 150 of 600 nodes are deleted in Ironic at once."""
    nodes = {f'{n:08}{UUIDS[0][8:]}': f'node-{n}' for n in range(160)}
    rack = Rack()
    rack.nodes.update(nodes)
    agent = agent_factory(rack)
    agent.done()
    for uuid in list(nodes)[10:]:
        del rack.nodes[uuid]
    agent.sync()
    assert reserved(operator) == names(range(10, 160))


def test_a_node_of_a_mass_that_cannot_be_deleted_is_reserved_too(
    agent, rack, clock, operator
):
    consumer = '99999999-9999-4999-8999-999999999999'
    operator.allocate(consumer, 'VCPU', UUIDS[10])
    child = '44444444-4444-4444-8444-444444444444'
    operator.create(child, 'nic', UUIDS[11])
    rack.lose(*range(10, 20))
    after(clock, agent)
    operator.set_inventories({'VCPU': {'total': 1}}, child)
    assert reserved(operator) == names(range(10, 20))


def test_a_mass_that_is_back_needs_nobody(
    agent, rack, clock, placement, operator
):
    before = operator.holdings()
    rack.lose(*range(10, 20))
    after(clock, agent)
    rack.nodes = dict(RACK)
    assert {r.status for r in after(clock, agent)} == {Status.DONE}
    assert operator.holdings() == before
    rack.lose(10)
    after(clock, agent)
    assert 'node-10' not in there(operator)


@pytest.mark.catches('an empty node list deletes every node')
def test_an_empty_list_changes_nothing_at_all(
    agent, rack, clock, placement, operator
):
    rack.lose(*range(20))
    placement.clear()
    for _ in range(2):
        results = after(clock, agent)
        assert {r.status for r in results} == {Status.WAITING}
        assert 'is that the right service?' in results[0].reason
        assert 'reserved' not in results[0].reason
    assert placement.writes == []


def test_a_deletion_that_waits_says_that_others_changed_the_provider(
    agent, rack, clock, operator
):
    """A second agent with the same nodes, for example."""
    operator.add_traits('CUSTOM_HIS', uuid=UUIDS[0])
    rack.lose(*range(20))
    first, second, *_ = after(clock, agent)
    changed = 'which others have changed since this agent last wrote to it'
    assert f'delete node-0 ({UUIDS[0]}), {changed}' in first.reason
    assert changed not in second.reason


@pytest.mark.catches("another service's list counts as the driver's")
def test_the_list_of_another_service_changes_nothing_at_all(
    agent, agent_factory, rack, clock, placement, operator, tmp_path
):
    before = operator.holdings()
    others = {
        f'{n:08}-2222-4222-8222-222222222222': f'other-{n}' for n in '12'
    }
    rack.nodes = dict(others)
    for _ in range(3):
        again = agent_factory(rack, clock=clock, state=tmp_path)
        results = after(clock, again)
        asked = [r for r in results if r.status is Status.WAITING]
        assert {r.node.name for r in asked} == names(range(20))
        assert 'is that the right service?' in asked[0].reason
        assert asked[0].held
    there_now = operator.holdings()
    assert {name: there_now[name] for name in before} == before
    rack.nodes = {**RACK, **others}
    rack.lose(*range(5, 20))
    after(clock, again)
    assert reserved(operator) == names(range(5, 20))


def test_a_confirmed_mass_goes_and_its_leftovers_need_nobody(
    agent, agent_factory, rack, clock, placement, operator
):
    rack.lose(*range(10, 20))
    after(clock, agent)
    agreed = agent_factory(
        rack, clock=clock, state=agent.state, max_removed_percent=None
    )
    placement.fault('DELETE *', 503, skip=1)
    clock.now += 60
    agreed.sync()
    assert len(there(operator)) == 19
    after(clock, agent)
    assert there(operator) == names(range(10))


def approve(tmp_path, clock, *results):
    beside = state.State.open_beside(tmp_path)
    subjects = {s for result in results for s in result.held}
    beside.history.clock = clock
    beside.approvals.grant(subjects, 'alice')
    beside.close()


@pytest.mark.catches('an approval covers any change of its kind')
def test_an_approved_mass_is_deleted_once_and_no_other(
    agent, rack, clock, operator, tmp_path, caplog
):
    rack.lose(*range(10, 20))
    approve(tmp_path, clock, *after(clock, agent))
    rack.lose(5)  # another batch does not change what was approved
    with caplog.at_level('INFO'):
        after(clock, agent)
    assert 'deletions of departed nodes go on, as approved by alice' in (
        caplog.text
    )
    after(clock, agent)
    assert there(operator) == {f'node-{n}' for n in range(10)} - {'node-5'}

    rack.lose(*range(1, 5))
    held = [r for r in after(clock, agent) if r.held]
    assert len(held) == 4
    approve(tmp_path, clock, *held)
    rack.nodes[UUIDS[1]] = 'node-1'  # a part of what was shown is due
    rack.lose(0, 6, 7)  # which nobody was shown
    held = [r for r in after(clock, agent) if r.held]
    assert {r.node.name for r in held} == {'node-0', 'node-6', 'node-7'}
    assert there(operator) == names([0, 1, *range(6, 10)])
    assert reserved(operator) == names([0, 6, 7])


def test_an_approval_expires(agent, rack, clock, operator, tmp_path):
    rack.lose(*range(10, 20))
    approve(tmp_path, clock, *after(clock, agent))
    clock.now += 86_400
    assert [r for r in agent.sync() if r.held]
    assert len(there(operator)) == 20
