# SPDX-License-Identifier: Apache-2.0
"""Nova's options for the amounts of the host, as checked values.

It reads configuration and nothing else. ``conf.py`` has the options, the
modules of their subjects check them. The driver's ``from_conf`` calls this.
"""

import dataclasses
import posixpath

from oslo_config import cfg

from compute_agent import errors

from ...libvirtd import cpusets
from . import cpus, disk, memory, numa, pmem


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
