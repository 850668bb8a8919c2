# SPDX-License-Identifier: Apache-2.0
"""The nodes are read as seldom as is right, from a double of Ironic."""

import logging

import pytest
from ironic_double import IronicDouble

from compute_agent import errors
from drivers.ironic import reader
from drivers.ironic.client import api as client
from drivers.ironic.nodes import watermark

LIST = (
    'GET /v1/nodes?fields=uuid,name,resource_class,traits,power_state,'
    'provision_state,maintenance,instance_uuid&limit=1000'
)
SHORT_LIST = LIST.replace('traits,', '')

WAITS = 'changes of nodes wait for the next list of all nodes, because'


def newest(key):
    return f'GET /v1/nodes/detail?limit=1&sort_key={key}&sort_dir=desc'


LAST = 'GET /v1/nodes?fields=uuid&limit=1&sort_key=id&sort_dir=desc'
QUIET = [LAST, newest('updated_at')]
WALKS = [LAST, newest('created_at'), newest('updated_at')]
COUNT = 'GET /v1/shards'


class Agent:
    """A reader of the double, and what it asked since the last look."""

    def __init__(self, ironic, **options):
        self.ironic = ironic
        self.api = client.Api(ironic, **options)
        self.reader = reader.Reader(self.api, clock=ironic.clock)

    def list(self):
        """List the nodes; return the requests."""
        return self._asked(self.reader.read_all)

    def list_really(self):
        """List the nodes when Ironic's count alone is too old; return the requests."""
        self.changes(reader.LIST_INTERVAL)
        return self.list()

    def changes(self, seconds=5.0):
        """Ask for changes after some seconds; return their names, sorted."""
        self.ironic.pass_time(seconds)
        return sorted(self.reader.read_changes())

    def quiet_changes(self, seconds=5.0):
        """Ask for changes after some seconds; return the requests."""
        self.ironic.pass_time(seconds)
        return self._asked(self.reader.read_changes)

    def settle(self):
        """Ask until nothing can have appeared late, and list in between."""
        self.changes()
        self.list()
        for _ in range(5):
            self.changes(20.0)
        self.list()
        for _ in range(3):
            self.changes(20.0)

    def traits(self, ident):
        return self.reader.reading.nodes[ident].traits

    def _asked(self, call):
        self.ironic.sent.clear()
        call()
        return [*self.ironic.sent]


@pytest.fixture(params=[False, True], ids=['nulls last', 'nulls first'])
def ironic(request):
    return IronicDouble(nulls_first=request.param)


@pytest.fixture
def agent(ironic):
    return Agent(ironic)


@pytest.fixture
def nodes(ironic):
    """Five nodes, each of which was updated once."""
    made = [ironic.add() for _ in range(5)]
    for ident in made:
        ironic.pass_time(1.0)
        ironic.change(ident)
    return made


# --- requests -----------------------------------------------------------------


@pytest.mark.usefixtures('nodes')
def test_without_questions_for_changes_each_list_is_what_it_was(agent):
    for _ in range(3):
        agent.ironic.pass_time(60.0)
        assert agent.list() == [LIST]


@pytest.mark.usefixtures('nodes')
@pytest.mark.catches('a quiet fleet is read again with each question')
def test_a_quiet_fleet_costs_two_rows_a_question_and_a_count(agent):
    agent.settle()
    for _ in range(5):
        for _ in range(11):
            assert agent.quiet_changes() == QUIET
        assert agent.list() == [*QUIET, COUNT]


@pytest.mark.usefixtures('nodes')
def test_the_first_list_is_with_traits_and_the_next_without(agent):
    assert agent.quiet_changes() == WALKS
    assert agent.list() == [LIST]
    agent.changes(60.0)
    assert agent.list()[-2:] == [COUNT, SHORT_LIST]


# --- a count in the place of a list ---------------------------------------------


