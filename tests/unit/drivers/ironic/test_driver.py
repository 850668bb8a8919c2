# SPDX-License-Identifier: Apache-2.0
"""The driver: one listing a cycle, kept as a whole, and what follows from it."""

import logging

import pytest
from ironic_double import IronicDouble
from oslo_config import cfg

from compute_agent import errors
from compute_agent.tree import provider_tree
from compute_agent.virt.driver import Existence
from compute_agent.virt.values import finding as virt
from drivers.ironic import driver, reader
from drivers.ironic.client import api as client
from drivers.ironic.nodes import answers, describe
from drivers.ironic.nodes import node as ironic

CAPABILITIES = [
    'COMPUTE_IMAGE_TYPE_AMI',
    'COMPUTE_IMAGE_TYPE_QCOW2',
    'COMPUTE_IMAGE_TYPE_RAW',
    'COMPUTE_NET_ATTACH_INTERFACE',
]
OTHER = '7f2c9a54-6f0e-4c0b-9a1d-8b7a5c0d1e2f'


class Api:
    """An Ironic of rows that a test may change; it counts what it is asked."""

    def __init__(self, *rows):
        self.rows = list(rows)
        self.failure = None
        self.filters = {}
        self.listings = 0
        self.reads = []

    def nodes(self):
        self.listings += 1
        if self.failure:
            raise self.failure
        found = {}
        answers.collect(self.rows, found)
        return answers.listing(found)

    def read(self, uuid):
        self.reads.append(uuid)
        for row in self.rows:
            if row['uuid'] == uuid:
                return ironic.Node.from_row(row)
        return None

    def exists(self, uuid):
        there = any(row['uuid'] == uuid for row in self.rows)
        return Existence.YES if there else Existence.NO


@pytest.fixture
def rows(make_row):
    return [
        make_row(1),
        make_row(2, resource_class='silver', maintenance=True),
    ]


@pytest.fixture
def api(rows):
    return Api(*rows)


@pytest.fixture
def made(api):
    return driver.IronicDriver(api=api, manner=describe.Manner())


@pytest.fixture
def uuid(rows):
    return rows[0]['uuid']


def tree_of(uuid):
    tree = provider_tree.ProviderTree()
    tree.new_root(uuid, uuid)
    return tree


def test_nodes_are_named_by_their_uuid(made, rows):
    assert made.get_available_nodes() == [row['uuid'] for row in rows]
    assert made.get_nodenames_by_uuid() == {r['uuid']: r['uuid'] for r in rows}


def test_a_node_is_named_as_ironic_spells_its_uuid(made, api):
    api.rows[0] |= {'uuid': OTHER.upper(), 'name': 'rack1'}
    api.rows[1] |= {'uuid': '{ABC00000-0000-4000-8000-000000000000}'}
    odd = api.rows[1]['uuid']
    assert made.get_available_nodes() == [OTHER.upper(), odd]
    assert made.get_nodenames_by_uuid() == {
        OTHER: OTHER.upper(),
        odd.lower().strip('{}'): odd,
    }
    assert made.get_titles() == {OTHER.upper(): 'rack1', odd: 'node-2'}
    tree = provider_tree.ProviderTree()
    tree.new_root(OTHER.upper(), OTHER)
    made.update_provider_tree(tree, OTHER.upper())
    assert 'CUSTOM_GOLD' in tree.data(OTHER).inventory
    assert 'CUSTOM_GOLD' in made.get_inventory(OTHER.upper())
    assert api.reads == []


def test_it_is_asked_for_in_just_that_spelling(made, api):
    api.rows[0]['uuid'] = OTHER.upper()
    assert made.node_exists(OTHER.upper()) is Existence.YES
    assert made.node_exists(OTHER) is Existence.NO


def test_a_title_cannot_move_the_cursor(made, api, uuid):
    api.rows[0]['name'] = 'a\x1b[2Jb'
    made.get_available_nodes()
    assert made.get_titles()[uuid] == r'a\x1b[2Jb'


