# SPDX-License-Identifier: Apache-2.0
"""How many processors, MiB and GiB one host has to give.

Pure: no I/O, configuration, logging or clock. A number that cannot be read is
an error and never guessed, for a guess too small would shrink the inventory.
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