@pytest.mark.usefixtures('nodes')
def test_a_count_is_believed_after_it_was_right_in_a_list(agent):
    agent.changes()
    assert agent.list() == [LIST]
    agent.changes(60.0)
    assert agent.list()[-2:] == [COUNT, SHORT_LIST]
    agent.changes(60.0)
    assert agent.list()[-1] == COUNT


@pytest.mark.usefixtures('nodes')
@pytest.mark.catches('the nodes are never listed again')
def test_nodes_are_listed_again_although_the_count_is_right(agent):
    agent.settle()
    agent.changes(reader.LIST_INTERVAL - 400.0)
    assert agent.list()[-1] == COUNT
    agent.changes(400.0)
    assert agent.list()[-2:] == [COUNT, SHORT_LIST]
    agent.changes(60.0)
    assert agent.list()[-1] == COUNT


@pytest.mark.catches('a deleted node is not missed')
def test_a_node_that_is_deleted_when_another_comes_is_missed(agent, nodes):
    agent.settle()
    agent.ironic.delete(nodes[0])
    made = agent.ironic.add()
    assert agent.list()[-2:] == [COUNT, SHORT_LIST]
    assert sorted(agent.reader.reading.nodes) == sorted([*nodes[1:], made])


@pytest.mark.catches(
    'a new node that no time told is not missed', case='nulls last'
)
def test_a_new_node_that_no_time_told_is_missed(agent, nodes):
    """Ironic's clock went back an hour, and the count is right again."""
    agent.settle()
    agent.ironic.ahead = -3600.0
    agent.ironic.delete(nodes[0])
    made = agent.ironic.add()
    agent.changes()
    agent.list()
    assert sorted(agent.reader.reading.nodes) == sorted([*nodes[1:], made])


def test_an_ironic_without_nodes_has_no_last_one(ironic):
    agent = Agent(ironic)
    agent.settle()
    assert agent.list()[-1] == COUNT
    made = ironic.add()
    assert agent.changes() == [made]
    ironic.delete(made)
    agent.changes()
    agent.list()
    assert not agent.reader.reading.nodes


def test_a_node_that_leaves_the_shard_when_another_comes_is_missed(ironic):
    agent = Agent(ironic, shard='rack1')
    nodes = [ironic.add(shard='rack1') for _ in range(3)]
    other = ironic.add(shard='rack2')
    agent.settle()
    assert agent.list()[-1] == COUNT
    ironic.change(nodes[0], shard='rack2')
    ironic.change(other, shard='rack1')
    agent.changes()
    agent.list()
    assert sorted(agent.reader.reading.nodes) == sorted([*nodes[1:], other])


@pytest.mark.usefixtures('nodes')
@pytest.mark.catches('a count that was wrong in a list is believed')
def test_a_count_of_nodes_that_are_not_listed_is_not_believed(agent):
    """Ironic counts a node's child nodes, too."""
    agent.ironic.children = 1
    agent.settle()
    agent.ironic.delete(next(iter(agent.ironic.rows)))
    agent.ironic.children = 2
    assert agent.list()[-2:] == [COUNT, SHORT_LIST]
    assert len(agent.reader.reading.nodes) == 4
    agent.ironic.children = 0
    agent.changes(60.0)
    assert agent.list()[-2:] == [COUNT, SHORT_LIST]
    agent.changes(60.0)
    assert agent.list()[-1] == COUNT


def test_a_conductor_group_is_listed_because_ironic_does_not_count_it(ironic):
    ironic.add(conductor_group='east')
    agent = Agent(ironic, conductor_group='east')
    agent.settle()
    agent.changes(60.0)
    assert agent.list()[-1] == f'{SHORT_LIST}&conductor_group=east'


