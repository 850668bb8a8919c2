# SPDX-License-Identifier: Apache-2.0
"""Nova's options for the amounts of the host, and their checked values.

It reads configuration and nothing else. ``drivers/libvirt/conf.py`` registers
the options, the modules of ``inventory/`` check them. The driver's ``from_conf``
calls ``read``.
"""

import dataclasses
import posixpath

from oslo_config import cfg

from compute_agent import errors

from ...libvirtd import cpusets
from ..inventory import cpus, disk, memory, numa, pmem

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


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options that decide the amounts of the host.

    :ivar nested: the NUMA nodes have processors and memory, not the host
    """

    cpu_sets: cpus.CpuSets = dataclasses.field(default_factory=cpus.CpuSets)
    ram: memory.Options = dataclasses.field(default_factory=memory.Options)
    storage: disk.Options = dataclasses.field(default_factory=disk.Options)
    namespaces: pmem.Namespaces = dataclasses.field(default_factory=dict)
    nested: bool = False

    def __post_init__(self) -> None:
        if self.nested and self.ram.file_backed_mib:
            raise errors.ConfigError(
                '[libvirt] numa = nested cannot be used with '
                f'{memory.FILE_BACKED}, which belongs to no NUMA node: remove '
                'one of the two'
            )


def read(conf: cfg.ConfigOpts) -> Settings:
    """Return the settings.

    :raises errors.ConfigError: nova-compute would refuse an option, too
    """
    return Settings(
        cpu_sets=_cpus(conf),
        ram=_memory(conf),
        storage=_disk(conf),
        namespaces=pmem.parse(conf.libvirt.pmem_namespaces),
        nested=conf.libvirt.numa == numa.NESTED,
    )


def _cpus(conf: cfg.ConfigOpts) -> cpus.CpuSets:
    compute = conf.compute
    return cpus.CpuSets(
        shared=cpusets.parse(compute.cpu_shared_set, cpus.SHARED),
        dedicated=cpusets.parse(compute.cpu_dedicated_set, cpus.DEDICATED),
        pin_set=cpusets.parse(conf.vcpu_pin_set, cpus.PIN_SET),
        managed=conf.libvirt.cpu_power_management,
        reserved=conf.reserved_host_cpus,
    )


def _memory(conf: cfg.ConfigOpts) -> memory.Options:
    mib, reserved = (
        conf.libvirt.file_backed_memory,
        conf.reserved_host_memory_mb,
    )
    memory.check_file_backed(
        mib=mib,
        reserved_mib=reserved,
        ratio=conf.ram_allocation_ratio,
        virt_type=conf.libvirt.virt_type,
    )
    return memory.Options(
        reserved_mib=reserved,
        file_backed_mib=mib,
        subtracts_huge_pages=conf.compute_agent.subtract_huge_pages,
    )


def _disk(conf: cfg.ConfigOpts) -> disk.Options:
    caches = conf.workarounds.reserve_disk_resource_for_image_cache
    libvirt = conf.libvirt
    return disk.Options(
        images_type=libvirt.images_type or 'default',
        instances_path=conf.instances_path,
        image_cache=_image_cache(conf) if caches else '',
        reserved_mib=conf.reserved_host_disk_mb,
        volume_group=libvirt.images_volume_group or '',
        pool=libvirt.images_rbd_pool,
        ceph_user=libvirt.rbd_user or '',
        ceph_conf=libvirt.images_rbd_ceph_conf,
    )


def _image_cache(conf: cfg.ConfigOpts) -> str:
    try:
        name: str = conf.image_cache.subdirectory_name
    except cfg.TemplateSubstitutionError as exc:
        raise errors.ConfigError(
            '[image_cache] subdirectory_name refers to an option that the '
            "agent does not have: write the folder's name without $"
        ) from exc
    folder: str = conf.instances_path
    return posixpath.join(folder, name)