def test_facts_are_equal_for_two_listings_that_say_the_same(made, api, uuid):
    made.get_available_nodes()
    before = made.facts(uuid)
    made.get_available_nodes()
    assert made.facts(uuid) == before
    assert before is not None


@pytest.mark.parametrize(
    'change',
    [
        {'name': 'rack1'},
        {'resource_class': 'silver'},
        {'traits': ['CUSTOM_NEW']},
        {'power_state': None},
        {'provision_state': 'active'},
        {'maintenance': True},
        {'instance_uuid': OTHER},
    ],
)
def test_whatever_is_asked_for_of_a_node_is_among_its_facts(
    made, api, uuid, change
):
    made.get_available_nodes()
    before = made.facts(uuid)
    assert all(api.rows[0][field] != new for field, new in change.items())
    api.rows[0] |= change
    made.get_available_nodes()
    assert made.facts(uuid) != before


def test_a_class_that_another_node_spoils_is_among_them_too(made, api, uuid):
    made.get_available_nodes()
    before = made.facts(uuid)
    api.rows[0]['resource_class'] = api.rows[0]['resource_class'].lower()
    api.rows[1]['resource_class'] = api.rows[0]['resource_class'].upper()
    made.get_available_nodes()
    node, problem, _ = made.facts(uuid)
    assert problem is not None
    assert problem != before[1]
    assert node.resource_class == api.rows[0]['resource_class']


def test_how_nodes_are_described_is_among_them(api, uuid):
    manners = (describe.Manner(), describe.Manner(exclusive=False))
    drivers = [driver.IronicDriver(api=api, manner=one) for one in manners]
    for one in drivers:
        one.get_available_nodes()
    first, second = (one.facts(uuid) for one in drivers)
    assert first != second


def test_of_a_node_that_is_not_listed_there_are_no_facts(made):
    made.get_available_nodes()
    assert made.facts(OTHER) is None


@pytest.fixture
def warned(caplog):
    """Return what was said since the last time."""

    def warned():
        said = [r for r in caplog.records if r.levelno >= logging.WARNING]
        lines = [r.getMessage() for r in said]
        caplog.clear()
        return lines

    return warned


def test_nodes_of_one_uuid_are_left_out_and_said_until_that_changes(
    made, api, rows, make_row, warned
):
    assert made.get_available_nodes() == [r['uuid'] for r in rows]
    assert warned() == []
    first = rows[0]['uuid']
    api.rows.append(make_row(3, uuid=f'{{{first}}}'))
    assert made.get_available_nodes() == [rows[1]['uuid']]
    (line,) = warned()
    assert f'{first} and {{{first}}} are the same uuid' in line
    assert first not in made.get_nodenames_by_uuid()
    made.get_available_nodes()
    assert warned() == []
    api.rows.append(make_row(4, uuid='no-uuid\x1b[2J'))
    made.get_available_nodes()
    (line,) = warned()
    assert r"'no-uuid\x1b[2J' (name 'node-4') has an invalid uuid" in line
    assert line.isprintable()
    del api.rows[2:]
    assert len(made.get_available_nodes()) == 2
    assert warned() == []
    api.rows.append(make_row(4, uuid='no-uuid\x1b[2J'))
    made.get_available_nodes()
    assert len(warned()) == 1


def test_many_nodes_that_are_left_out_are_one_line(
    made, api, make_row, warned
):
    api.rows += [make_row(n, uuid=f'no-uuid-{n}') for n in range(5, 10)]
    assert len(made.get_available_nodes()) == 2
    (line,) = warned()
    assert line.count('has an invalid uuid') == 3
    assert '; 2 more; enroll them again' in line


@pytest.mark.parametrize(
    ('filters', 'line'),
    [
        ({'shard': 'typo'}, "[ironic] shard 'typo' has no nodes in Ironic"),
        (
            {'conductor_group': ''},
            "[ironic] conductor_group '' has no nodes in Ironic",
        ),
        (
            {'shard': 'b', 'conductor_group': 'a'},
            "[ironic] shard 'b' with conductor_group 'a' has no nodes in Ironic",
        ),
    ],
)
def test_a_filter_that_nothing_passes_is_said_until_that_changes(
    made, api, warned, filters, line
):
    api.filters = filters
    made.get_available_nodes()
    assert warned() == []
    rows = [*api.rows]
    api.rows.clear()
    for _ in range(2):
        assert made.get_available_nodes() == []
    assert warned() == [line]
    api.rows += rows
    made.get_available_nodes()
    api.rows.clear()
    made.get_available_nodes()
    assert warned() == [line]


