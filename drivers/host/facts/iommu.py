# SPDX-License-Identifier: Apache-2.0
"""The IOMMU: its units, the groups of devices, how DMA is translated.

It does I/O through ``HostFiles``. A missing ``/sys/class/iommu`` means that no
IOMMU is in use: every driver of an IOMMU registers its units there.
"""

from ...host_files import HostFiles
from .fact import Fact
from .family import Absent, Family

_UNITS = '/sys/class/iommu'
_GROUPS = '/sys/kernel/iommu_groups'


def read(files: HostFiles) -> tuple[Fact, ...]:
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
