# SPDX-License-Identifier: Apache-2.0
"""A standby reads and plans ahead, so that its first cycle has little to do."""

import uuid

import pytest
from agents import sent
from agents_of_share import AgentsOfShare, numbered

from compute_agent import errors
from compute_agent.state.database import database

LIST = 'GET /resource_providers'
ONE = str(uuid.UUID(int=1))


def stand_by(agent):
    """Do what a turn of a standby does."""
    agent.replica.catch_up()
    agent.stand_by(lambda: True)


@pytest.fixture
def fleet(request, agent_factory):
    made = AgentsOfShare(
        agent_factory, numbered(getattr(request, 'param', 5)), workers=4
    )
    made.is_alone = True
    yield made
    made.close()


@pytest.fixture
def holder(fleet):
    agent = fleet.holder()
    agent.done()
    agent.replica.pay()
    return agent


@pytest.fixture
def standby(fleet, holder, placement):
    del holder
    agent = fleet.standby()
    stand_by(agent)
    placement.clear()
    return agent


def reads(one):
    return [
        f'GET {one}/{part}' for part in ('traits', 'aggregates', 'inventories')
    ]


@pytest.mark.parametrize('fleet', [300], indirect=True)
def test_the_first_cycle_after_a_take_over_is_one_request(
    fleet, standby, placement
):
    fleet.take_over(standby)
    assert len(standby.done()) == len(fleet.nodes)
    assert sent(placement) == [LIST]
    standby.done()
    assert sent(placement) == [LIST] * 2


@pytest.mark.catches('the readings of a standby are not used')
def test_what_another_writer_changed_before_is_not_read_again(
    fleet, standby, placement, operator
):
    operator.add_traits('CUSTOM_OTHER', uuid=ONE)
    stand_by(standby)
    placement.clear()
    fleet.take_over(standby)
    standby.done()
    assert sent(placement) == [LIST]


def test_a_standby_reads_all_once_and_then_what_changed(
    fleet, holder, placement, operator
):
    agent = fleet.standby()
    placement.clear()
    stand_by(agent)
    assert len(sent(placement)) == 1 + 3 * len(fleet.nodes)
    placement.clear()
    stand_by(agent)
    assert sent(placement) == [LIST]
    operator.add_traits('CUSTOM_OTHER', uuid=ONE)
    placement.clear()
    stand_by(agent)
    assert sent(placement) == [LIST, *reads(ONE)]


@pytest.mark.catches('a standby keeps its readings as a holder does')
def test_a_standby_writes_nothing(fleet, holder, operator, placement):
    operator.add_traits('CUSTOM_OTHER', uuid=ONE)
    agent, before = fleet.standby(), fleet.shared.commits
    documents = agent.state.documents()
    placement.clear()
    stand_by(agent)
    assert {line.split()[0] for line in sent(placement)} == {'GET'}
    assert fleet.shared.commits == before
    assert agent.state.documents() == documents


def test_what_another_writer_removed_meanwhile_is_added_again(
    fleet, holder, standby, operator
):
    """The record learns of it in the first cycle, as from any reading."""
    operator.remove_traits('CUSTOM_A', uuid=ONE)
    stand_by(standby)
    fleet.take_over(standby)
    standby.done()
    assert 'CUSTOM_A' in operator.traits(ONE)
    fleet.wanted = []
    standby.done()
    assert 'CUSTOM_A' not in operator.traits(ONE)


def test_what_changed_since_the_standby_read_it_is_read_again(
    fleet, standby, placement, operator
):
    operator.add_traits('CUSTOM_OTHER', uuid=ONE)
    placement.clear()
    fleet.take_over(standby)
    standby.done()
    assert sent(placement) == [LIST, *reads(ONE)]


def test_a_write_after_a_warm_reading_reads_its_part_first(
    fleet, standby, placement
):
    fleet.wanted = ['CUSTOM_A', 'CUSTOM_B']
    fleet.take_over(standby)
    standby.done()
    lines = sent(placement)
    assert lines.count(f'GET {ONE}/traits') == 1
    assert lines.count(f'PUT {ONE}/traits') == 1
    assert lines.index(f'GET {ONE}/traits') < lines.index(f'PUT {ONE}/traits')


def test_it_stops_reading_once_it_may_not_go_on(fleet, holder, placement):
    agent = fleet.standby()
    placement.clear()
    left = iter([True, True])
    agent.client.warm(
        agent.client.begin_warm(list(fleet.nodes)), lambda: next(left, False)
    )
    assert len(sent(placement)) == 1 + 3 * 2


def test_an_outage_is_told(fleet, holder, placement):
    agent = fleet.standby()
    begun = agent.client.begin_warm(list(fleet.nodes))
    placement.fault('GET *', 503, times=None)
    with pytest.raises(errors.Unavailable):
        agent.client.warm(begun, lambda: True)
    with pytest.raises(errors.Unavailable):
        agent.client.begin_warm(list(fleet.nodes))


