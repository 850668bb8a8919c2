# SPDX-License-Identifier: Apache-2.0
"""Two agents on one fleet without a shared record: one of them writes.

Each agent of several nodes puts its mark on their roots. A root with another
agent's mark waits for one yes for all of them; whose mark was replaced writes
nothing more. The placement is the real one.
"""

import contextlib
import dataclasses

import agents
import pytest
from marked_fleets import NODES, Fleet, World, allow

from compute_agent import testing
from compute_agent.cycle.node import node_result
from compute_agent.fleet.values import mark
from compute_agent.ownership import policy
from compute_agent.ownership.explanations import drift
from compute_agent.state import state as states
from compute_agent.tree.node import Node

FIRST, SECOND, *_ = NODES
NEW = '99999999-1111-4111-8111-111111111111'


@pytest.fixture
def fleet():
    return World()


@pytest.fixture
def one(agent_factory, fleet):
    """The agent that reported the nodes first."""
    made = agent_factory(Fleet(fleet), takes_over=False)
    made.done()
    return made


@pytest.fixture
def two(agent_factory, fleet, one):
    """Another agent for the same nodes, with a record of its own."""
    return agent_factory(Fleet(fleet), takes_over=False)


def marks_in(placement, uuid=FIRST):
    return mark.marks(placement.others.traits(uuid))


def writes_of(placement, agent):
    """Return the writes of a cycle of this agent."""
    before = len(placement.writes)
    agent.sync()
    return placement.writes[before:]


def counted(fleet, *, marks_nodes):
    """Return the requests of a first and of a later cycle."""
    with testing.Placement() as placement:
        factory = agents.AgentFactory(placement)
        made = factory(Fleet(fleet), marks_nodes=marks_nodes)
        made.done()
        first = len(placement.requests)
        made.done()
        factory.close()
        return first, len(placement.requests) - first


def test_the_mark_costs_the_creation_of_one_trait_and_no_other_request(fleet):
    first, later = counted(fleet, marks_nodes=False)

    assert counted(fleet, marks_nodes=True) == (first + 1, later)


def test_a_second_agent_writes_nothing_and_a_line_names_the_first(
    one, two, placement
):
    assert writes_of(placement, two) == []

    (result, *_) = two.sync()
    own = mark.Mark.of('Fleet:shard=rack1', one.state.agent_id)
    assert result.status is node_result.Status.WAITING
    assert str(own) in result.reason
    assert 'another compute-agent' in result.reason
    assert 'nova' not in result.reason
    one.done()
    assert marks_in(placement) == [own]


@pytest.mark.catches(
    'an agent writes to the nodes that another one has marked'
)
def test_one_yes_takes_the_whole_fleet_over_and_the_first_stands_down(
    one, two, placement
):
    item = allow(two)
    assert (item['nodes'], item['is_group']) == (len(NODES), True)
    two.done()
    assert {each.agent for u in NODES for each in marks_in(placement, u)} == {
        two.state.agent_id
    }

    assert writes_of(placement, one) == []
    (result, *_) = one.sync()
    assert 'took the node over from this agent' in result.reason
    assert two.state.agent_id in result.reason
    assert writes_of(placement, two) == []


def test_the_way_back_is_the_same_yes(one, two, placement):
    allow(two)
    two.done()
    one.sync()
    allow(one)
    one.done()

    assert marks_in(placement)[0].agent == one.state.agent_id
    assert writes_of(placement, two) == []
    assert writes_of(placement, one) == []


@pytest.mark.catches(
    'the option for first writes takes nodes from another agent'
)
def test_the_option_for_first_writes_takes_nothing_from_another_share(
    agent_factory, fleet, placement
):
    """An agent lists a neighbour's nodes if its filter was forgotten."""
    neighbour = agent_factory(Fleet(fleet), share='ironic:shard=rack1')
    neighbour.done()
    other = agent_factory(Fleet(fleet), share='ironic', takes_over=True)

    assert writes_of(placement, other) == []
    neighbour.done()


