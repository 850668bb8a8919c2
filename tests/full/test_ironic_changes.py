# SPDX-License-Identifier: Apache-2.0
"""A real Ironic tells the driver what changed, whatever database it has.

SQLite and MariaDB list nodes that were never updated last, PostgreSQL first.
MariaDB keeps whole seconds. The tests set the clock of the driver's reader,
which is private, so that they need not wait until no change can appear late.
They cannot set Ironic's clock, so they first wait until Ironic's next change
gets a newer time.
"""

import contextlib
import datetime as dt
import pathlib

import databases
import pytest
from ironic_agents import ironic_driver
from ironic_fixture import PROGRAM, Ironic

from demo import local_ironic
from drivers.ironic import reader

DATABASES = ('sqlite', 'postgresql', 'mariadb')
DRIVERS = {'postgresql': 'psycopg2', 'mariadb': 'pymysql'}
LIST = 'GET /v1/nodes?fields=uuid,name,resource_class,'


class OtherDatabase(local_ironic.LocalIronic):
    """An Ironic with an empty database of another kind.

    :param connection: its URL
    """

    def __init__(self, directory: pathlib.Path, connection: str) -> None:
        super().__init__(directory, program=PROGRAM)
        self._connection = connection

    def _configure(self) -> None:
        super()._configure()
        conf = self._directory / 'ironic.conf'
        text = conf.read_text()
        sqlite = f'sqlite:///{self.database.name}'
        assert sqlite in text
        conf.write_text(text.replace(sqlite, self._connection))


@pytest.fixture(scope='module')
def others(tmp_path_factory):
    """Start an Ironic on a database of this kind, once."""
    started = {}
    with contextlib.ExitStack() as undo:

        def start(kind, servers):
            if kind not in started:
                _check_driver(kind)
                servers.new_database('ironic')
                url = servers.url('ironic').replace('+psycopg:', '+psycopg2:')
                made = OtherDatabase(tmp_path_factory.mktemp(kind), url)
                started[kind] = undo.enter_context(made)
            return started[kind]

        yield start


def _check_driver(kind):
    found = PROGRAM.parents[1].glob(f'lib/*/site-packages/{DRIVERS[kind]}')
    if not list(found):
        pytest.fail(
            f'the environment of {PROGRAM} lacks {DRIVERS[kind]}; run "make '
            '.servers/ironic-databases.stamp"',
            pytrace=False,
        )


@pytest.fixture(params=DATABASES)
def kind(request):
    """The database of Ironic."""
    return request.param


@pytest.fixture
def operator_of(kind, request, others):
    """The operator of an Ironic without nodes, on that database."""
    if kind == 'sqlite':
        yield request.getfixturevalue('ironic')
        return
    name = {'postgresql': 'pair', 'mariadb': 'galera'}[kind]
    server = others(kind, request.getfixturevalue(name))
    with contextlib.closing(Ironic(server)) as made:
        yield made
        for node in made.nodes():
            made.delete(node['uuid'])


@pytest.fixture
def nodes(operator_of):
    """Three nodes that can be had, and two that were never updated."""
    for name in ('raw-1', 'raw-2'):
        operator_of.create(name=name)
    return [
        operator_of.available(name, 'gold', ['CUSTOM_X']) for name in 'abc'
    ]


def _is_past(operator_of):
    """Return True if the next change has a newer time in whole seconds."""
    newest = max(
        dt.datetime.fromisoformat(node['updated_at'])
        for node in operator_of.nodes()
        if node['updated_at']
    )
    return dt.datetime.now(dt.UTC) >= newest + dt.timedelta(seconds=1)


@pytest.fixture
def driver(operator_of, nodes, clock):
    """A driver after its first list; nothing can appear late any more."""
    databases.wait_for(
        lambda: _is_past(operator_of), 'a second without a change in Ironic'
    )
    made = ironic_driver(operator_of.url)
    made._nodes = reader.Reader(made._api, clock=clock)
    made.changes(None)
    assert set(nodes) < set(made.get_available_nodes())
    for _ in range(3):
        clock.now += 100.0
        made.changes(None)
        made.get_available_nodes()
        made.changes(None)
    return made


def test_where_nodes_are_that_were_never_updated(operator_of, nodes, kind):
    newest = operator_of.request(
        'GET', '/nodes/detail?sort_key=updated_at&sort_dir=desc&limit=1'
    )['nodes'][0]
    assert (newest['updated_at'] is None) is (kind == 'postgresql')


