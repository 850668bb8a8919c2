# SPDX-License-Identifier: Apache-2.0
"""MEMORY_MB: the memory of the host, or the files that stand for it.

Pure: no I/O, configuration, logging or clock. A number that cannot be read is
an error. It is never guessed, because a low guess would shrink the inventory.
``reading/root_inventory.py`` calls this.
"""

import dataclasses
import re

from compute_agent import errors

MEMINFO = '/proc/meminfo'

FILE_BACKED = '[libvirt] file_backed_memory'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options that decide MEMORY_MB.

    :ivar file_backed_mib: the size of the files that are guests' memory; 0 if
        guests have the memory of the host
    :ivar subtracts_huge_pages: pages in huge-page pools do not count
    """

    reserved_mib: int = 0
    file_backed_mib: int = 0
    subtracts_huge_pages: bool = False


def check_file_backed(
    *, mib: int, reserved_mib: int, ratio: float | None, virt_type: str
) -> None:
    """Check nova's conditions for memory in files.

    :raises errors.ConfigError: nova-compute would not start
    """
    if not mib:
        return
    if virt_type not in ('kvm', 'qemu'):
        raise errors.ConfigError(
            f'{FILE_BACKED} needs [libvirt] virt_type = kvm or qemu, not '
            f'{virt_type}'
        )
    if ratio != 1:
        raise errors.ConfigError(
            f'{FILE_BACKED} does not allow overcommit: set [DEFAULT] '
            'ram_allocation_ratio = 1.0'
        )
    if reserved_mib:
        raise errors.ConfigError(
            f"{FILE_BACKED} leaves the host's own memory out: set [DEFAULT] "
            'reserved_host_memory_mb = 0'
        )


def total_mib(
    options: Options, libvirt_mib: int | None, meminfo: str | None
) -> int:
    """Return the MiB of memory for guests.

    libvirt adds up the memory of the NUMA nodes. On some kernels a node's
    memory grows for hours after the boot, while it is first touched;
    /proc/meminfo has the final number from the beginning. The larger number
    counts: it does not change from cycle to cycle.

    :param libvirt_mib: None if libvirt never tells it
    :param meminfo: the text of /proc/meminfo, None if it cannot be read
    :raises errors.DriverError: no source tells the number
    """
    if options.file_backed_mib:
        return options.file_backed_mib
    total = _largest(libvirt_mib, meminfo)
    if options.subtracts_huge_pages:
        total -= _mib(meminfo, 'Hugetlb')
    return max(total, 0)


def _largest(libvirt_mib: int | None, meminfo: str | None) -> int:
    """Return the larger number.

    libvirt's number alone could still grow, so it does not count without
    /proc/meminfo.
    """
    return max(libvirt_mib or 0, _mib(meminfo, 'MemTotal'))


def _mib(meminfo: str | None, field: str) -> int:
    """Return the MiB in a line of /proc/meminfo.

    :raises errors.DriverError: the text has no such line
    """
    if meminfo is None:
        raise errors.DriverError(f'{MEMINFO} cannot be read')
    match = re.search(
        rf'^{field}:\s+(\d+) kB$', meminfo, re.MULTILINE | re.ASCII
    )
    if match is None:
        raise errors.DriverError(f'{MEMINFO} has no line "{field}: … kB"')
    return int(match[1]) // 1024
