# SPDX-License-Identifier: Apache-2.0
"""Many departures: a backlog goes on by itself, a sudden mass needs a person."""

import pytest
from agents import Driver

from compute_agent.cycle import resource_tracker
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
    agent = agent_factory(rack, clock=clock, state=tmp_path, max_deletions=2)
    agent.done()
    return agent


def there(operator):
    return set(operator.holdings())


def after(clock, agent):
    clock.now += 60
    return agent.sync()


def test_eleven_decommissioned_nodes_block_no_dropped_trait(
    agent, rack, clock, operator
):
    """A backlog goes on by itself, however large it grew."""
    for number in range(5, 16):
        rack.lose(number)
        rack.missing = virt.Existence.UNKNOWN
        after(clock, agent)
    rack.missing = virt.Existence.NO
    rack.traits = {}
    for deleted in range(2, 12, 2):
        after(clock, agent)
        assert 'CUSTOM_ONE' not in operator.traits(UUIDS[0])
        assert len(there(operator)) == 20 - deleted
    after(clock, agent)
    assert len(there(operator)) == 9


def test_departures_beyond_the_budget_wait_and_are_deleted_in_order(
    agent, rack, clock, operator
):
    rack.lose(5)
    rack.lose(6)
    rack.lose(7)
    results = {r.node.name: r for r in after(clock, agent)}
    left = there(operator) & {'node-5', 'node-6', 'node-7'}
    assert len(left) == 1
    (waiting,) = left
    assert results[waiting].status is Status.WAITING
    assert 'in a later cycle' in results[waiting].reason
    rack.lose(8, 9)
    after(clock, agent)
    assert waiting not in there(operator)
    assert there(operator) & {'node-8', 'node-9'}
    after(clock, agent)
    assert not there(operator) & {'node-8', 'node-9'}


@pytest.mark.catches('a mass of departures is forgotten')
def test_a_sudden_mass_is_held_across_restarts_and_blocks_nothing_else(
    agent, agent_factory, rack, clock, operator, tmp_path
):
    mass = range(10, 20)
    rack.lose(*mass)
    for number in range(3):
        again = agent_factory(
            rack, clock=clock, state=tmp_path, max_deletions=2
        )
        held = [r for r in after(clock, again) if r.status is Status.FAILED]
        assert {r.node.name for r in held} == {f'node-{n}' for n in mass}
        for result in held:
            assert 'more than 2 providers of nodes that departed toget' in (
                result.reason
            )
            assert 'sync --yes' in result.reason
            assert result.held
        rack.lose(number + 1)  # one node more, which is no mass
    assert there(operator) >= {f'node-{n}' for n in mass}
    rack.traits = {}
    after(clock, again)
    assert 'CUSTOM_ONE' not in operator.traits(UUIDS[0])
    assert not there(operator) & {'node-1', 'node-2', 'node-3'}


def test_a_mass_that_is_back_needs_nobody(
    agent, rack, clock, placement, operator
):
    rack.lose(*range(10, 20))
    after(clock, agent)
    rack.nodes = dict(RACK)
    placement.clear()
    assert {r.status for r in after(clock, agent)} == {Status.DONE}
    assert placement.writes == []
    rack.lose(10)
    after(clock, agent)
    assert 'node-10' not in there(operator)


def test_a_confirmed_mass_goes_and_its_leftovers_need_nobody(
    agent, agent_factory, rack, clock, placement, operator
):
    rack.lose(*range(10, 20))
    after(clock, agent)
    agreed = agent_factory(
        rack, clock=clock, state=agent.state, max_deletions=None
    )
    placement.fault('DELETE *', 503, skip=1)
    clock.now += 60
    agreed.sync()
    assert len(there(operator)) == 19
    for _ in range(5):
        after(clock, agent)
    assert there(operator) == {f'node-{n}' for n in range(10)}


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
    assert there(operator) == {'node-0', 'node-1'} | {
        f'node-{n}' for n in range(6, 10)
    }


def test_an_approval_expires(agent, rack, clock, operator, tmp_path):
    rack.lose(*range(10, 20))
    approve(tmp_path, clock, *after(clock, agent))
    clock.now += 86_400
    assert [r for r in agent.sync() if r.held]
    assert len(there(operator)) == 20
