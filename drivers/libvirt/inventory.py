# SPDX-License-Identifier: Apache-2.0
"""The number of processors and the MiB of memory of one host.

Pure: no I/O, configuration, logging or clock. A number that cannot be read is
an error. It is never guessed, because a low guess would shrink the inventory.
``driver.py`` calls this.
"""

import re

from compute_agent import errors

ONLINE = '/sys/devices/system/cpu/online'
MEMINFO = '/proc/meminfo'

BYTES_PER_GIB = 1024**3

_RANGE = re.compile(r'(\d+)(?:-(\d+))?')
_MEM_TOTAL = re.compile(r'^MemTotal:\s+(\d+) kB$', re.MULTILINE)


def count_online(text: str | None) -> int:
    """Return the number of processors in a list such as ``0-3,5``.

    :raises errors.DriverError: there is no list, or it cannot be parsed
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
            f'{ONLINE} contains {text.strip()!r}, which is not a list of '
            'processors'
        )
    return count


def memory_mib(text: str | None) -> int:
    """Return the MiB of memory in the text of /proc/meminfo.

    :raises errors.DriverError: the text has no total
    """
    if text is None:
        raise errors.DriverError(f'{MEMINFO} cannot be read')
    match = _MEM_TOTAL.search(text)
    if match is None:
        raise errors.DriverError(f'{MEMINFO} has no line "MemTotal: … kB"')
    return int(match[1]) // 1024
