# SPDX-License-Identifier: Apache-2.0
"""Bodies in the manner of nova's drivers do here what they do there."""

import pytest

from compute_agent.tree import inventory, provider, provider_tree

NODE = '00000000-0000-0000-0000-000000000001'
STALE = '00000000-0000-0000-0000-000000000002'
SHARED = '00000000-0000-0000-0000-000000000003'
AGG = '00000000-0000-0000-0000-0000000000a1'


def libvirt(provider_tree, nodename, allocations=None):
    """A hypervisor: CPUs, memory, perhaps disk, a child for each GPU."""
    held = provider_tree.data(nodename).inventory

    def ratio(rc, default):
        return held[rc]['allocation_ratio'] if rc in held else default

    result = {
        'VCPU': {
            'total': 16,
            'min_unit': 1,
            'max_unit': 16,
            'step_size': 1,
            'allocation_ratio': ratio('VCPU', 4.0),
            'reserved': 2,
        },
        'MEMORY_MB': {
            'total': 32768,
            'min_unit': 1,
            'max_unit': 32768,
            'step_size': 1,
            'allocation_ratio': ratio('MEMORY_MB', 1.0),
            'reserved': 512,
        },
    }
    if not provider_tree.has_sharing_provider('DISK_GB'):
        result['DISK_GB'] = {'total': 100, 'max_unit': 100, 'reserved': 0}
    gpus = {f'{nodename}_pci_0000_8{i}_00_0' for i in range(2)}
    prefix = f'{nodename}_pci_'
    known = {
        provider_tree.data(uuid).name
        for uuid in provider_tree.get_provider_uuids_in_tree(nodename)
    }
    for name in sorted(gpus):
        if not provider_tree.exists(name):
            provider_tree.new_child(name, nodename)
        gpu = {'VGPU': {'total': 4, 'max_unit': 4, 'min_unit': 1}}
        if provider_tree.has_inventory_changed(name, gpu):
            provider_tree.update_inventory(name, gpu)
        provider_tree.add_traits(name, 'CUSTOM_NVIDIA_T4')
    for name in known - gpus:
        if name.startswith(prefix):
            provider_tree.remove(name)
    provider_tree.update_inventory(nodename, result)
    provider_tree.update_resources(nodename, {'CUSTOM_PMEM': {'ns0'}})
    traits = {'HW_CPU_X86_AVX2': True, 'COMPUTE_ACCELERATORS': False}
    provider_tree.add_traits(nodename, *[t for t, y in traits.items() if y])
    provider_tree.remove_traits(
        nodename, *[t for t, y in traits.items() if not y]
    )


def ironic(provider_tree, nodename, allocations=None):
    """A node of bare metal: one unit of its class, traits as they are."""
    node = {'resource_class': 'CUSTOM_GOLD', 'traits': ['CUSTOM_RAID5']}
    result = {
        node['resource_class']: {
            'total': 1,
            'reserved': 0,
            'min_unit': 1,
            'max_unit': 1,
            'step_size': 1,
            'allocation_ratio': 1.0,
        }
    }
    provider_tree.update_inventory(nodename, result)
    provider_tree.update_traits(nodename, node['traits'])


def reshape(provider_tree, nodename, allocations):
    """GPUs counted on the node move below it, and so do the guests."""
    root = provider_tree.data(nodename)
    moved = root.inventory.pop('VGPU')
    child = provider_tree.new_child(f'{nodename}_gpu', root.uuid)
    provider_tree.update_inventory(child, {'VGPU': moved})
    provider_tree.update_inventory(root.uuid, root.inventory)
    for consumer in allocations.values():
        here = consumer['allocations'][root.uuid]['resources']
        wanted = {'resources': {'VGPU': here.pop('VGPU')}}
        consumer['allocations'][child] = wanted


@pytest.fixture
def tree():
    """What placement holds of node: an operator's ratio, a GPU pulled out."""
    return provider_tree.ProviderTree.from_providers(
        [
            provider.Provider(
                uuid=NODE,
                name='node',
                generation=4,
                inventories={
                    'VCPU': inventory.Inventory(
                        total=16, allocation_ratio=16.0
                    ),
                },
                traits=frozenset({'COMPUTE_ACCELERATORS', 'CUSTOM_RACK'}),
                aggregates=frozenset({AGG}),
            ),
            provider.Provider(
                uuid=STALE, name='node_pci_0000_99_00_0', parent_uuid=NODE
            ),
        ]
    )


def test_a_hypervisors_body_describes_it_twice_alike(tree):
    libvirt(tree, 'node')
    once = [tree.data(uuid) for uuid in tree.get_provider_uuids()]
    libvirt(tree, 'node')
    assert [tree.data(uuid) for uuid in tree.get_provider_uuids()] == once


def test_a_hypervisors_body_leaves_what_it_describes(tree):
    libvirt(tree, 'node')
    data = tree.data('node')
    assert data.inventory['VCPU']['allocation_ratio'] == 16.0
    assert set(data.inventory) == {'VCPU', 'MEMORY_MB', 'DISK_GB'}
    assert data.traits == {'CUSTOM_RACK', 'HW_CPU_X86_AVX2'}
    assert data.resources == {'CUSTOM_PMEM': {'ns0'}}
    names = [tree.data(uuid).name for uuid in tree.get_provider_uuids()]
    assert names == ['node', 'node_pci_0000_80_00_0', 'node_pci_0000_81_00_0']
    for name in names[1:]:
        child = tree.data(name)
        assert child.parent_uuid == NODE
        assert child.inventory['VGPU']['total'] == 4
        assert child.traits == {'CUSTOM_NVIDIA_T4'}


def test_a_hypervisors_body_leaves_disk_to_a_provider_that_shares_it(tree):
    tree.new_root('nfs', SHARED)
    tree.update_inventory('nfs', {'DISK_GB': {'total': 1000}})
    tree.add_traits('nfs', 'MISC_SHARES_VIA_AGGREGATE')
    libvirt(tree, 'node')
    assert 'DISK_GB' not in tree.data('node').inventory


def test_a_bare_metal_body_sets_class_and_traits_whole(tree):
    ironic(tree, 'node')
    data = tree.data('node')
    assert set(data.inventory) == {'CUSTOM_GOLD'}
    assert data.traits == {'CUSTOM_RAID5'}
    assert data.aggregates == {AGG}


def test_a_reshaping_body_moves_inventory_and_allocations(tree):
    tree.declare_inventory('node', {'VGPU': {'total': 4}})
    allocations = {
        'guest': {'allocations': {NODE: {'resources': {'VCPU': 2, 'VGPU': 1}}}}
    }
    reshape(tree, 'node', allocations)
    child = tree.data('node_gpu')
    assert child.inventory == {'VGPU': {'total': 4}}
    assert set(tree.data('node').inventory) == {'VCPU'}
    assert allocations['guest']['allocations'] == {
        NODE: {'resources': {'VCPU': 2}},
        child.uuid: {'resources': {'VGPU': 1}},
    }
