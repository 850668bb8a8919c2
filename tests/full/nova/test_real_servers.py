# SPDX-License-Identifier: Apache-2.0
"""Nova's drivers for Ironic and libvirt, with a real Ironic and libvirtd.

Placement has the same after the agent's report and after nova's own.
"""

IRONIC = 'ironic.IronicDriver'
LIBVIRT = 'libvirt.LibvirtDriver'
# The memory of a host's NUMA nodes grows while it is used.
STILL = """
[DEFAULT]
ram_allocation_ratio = 1.0
reserved_host_memory_mb = 0
instances_path = {folder}
[libvirt]
virt_type = qemu
connection_uri = {uri}
file_backed_memory = 2048
[vnc]
enabled = false
"""


def test_novas_ironic_driver(beside_nova, ironic):
    free = ironic.available('free', 'gold', ['CUSTOM_X', 'HW_CPU_X86_VMX'])
    broken = ironic.available('broken', 'Baremetal-Big')
    busy = ironic.available('busy', 'gold')
    instance = ironic.deploy('busy')
    ironic.set_maintenance('broken', on=True)
    beside_nova.configure(
        f'[ironic]\nauth_type = none\nendpoint_override = {ironic.url}\n'
    )
    before = [
        ('PUT', '/traits/CUSTOM_HAND', None),
        ('POST', '/resource_providers', {'uuid': free, 'name': free}),
        (
            'PUT',
            f'/resource_providers/{free}/traits',
            {'resource_provider_generation': 0, 'traits': ['CUSTOM_HAND']},
        ),
    ]
    (one,) = beside_nova.reports(
        IRONIC, instances=[instance], before=before
    ).values()
    assert not one.failure
    assert one.differences() == {}
    assert (one.sync['code'], one.plan['code']) == (0, 0), one.sync
    held = one.by_the_agent
    assert set(held) == {free, broken, busy}
    assert {'CUSTOM_X', 'HW_CPU_X86_VMX', 'COMPUTE_IMAGE_TYPE_RAW'} <= set(
        held[free]['traits']
    )
    reserved = {
        name: [record['reserved'] for record in node['inventories'].values()]
        for name, node in held.items()
    }
    assert reserved == {free: [0], broken: [1], busy: [1]}


def test_novas_libvirt_driver(beside_nova, libvirtd, tmp_path):
    beside_nova.configure(STILL.format(folder=tmp_path, uri=libvirtd.uri))
    (one,) = beside_nova.reports(LIBVIRT).values()
    assert not one.failure
    assert one.differences() == {}
    assert (one.sync['code'], one.plan['code']) == (0, 0), one.sync
    (root,) = one.by_the_agent.values()
    assert {'COMPUTE_NODE', 'OWNER_NOVA', 'COMPUTE_MEM_BACKING_FILE'} <= set(
        root['traits']
    )
    assert root['inventories']['MEMORY_MB']['total'] == 2048
    assert {'VCPU', 'DISK_GB'} <= root['inventories'].keys()