@pytest.mark.usefixtures('nodes')
def test_an_ironic_that_does_not_count_is_asked_once_an_hour(agent):
    agent.ironic.before = _refuse_count
    agent.settle()
    agent.changes(60.0)
    assert agent.list() == [*QUIET, SHORT_LIST]
    agent.changes(reader.INTERVAL)
    assert agent.list() == [LIST]
    agent.changes(60.0)
    assert agent.list() == [*QUIET, COUNT, SHORT_LIST]
    agent.changes(60.0)
    assert agent.list() == [*QUIET, SHORT_LIST]


def _refuse_count(path):
    if path == '/v1/shards':
        raise errors.Refused('not for you')


@pytest.mark.usefixtures('nodes')
def test_a_count_that_fails_is_asked_again(agent):
    agent.settle()
    agent.ironic.before = _fail_count
    assert agent.list() == [*QUIET, COUNT, SHORT_LIST]
    agent.ironic.before = lambda _path: None
    agent.changes(60.0)
    assert agent.list()[-2:] == [COUNT, SHORT_LIST]
    agent.changes(60.0)
    assert agent.list()[-1] == COUNT


def _fail_count(path):
    if path == '/v1/shards':
        raise errors.Unavailable('away')


@pytest.mark.usefixtures('nodes')
@pytest.mark.catches('a list goes without traits although nobody asked')
def test_a_list_without_a_question_for_long_is_with_traits(agent):
    agent.settle()
    agent.ironic.pass_time(reader.LIST_INTERVAL)
    assert agent.list() == [LIST]
    assert agent.list() == [LIST]
    agent.changes(60.0)
    assert agent.list()[-1] == SHORT_LIST


@pytest.mark.catches('a cycle that takes long makes each list one with traits')
def test_a_cycle_that_takes_longer_than_its_period_needs_no_list_with_traits(
    agent, nodes
):
    """Its list is due when the one before it has ended: nobody can ask."""
    agent.settle()
    for _ in range(3):
        agent.ironic.pass_time(60.0)
        agent.ironic.set_traits(nodes[0], f'CUSTOM_{agent.ironic.now:.0f}')
        assert agent.list()[-1] == COUNT
        assert agent.traits(nodes[0]) == {f'CUSTOM_{agent.ironic.now:.0f}'}


@pytest.mark.usefixtures('nodes')
def test_a_list_before_the_first_question_does_not_count(agent):
    agent.list()
    agent.changes()
    assert agent.list()[-1] == LIST
    agent.changes()
    assert agent.list()[-1] == SHORT_LIST


@pytest.mark.usefixtures('nodes')
@pytest.mark.catches('traits are listed once, and never again')
def test_traits_are_listed_again_after_an_hour(agent):
    agent.settle()
    agent.ironic.pass_time(reader.INTERVAL)
    agent.changes()
    assert agent.list() == [LIST]
    agent.changes(60.0)
    assert agent.list()[-1] == SHORT_LIST


@pytest.mark.usefixtures('nodes')
def test_with_an_interval_of_none_each_list_is_with_traits(ironic):
    agent = Agent(ironic)
    agent.reader = reader.Reader(
        agent.api, full_interval=0, clock=ironic.clock
    )
    agent.settle()
    agent.changes(60.0)
    assert agent.list() == [LIST]


@pytest.mark.usefixtures('nodes')
@pytest.mark.catches('a question that failed is forgotten')
def test_after_a_question_that_failed_traits_are_listed(agent):
    agent.settle()
    agent.ironic.before = _fail_detail
    with pytest.raises(errors.Unavailable):
        agent.reader.read_changes()
    agent.ironic.before = lambda _path: None
    agent.changes()
    assert agent.list() == [*WALKS, LIST]


@pytest.mark.usefixtures('nodes')
def test_a_failing_walk_before_a_list_is_no_failing_list(agent):
    agent.settle()
    agent.ironic.before = _fail_detail
    assert agent.list()[-1] == LIST
    assert len(agent.reader.reading.nodes) == 5
    agent.ironic.before = lambda _path: None
    agent.changes()
    assert agent.list()[-1] == LIST
    agent.changes()
    assert agent.list()[-1] == SHORT_LIST


