# SPDX-License-Identifier: Apache-2.0
"""How many processors, MiB and GiB one host has to give.

Pure: no I/O, configuration, logging or clock. A number that cannot be read is
an error and never guessed, for a guess too small would shrink the inventory.
No allocation ratio is given: that is the operator's. ``driver.py`` calls this.
"""

import dataclasses
import re
from collections.abc import Mapping

from compute_agent import errors, inventory

ONLINE = '/sys/devices/system/cpu/online'
MEMINFO = '/proc/meminfo'

MIB_PER_GIB = 1024
BYTES_PER_GIB = 1024**3

_RANGE = re.compile(r'(\d+)(?:-(\d+))?')
_MEM_TOTAL = re.compile(r'^MemTotal:\s+(\d+) kB$', re.MULTILINE)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Reserved:
    """What the host keeps for itself, in the units of nova's options."""

    vcpus: int = 0
    memory_mb: int = 0
    disk_mb: int = 0


def count_online(text: str | None) -> int:
    """Return how many processors a list such as ``0-3,5`` names.

    :raises DriverError: no list, or not one that can be understood
    """
    if text is None:
        raise errors.DriverError(f'{ONLINE} cannot be read')
    return sum(_count(part, text) for part in text.strip().split(','))


def _count(part: str, text: str) -> int:
    match = _RANGE.fullmatch(part)
    first, last = match.groups() if match else ('1', '0')
    count = int(last or first) - int(first) + 1
    if count < 1:
        raise errors.DriverError(
            f'{ONLINE} says {text.strip()!r}: not a list of processors'
        )
    return count


def memory_mib(text: str | None) -> int:
    """Return the MiB of memory that a /proc/meminfo tells.

    :raises DriverError: it tells none
    """
    if text is None:
        raise errors.DriverError(f'{MEMINFO} cannot be read')
    match = _MEM_TOTAL.search(text)
    if match is None:
        raise errors.DriverError(f'{MEMINFO} has no line "MemTotal: … kB"')
    return int(match[1]) // 1024


def records(
    *, vcpus: int, memory_mb: int, disk_gb: int, reserved: Reserved
) -> Mapping[str, inventory.Record]:
    """Return the host's inventory; a class of which there is none is left out.

    :raises DriverError: more of a class is reserved than there is
    """
    disk_reserved = -(-reserved.disk_mb // MIB_PER_GIB)
    amounts = (
        ('VCPU', vcpus, reserved.vcpus, 'reserved_host_cpus'),
        (
            'MEMORY_MB',
            memory_mb,
            reserved.memory_mb,
            'reserved_host_memory_mb',
        ),
        ('DISK_GB', disk_gb, disk_reserved, 'reserved_host_disk_mb'),
    )
    return {
        name: _record(name, total, kept, option)
        for name, total, kept, option in amounts
        if total
    }


def _record(name: str, total: int, kept: int, option: str) -> inventory.Record:
    if kept > total:
        raise errors.DriverError(
            f'[DEFAULT] {option} keeps {kept} {name} of the {total} that this '
            'host has: lower it'
        )
    return {
        'total': total,
        'reserved': kept,
        'min_unit': 1,
        'max_unit': total,
        'step_size': 1,
    }
