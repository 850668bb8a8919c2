# SPDX-License-Identifier: Apache-2.0
"""The PCI devices of a host, its GPUs and accelerators, and its mediated types.

It does I/O through ``HostFiles``. The kernel's documentation (Documentation/
ABI/testing/sysfs-bus-pci) says what a missing file of a device means: no
``driver`` link, no driver; no ``iommu_group``, no IOMMU for it
(its type has a file since Linux 5.11); no ``physfn``,
no virtual function; no ``sriov_totalvfs``, no SR-IOV. A device outside PCI
Express has no ``max_link_*``, and a kernel without NUMA no ``numa_node``: they
are unknown.

The class of a PCI device makes it a GPU or an accelerator: 03 is a display
controller, 12 an accelerator. The driver of a device that can be divided for
guests makes ``mdev_supported_types``. The name of a mediated type is the
parent's, a slash and the type; by Documentation/ABI/testing/sysfs-bus-vfio-mdev
``name`` and ``description`` are optional, so a missing one is empty.
"""

from ...host_files import HostFiles
from ..facts import parsing
from ..facts.fact import Device, Fact
from . import family as family_module
from .family import Absent, Family

FAMILY = 'pci'
FOLDER = '/sys/bus/pci/devices'


def read(files: HostFiles) -> tuple[Device, ...] | Fact:
    """Return the PCI devices."""
    return family_module.devices(
        FAMILY,
        FOLDER,
        files,
        lambda: files.listed(FOLDER),
        lambda name: _device(name, files),
    )


def _device(address: str, files: HostFiles) -> Device | None:
    family = Family(FAMILY, files)
    add_identity(family, f'{FOLDER}/{address}')
    add_functions(family, f'{FOLDER}/{address}')
    _links(family, f'{FOLDER}/{address}')
    return family.device(address)


def add_identity(family: Family, folder: str) -> None:
    """Add the make of a PCI device, its driver and its place."""
    for attribute in (
        'vendor',
        'device',
        'subsystem_vendor',
        'subsystem_device',
        'class',
        'revision',
    ):
        family.file(attribute, f'{folder}/{attribute}', parsing.hexadecimal)
    family.link('driver', f'{folder}/driver', Absent(value='', given=folder))
    family.link(
        'iommu_group', f'{folder}/iommu_group', Absent(value='', given=folder)
    )
    family.file(
        'iommu_type',
        f'{folder}/iommu_group/type',
        absent=Absent(value='', given=folder),
    )
    family.file('numa_node', f'{folder}/numa_node', parsing.integer)


def add_functions(family: Family, folder: str) -> None:
    """Add the facts about SR-IOV of a PCI device."""
    none = Absent(value=0, given=folder)
    family.file(
        'sriov_total_vfs', f'{folder}/sriov_totalvfs', parsing.integer, none
    )
    family.file('sriov_vfs', f'{folder}/sriov_numvfs', parsing.integer, none)
    family.link(
        'physical_function',
        f'{folder}/physfn',
        Absent(value='', given=folder),
    )
    physical = family.value('physical_function')
    if physical is None:
        family.unknown(
            'is_virtual_function',
            'the link cannot be read',
            f'{folder}/physfn',
        )
    else:
        family.known('is_virtual_function', bool(physical), f'{folder}/physfn')


def _links(family: Family, folder: str) -> None:
    family.file(
        'max_link_speed_gts', f'{folder}/max_link_speed', parsing.number
    )
    family.file('max_link_width', f'{folder}/max_link_width', parsing.integer)
    family.file('link_width', f'{folder}/current_link_width', parsing.integer)


GPU = 'gpu'

_CLASSES = ('03', '12')


def read_gpus(files: HostFiles) -> tuple[Device, ...] | Fact:
    """Return the GPUs and accelerators.

    A device whose class cannot be read makes the list unknown: it may be one.
    """
    return family_module.devices(
        GPU,
        FOLDER,
        files,
        lambda: _addresses(files),
        lambda address: _gpu(address, files),
    )


def _addresses(files: HostFiles) -> list[str]:
    return [
        address
        for address in files.listed(FOLDER)
        if _class(files, address).startswith(_CLASSES)
    ]


def _class(files: HostFiles, address: str) -> str:
    return parsing.hexadecimal(files.read(f'{FOLDER}/{address}/class').strip())


def _gpu(address: str, files: HostFiles) -> Device | None:
    folder = f'{FOLDER}/{address}'
    family = Family(GPU, files)
    add_identity(family, folder)
    add_functions(family, folder)
    family.names(
        'mdev_types',
        f'{folder}/mdev_supported_types',
        Absent(value=(), given=folder),
    )
    family.file(
        'boot_vga',
        f'{folder}/boot_vga',
        parsing.switch,
        Absent(value=False, given=folder),
    )
    # Only the driver amdgpu tells it.
    family.file(
        'memory_bytes', f'{folder}/mem_info_vram_total', parsing.integer
    )
    return family.device(address)


MDEV_TYPE = 'mdev_type'
MDEV_BUS = '/sys/class/mdev_bus'

_TYPES = 'mdev_supported_types'


def read_mdev_types(files: HostFiles) -> tuple[Device, ...] | Fact:
    """Return the types of each parent."""
    return family_module.devices(
        MDEV_TYPE,
        MDEV_BUS,
        files,
        lambda: [
            f'{parent}/{name}'
            for parent in files.listed(MDEV_BUS)
            for name in files.listed(f'{MDEV_BUS}/{parent}/{_TYPES}')
        ],
        lambda name: _mdev_type(name, files),
    )


def _mdev_type(name: str, files: HostFiles) -> Device | None:
    parent, _, kind = name.partition('/')
    folder = f'{MDEV_BUS}/{parent}/{_TYPES}/{kind}'
    family = Family(MDEV_TYPE, files)
    family.known('parent', parent, MDEV_BUS)
    family.known('type', kind, folder)
    none = Absent(value='', given=folder)
    family.file('type_name', f'{folder}/name', absent=none)
    family.file('description', f'{folder}/description', absent=none)
    family.file('device_api', f'{folder}/device_api')
    family.file('available', f'{folder}/available_instances', parsing.integer)
    family.computed(
        'instances',
        f'{folder}/devices',
        lambda: len(files.listed(f'{folder}/devices')),
    )
    return family.device(name)
