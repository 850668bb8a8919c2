# SPDX-License-Identifier: Apache-2.0
"""The driver: one listing a cycle, kept as a whole, and what follows from it."""

import pytest

from compute_agent import errors, provider_tree
from compute_agent.virt import finding as virt
from compute_agent.virt.driver import Existence
from drivers.ironic import describe, driver
from drivers.ironic import node as ironic

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
        self.listings = 0
        self.reads = []

    def nodes(self):
        self.listings += 1
        if self.failure:
            raise self.failure
        found = [ironic.Node.from_row(row) for row in self.rows]
        return {node.uuid: node for node in found}

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
    assert made.get_nodenames_by_uuid() == {}


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
        ({'resource_class': None}, 'say "baremetal node set'),
        ({'resource_class': ''}, 'say "baremetal node set'),
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