def _fail_detail(path):
    if '/detail' in path:
        raise errors.Unavailable('away')


def test_the_walks_have_the_filters_of_the_list(ironic):
    ironic.add(shard='rack1')
    ironic.add()
    agent = Agent(ironic, shard='rack1')
    for request in [*agent.quiet_changes(), *agent.list()]:
        assert '&shard=rack1' in request
    assert len(agent.reader.reading.nodes) == 1


# --- what changes --------------------------------------------------------------


def test_a_trait_shows_with_the_next_question(agent, nodes):
    agent.settle()
    agent.ironic.set_traits(nodes[0], 'CUSTOM_NEW')
    assert agent.changes() == [nodes[0]]
    assert agent.traits(nodes[0]) == {'CUSTOM_NEW'}
    assert agent.changes() == []
    assert agent.list()[-1] == COUNT
    assert agent.list_really()[-1] == SHORT_LIST
    assert agent.traits(nodes[0]) == {'CUSTOM_NEW'}


@pytest.mark.catches('a walk is one row too short, and asks for another page')
def test_while_changes_go_on_a_question_needs_one_page(agent, nodes):
    agent.settle()
    for number in range(12):
        agent.ironic.change(nodes[number % 5])
        requests = agent.quiet_changes(4.0)
        if number > 2:
            assert len(requests) == 2


@pytest.mark.parametrize(
    'fields',
    [
        {'maintenance': True},
        {'resource_class': 'silver'},
        {'power_state': None},
        {'provision_state': 'active'},
        {'name': 'other'},
        {'instance_uuid': 'x'},
    ],
)
def test_each_field_shows_with_the_next_question(agent, nodes, fields):
    agent.settle()
    agent.ironic.change(nodes[3], **fields)
    assert agent.changes() == [nodes[3]]


@pytest.mark.catches('new nodes wait for the list', case='nulls last')
@pytest.mark.catches('nobody asks for new nodes', case='nulls last')
def test_a_new_node_shows_with_the_next_question(agent, nodes):
    agent.settle()
    made = agent.ironic.add()
    assert made not in nodes
    assert agent.changes() == [made]


def test_a_node_that_was_only_touched_is_not_named(agent, nodes):
    agent.settle()
    for ident in nodes:
        agent.ironic.change(ident)
    assert agent.changes() == []


def test_the_others_of_a_class_that_can_no_longer_be_used_are_named(
    agent, nodes
):
    agent.settle()
    agent.ironic.change(nodes[0], resource_class='Gold')
    assert agent.changes() == sorted(nodes)


def test_many_nodes_in_one_second_are_all_named(agent, nodes):
    agent.settle()
    more = [agent.ironic.add() for _ in range(200)]
    for ident in nodes:
        agent.ironic.set_traits(ident, 'CUSTOM_NEW')
    assert agent.changes() == sorted([*nodes, *more])


def test_a_deleted_node_is_left_to_the_list(agent, nodes):
    agent.settle()
    agent.ironic.delete(nodes[0])
    assert agent.changes() == []
    assert nodes[0] in agent.reader.reading.nodes
    agent.list()
    assert nodes[0] not in agent.reader.reading.nodes


@pytest.mark.catches('a walk ends where the one before it began')
def test_a_change_that_is_committed_late_shows(agent, nodes):
    """Three nodes that changed later are read before it shows."""
    agent.settle()
    agent.ironic.change(nodes[0], late=4.5, traits=['CUSTOM_LATE'])
    agent.ironic._most = 1
    for ident in nodes[1:]:
        agent.ironic.pass_time(1.0)
        agent.ironic.change(ident)
    assert agent.changes(0.25) == []
    assert agent.changes(1.0) == [nodes[0]]


