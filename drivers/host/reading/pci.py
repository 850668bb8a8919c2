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
from .family import Family, devices

FAMILY = 'pci'
GPU = 'gpu'
MDEV_TYPE = 'mdev_type'
FOLDER = '/sys/bus/pci/devices'
MDEV_BUS = '/sys/class/mdev_bus'

_GPU_CLASSES = ('03', '12')
_TYPES = 'mdev_supported_types'


def read(files: HostFiles) -> tuple[Device, ...] | Fact:
    """Return the PCI devices."""
    return devices(FAMILY, FOLDER, files, _device)


def read_gpus(files: HostFiles) -> tuple[Device, ...] | Fact:
    """Return the GPUs and accelerators.

    A device whose class cannot be read makes the list unknown, because it may
    be a GPU.
    """
    return devices(
        GPU,
        FOLDER,
        files,
        _gpu,
        lambda: [
            address
            for address in files.listed(FOLDER)
            if parsing.hexadecimal(
                files.read(f'{FOLDER}/{address}/class').strip()
            ).startswith(_GPU_CLASSES)
        ],
    )


def read_mdev_types(files: HostFiles) -> tuple[Device, ...] | Fact:
    """Return the types of mediated devices that each parent offers."""
    return devices(
        MDEV_TYPE,
        MDEV_BUS,
        files,
        _mdev_type,
        lambda: [
            f'{parent}/{name}'
            for parent in files.listed(MDEV_BUS)
            for name in files.listed(f'{MDEV_BUS}/{parent}/{_TYPES}')
        ],
    )


def _device(address: str, files: HostFiles) -> Device:
    family = Family(FAMILY, files, f'{FOLDER}/{address}')
    _add_identity(family)
    add_functions(family, family.folder)
    family.file('max_link_speed_gts', 'max_link_speed', parsing.number)
    family.file('max_link_width', parse=parsing.integer)
    family.file('link_width', 'current_link_width', parsing.integer)
    return family.device(address)


def _gpu(address: str, files: HostFiles) -> Device:
    family = Family(GPU, files, f'{FOLDER}/{address}')
    _add_identity(family)
    add_functions(family, family.folder)
    family.names('mdev_types', _TYPES, absent=())
    family.file('boot_vga', parse=parsing.switch, absent=False)
    # Only the driver amdgpu tells it.
    family.file('memory_bytes', 'mem_info_vram_total', parsing.integer)
    return family.device(address)


def _mdev_type(name: str, files: HostFiles) -> Device:
    parent, _, kind = name.partition('/')
    family = Family(MDEV_TYPE, files, f'{MDEV_BUS}/{parent}/{_TYPES}/{kind}')
    family.known('parent', parent, MDEV_BUS)
    family.known('type', kind, family.folder)
    family.file('type_name', 'name', absent='')
    family.file('description', absent='')
    family.file('device_api')
    family.file('available', 'available_instances', parsing.integer)
    family.counted('instances', 'devices')
    return family.device(name)


def _add_identity(family: Family) -> None:
    """Add the make of a PCI device, its driver and its place."""
    for attribute in (
        'vendor',
        'device',
        'subsystem_vendor',
        'subsystem_device',
        'class',
        'revision',
    ):
        family.file(attribute, parse=parsing.hexadecimal)
    family.link('driver', absent='')
    family.link('iommu_group', absent='')
    family.file('iommu_type', 'iommu_group/type', absent='')
    family.file('numa_node', parse=parsing.integer)


def add_functions(family: Family, folder: str) -> None:
    """Add the facts about SR-IOV of the PCI device in a folder."""
    for attribute, name in (
        ('sriov_total_vfs', 'sriov_totalvfs'),
        ('sriov_vfs', 'sriov_numvfs'),
    ):
        family.file(attribute, f'{folder}/{name}', parsing.integer, 0, folder)
    physical = f'{folder}/physfn'
    family.link('physical_function', physical, '', folder)
    family.is_any(
        'is_virtual_function',
        'physical_function',
        physical,
        'the link cannot be read',
    )
