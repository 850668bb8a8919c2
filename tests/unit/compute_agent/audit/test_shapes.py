# SPDX-License-Identifier: Apache-2.0
"""Trees with many equal children, and cards that can be allocated twice."""

import pytest
from audited_cloud import Cloud, Kind, Level, uuid_of

ROOT = uuid_of('cn1')


@pytest.fixture
def host():
    made = Cloud()
    made.placement = {'is_complete': True}
    made.hypervisor('cn1')
    made.root('cn1', inventories={'VCPU': {'total': 8}})
    return made


def device(made, name, parent=ROOT, **amounts):
    inventories = {rc: {'total': n} for rc, n in amounts.items()}
    return made.child(
        name, parent, traits=['HW_NUMA_ROOT'], inventories=inventories
    )


def test_eight_equal_children_are_noted_with_the_number_of_candidates(host):
    for number in range(7):
        device(host, f'gpu{number}', VGPU=4)
    assert host.found() == []
    device(host, 'gpu7', VGPU=4)
    device(host, 'other', VGPU=2)
    one = host.one(Kind.EQUAL_CHILDREN)
    assert (one.level, one.subject) == (Level.NOTE, f'cn1 ({ROOT})')
    assert one.why == (
        '8 children offer the same (VGPU 4): a request that asks for devices '
        'one by one has 56 candidates for two devices and 1,680 for four in '
        'this tree alone'
    )


def test_children_that_offer_nothing_are_not_counted(host):
    for number in range(9):
        host.child(
            f'gpu{number}', ROOT, traits=['HW_NUMA_ROOT'],
            inventories={'VGPU': {'total': 4, 'reserved': 4}},
        )  # fmt: skip
    assert host.found(Kind.EQUAL_CHILDREN) == []


@pytest.mark.parametrize(
    ('one', 'other'),
    [
        ('cn1_0000:84:00.0', 'cn1_pci_0000_84_00_0'),
        ('CN1_0000:84:00.0', 'cn1_pci_0000_84_00_0'),
        ('cn1_0000:AF:00.0', 'cn1_pci_0000_af_00_0'),
    ],
)
def test_a_card_that_two_providers_offer_can_be_allocated_twice(
    host, one, other
):
    whole = device(host, one, CUSTOM_PCI_10DE_1EB8=1)
    device(host, other, VGPU=16)
    found = host.one(Kind.CARVED_CARD)
    assert found.level is Level.FINDING
    assert one in found.subject
    assert other in found.subject
    assert found.advice.endswith(
        f'compute-agent resource provider inventory set {whole} --amend '
        '--resource CUSTOM_PCI_10DE_1EB8:reserved=1'
    )
    assert found.repair is None


def test_functions_of_one_card_are_several_devices(host):
    device(host, 'cn1_0000:84:00.0', CUSTOM_PCI_10DE_1EB8=1)
    device(host, 'cn1_0000:84:00.1', CUSTOM_PCI_10DE_1EB8=1)
    assert host.found() == []


def test_a_card_beside_its_parts_can_be_allocated_twice(host):
    card = device(host, 'card', PGPU=1)
    device(host, 'part', card, VGPU=4)
    found = host.one(Kind.CARVED_CARD)
    assert found.why.startswith('one card is offered as a whole, and its')
    assert f'set {card} --amend --resource PGPU:reserved=1' in found.advice


def test_a_numa_node_with_processors_above_a_card_is_no_card(host):
    node = device(host, 'numa0', PCPU=8, MEMORY_MB=1024)
    device(host, 'card', node, VGPU=4)
    assert host.found() == []


def test_a_function_beside_its_virtual_functions_is_told_by_two_classes(host):
    device(host, 'nic', CUSTOM_PCI_8086_1572=1, CUSTOM_PCI_8086_154C=8)
    found = host.one(Kind.CARVED_CARD)
    assert 'under several resource classes' in found.why
    assert found.advice.endswith('CUSTOM_PCI_8086_1572:reserved=1')
    assert found.subject == f'nic ({uuid_of("nic")})'


def test_what_is_reserved_as_a_whole_is_not_offered(host):
    device(host, 'cn1_0000:84:00.0', CUSTOM_PCI_10DE_1EB8=1)
    host.child(
        'cn1_pci_0000_84_00_0', ROOT, traits=['HW_NUMA_ROOT'],
        inventories={'VGPU': {'total': 16, 'reserved': 16}},
    )  # fmt: skip
    assert host.found(Kind.CARVED_CARD) == []


def test_without_all_inventories_nothing_is_said(host):
    card = device(host, 'card', PGPU=1)
    device(host, 'part', card, VGPU=4)
    host.placement = {}
    assert host.found() == []