def test_a_change_in_the_second_of_the_last_one_shows(ironic):
    ironic = IronicDouble(whole_seconds=True)
    agent, ident = Agent(ironic), ironic.add()
    agent.settle()
    ironic.set_traits(ident, 'CUSTOM_A')
    assert agent.changes(0.1) == [ident]
    ironic.set_traits(ident, 'CUSTOM_B')
    assert agent.changes(0.1) == [ident]


@pytest.mark.catches('a list goes down no further than a question')
def test_a_change_that_is_committed_very_late_is_found_before_the_list(
    agent, nodes
):
    agent.settle()
    agent.ironic._most = 1
    agent.ironic.change(nodes[0], late=50.0, traits=['CUSTOM_LATE'])
    for ident in nodes[1:]:
        agent.ironic.pass_time(11.0)
        agent.ironic.change(ident)
        agent.changes(0.0)
    agent.list()  # of this list's mark the next one's walk goes down
    assert agent.changes(10.0) == []
    assert agent.list()[-1] == COUNT
    assert agent.traits(nodes[0]) == {'CUSTOM_LATE'}


def test_a_trait_in_a_long_lock_shows_when_the_lock_is_given_back(
    agent, nodes
):
    agent.ironic.change(nodes[0])
    agent.settle()
    agent.ironic.write_traits(nodes[0], 'CUSTOM_NEW')
    agent.ironic._most = 1
    assert agent.changes() == []
    assert agent.list_really()[-1].startswith(SHORT_LIST)
    assert agent.traits(nodes[0]) == {'CUSTOM_NVME'}
    agent.ironic.change(nodes[0])
    assert agent.changes() == [nodes[0]]


def test_a_node_that_leaves_the_filter_and_comes_back_is_as_it_is_then(ironic):
    agent = Agent(ironic, shard='rack1')
    idents = [ironic.add(shard='rack1') for _ in range(3)]
    agent.settle()
    ironic.change(idents[0], shard='rack2')
    assert agent.changes() == []
    agent.list()
    assert idents[0] not in agent.reader.reading.nodes
    ironic.set_traits(idents[0], 'CUSTOM_NEW')
    ironic.change(idents[0], shard='rack1')
    assert agent.changes() == [idents[0]]
    assert agent.traits(idents[0]) == {'CUSTOM_NEW'}


# --- what no time tells --------------------------------------------------------


@pytest.mark.catches('an older database is not noticed')
def test_a_restored_database_is_read_whole(agent, nodes):
    backup = agent.ironic.backup()
    agent.settle()
    agent.ironic.set_traits(nodes[0], 'CUSTOM_NEW')
    agent.changes()
    agent.ironic.restore(backup)
    agent.changes()
    assert agent.list() == [*WALKS, LIST]
    assert agent.traits(nodes[0]) == {'CUSTOM_NVME'}
    agent.changes(60.0)
    assert agent.list()[-1] == SHORT_LIST


def test_a_database_that_is_restored_just_before_a_list_is_read_whole(
    agent, nodes
):
    backup = agent.ironic.backup()
    agent.settle()
    agent.ironic.set_traits(nodes[0], 'CUSTOM_NEW')
    agent.changes()
    agent.ironic.restore(backup)
    assert agent.list()[-1] == LIST
    assert agent.traits(nodes[0]) == {'CUSTOM_NVME'}


@pytest.mark.catches('a change that no time told is taken for the only one')
def test_a_list_that_knows_more_than_the_times_is_read_whole(agent, nodes):
    """Ironic's clock went back an hour: no change is newer than the last."""
    agent.settle()
    agent.ironic.ahead = -3600.0
    agent.ironic.set_traits(nodes[0], 'CUSTOM_NEW')
    agent.ironic.change(nodes[1], maintenance=True)
    assert agent.list_really()[-1] == LIST
    assert agent.traits(nodes[0]) == {'CUSTOM_NEW'}
    agent.changes(60.0)
    assert agent.list()[-1] == LIST  # until a time is newer than ever before
    agent.ironic.ahead = 0.0
    agent.ironic.change(nodes[1])
    agent.changes(60.0)
    assert agent.list()[-1] == LIST
    agent.changes(60.0)
    assert agent.list()[-1] == SHORT_LIST


