# SPDX-License-Identifier: Apache-2.0
"""Nova's options that decide the amounts of the host's own provider.

``drivers/libvirt/conf.py`` registers them, ``options.py`` reads them.
"""

from oslo_config import cfg

_IN_FILES = 'The file system of instances_path.'

OPTS: dict[str, list[cfg.Opt]] = {
    'DEFAULT': [
        cfg.StrOpt(
            'vcpu_pin_set',
            help='The processors that are reported as VCPU, as in '
            'cpu_shared_set, which it overrides. It is deprecated in nova, '
            'and cannot be used with cpu_dedicated_set.',
        ),
    ],
    'compute': [
        cfg.StrOpt(
            'cpu_shared_set',
            help='The processors that are reported as VCPU, for example '
            '2-15,^8,24. They must be online. If neither this option nor '
            'cpu_dedicated_set is set, all processors that are online are '
            'VCPU.',
        ),
        cfg.StrOpt(
            'cpu_dedicated_set',
            help='The processors that are reported as PCPU, for guests with '
            'pinned processors. They must be online, and none may be in '
            'cpu_shared_set. With this option alone, the host has no VCPU.',
        ),
    ],
    'compute_agent': [
        cfg.BoolOpt(
            'subtract_huge_pages',
            default=False,
            help='If true, the libvirt driver leaves the memory of huge-page '
            'pools (Hugetlb in /proc/meminfo) out of MEMORY_MB. nova-compute '
            'counts this memory, although a guest without huge pages cannot '
            'have it. Set the option only on hosts whose guests use no huge '
            'pages: the memory of a guest with huge pages is allocated from '
            'MEMORY_MB, too.',
        ),
    ],
    'image_cache': [
        cfg.StrOpt(
            'subdirectory_name',
            default='_base',
            deprecated_name='image_cache_subdirectory_name',
            deprecated_group='DEFAULT',
            help='The folder of cached images below instances_path, for '
            '[workarounds] reserve_disk_resource_for_image_cache.',
        ),
    ],
    'libvirt': [
        cfg.BoolOpt(
            'cpu_power_management',
            default=False,
            help='If true, nova-compute turns processors of cpu_dedicated_set '
            'off while no guest uses them. They then count as PCPU although '
            'they are offline.',
        ),
        cfg.IntOpt(
            'file_backed_memory',
            default=0,
            min=0,
            max=2**31 - 1,
            help='The size, in MiB, of the files that are the memory of '
            "guests. If it is not 0, it is reported as MEMORY_MB. nova's "
            'conditions apply: virt_type is kvm or qemu, '
            'ram_allocation_ratio is 1.0 and reserved_host_memory_mb is 0.',
        ),
        cfg.StrOpt(
            'images_type',
            default='default',
            choices=[
                *((name, _IN_FILES) for name in ('default', 'raw', 'flat')),
                *((name, _IN_FILES) for name in ('qcow2', 'ploop')),
                ('lvm', 'The volume group images_volume_group.'),
                ('rbd', 'The share of images_rbd_pool in its Ceph cluster.'),
            ],
            help='The storage of guests that is reported as DISK_GB.',
        ),
        cfg.StrOpt(
            'images_volume_group',
            help='The volume group of guests, for images_type = lvm. The '
            'driver runs vgs, which needs root.',
        ),
        cfg.StrOpt(
            'images_rbd_pool',
            default='rbd',
            help='The pool of guests, for images_type = rbd. The driver runs '
            '"ceph df".',
        ),
        cfg.StrOpt(
            'images_rbd_ceph_conf',
            default='',
            help='The configuration file of the Ceph cluster, for '
            'images_type = rbd. The default is that of ceph.',
        ),
        cfg.StrOpt(
            'rbd_user',
            help='The user of the Ceph cluster, for images_type = rbd. The '
            'default is that of ceph.',
        ),
        cfg.StrOpt(
            'numa',
            default='flat',
            choices=[
                ('flat', 'The host has all processors and all memory.'),
                ('nested', 'Each NUMA node is a child with its own.'),
            ],
            help='The provider of VCPU, PCPU and MEMORY_MB. nova-compute '
            'reports them on the host, which is the default. With nested, '
            'each NUMA node is a child provider, HOST_NUMA0 and so on, with '
            'the trait HW_NUMA_ROOT. Placement then gives a request all VCPU '
            'from one node: a guest with more VCPU than one node has is never '
            'scheduled to the host. And without group_policy and same_subtree '
            'in the flavor, it may take the processors of one node and the '
            'memory of another. nova itself does not know such children. '
            'Choose nested only in a cloud whose flavors ask for NUMA nodes, '
            'and on a host without nova-compute, which puts the classes of '
            'the host back in each of its periods; the nodes are then '
            'reserved, so that nothing is offered twice. '
            'The driver changes from one to the other when no guest has '
            'allocations of these classes.',
        ),
        cfg.ListOpt(
            'pmem_namespaces',
            default=[],
            help='The namespaces of persistent memory for guests, for example '
            '128G:ns0|ns1,MEDIUM:ns2. Each label gives one resource class, '
            'such as CUSTOM_PMEM_NAMESPACE_128G. The driver runs "ndctl list".',
        ),
    ],
    'workarounds': [
        cfg.BoolOpt(
            'reserve_disk_resource_for_image_cache',
            default=False,
            help='If true, the size of the cached images on the file system '
            'of instances_path is reserved, in whole GiB.',
        ),
    ],
}