def test_an_ironic_without_nodes_and_filters_is_nothing_odd(made, api, warned):
    api.rows.clear()
    made.get_available_nodes()
    assert warned() == []


def test_a_cycle_is_one_listing(made, api):
    for nodename in made.get_available_nodes():
        made.update_provider_tree(tree_of(nodename), nodename)
        made.get_inventory(nodename)
        made.get_traits(nodename)
        made.evidence(nodename)
    assert api.listings == 1
    assert api.reads == []


def test_the_tree_says_what_the_listing_says(made, uuid):
    made.get_available_nodes()
    tree = tree_of(uuid)
    made.update_provider_tree(tree, uuid)
    data = tree.data(uuid)
    assert data.inventory['CUSTOM_GOLD']['reserved'] == 0
    assert sorted(data.traits) == [*CAPABILITIES, 'CUSTOM_NVME']


def test_a_node_that_changed_is_described_anew(made, api, uuid):
    made.get_available_nodes()
    api.rows[0]['maintenance'] = True
    assert made.get_inventory(uuid)['CUSTOM_GOLD']['reserved'] == 0
    made.get_available_nodes()
    assert made.get_inventory(uuid)['CUSTOM_GOLD']['reserved'] == 1


def test_a_node_that_is_not_in_the_listing_is_not_described(made, api, uuid):
    api.rows.clear()
    made.get_available_nodes()
    with pytest.raises(errors.DriverError, match='not in the last listing'):
        made.update_provider_tree(tree_of(uuid), uuid)
    assert api.reads == []


def test_nothing_is_described_before_the_first_listing(made, uuid):
    with pytest.raises(errors.DriverError, match='not in the last listing'):
        made.update_provider_tree(tree_of(uuid), uuid)


@pytest.mark.parametrize(
    'failure',
    [
        errors.Unavailable('away'),
        errors.UnknownState('half'),
        errors.ConfigError('too old'),
    ],
)
def test_a_listing_that_fails_is_no_empty_list(made, api, uuid, failure):
    made.get_available_nodes()
    api.failure = failure
    with pytest.raises(type(failure), match=str(failure)):
        made.get_available_nodes()
    made.update_provider_tree(tree_of(uuid), uuid)


def test_two_spellings_of_a_class_are_seen_across_the_listing(made, api, uuid):
    api.rows[1]['resource_class'] = 'Gold'
    made.get_available_nodes()
    tree = tree_of(uuid)
    made.update_provider_tree(tree, uuid)
    assert not tree.exists(uuid)
    assert "'Gold' and 'gold' would all be CUSTOM_GOLD" in tree.faults[0]


def test_existence_is_ironic_s_answer(made, api, uuid):
    assert made.node_exists(uuid) is Existence.YES
    api.rows.clear()
    assert made.node_exists(uuid) is Existence.NO


def test_inventory_and_traits_are_had_without_a_tree(made, uuid, rows):
    made.get_available_nodes()
    assert made.get_inventory(uuid) == {
        'CUSTOM_GOLD': {
            'total': 1,
            'reserved': 0,
            'min_unit': 1,
            'max_unit': 1,
            'step_size': 1,
            'allocation_ratio': 1.0,
        }
    }
    assert made.get_traits(uuid) == [*CAPABILITIES, 'CUSTOM_NVME']
    second = made.get_inventory(rows[1]['uuid'])
    assert second['CUSTOM_SILVER']['reserved'] == 1


def test_a_node_that_is_not_listed_is_read_once_for_each(made, api, uuid):
    assert made.get_traits(uuid) == [*CAPABILITIES, 'CUSTOM_NVME']
    assert 'CUSTOM_GOLD' in made.get_inventory(uuid)
    assert api.listings == 0
    assert api.reads == [uuid, uuid]


