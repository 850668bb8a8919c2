# SPDX-License-Identifier: Apache-2.0
"""What the driver took away is not offered, even if it cannot be deleted."""

import pytest
from agents import NAME, NODE

from compute_agent.cycle import resource_tracker
from compute_agent.cycle.resource_tracker import Control
from compute_agent.limits import backoff
from compute_agent.tree import provider_tree

Status = resource_tracker.Status
CHILD = provider_tree.derived_uuid(NODE, f'{NAME}-child')
THEIRS = 'eeeeeeee-eeee-4eee-8eee-eeeeeeeeeeee'
REFUSED = (400, {'errors': [{'status': 400, 'detail': 'not today'}]})
CONSUMER = '99999999-9999-4999-8999-999999999999'


class Described:
    """What the driver describes; a test changes it."""

    def __init__(self):
        self.child = True

    def __call__(self, tree, node):
        child = f'{node}-child'
        tree.update_inventory(node, {'VCPU': {'total': 8}})
        if self.child and not tree.exists(child):
            tree.new_child(child, node)
        if self.child:
            tree.update_inventory(child, {'VGPU': {'total': 4}})
        elif tree.exists(child):
            tree.remove(child)


@pytest.fixture
def driver():
    return Described()


@pytest.fixture
def agent(agent_factory, driver):
    made = agent_factory(driver)
    made.done()
    return made


def offered(placement):
    found = placement.get('/allocation_candidates?resources=VGPU:1')
    return list(found['provider_summaries'])


@pytest.mark.catches('a provider that cannot be deleted is still offered')
def test_what_another_writer_s_child_keeps_is_reserved_as_a_whole(
    placement, agent, operator, driver
):
    operator.create(THEIRS, 'theirs', CHILD)
    operator.set_inventories({'PCPU': {'total': 2}}, THEIRS)
    operator.allocate(CONSUMER, 'VGPU', CHILD)
    driver.child = False
    result = agent.cycle()
    assert result.status is not Status.DONE
    assert 'the driver removed it, but it is not deleted' in result.reason
    assert f'resource provider adopt {THEIRS}' in result.reason
    assert offered(placement) == []
    assert operator.inventories(CHILD)['VGPU']['reserved'] == 4
    assert operator.inventories(THEIRS)['PCPU']['reserved'] == 0
    placement.clear()
    assert agent.cycle().status is not Status.DONE
    assert placement.writes == []


def test_it_goes_when_what_is_below_it_is_gone(agent, operator, driver):
    operator.create(THEIRS, 'theirs', CHILD)
    driver.child = False
    agent.cycle()
    operator.delete(THEIRS)
    agent.done()
    assert set(operator.holdings()) == {NAME}


def test_it_is_offered_again_when_the_driver_has_it_again(
    placement, agent, operator, driver
):
    operator.create(THEIRS, 'theirs', CHILD)
    driver.child = False
    agent.cycle()
    driver.child = True
    agent.done()
    assert CHILD in offered(placement)


def test_its_line_says_reserved_only_once_placement_has_it_so(
    placement, agent_factory, agent, operator, driver, clock
):
    operator.create(THEIRS, 'theirs', CHILD)
    driver.child = False
    agent = agent_factory(
        driver,
        state=agent.state,
        control=Control(back_off=backoff.Backoff(clock)),
    )
    placement.fault(f'PUT *{CHILD}/inventories', REFUSED)
    for _ in range(2):  # it is refused, then it waits
        reason = agent.cycle().reason
        assert 'its inventory is to be reserved, so that' in reason
        assert 'inventory is reserved' not in reason
        assert CHILD in offered(placement)
    clock.now += 3600
    agent.cycle()
    assert offered(placement) == []
    assert 'its inventory is reserved, so that' in agent.cycle().reason


@pytest.mark.catches('a provider that cannot be deleted is still offered')
def test_what_the_agent_created_and_has_no_record_of_is_reserved(
    placement, agent_factory, agent, operator, driver
):
    driver.child = False
    again = agent_factory(driver)  # its state database is new
    result = again.cycle()
    assert result.status is not Status.DONE
    assert 'has no record that it created it' in result.reason
    assert (
        f'run "compute-agent resource provider adopt {CHILD}"' in result.reason
    )
    assert offered(placement) == []


def test_what_another_writer_created_is_left_as_it_is(
    placement, agent, operator, driver
):
    operator.create(THEIRS, 'theirs', NODE)
    operator.set_inventories({'PCPU': {'total': 2}}, THEIRS)

    def describe(tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 8}})
        tree.remove(THEIRS)

    agent.driver.describe = describe
    (result,) = agent.done()
    assert any(f'adopt {THEIRS}' in note for note in result.notes)
    assert operator.inventories(THEIRS)['PCPU']['reserved'] == 0
