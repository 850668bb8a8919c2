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
from .family import Family, listed

_DMI = '/sys/class/dmi/id'
#: The facts of the make, which have the names of their files.
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

_UNITS = '/sys/class/iommu'
_GROUPS = '/sys/kernel/iommu_groups'
_DRIVERS = '/sys/bus/pci/drivers'


def read_dmi(files: HostFiles) -> tuple[Fact, ...]:
    """Return the make of the machine."""
    family = Family('dmi', files, _DMI)
    for attribute in ATTRIBUTES:
        family.file(attribute, absent='')
    return family.facts


def read_iommu(files: HostFiles) -> tuple[Fact, ...]:
    """Return the facts of the IOMMU."""
    family = Family('iommu', files)
    family.names('units', _UNITS, (), '/sys/class')
    family.is_any('enabled', 'units', _UNITS, 'the units cannot be listed')
    family.computed('groups', _GROUPS, lambda: len(_groups(files)))
    family.computed(
        'types',
        f'{_GROUPS}/*/type',
        lambda: family.texts(
            f'{_GROUPS}/{group}/type' for group in _groups(files)
        ),
    )
    # With this driver, a PCI device can be given to a guest now.
    family.computed(
        'vfio',
        f'{_DRIVERS}/vfio-pci',
        lambda: 'vfio-pci' in listed(files, _DRIVERS, '/sys/bus'),
    )
    return family.facts


def _groups(files: HostFiles) -> list[str]:
    """Return the groups; without an IOMMU the kernel has no folder for them."""
    return listed(files, _GROUPS, '/sys/kernel')