def test_a_node_that_is_nowhere_is_said(made):
    for ask in (made.get_traits, made.get_inventory, made.evidence):
        with pytest.raises(errors.DriverError, match=f'no node {OTHER}'):
            ask(OTHER)


@pytest.mark.parametrize(
    ('fields', 'why'),
    [
        (
            {'resource_class': None},
            'run "baremetal node set node-1 --resource-class CLASS"',
        ),
        (
            {'resource_class': '', 'name': None},
            'run "baremetal node set 00000001-0000-4000-8000-000000000000 --',
        ),
        ({'resource_class': 'x' * 300}, 'has 300 characters'),
        ({'resource_class': 'Silver'}, "'Silver' and 'silver' would all be"),
    ],
)
def test_an_inventory_of_no_class_is_an_error_and_not_empty(
    made, api, uuid, fields, why
):
    api.rows[0] |= fields
    made.get_available_nodes()
    with pytest.raises(errors.DriverError, match=why):
        made.get_inventory(uuid)


def test_a_node_read_alone_is_compared_with_the_listing(made, api, make_row):
    made.get_available_nodes()
    late = make_row(9, resource_class='GOLD')
    api.rows.append(late)
    with pytest.raises(errors.DriverError, match="'GOLD' and 'gold'"):
        made.get_inventory(late['uuid'])


def evidence(made, uuid):
    return {f.trait or f.fact: f for f in made.evidence(uuid)}


def test_it_offers_evidence(made):
    assert isinstance(made, virt.Evidence)


def test_each_trait_has_its_source(made, api, uuid):
    api.rows[0]['traits'] = ['CUSTOM_NVME', 'COMPUTE_IMAGE_TYPE_RAW']
    made.get_available_nodes()
    found = evidence(made, uuid)
    assert found['CUSTOM_NVME'].sources == ('Ironic',)
    assert found['COMPUTE_IMAGE_TYPE_AMI'].sources == ('this driver',)
    both = found['COMPUTE_IMAGE_TYPE_RAW']
    assert both.sources == ('Ironic', 'this driver')
    assert [f.trait for f in made.evidence(uuid) if f.trait] == [
        *CAPABILITIES,
        'CUSTOM_NVME',
    ]
    assert {f.found for f in made.evidence(uuid)} == {virt.Found.PRESENT}


def test_a_disabled_service_is_left_as_it_is_in_placement(made, api, uuid):
    api.rows[0]['traits'] = ['COMPUTE_STATUS_DISABLED', 'CUSTOM_NVME']
    made.get_available_nodes()
    finding = evidence(made, uuid)['COMPUTE_STATUS_DISABLED']
    assert finding.found is virt.Found.UNKNOWN
    assert finding.reason
    assert 'COMPUTE_STATUS_DISABLED' not in made.get_traits(uuid)


def test_a_trait_that_placement_could_not_take_is_left_out(made, api, uuid):
    api.rows[0]['traits'] = ['CUSTOM_NVME', 'CUSTOM_X\n']
    made.get_available_nodes()
    finding = evidence(made, uuid)[r'CUSTOM_X\n']
    assert finding.found is virt.Found.UNKNOWN
    assert 'placement accepts 1 to 255' in finding.reason
    assert made.get_traits(uuid) == [*CAPABILITIES, 'CUSTOM_NVME']


def test_no_fact_moves_the_cursor(made, api, uuid):
    odd = 'a\x1b[2J\nb'
    names = ('name', 'resource_class', 'power_state', 'instance_uuid')
    api.rows[0] |= dict.fromkeys(names, odd)
    for more in ({'provision_state': odd}, {'resource_class': odd * 99}):
        api.rows[0] |= more
        made.get_available_nodes()
        for finding in made.evidence(uuid):
            assert finding.fact.isprintable()
            assert finding.reason.isprintable()
    assert r"power_state='a\x1b[2J\nb'" in evidence(made, uuid)