@pytest.mark.catches('a node that changed is listed without its traits')
def test_a_node_that_a_list_shows_first_is_read_with_its_traits(agent, nodes):
    """It changes between the walk and the list."""
    agent.settle()
    agent.changes(reader.LIST_INTERVAL)
    agent.ironic.before = _once_before(
        SHORT_LIST,
        lambda: (
            agent.ironic.set_traits(nodes[0], 'CUSTOM_NEW'),
            agent.ironic.change(nodes[0], maintenance=True),
            agent.ironic.add(traits=['CUSTOM_NEWER']),
        ),
    )
    requests = agent.list()
    made = list(agent.ironic.rows)[-1]
    assert requests[-3:] == [
        SHORT_LIST,
        f'GET /v1/nodes/{nodes[0]}',
        f'GET /v1/nodes/{made}',
    ]
    assert agent.traits(nodes[0]) == {'CUSTOM_NEW'}
    assert agent.traits(made) == {'CUSTOM_NEWER'}


def test_a_node_that_is_gone_before_it_is_read_is_not_listed(agent, nodes):
    agent.settle()
    agent.changes(reader.LIST_INTERVAL)
    agent.ironic.before = _once_before(
        SHORT_LIST,
        lambda: agent.ironic.change(nodes[0], maintenance=True),
        lambda: agent.ironic.delete(nodes[0]),
    )
    agent.list()
    assert nodes[0] not in agent.reader.reading.nodes
    assert len(agent.reader.reading.nodes) == 4


def test_of_many_nodes_that_a_list_shows_first_all_are_listed(agent, nodes):
    agent.settle()
    agent.changes(reader.LIST_INTERVAL)
    agent.ironic.before = _once_before(
        SHORT_LIST, lambda: [agent.ironic.add() for _ in range(60)]
    )
    assert agent.list()[-2:] == [SHORT_LIST, LIST]
    assert len(agent.reader.reading.nodes) == 65
    agent.changes(60.0)
    assert agent.list()[-1] == SHORT_LIST


def _once_before(request, *calls):
    """Make each call once, before the request and then before the others."""
    waiting = list(calls)
    seen = []

    def before(path):
        if path == request.removeprefix('GET ') or seen:
            seen.append(path)
            if waiting:
                waiting.pop(0)()

    return before


# --- too much, and wrong -------------------------------------------------------


@pytest.fixture
def informed(caplog):
    caplog.set_level(logging.INFO, reader.LOG.name)
    return lambda: [r.getMessage() for r in caplog.records]


@pytest.mark.usefixtures('nodes')
@pytest.mark.catches('a flood of changes is read with each question')
def test_more_changes_than_a_list_is_worth_wait_for_the_list(agent, informed):
    agent.settle()
    more = [agent.ironic.add() for _ in range(2000)]
    for ident in more:
        agent.ironic.change(ident)
    assert set(agent.changes()) < set(more)
    assert agent.quiet_changes() == []
    assert informed() == [f'{WAITS} more than 1000 nodes have changed']
    assert LIST in agent.list()
    assert set(more) < set(agent.reader.reading.nodes)
    agent.ironic.set_traits(more[0], 'CUSTOM_NEW')
    assert agent.changes() == [more[0]]


@pytest.mark.catches('a flood of changes is never over')
def test_after_a_flood_of_changes_a_quiet_fleet_costs_two_rows_again(ironic):
    agent = Agent(ironic)
    nodes = [ironic.add() for _ in range(1500)]
    for ident in nodes:
        ironic.change(ident)
    agent.changes()
    for _ in range(4):
        agent.list()
        agent.changes(60.0)
    assert agent.quiet_changes() == QUIET
    assert agent.list() == [*QUIET, COUNT]


