# SPDX-License-Identifier: Apache-2.0
"""The PCI devices of a host, by address.

It does I/O through ``HostFiles``. The kernel's documentation (Documentation/
ABI/testing/sysfs-bus-pci) says what a missing file of a device means: no
``driver`` link, no driver; no ``iommu_group``, no IOMMU for it
(its type has a file since Linux 5.11); no ``physfn``,
no virtual function; no ``sriov_totalvfs``, no SR-IOV. A device outside PCI
Express has no ``max_link_*``, and a kernel without NUMA no ``numa_node``: they
are unknown.
"""

from ....host_files import HostFiles
from .. import family as family_module
from .. import parsing
from ..fact import Device, Fact
from ..family import Absent, Family

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
