# SPDX-License-Identifier: Apache-2.0
"""A host is gone only if each service that may know it was asked, and denies."""

import pytest
from audited_cloud import Cloud, Kind, Level, uuid_of

from compute_agent.audit import cloud

NODE = uuid_of('an Ironic node')


@pytest.fixture
def some():
    return Cloud()


def test_a_root_that_nova_denies_is_a_dead_host(some):
    some.root('cn1')
    only = some.one(Kind.DEAD_HOST)
    assert only.level is Level.FINDING
    assert 'nova knows no hypervisor' in only.why
    assert some.repairs == [f'delete provider cn1 ({uuid_of("cn1")})']


@pytest.mark.parametrize(
    'known',
    [
        {'uuid': uuid_of('cn1')},
        {'name': 'CN1'},
        {'name': 'cn1.example.com'},
    ],
)
def test_a_hypervisor_of_the_uuid_or_a_similar_name_is_alive(some, known):
    some.root('cn1')
    some.hypervisor(known.get('name', 'other'), known.get('uuid'))
    assert not some.found(Kind.DEAD_HOST)


def test_a_host_with_a_service_only_is_alive(some):
    some.root('cn1')
    some.nova = {'services': frozenset({'cn1'})}
    assert not some.found()


def test_a_host_in_another_domain_is_another_host(some):
    some.root('cn1.west.example')
    some.hypervisor('cn1.east.example')
    assert some.found(Kind.DEAD_HOST, Level.FINDING)


@pytest.mark.catches('Ironic without any node has lost them all')
def test_an_ironic_without_any_node_tells_nothing(some):
    some.root(NODE, NODE)
    some.nova = {'problem': 'nova was not asked'}
    assert some.one(Kind.DEAD_HOST).level is Level.UNKNOWN


def test_without_nova_a_node_that_ironic_lacks_is_gone(some):
    """Its word is enough for a person, and not for a repair."""
    some.root(NODE, NODE)
    some.nova = {'problem': 'nova was not asked'}
    some.node(uuid_of('another'))
    found = some.one(Kind.DEAD_HOST)
    assert (found.level, found.repair) == (Level.FINDING, None)
    assert 'Ironic has no such node' in found.why
    assert found.advice.endswith(f'provider delete {NODE}')


def test_without_nova_only_a_compute_node_named_by_its_uuid_is_judged(some):
    some.node(uuid_of('another'))
    some.nova = {'problem': 'nova was not asked'}
    some.root(NODE, NODE, marked=False)
    some.root(uuid_of('name'), uuid_of('other'))
    some.root('cn1')
    found = some.found(Kind.DEAD_HOST)
    assert [one.level for one in found] == [Level.UNKNOWN] * 3


def test_without_nova_no_host_is_gone(some):
    some.root('cn1')
    some.root(NODE, NODE)
    some.nova = {'problem': 'nova was not asked'}
    found = some.found(Kind.DEAD_HOST)
    assert [one.level for one in found] == [Level.UNKNOWN] * 2
    assert not some.repairs


def test_without_ironic_no_bare_metal_node_is_gone(some):
    some.root(NODE, NODE)
    some.ironic = {'problem': 'Ironic was not asked'}
    only = some.one(Kind.DEAD_HOST)
    assert only.level is Level.UNKNOWN
    assert only.why.endswith('Ironic was not asked')


def test_without_ironic_a_host_with_a_name_may_be_gone(some):
    some.root('cn1')
    some.ironic = {'problem': 'Ironic was not asked'}
    assert some.found(Kind.DEAD_HOST, Level.FINDING)


def test_a_node_of_ironic_is_alive_even_without_nova(some):
    some.root(NODE.upper(), NODE)
    some.node(NODE)
    some.nova = {'problem': 'nova was not asked'}
    assert not some.found()


def test_a_node_of_this_agent_is_alive_even_if_nova_denies_it(some):
    some.agent = cloud.Agent(roots=frozenset({some.root('cn1')}))
    assert not some.found()


def test_a_sharing_provider_belongs_to_no_host(some):
    some.sharing.add(some.root('storage', marked=False, traits=['CUSTOM_X']))
    assert not some.found()


def test_a_root_that_is_no_compute_node_is_a_note_until_it_is_named(some):
    uuid = some.root('licences', marked=False, traits=['CUSTOM_X'])
    assert some.one(Kind.NO_HOST).level is Level.NOTE
    some.choices = cloud.Choices(included=frozenset({uuid}))
    assert some.one(Kind.DEAD_HOST).repair


def test_a_provider_that_changed_lately_is_unknown(some):
    some.root('cn1', age=3599)
    only = some.one(Kind.DEAD_HOST)
    assert only.level is Level.UNKNOWN
    assert 'less than 1 h 0 min ago' in only.why
    some.choices = cloud.Choices(quiet=3599)
    assert some.one(Kind.DEAD_HOST).level is Level.FINDING


def test_a_root_that_could_not_be_read_is_unknown(some):
    del some.contents[some.root('cn1')]
    assert some.one(Kind.DEAD_HOST).level is Level.UNKNOWN


def test_a_dead_host_with_allocations_is_not_deleted(some):
    some.root(
        'cn1',
        inventories={'VCPU': {'total': 8}},
        allocations={uuid_of('vm'): {'VCPU': 1}},
    )
    some.nova = {'known_consumers': frozenset({uuid_of('vm')})}
    only = some.one(Kind.DEAD_HOST)
    assert only.advice.startswith('1 consumer has allocations')
    assert not some.repairs


def test_children_go_before_their_parents(some):
    root = some.root('cn1')
    numa = some.child('numa', root)
    some.child('gpu', numa)
    some.child('nic', root)
    (repair,) = [one.repair for one in some.found(Kind.DEAD_HOST)]
    order = [one.name for one in repair.providers]
    assert order.index('gpu') < order.index('numa') < order.index('cn1')
    assert order.index('nic') < order.index('cn1')
    assert str(repair).endswith('and 3 below it')


def test_a_tree_with_another_projects_provider_needs_its_name(some):
    root = some.root('cn1')
    uuid = some.child('fpga', root, traits=['OWNER_CYBORG'])
    assert 'OWNER_CYBORG' in some.one(Kind.DEAD_HOST).advice
    assert not some.repairs
    some.choices = cloud.Choices(included=frozenset({'fpga'}))
    assert len(some.repairs) == 1
    some.choices = cloud.Choices(included=frozenset({uuid}))
    assert len(some.repairs) == 1


def test_a_tree_of_nova_needs_no_name(some):
    some.root('cn1', traits=['OWNER_NOVA'])
    assert len(some.repairs) == 1


def test_a_tree_of_which_a_child_could_not_be_read_stays(some):
    del some.contents[some.child('gpu', some.root('cn1'))]
    assert 'run the audit again' in some.one(Kind.DEAD_HOST).advice
    assert not some.repairs
