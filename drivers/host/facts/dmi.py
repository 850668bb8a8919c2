# SPDX-License-Identifier: Apache-2.0
"""The make of the machine, from the firmware's tables (SMBIOS).

It does I/O through ``HostFiles``. Serial numbers and the machine's uuid are
left out: they identify the machine, and only root reads them. The kernel shows
a file for each text that the firmware gives: a missing one is empty. Without
the folder, the machine has no SMBIOS, and the facts are unknown.
"""

from ...host_files import HostFiles
from .fact import Fact
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


def read(files: HostFiles) -> tuple[Fact, ...]:
    """Return the facts of the machine."""
    family = Family('dmi', files)
    for attribute in ATTRIBUTES:
        family.file(
            attribute,
            f'{_FOLDER}/{attribute}',
            absent=Absent(value='', given=_FOLDER),
        )
    return family.facts
