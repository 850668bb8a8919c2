# SPDX-License-Identifier: Apache-2.0
"""Consumers that nobody knows, and inventories that do not fit."""

import pytest
from audited_cloud import Cloud, Kind, Level, uuid_of

VM, CN1 = uuid_of('vm'), uuid_of('cn1')
NODE = uuid_of('node')


@pytest.fixture
def some():
    return Cloud()


def host(some, used, **record):
    some.root(
        'cn1',
        inventories={'VCPU': {'total': 8, **record}},
        allocations={VM: {'VCPU': used}} if used else {},
    )
    some.hypervisor('cn1')


def node(some, instance):
    some.root(
        NODE,
        NODE,
        inventories={'CUSTOM_GOLD': {'total': 1}},
        allocations={VM: {'CUSTOM_GOLD': 1}},
    )
    some.node(NODE, instance)


def test_a_consumer_that_nova_denies_is_orphaned(some):
    host(some, 1)
    only = some.one(Kind.ORPHANED_ALLOCATIONS)
    assert only.subject == f'{VM} on cn1 ({CN1})'
    assert some.repairs == [
        f'delete allocations of consumer {VM} (on cn1 ({CN1}))'
    ]


def test_a_server_or_a_migration_is_not(some):
    host(some, 1)
    some.nova = {'known_consumers': frozenset({VM})}
    assert not some.found()


def test_without_nova_a_consumer_is_unknown(some):
    host(some, 1)
    some.nova = {'problem': 'nova was not asked'}
    only = some.one(Kind.ORPHANED_ALLOCATIONS)
    assert only.level is Level.UNKNOWN
    assert not some.repairs


def test_a_consumer_of_several_providers_is_one_finding(some):
    host(some, 1)
    some.child(
        'pci',
        CN1,
        inventories={'PCI_DEVICE': {'total': 1}},
        allocations={VM: {'PCI_DEVICE': 1}},
    )
    only = some.one(Kind.ORPHANED_ALLOCATIONS)
    assert 'cn1' in only.subject
    assert 'pci' in only.subject


def test_the_instance_of_an_ironic_node_is_no_orphan(some):
    node(some, VM)
    assert not some.found()


def test_a_node_without_its_instance_is_a_note_while_nova_knows_it(some):
    node(some, None)
    some.nova = {'known_consumers': frozenset({VM})}
    only = some.one(Kind.NODE_WITHOUT_INSTANCE)
    assert only.level is Level.NOTE
    assert 'no instance in Ironic' in only.why


def test_a_node_without_instance_that_nova_denies_is_orphaned(some):
    node(some, uuid_of('another vm'))
    kinds = [one.kind for one in some.found()]
    assert kinds == [Kind.ORPHANED_ALLOCATIONS, Kind.NODE_WITHOUT_INSTANCE]
    assert len(some.repairs) == 1


def test_on_a_node_like_provider_ironic_must_have_been_asked(some):
    node(some, None)
    some.hypervisor(NODE, NODE)
    some.nodes.clear()
    some.ironic = {'problem': 'Ironic was not asked'}
    assert some.one(Kind.ORPHANED_ALLOCATIONS).level is Level.UNKNOWN


@pytest.mark.parametrize(
    ('used', 'record', 'why'),
    [
        (9, {}, 'VCPU: 9 are used, and the capacity is 8'),
        (8, {}, None),
        (16, {'allocation_ratio': 2.0}, None),
        (17, {'allocation_ratio': 2.0}, '17 are used'),
        (7, {'reserved': 2}, '7 are used, and the capacity is 6'),
        (0, {'reserved': 9}, '9 of a total of 8 are reserved'),
        (1, {'reserved': 8}, '1 are used, and the capacity is 0'),
    ],
)
def test_use_above_the_capacity(some, used, record, why):
    host(some, used, **record)
    some.nova = {'known_consumers': frozenset({VM})}
    if why is None:
        assert not some.found()
    else:
        assert why in some.one(Kind.OVER_CAPACITY).why


def test_a_fully_reserved_inventory_is_a_note(some):
    host(some, 0, reserved=8)
    assert some.one(Kind.FULLY_RESERVED).level is Level.NOTE


def test_an_allocation_without_inventory_is_above_the_capacity(some):
    host(some, 0)
    some.root('cn2', allocations={VM: {'VGPU': 1}})
    some.hypervisor('cn2')
    some.nova = {'known_consumers': frozenset({VM})}
    assert 'VGPU: 1 are used' in some.one(Kind.OVER_CAPACITY).why


def test_a_provider_that_kept_changing_is_unknown(some):
    host(some, 0)
    some.placement = {'changing': frozenset({CN1})}
    assert some.one(Kind.CHANGING).level is Level.UNKNOWN
