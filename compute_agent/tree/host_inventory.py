# SPDX-License-Identifier: Apache-2.0
"""The inventory of one host: VCPU, MEMORY_MB and DISK_GB from plain counts.

Pure: no I/O, configuration, logging or clock. It gives no allocation ratio:
configuration and operators decide that. Used by drivers that count a host, and
for those that only answer nova's oldest form (``cycle/describe.py``).
"""

import dataclasses

from .. import errors
from . import inventory

MIB_PER_GIB = 1024


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Reserved:
    """What the host keeps for itself, in the units of nova's options."""

    cpus: int = 0
    memory_mb: int = 0
    disk_mb: int = 0


def records(
    *, vcpus: int, memory_mb: int, disk_gb: int, reserved: Reserved
) -> dict[str, inventory.Record]:
    """Return the host's inventory; a class of which there is none is left out.

    :raises errors.DriverError: more of a class is reserved than there is
    """
    disk_reserved = -(-reserved.disk_mb // MIB_PER_GIB)
    amounts = (
        ('VCPU', vcpus, reserved.cpus, 'reserved_host_cpus'),
        (
            'MEMORY_MB',
            memory_mb,
            reserved.memory_mb,
            'reserved_host_memory_mb',
        ),
        ('DISK_GB', disk_gb, disk_reserved, 'reserved_host_disk_mb'),
    )
    return {
        rc: _record(rc, total, kept, option)
        for rc, total, kept, option in amounts
        if total
    }


def _record(rc: str, total: int, kept: int, option: str) -> inventory.Record:
    if kept > total:
        raise errors.DriverError(
            f'[DEFAULT] {option} keeps {kept} {rc} of the {total} that this '
            'host has: lower it'
        )
    return {
        'total': total,
        'reserved': kept,
        'min_unit': 1,
        'max_unit': total,
        'step_size': 1,
    }