def test_many_nodes_without_a_time_that_come_first_hide_the_others(informed):
    ironic = IronicDouble(nulls_first=True)
    agent = Agent(ironic)
    nodes = [ironic.add() for _ in range(1002)]
    ironic.change(nodes[0])
    agent.changes()
    for _ in range(2):
        agent.list()
        assert agent.changes() == []
    assert agent.list()[-2:] == [
        LIST,
        f'{LIST}&marker={nodes[999]}',
    ]
    assert informed() == [
        f'{WAITS} 1000 nodes have no updated_at, and this Ironic lists them first'
    ]


def test_some_nodes_without_a_time_that_come_first_hide_nothing():
    ironic = IronicDouble(nulls_first=True)
    agent = Agent(ironic)
    nodes = [ironic.add() for _ in range(900)]
    ironic.change(nodes[0])
    agent.settle()
    ironic.set_traits(nodes[7], 'CUSTOM_NEW')
    assert agent.changes() == [nodes[7]]


@pytest.mark.catches('a walk that failed counts as complete')
def test_a_walk_that_fails_between_two_pages_changes_nothing(agent, nodes):
    agent.settle()
    before = agent.reader.reading
    for ident in nodes:
        agent.ironic.set_traits(ident, 'CUSTOM_NEW')
    agent.ironic._most = 2
    agent.ironic.before = _fail_marker
    with pytest.raises(errors.Unavailable):
        agent.changes()
    assert agent.reader.reading is before
    agent.ironic.before = lambda _path: None
    assert agent.changes() == sorted(nodes)


def _fail_marker(path):
    if 'marker' in path:
        raise errors.Unavailable('away')


def test_a_node_that_is_deleted_between_two_pages_is_an_error(agent, nodes):
    agent.settle()
    for ident in nodes:
        agent.ironic.change(ident)

    def delete(path):
        if 'marker' in path:
            agent.ironic.before = lambda _path: None
            agent.ironic.delete(nodes[-1])

    agent.ironic.before = delete
    with pytest.raises(errors.UnknownState, match='was deleted while'):
        agent.changes()
    assert agent.changes() == []


def test_a_node_that_changes_between_two_pages_shows_the_next_time(
    agent, nodes
):
    """The second page begins behind it, so at the top of the list."""
    agent.settle()
    for ident in nodes:
        agent.ironic.set_traits(ident, 'CUSTOM_NEW')

    def change(path):
        if 'marker' in path:
            agent.ironic.before = lambda _path: None
            agent.ironic.pass_time(1.0)
            agent.ironic.set_traits(nodes[-1], 'CUSTOM_NEWER')

    agent.ironic.before = change
    assert agent.changes() == sorted(nodes)
    assert agent.changes() == [nodes[-1]]
    assert agent.traits(nodes[-1]) == {'CUSTOM_NEWER'}


def test_a_row_that_is_malformed_is_an_error_with_ironic_s_address(
    agent, nodes
):
    agent.settle()
    agent.ironic.change(nodes[0], maintenance='perhaps')
    with pytest.raises(errors.UnknownState, match='Ironic at http://ironic'):
        agent.changes()


def test_what_has_no_uuid_of_placement_is_left_out(agent, nodes):
    agent.settle()
    agent.ironic.add(uuid='not-one')
    assert agent.changes() == []
    assert agent.list()[-1] == COUNT
    assert len(agent.reader.reading.listing.left_out) == 1
    assert sorted(agent.reader.reading.nodes) == sorted(nodes)


def test_the_marks_are_those_that_a_walk_begins_with(agent, nodes):
    agent.changes()
    agent.ironic.change(nodes[0])
    before = agent.reader.marks
    agent.changes()
    assert agent.reader.marks != before
    assert set(agent.reader.marks) == set(watermark.KEYS)