def test_the_option_for_first_writes_covers_a_lost_state_but_once(
    agent_factory, fleet, placement
):
    old = agent_factory(Fleet(fleet), takes_over=True)
    old.done()
    new = agent_factory(Fleet(fleet), takes_over=True)
    new.done()

    assert writes_of(placement, old) == []
    assert writes_of(placement, new) == []
    assert marks_in(placement)[0].agent == new.state.agent_id


def test_sync_yes_takes_over_as_well(one, agent_factory, fleet, placement):
    other = agent_factory(
        Fleet(fleet),
        takes_over=True,
        is_confirmed=True,
        max_removed_percent=None,
    )
    other.done()

    assert marks_in(placement)[0].agent == other.state.agent_id


@pytest.mark.catches('an agent reserves nodes that another one reports')
def test_maintenance_is_reserved_after_the_yes_and_not_before(
    one, two, fleet, placement
):
    fleet.maintenance.add('node-0')
    assert writes_of(placement, two) == []
    allow(two)
    two.done()

    held = placement.others.inventories(FIRST)['CUSTOM_GOLD']
    assert held['reserved'] == 1
    fleet.maintenance.clear()
    assert writes_of(placement, one) == []


@pytest.mark.catches('two agents of one share divide its new nodes by chance')
@pytest.mark.parametrize('has_begun', [False, True])
def test_a_new_node_is_created_by_the_agent_with_the_marks_alone(
    one, two, fleet, placement, *, has_begun
):
    if has_begun:
        allow(two)
        two.done()
    fleet.nodes[NEW] = 'node-new'
    waits, reports = (one, two) if has_begun else (two, one)

    assert writes_of(placement, waits) == []
    (result,) = [r for r in waits.sync() if r.node.uuid == NEW]
    assert 'reports other nodes of this share' in result.reason
    reports.done()
    assert marks_in(placement, NEW)[0].agent == reports.state.agent_id


@pytest.mark.catches(
    'what was taken over from another agent stays when its node goes'
)
def test_a_departed_node_is_deleted_by_the_one_that_took_over(
    one, two, fleet, placement
):
    allow(two)
    two.done()
    del fleet.nodes[FIRST]

    assert writes_of(placement, one) == []
    two.sync()
    roots = placement.get('/resource_providers')['resource_providers']
    assert FIRST not in {root['uuid'] for root in roots}


@pytest.fixture
def taken_back(one, two, fleet):
    """The second agent, for good: it had the nodes, lost them and has them again.

    The first one died while its mark was on a root whose node left the list.
    """
    allow(two)
    two.done()
    allow(one)
    one.done()
    del fleet.nodes[FIRST]
    allow(two)
    two.sync()
    return two


@pytest.mark.catches(
    'a root whose node left the list keeps others from coming'
)
def test_the_mark_of_a_dead_agent_on_a_departed_root_stops_no_creation(
    one, taken_back, fleet, placement
):
    fleet.nodes[NEW] = 'node-new'
    results = taken_back.sync()

    (departed,) = [r for r in results if r.node.uuid == FIRST]
    assert 'its providers are left to that one' in departed.reason
    assert marks_in(placement)[0].agent == one.state.agent_id
    (created,) = [r for r in results if r.node.uuid == NEW]
    assert created.is_settled
    assert marks_in(placement, NEW)[0].agent == taken_back.state.agent_id


@pytest.mark.catches(
    'a root whose node left the list keeps others from coming'
)
def test_a_node_that_leaves_as_another_comes_stops_no_creation(
    one, two, placement
):
    """In the cycle that first misses the node, its reading is still there."""
    two.driver.nodes = {SECOND: NODES[SECOND]}
    allow(two)
    two.done()
    two.driver.nodes[FIRST] = NODES[FIRST]
    two.sync()
    two.driver.nodes = {SECOND: NODES[SECOND], NEW: 'node-new'}

    (created,) = [r for r in two.sync() if r.node.uuid == NEW]
    assert created.is_settled
    (marked,) = marks_in(placement)
    assert marked.agent == one.state.agent_id


def test_a_live_agent_on_a_listed_node_still_stops_a_creation(
    taken_back, agent_factory, fleet, placement
):
    third = agent_factory(Fleet(fleet), takes_over=False)
    fleet.nodes[NEW] = 'node-new'

    assert writes_of(placement, third) == []
    (result,) = [r for r in third.sync() if r.node.uuid == NEW]
    assert taken_back.state.agent_id in result.reason