def test_the_facts_behind_the_inventory_are_shown(made, rows):
    made.get_available_nodes()
    facts = [f for f in made.evidence(rows[1]['uuid']) if f.trait is None]
    assert [f.fact for f in facts] == [
        'inventory=CUSTOM_SILVER',
        'reserved=True',
        'name=node-2',
        'resource_class=silver',
        'maintenance=True',
        "power_state='power off'",
        'provision_state=available',
        'instance_uuid=none',
    ]
    assert facts[1].reason == 'it is in maintenance'


@pytest.mark.parametrize(
    ('rc', 'fact', 'why'),
    [
        (None, 'resource_class=none', 'it has no resource class'),
        ('', "resource_class=''", 'it has no resource class'),
        ('silver.', 'resource_class=silver.', ''),
        ('Silver', 'resource_class=Silver', "'Silver' and 'silver' would"),
    ],
)
def test_a_class_that_cannot_be_used_is_shown_with_why(
    made, api, uuid, rc, fact, why
):
    api.rows[0]['resource_class'] = rc
    made.get_available_nodes()
    found = evidence(made, uuid)
    assert fact in found
    if why:
        assert why in found['inventory=none'].reason
    else:
        assert 'inventory=CUSTOM_SILVER_' in found


def test_the_filter_of_its_nodes_is_that_of_the_listing(rows):
    api = Api(*rows)
    api.filters = {'shard': 'rack1'}
    made = driver.IronicDriver(api=api, manner=describe.Manner())

    assert made.node_filter == {'shard': 'rack1'}


@pytest.fixture
def following():
    """The driver of a double of Ironic with two nodes, after its first list."""
    ironic = IronicDouble()
    idents = [ironic.add(), ironic.add(resource_class='silver')]
    api = client.Api(ironic)
    nodes = reader.Reader(api, clock=ironic.clock)
    made = driver.IronicDriver(api=api, manner=describe.Manner(), nodes=nodes)
    assert made.changes(None).names == ()
    made.get_available_nodes()
    return made, ironic, idents


def test_a_node_that_changed_is_described_without_another_list(following):
    made, ironic, (uuid, _) = following
    since = made.changes(None).since
    ironic.pass_time(5.0)
    ironic.set_traits(uuid, 'CUSTOM_NEW')
    ironic.change(uuid, maintenance=True)
    found = made.changes(since)
    assert found.names == [uuid]
    assert made.get_traits(uuid) == [*CAPABILITIES, 'CUSTOM_NEW']
    assert made.get_inventory(uuid)['CUSTOM_GOLD']['reserved'] == 1
    assert made.changes(found.since).names == ()


def test_a_node_that_is_new_is_described_without_another_list(following):
    made, ironic, _ = following
    uuid = ironic.add(name='new')
    assert made.changes(None).names == [uuid]
    assert made.get_nodenames_by_uuid()[uuid] == uuid
    assert made.get_titles()[uuid] == 'new'
    tree = tree_of(uuid)
    made.update_provider_tree(tree, uuid)
    assert 'CUSTOM_GOLD' in tree.data(uuid).inventory


def test_facts_change_with_what_is_named(following):
    made, ironic, (uuid, other) = following
    before = {one: made.facts(one) for one in (uuid, other)}
    ironic.change(uuid, resource_class='Silver')
    assert sorted(made.changes(None).names) == [uuid, other]
    for one in (uuid, other):
        assert made.facts(one) != before[one]


def test_a_question_that_fails_leaves_what_is_described(following):
    made, ironic, (uuid, _) = following
    ironic.set_traits(uuid, 'CUSTOM_NEW')

    def fail(_path):
        raise errors.Unavailable('away')

    ironic.before = fail
    with pytest.raises(errors.Unavailable):
        made.changes(None)
    assert made.get_traits(uuid) == [*CAPABILITIES, 'CUSTOM_NVME']
    ironic.before = lambda _path: None
    assert made.changes(None).names == [uuid]


def test_traits_are_listed_as_often_as_the_option_says_by_default():
    conf = cfg.ConfigOpts()
    driver.IronicDriver.register_opts(conf)
    assert conf.ironic.full_listing_interval == reader.INTERVAL