def test_each_change_shows_with_the_next_question(operator_of, driver, nodes):
    a, b, c = nodes
    operator_of.add_trait('a', 'CUSTOM_Y')
    assert driver.changes(None).names == [a]
    assert {'CUSTOM_X', 'CUSTOM_Y'} < set(driver.get_traits(a))
    operator_of.remove_trait('a', 'CUSTOM_X')
    assert driver.changes(None).names == [a]
    assert 'CUSTOM_X' not in driver.get_traits(a)
    operator_of.patch('b', resource_class='silver')
    operator_of.wait('b')
    assert driver.changes(None).names == [b]
    assert set(driver.get_inventory(b)) == {'CUSTOM_SILVER'}
    operator_of.set_maintenance('c', on=True)
    assert driver.changes(None).names == [c]
    assert driver.get_inventory(c)['CUSTOM_GOLD']['reserved'] == 1
    made = operator_of.create(name='d', resource_class='gold')['uuid']
    assert driver.changes(None).names == [made]
    assert not driver.changes(None).names


def test_a_deleted_node_is_gone_with_the_next_list(operator_of, driver, nodes):
    operator_of.delete('a')
    assert not driver.changes(None).names
    assert nodes[0] not in driver.get_available_nodes()


def test_a_quiet_fleet_costs_two_rows_and_a_count(driver, sent, kind):
    sent.clear()
    assert not driver.changes(None).names
    driver.get_available_nodes()
    # PostgreSQL has the two before it that were never updated.
    rows = 3 if kind == 'postgresql' else 1
    once = [
        'GET /v1/nodes?fields=uuid&limit=1&sort_key=id&sort_dir=desc',
        f'GET /v1/nodes/detail?limit={rows}&sort_key=updated_at&sort_dir=desc',
    ]
    assert sent == [*once, *once, 'GET /v1/shards']


def test_the_nodes_of_a_shard_are_counted(operator_of, nodes, clock, sent):
    for name in 'ab':
        operator_of.patch(name, shard='rack1')
    driver = ironic_driver(operator_of.url, shard='rack1')
    driver._nodes = reader.Reader(driver._api, clock=clock)
    for _ in range(3):
        driver.changes(None)
        assert sorted(driver.get_available_nodes()) == sorted(nodes[:2])
    assert sent[-1] == 'GET /v1/shards'
    operator_of.patch('b', shard='rack2')
    operator_of.patch('c', shard='rack1')
    driver.changes(None)
    assert driver.get_available_nodes() == [nodes[0], nodes[2]]


def test_traits_that_the_list_lacks_are_those_of_ironic(
    operator_of, driver, nodes
):
    """Two nodes change between the question and the list."""
    driver.changes(None)
    operator_of.add_trait('a', 'CUSTOM_Y')
    made = operator_of.available('d', 'gold', ['CUSTOM_Z'])
    assert made in driver.get_available_nodes()
    assert 'CUSTOM_Y' in driver.get_traits(nodes[0])
    assert 'CUSTOM_Z' in driver.get_traits(made)


def test_a_node_that_left_the_shard_and_came_back(operator_of, nodes, clock):
    for name in 'abc':
        operator_of.patch(name, shard='rack1')
    driver = ironic_driver(operator_of.url, shard='rack1')
    driver._nodes = reader.Reader(driver._api, clock=clock)
    driver.changes(None)
    assert sorted(driver.get_available_nodes()) == sorted(nodes)
    operator_of.patch('a', shard='rack2')
    driver.changes(None)
    assert nodes[0] not in driver.get_available_nodes()
    operator_of.add_trait('a', 'CUSTOM_Y')
    operator_of.patch('a', shard='rack1')
    assert driver.changes(None).names == [nodes[0]]
    assert 'CUSTOM_Y' in driver.get_traits(nodes[0])


def test_a_trait_comes_to_placement_without_another_list(
    ironic, agent_factory, operator, sent
):
    uuid = ironic.available('a', 'gold', ['CUSTOM_X'])
    driver = ironic_driver(ironic.url)
    agent = agent_factory(driver)
    driver.changes(None)
    agent.done()
    ironic.add_trait('a', 'CUSTOM_Y')
    ironic.set_maintenance('a', on=True)
    sent.clear()
    told = {'driver': frozenset(driver.changes(None).names)}
    (result,) = agent.tracker.sync_changed(told)
    assert result.is_settled
    assert {'CUSTOM_X', 'CUSTOM_Y'} < operator.traits(uuid)
    assert operator.inventories(uuid)['CUSTOM_GOLD']['reserved'] == 1
    assert not [request for request in sent if LIST in request]