# --- its plans ----------------------------------------------------------------


@pytest.mark.catches('a standby plans nothing ahead')
def test_the_first_cycle_plans_nothing_again(fleet, planned, standby):
    assert sorted(planned[-len(fleet.nodes) :]) == sorted(fleet.nodes)
    planned.clear()
    stand_by(standby)
    fleet.take_over(standby)
    standby.done()
    assert planned == []


@pytest.mark.parametrize('where', ['the driver', 'placement'])
def test_what_changed_since_is_planned_again(
    fleet, standby, operator, planned, where
):
    planned.clear()
    if where == 'placement':
        operator.remove_traits('CUSTOM_A', uuid=ONE)
    else:
        fleet.wanted = ['CUSTOM_A', 'CUSTOM_B']
    fleet.take_over(standby)
    standby.done()
    assert {*planned} == {ONE}
    assert operator.traits(ONE) >= {*fleet.wanted}


@pytest.mark.catches('a standby asks placement for a plan ahead')
def test_a_plan_ahead_asks_nothing(fleet, standby, placement, operator):
    """The inventory may be in use; who uses it is asked when it goes."""
    operator.allocate(str(uuid.uuid4()), 'VCPU', uuid=ONE)
    stand_by(standby)
    standby.driver.describe = lambda tree, node: tree.update_inventory(
        node, {'CUSTOM_IRON': {'total': 1}}
    )
    placement.clear()
    stand_by(standby)
    assert sent(placement) == [LIST]


def test_no_plan_begins_once_it_may_not_go_on(fleet, holder, planned):
    agent, left = fleet.standby(), iter([True, True])
    nodes = agent.tracker.nodes()
    begun = agent.client.begin_warm([*fleet.nodes])
    seen = agent.client.warm(begun, lambda: True)
    planned.clear()
    agent.tracker.plan_ahead(
        agent.state.agent_id, nodes, seen, lambda: next(left, False)
    )
    assert len(planned) == 2 < len(fleet.nodes)


def test_a_node_that_fails_does_not_keep_the_others_from_a_plan(
    fleet, holder, planned
):
    standby = fleet.standby()
    describe = standby.driver.describe

    def broken(tree, node):
        if node == fleet.nodes[ONE]:
            raise SystemExit('broken')
        describe(tree, node)

    standby.driver.describe = broken
    planned.clear()
    stand_by(standby)
    assert {*planned} == {*fleet.nodes} - {ONE}


def told(agent, word):
    """Return what the history of a node tells with this word."""
    rows = agent.state.history.entries()
    return [row for row in rows if word in str(row)]


@pytest.mark.catches('a standby heeds no entry of the history')
@pytest.mark.parametrize('change', ['a child', 'a name'])
def test_what_the_holder_told_is_not_told_again(
    fleet, holder, standby, placement, operator, change
):
    child = str(uuid.uuid4())
    operator.create(child, 'a-child', parent_uuid=ONE)
    if change == 'a name':
        holder.done()
        holder.replica.pay()
        stand_by(standby)
        placement.operate(
            'PUT', f'/resource_providers/{child}', {'name': 'a-name'}
        )
    holder.done()
    holder.replica.pay()
    word = change.replace(' ', '-')
    count = len(told(holder, word))
    assert count
    for _ in range(2):
        stand_by(standby)
    fleet.take_over(standby)
    standby.done()
    assert len(told(standby, word)) == count


def test_a_turn_that_keeps_nothing_commits_nothing(
    fleet, standby, operator, monkeypatch
):
    operator.add_traits('CUSTOM_OTHER', uuid=ONE)
    begun, real = [], database.Database.writing

    def writing(self, **how):
        begun.append(how)
        return real(self, **how)

    stand_by(standby)
    monkeypatch.setattr(database.Database, 'writing', writing)
    stand_by(standby)
    assert begun == []


def test_a_plan_ahead_asks_no_allocations_for_a_reshape(
    fleet, standby, placement
):
    def describe(tree, node):
        raise errors.ReshapeNeeded

    standby.driver.describe = describe
    placement.clear()
    stand_by(standby)
    assert sent(placement) == [LIST]


@pytest.mark.catches('a standby keeps what it would have to record')
def test_what_nobody_told_is_told_in_the_first_cycle(
    fleet, holder, standby, placement, operator
):
    """The record does not change with a name, so only the history has it."""
    child = str(uuid.uuid4())
    operator.create(child, 'a-child', parent_uuid=ONE)
    holder.done()
    holder.replica.pay()
    stand_by(standby)
    path = f'/resource_providers/{child}'
    placement.operate('PUT', path, {'name': 'a-name'})
    stand_by(standby)
    fleet.take_over(standby)
    standby.done()
    assert len(told(standby, 'a-name')) == 1
