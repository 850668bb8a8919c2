# SPDX-License-Identifier: Apache-2.0
"""A provider that the driver names, that is there, and that nothing leads to.

The record of it is lost, no aggregate reaches it: only its uuid tells that the
driver's sharing provider exists already. It is taken as it is found, and not
created in each cycle anew.
"""

import pytest
from agents import NODE

SHARED = '33333333-3333-4333-8333-333333333333'
AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
SHARES = 'MISC_SHARES_VIA_AGGREGATE'


class Said:
    """What the driver says: a node that shares a disk.

    :ivar aggregates: those of the node
    """

    def __init__(self) -> None:
        self.aggregates = [AGGREGATE]
        self.total = 100

    def __call__(self, tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 8}})
        tree.update_aggregates(node, self.aggregates)
        if not tree.exists(SHARED):
            tree.new_root('shared', SHARED)
        tree.update_inventory(SHARED, {'DISK_GB': {'total': self.total}})
        tree.declare_traits(SHARED, SHARES)
        tree.declare_aggregates(SHARED, AGGREGATE)


@pytest.fixture
def said():
    return Said()


@pytest.fixture
def anew(agent_factory, operator, placement, said):
    """Make an agent without a record, where no aggregate leads to it."""
    agent_factory(said).done()
    operator.set_aggregates()
    placement.clear()
    return lambda: agent_factory(said)


def creations(placement):
    return [
        request.path
        for request in placement.writes
        if request.method == 'POST'
    ]


def test_it_is_not_created_and_the_rest_goes_on(anew, operator, placement):
    agent = anew()
    (result,) = agent.done()
    assert result.notes == ()  # it is as the driver says
    assert creations(placement) == []
    assert operator.aggregates() == {AGGREGATE}
    placement.clear()
    agent.done()
    assert placement.writes == []


def test_a_plan_tells_the_same(anew, placement):
    (result,) = anew().plan()
    assert [op.uuid for op in result.plan.operations] == [NODE]
    assert placement.writes == []


def test_it_is_written_where_nothing_ever_leads_to_it(
    anew, operator, placement, said
):
    said.aggregates, said.total = [], 200
    agent = anew()
    agent.done()
    assert creations(placement) == []
    assert operator.inventories(SHARED)['DISK_GB']['total'] == 200
    placement.clear()
    agent.done()
    assert placement.writes == []


def test_one_that_was_renamed_is_found_by_what_placement_says(
    anew, operator, placement, said
):
    said.aggregates = []
    placement.put(f'/resource_providers/{SHARED}', {'name': 'renamed'})
    agent = anew()
    agent.done()
    assert len(creations(placement)) == 1
    placement.clear()
    agent.done()
    assert placement.writes == []
    assert operator.holdings().keys() == {'node-1', 'renamed'}


def test_it_is_written_once_it_is_adopted(anew, operator, said):
    said.aggregates = []
    agent = anew()
    agent.done()
    agent.state.journal.adopt(NODE, {SHARED: operator.generation(SHARED)})
    said.total = 200
    agent.done()
    assert operator.inventories(SHARED)['DISK_GB']['total'] == 200


def test_it_is_created_once_it_is_gone(anew, operator, said):
    said.aggregates = []
    agent = anew()
    agent.done()
    operator.set_inventories({}, SHARED)
    operator.delete(SHARED)
    agent.done()
    said.total = 200
    agent.done()
    assert operator.inventories(SHARED)['DISK_GB']['total'] == 200
