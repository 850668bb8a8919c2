# SPDX-License-Identifier: Apache-2.0
"""The inventory of one host: VCPU, MEMORY_MB and DISK_GB from plain counts.

Pure: no I/O, configuration, logging or clock. The records have no allocation
ratio, because configuration and operators decide it. Drivers that count a
host's resources use this, and so does ``cycle/describing/describe.py`` for
drivers that implement only nova's oldest method, ``get_available_resource``.
"""

import dataclasses

from .. import errors
from . import inventory

MIB_PER_GIB = 1024


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Reserved:
    """The host's own share, in the units of nova's ``reserved_host_*``."""

    cpus: int = 0
    memory_mb: int = 0
    disk_mb: int = 0

    @property
    def disk_gb(self) -> int:
        """The disk space in whole GiB, rounded up."""
        return -(-self.disk_mb // MIB_PER_GIB)


def records(
    *, vcpus: int, memory_mb: int, disk_gb: int, reserved: Reserved
) -> dict[str, inventory.Record]:
    """Return the host's inventory, without classes whose total is 0.

    :raises errors.DriverError: the reserved amount of a class exceeds its
        total
    """
    amounts = (
        ('VCPU', vcpus, reserved.cpus, 'reserved_host_cpus'),
        (
            'MEMORY_MB',
            memory_mb,
            reserved.memory_mb,
            'reserved_host_memory_mb',
        ),
        ('DISK_GB', disk_gb, reserved.disk_gb, 'reserved_host_disk_mb'),
    )
    return {
        rc: record(rc, total, reserved_amount, option)
        for rc, total, reserved_amount, option in amounts
        if total
    }


def record(
    rc: str, total: int, reserved: int = 0, option: str = ''
) -> inventory.Record:
    """Return the record of one class; its total is above 0.

    :param option: the option in ``[DEFAULT]`` that reserves the amount
    :raises errors.DriverError: the reserved amount exceeds the total
    """
    if reserved > total:
        raise errors.DriverError(
            f'[DEFAULT] {option} reserves {reserved} {rc}, more than the '
            f'{total} of this host: lower the option'
        )
    return {
        'total': total,
        'reserved': reserved,
        'min_unit': 1,
        'max_unit': total,
        'step_size': 1,
    }