@pytest.mark.catches('a departed root loses the mark of another agent')
def test_a_node_that_it_never_reported_keeps_the_mark_of_the_other(
    one, two, fleet, placement
):
    two.sync()
    del fleet.nodes[FIRST]

    assert writes_of(placement, two) == []
    (marked,) = marks_in(placement, FIRST)
    assert marked.agent == one.state.agent_id


@pytest.mark.catches(
    'an agent deletes, or leaves, nodes that another one took over'
)
def test_the_one_that_stands_down_leaves_all_to_the_other(one, two, placement):
    allow(two)
    two.done()
    before = len(placement.writes)
    left = one.tracker.leave(one.state.nodes.all(), writing=True)

    assert placement.writes[before:] == []
    assert all('took the node over' in ' '.join(r.notes) for r in left)
    assert all(not r.reason for r in left)
    two.done()


def test_an_exported_node_is_taken_over_without_a_question(
    one, two, placement
):
    first = Node(uuid=FIRST, name='node-0')
    record = one.state.handover.export_record(first)
    two.state.handover.import_records([record])

    (result, *_) = [r for r in two.sync() if r.node.uuid == FIRST]
    assert result.is_settled
    assert [m.agent for m in marks_in(placement)] == [two.state.agent_id]


def test_the_agents_id_moves_with_its_directory(
    agent_factory, fleet, placement, tmp_path
):
    agent_factory(Fleet(fleet), state=tmp_path / 'old').done()
    (tmp_path / 'old').rename(tmp_path / 'new')

    again = agent_factory(Fleet(fleet), state=tmp_path / 'new')
    assert writes_of(placement, again) == []


def test_an_agent_of_another_share_finds_the_mark_as_well(
    one, agent_factory, fleet, placement
):
    other = agent_factory(Fleet(fleet), share='elsewhere', takes_over=False)

    assert writes_of(placement, other) == []


def test_drift_says_that_the_other_agent_reports_the_node(one, two, placement):
    allow(two)
    two.done()
    placement.others.remove_traits(FIRST, 'CUSTOM_RACK')
    seen = one.client.observe([FIRST])[FIRST]
    found = drift.drift(
        drift.Known(
            node_uuid=FIRST,
            agreed={
                FIRST: dataclasses.replace(
                    seen.providers[FIRST], traits=frozenset({'CUSTOM_RACK'})
                )
            },
            live=seen.providers,
            seen=seen.providers,
            record=one.state.records.record([FIRST], FIRST),
            policy=policy.Policy(mark=mark.Mark.of('x', one.state.agent_id)),
        )
    )

    assert {each.fate for each in found} == {drift.Fate.LEFT}
    assert all('reports the node' in each.why for each in found)


def test_a_companion_has_no_mark_and_heeds_none(
    one, agent_factory, fleet, placement
):
    beside = agent_factory(
        agents.Driver(
            lambda tree, name: tree.declare_traits(name, 'CUSTOM_BESIDE'),
            nodes=NODES,
        ),
        mode=policy.Mode.COMPANION,
    )
    beside.done()

    assert [m.agent for m in marks_in(placement)] == [one.state.agent_id]


def test_a_state_that_was_never_written_has_no_id(tmp_path):
    with contextlib.closing(states.State.open_copy(tmp_path)) as copy:
        assert copy.agent_id == states.NO_ID


@pytest.mark.catches('an earlier mark of this agent counts as a rival')
def test_an_earlier_mark_of_this_agent_is_its_own(
    one, fleet, placement, caplog
):
    """A record that moved to another database has another id."""
    caplog.set_level('INFO')
    before = one.state.agent_id
    one.state.take_id('ABCDEF012345')
    one.tracker.take_over(one.state.agent_id)
    fleet.nodes[NEW] = 'node-new'
    one.done()

    marks = {m.agent for u in fleet.nodes for m in marks_in(placement, u)}
    assert marks == {'ABCDEF012345'} != {before}
    assert writes_of(placement, one) == []
    assert before in caplog.text
    assert 'takes the node over' not in caplog.text
