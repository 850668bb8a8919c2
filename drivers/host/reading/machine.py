# SPDX-License-Identifier: Apache-2.0
"""The make of the machine (SMBIOS), and its IOMMU.

It does I/O through ``HostFiles``. Serial numbers and the machine's uuid are
left out: they identify the machine, and only root reads them. The kernel shows
a file for each text that the firmware gives: a missing one is empty. Without
the folder, the machine has no SMBIOS, and the facts are unknown.

A missing ``/sys/class/iommu`` means that no IOMMU is in use: every driver of an
IOMMU registers its units there.
"""

from ...host_files import HostFiles
from ..facts.fact import Fact
from .family import Absent, Family

_FOLDER = '/sys/class/dmi/id'

#: The facts, which have the names of their files.
ATTRIBUTES = (
    'bios_date',
    'bios_release',
    'bios_vendor',
    'bios_version',
    'board_name',
    'board_vendor',
    'board_version',
    'chassis_type',
    'chassis_vendor',
    'ec_firmware_release',
    'product_family',
    'product_name',
    'product_sku',
    'product_version',
    'sys_vendor',
)


def read_dmi(files: HostFiles) -> tuple[Fact, ...]:
    """Return the facts of the machine."""
    family = Family('dmi', files)
    for attribute in ATTRIBUTES:
        family.file(
            attribute,
            f'{_FOLDER}/{attribute}',
            absent=Absent(value='', given=_FOLDER),
        )
    return family.facts


_UNITS = '/sys/class/iommu'
_GROUPS = '/sys/kernel/iommu_groups'


def read_iommu(files: HostFiles) -> tuple[Fact, ...]:
    """Return the facts of the IOMMU."""
    family = Family('iommu', files)
    family.names('units', _UNITS, Absent(value=(), given='/sys/class'))
    units = family.value('units')
    if units is None:
        family.unknown('enabled', 'the units cannot be listed', _UNITS)
    else:
        family.known('enabled', bool(units), _UNITS)
    family.computed('groups', _GROUPS, lambda: len(_groups(files)))
    family.computed(
        'types',
        f'{_GROUPS}/*/type',
        lambda: tuple(
            sorted(
                {
                    files.read(f'{_GROUPS}/{group}/type').strip()
                    for group in _groups(files)
                }
            )
        ),
    )
    family.computed(
        'vfio',
        '/sys/bus/pci/drivers/vfio-pci',
        lambda: _has_vfio(files),
    )
    return family.facts


def _groups(files: HostFiles) -> list[str]:
    """Return the groups; without an IOMMU the kernel has no folder for them."""
    try:
        return files.listed(_GROUPS)
    except FileNotFoundError:
        files.listed('/sys/kernel')
        return []


def _has_vfio(files: HostFiles) -> bool:
    """Return True if a PCI device can be given to a guest now."""
    drivers = '/sys/bus/pci/drivers'
    try:
        return 'vfio-pci' in files.listed(drivers)
    except FileNotFoundError:
        files.listed('/sys/bus')
        return False
