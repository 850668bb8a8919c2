# SPDX-License-Identifier: Apache-2.0
"""A host's NUMA nodes become children, and the host one provider again.

The layout changes when no guest has allocations of the old one, so that
placement never offers a processor twice.
"""

import pytest
from agents import NODE
from vgpu_cloud import allocate

from compute_agent.tree import provider_tree

ROOT = 'compute1'
CONSUMER = 'cccccccc-cccc-4ccc-8ccc-cccccccccccc'
NESTED = '[libvirt]\nnuma = nested\n'
PINNED = '[compute]\ncpu_shared_set = 0,2\ncpu_dedicated_set = 1,3\n'
CLASSES = {'VCPU', 'MEMORY_MB'}
ZERO, ONE = (
    provider_tree.derived_uuid(NODE, f'{ROOT}_NUMA{n}') for n in range(2)
)


@pytest.fixture
def folder(host):
    """A recorded host with two NUMA nodes."""
    return host('intel-sapphire-rapids')


@pytest.fixture
def configured(restarted_on, folder):
    """Return a function: the agent of the host, with these options."""
    return lambda text: restarted_on(folder, text)


def totals(operator, uuid, rc='VCPU'):
    record = operator.inventories(uuid).get(rc)
    return None if record is None else record['total']


def test_each_node_is_a_child_with_its_processors(
    placement, operator, configured
):
    agent = configured(NESTED + PINNED)
    agent.done()
    assert set(operator.inventories()) == {'DISK_GB'}
    for uuid in (ZERO, ONE):
        assert totals(operator, uuid, 'VCPU') == 1
        assert totals(operator, uuid, 'PCPU') == 1
        assert totals(operator, uuid, 'MEMORY_MB') == 515998
        assert {'HW_NUMA_ROOT', 'OWNER_NOVA'} <= operator.traits(uuid)
    assert (
        sum(
            operator.inventories(uuid)['MEMORY_MB']['reserved']
            for uuid in (ZERO, ONE)
        )
        == 512
    )
    placement.clear()
    agent.done()
    assert not placement.writes


def test_a_flat_host_becomes_nested_when_its_guests_are_gone(
    placement, operator, configured
):
    configured('').done()
    allocate(placement, CONSUMER, {NODE: {'VCPU': 1, 'DISK_GB': 1}})
    agent = configured(NESTED)
    (result,) = agent.sync()
    assert 'guests have allocations of VCPU, PCPU or MEMORY_MB' in (
        result.reason
    )
    assert set(operator.inventories()) == {*CLASSES, 'DISK_GB'}
    found = placement.get(f'/resource_providers?in_tree={NODE}')
    assert len(found['resource_providers']) == 1
    placement.delete(f'/allocations/{CONSUMER}')
    allocate(placement, CONSUMER, {NODE: {'DISK_GB': 1}})
    agent.done()
    assert set(operator.inventories()) == {'DISK_GB'}
    assert totals(operator, ZERO) == totals(operator, ONE) == 2


def test_a_nested_host_becomes_flat_when_its_guests_are_gone(
    placement, operator, configured
):
    configured(NESTED).done()
    allocate(placement, CONSUMER, {ONE: {'VCPU': 1}})
    agent = configured('')
    (result,) = agent.sync()
    assert 'move them to another host' in result.reason
    assert set(operator.inventories()) == {'DISK_GB'}
    assert totals(operator, ONE) == 2
    placement.delete(f'/allocations/{CONSUMER}')
    agent.done()
    assert totals(operator, NODE) == 4
    found = placement.get(f'/resource_providers?in_tree={NODE}')
    assert len(found['resource_providers']) == 1


def test_the_nodes_stay_while_libvirt_is_away(operator, configured, folder):
    agent = configured(NESTED)
    agent.done()
    (folder / 'libvirt/capabilities.xml').unlink()
    agent.sync()
    assert totals(operator, ZERO) == 2
    assert set(operator.inventories()) == {'DISK_GB'}


BOTH = 'stop nova-compute on this host'
AS_NOVA = {
    'VCPU': {'total': 4},
    'MEMORY_MB': {'total': 1031996, 'reserved': 512},
}


def put_back(operator):
    """What nova-compute does in each of its periods."""
    kept = {'DISK_GB': operator.inventories()['DISK_GB']}
    operator.set_inventories({**kept, **AS_NOVA})


def offered(operator, uuid, rc='VCPU'):
    record = operator.inventories(uuid).get(rc)
    return None if record is None else record['total'] - record['reserved']


def test_the_nodes_are_reserved_while_nova_compute_reports_the_host(
    operator, configured
):
    agent = configured(NESTED)
    agent.done()
    put_back(operator)
    (result,) = agent.sync()
    assert BOTH in result.reason
    assert offered(operator, NODE) is None
    assert offered(operator, ZERO) == offered(operator, ONE) == 0
    agent.done()
    assert offered(operator, ZERO) == offered(operator, ONE) == 2


def test_the_nodes_are_reserved_while_a_guest_uses_the_host(
    placement, operator, configured
):
    agent = configured(NESTED)
    agent.done()
    put_back(operator)
    allocate(placement, CONSUMER, {NODE: {'VCPU': 1}})
    (result,) = agent.sync()
    assert BOTH in result.reason
    assert offered(operator, NODE) == 4
    for uuid in (ZERO, ONE):
        assert offered(operator, uuid) == 0
        assert offered(operator, uuid, 'MEMORY_MB') == 0


@pytest.mark.parametrize('text', [NESTED, ''], ids=['nested', 'flat'])
def test_both_are_reserved_while_guests_use_both(
    placement, operator, configured, text
):
    configured(NESTED).done()
    put_back(operator)
    allocate(placement, CONSUMER, {NODE: {'VCPU': 1}, ONE: {'VCPU': 1}})
    (result,) = configured(text).sync()
    assert BOTH in result.reason
    for uuid in (NODE, ZERO, ONE):
        assert offered(operator, uuid) == 0


def test_a_flat_host_is_reserved_while_a_guest_uses_its_nodes(
    placement, operator, configured
):
    configured(NESTED).done()
    put_back(operator)
    allocate(placement, CONSUMER, {ONE: {'VCPU': 1}})
    agent = configured('')
    (result,) = agent.sync()
    assert BOTH in result.reason
    assert offered(operator, NODE) == 0
    placement.delete(f'/allocations/{CONSUMER}')
    agent.done()
    assert offered(operator, NODE) == 4
    found = placement.get(f'/resource_providers?in_tree={NODE}')
    assert len(found['resource_providers']) == 1
